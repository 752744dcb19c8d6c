"""Set what was found in worlds whose truth is known beside what was expected."""

import argparse
from pathlib import Path

from cooperation.commands.common import add_results, read_scores
from cooperation.reports.controls import confront, printed, read_expected
from cooperation.reports.statistics import sizes_of
from cooperation.reports.tables import write_simple

TITLE = "Known answers: worlds and bots whose truth is known, MPR in percent and gaps in points with 95 % intervals"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_results(parser, "all worlds, each one's `none` too")
    parser.add_argument("--expected", type=Path, required=True, help="what must come out: workflow/controls.csv")
    parser.add_argument(
        "--out", type=Path, nargs="+", required=True, help="files to write; the ending says what: .csv .md .html"
    )


def run(arguments: argparse.Namespace) -> None:
    expected = read_expected(arguments.expected)
    scores = read_scores(arguments.results)
    found = confront(expected, scores, arguments.resamples, arguments.seed)
    write_simple(arguments.out, found, printed(found), TITLE, sizes_of(scores))
