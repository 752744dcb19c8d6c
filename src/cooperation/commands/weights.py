"""Set bots trained with different weights of the image loss side by side."""

import argparse
import os
from pathlib import Path

# As in `summarise`: the bootstrap has threads of its own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tqdm import tqdm

from cooperation.paper import dataset_note
from cooperation.results import read_ranks
from cooperation.statistics import RESAMPLES, Scores
from cooperation.sweep import compare_weights, printed, weight_of
from cooperation.tables import write_simple

TITLE = "MPR [%] by the weight of the image loss against the language losses in training, with 95 % intervals"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "results", nargs="+", type=Path, help="HDF5 results of one data set, bots trained with different image weights"
    )
    parser.add_argument(
        "--out", type=Path, nargs="+", required=True, help="files to write; the ending says what: .csv .md .html"
    )
    parser.add_argument(
        "--resamples", type=int, default=RESAMPLES, help="bootstrap samples of the dialogs (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the bootstrap (default: %(default)s)")


def run(arguments: argparse.Namespace) -> None:
    weighted = []
    for path in tqdm(arguments.results, "results", disable=None):
        result = read_ranks(path)
        weighted.append((weight_of(path, result), Scores.of(path, result)))
    frame = compare_weights(weighted, arguments.resamples, arguments.seed)
    note = dataset_note(weighted[0][1].dataset)
    for path in arguments.out:
        write_simple(path, frame, printed(frame), TITLE, note)
