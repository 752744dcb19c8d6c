"""Fail, with a line for each, where what was found is not what was expected."""

import argparse
import sys
from pathlib import Path

from cooperation.files import InputError
from cooperation.reports.controls import complaints, read_found


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("found", type=Path, help="CSV that `cooperation controls` wrote")


def run(arguments: argparse.Namespace) -> None:
    found = read_found(arguments.found)
    if found.empty:
        raise InputError(f"{arguments.found}: nothing is expected; write it into workflow/controls.csv")
    lines = complaints(found)
    for line in lines:
        print(line, file=sys.stderr)
    if lines:
        raise InputError(f"{arguments.found}: {len(lines)} of {len(found)} expectations do not hold")
    print(f"all {len(found)} expectations hold")
