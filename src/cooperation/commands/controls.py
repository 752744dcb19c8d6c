"""Set what was found in worlds whose truth is known beside what was expected."""

import argparse
import os
from pathlib import Path

# As in `summarise`: the bootstrap has threads of its own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tqdm import tqdm

from cooperation.controls import confront, printed, read_expected
from cooperation.results import read_ranks
from cooperation.statistics import RESAMPLES, Scores
from cooperation.tables import write_simple

TITLE = "Known answers: worlds and bots whose truth is known, MPR in percent and gaps in points with 95 % intervals"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", nargs="+", type=Path, help="HDF5 results of all worlds, each one's `none` too")
    parser.add_argument("--expected", type=Path, required=True, help="what must come out: workflow/controls.csv")
    parser.add_argument(
        "--out", type=Path, nargs="+", required=True, help="files to write; the ending says what: .csv .md .html"
    )
    parser.add_argument(
        "--resamples", type=int, default=RESAMPLES, help="bootstrap samples of the dialogs (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the bootstrap (default: %(default)s)")


def run(arguments: argparse.Namespace) -> None:
    expected = read_expected(arguments.expected)
    scores = [Scores.of(path, read_ranks(path)) for path in tqdm(arguments.results, "results", disable=None)]
    found = confront(expected, scores, arguments.resamples, arguments.seed)
    for path in arguments.out:
        write_simple(path, found, printed(found), TITLE, "")
