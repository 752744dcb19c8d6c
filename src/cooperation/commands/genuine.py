"""Make a data set of VisDial 1.0 validation dialogs and stand-in pictures, in the files of VisDial 0.9 and COCO."""

import argparse
from pathlib import Path

from cooperation.data.genuine import write_genuine
from cooperation.preparation import Genuine
from cooperation.settings import add_flags, from_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dialogs", type=Path, required=True, metavar="JSON", help="VisDial JSON of the 1.0 val split, bare or zipped"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for the four zip archives")
    add_flags(parser, Genuine)


def run(arguments: argparse.Namespace) -> None:
    write_genuine(arguments.dialogs, from_flags(Genuine, arguments), arguments.out)
