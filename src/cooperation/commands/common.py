"""What the commands that resample dialogs share: flags and inputs."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from tqdm import tqdm

from cooperation.games.results import read_ranks
from cooperation.reports.bootstrap import RESAMPLES
from cooperation.reports.statistics import Scores


def add_results(parser: argparse.ArgumentParser, what: str) -> None:
    """The results, and how their dialogs are resampled."""
    parser.add_argument("results", nargs="+", type=Path, help=f"HDF5 results of {what}")
    parser.add_argument(
        "--resamples", type=int, default=RESAMPLES, help="bootstrap samples of the dialogs (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the bootstrap (default: %(default)s)")


def read_scores(paths: Sequence[Path]) -> list[Scores]:
    """What the statistics need of each result."""
    return [Scores.of(path, read_ranks(path)) for path in tqdm(paths, "results", disable=None)]
