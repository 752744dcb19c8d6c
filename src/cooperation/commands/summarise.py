"""Average the ranks of all conditions into one table, with 95 % intervals."""

import argparse
import os
from pathlib import Path

# The bootstrap has threads of its own; matrix products that start more of them wait for each other (three times
# slower). NumPy reads this once, when it is loaded.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tqdm import tqdm

from cooperation.files import write_text
from cooperation.results import read_ranks
from cooperation.statistics import RESAMPLES, Scores, summarise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", nargs="+", type=Path, help="HDF5 results of one data set, each model's `none` too")
    parser.add_argument("--out", type=Path, required=True, help="CSV to write: a row a condition and round; MPR in %%")
    parser.add_argument(
        "--resamples", type=int, default=RESAMPLES, help="bootstrap samples of the dialogs (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the bootstrap (default: %(default)s)")


def run(arguments: argparse.Namespace) -> None:
    scores = [Scores.of(path, read_ranks(path)) for path in tqdm(arguments.results, "results", disable=None)]
    summary = summarise(scores, arguments.resamples, arguments.seed)
    write_text(arguments.out, summary.to_csv(index=False, float_format="%.6f", lineterminator="\n"))
