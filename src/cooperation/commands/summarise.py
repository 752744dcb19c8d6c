"""Average the ranks of all conditions into one table, with 95 % intervals."""

import argparse
from pathlib import Path

from cooperation.commands.common import add_results, read_scores
from cooperation.files import write_text
from cooperation.reports.statistics import summarise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_results(parser, "one data set, each model's `none` too")
    parser.add_argument("--out", type=Path, required=True, help="CSV to write: a row a condition and round; MPR in %%")


def run(arguments: argparse.Namespace) -> None:
    scores = read_scores(arguments.results)
    summary = summarise(scores, arguments.resamples, arguments.seed)
    write_text(arguments.out, summary.to_csv(index=False, float_format="%.6f", lineterminator="\n"))
