"""Make the made-up world: dialogs and pictures in the layout of VisDial 0.9 and COCO."""

import argparse
from pathlib import Path

from cooperation.config.preparation import World
from cooperation.data.miniature.writing import write_world
from cooperation.io.settings import add_flags, from_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the four zip archives")
    add_flags(parser, World)


def run(arguments: argparse.Namespace) -> None:
    write_world(from_flags(World, arguments), arguments.out)
