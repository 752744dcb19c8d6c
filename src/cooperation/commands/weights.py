"""Set bots trained with different weights of the image loss side by side."""

import argparse
from pathlib import Path

from cooperation.commands.common import add_results, read_scores
from cooperation.reports.paper import dataset_note
from cooperation.reports.statistics import sizes_of
from cooperation.reports.sweep import compare_weights, printed
from cooperation.reports.tables import write_simple

TITLE = "MPR [%] by the weight of the image loss against the language losses in training, with 95 % intervals"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_results(parser, "one data set, bots trained with different image weights")
    parser.add_argument(
        "--out", type=Path, nargs="+", required=True, help="files to write; the ending says what: .csv .md .html"
    )


def run(arguments: argparse.Namespace) -> None:
    scores = read_scores(arguments.results)
    frame = compare_weights(scores, arguments.resamples, arguments.seed)
    note = f"{sizes_of(scores)} {dataset_note(scores[0].dataset)}".rstrip()
    write_simple(arguments.out, frame, printed(frame), TITLE, note)
