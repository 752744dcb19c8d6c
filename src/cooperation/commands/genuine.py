"""Make stand-in pictures for genuine VisDial 1.0 dialogs, since none come with them, in COCO's layout."""

import argparse
from pathlib import Path

from cooperation.commands.outs import add_out_folder, check_files
from cooperation.config.preparation import Genuine
from cooperation.config.sources import declared
from cooperation.data.readers.genuine import write_genuine
from cooperation.io.settings import add_flags, from_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    text = declared("genuine").files["dialogs"]
    parser.add_argument("--dialogs", type=Path, nargs="+", required=True, metavar="JSON", help=text)
    add_out_folder(parser, "folder for the two zip archives")
    add_flags(parser, Genuine)


def run(arguments: argparse.Namespace) -> None:
    check_files(arguments.out, declared("genuine").makes.values())
    write_genuine(arguments.dialogs, from_flags(Genuine, arguments), arguments.out)
