"""What the commands that resample dialogs share: flags and inputs."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from tqdm import tqdm

from cooperation.evaluation.results import read_ranks
from cooperation.reports.bootstrap import RESAMPLES
from cooperation.reports.scores import Scores


def add_resamples(parser: argparse.ArgumentParser) -> None:
    """The flag that says how many samples the intervals are made of."""
    parser.add_argument(
        "--resamples", type=int, default=RESAMPLES, help="bootstrap samples of the dialogs (default: %(default)s)"
    )


def read_scores(paths: Iterable[Path]) -> list[Scores]:
    """What the statistics need of each result; raises `InputError` for a file that is no result."""
    return [Scores.of(path, read_ranks(path)) for path in tqdm(list(paths), "results", disable=None)]
