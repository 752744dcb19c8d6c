"""Make the made-up world: dialogs and pictures as VisDial 0.9 and COCO have them."""

import argparse
from pathlib import Path

from cooperation.data.miniature.writing import write_world
from cooperation.preparation import World
from cooperation.settings import add_flags, from_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the four zip archives")
    add_flags(parser, World)


def run(arguments: argparse.Namespace) -> None:
    write_world(from_flags(World, arguments), arguments.out)
