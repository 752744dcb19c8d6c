"""Make stand-in pictures for genuine VisDial 1.0 dialogs, since none come with them, in COCO's layout."""

import argparse
from pathlib import Path

from cooperation.config.preparation import Genuine
from cooperation.config.sources import declared
from cooperation.data.readers.genuine import write_genuine
from cooperation.io.settings import add_flags, from_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    text = declared("genuine").files["dialogs"]
    parser.add_argument("--dialogs", type=Path, nargs="+", required=True, metavar="JSON", help=text)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the two zip archives")
    add_flags(parser, Genuine)


def run(arguments: argparse.Namespace) -> None:
    write_genuine(arguments.dialogs, from_flags(Genuine, arguments), arguments.out)
