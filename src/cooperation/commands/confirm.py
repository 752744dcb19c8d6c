"""Fail, with a line for each, where the controls did not give what was expected of them."""

import argparse
import sys

from cooperation.commands.controls import add_inputs, compared
from cooperation.io.files import InputError
from cooperation.reports.controls import failures


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)


def run(arguments: argparse.Namespace) -> None:
    found, _ = compared(arguments)
    if found.empty:
        raise InputError(f"{arguments.expected}: nothing is expected; write it there")
    lines = failures(found)
    for line in lines:
        print(line, file=sys.stderr)
    if lines:
        raise InputError(f"{arguments.expected}: {len(lines)} of {len(found)} expectations do not hold")
    print(f"all {len(found)} expectations hold")
