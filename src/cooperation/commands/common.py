"""What the commands that resample dialogs share: flags and inputs."""

import argparse
from collections.abc import Iterable
from pathlib import Path

from tqdm import tqdm

from cooperation.config.experiment import Experiment
from cooperation.evaluation.results import read_ranks
from cooperation.io.files import InputError
from cooperation.io.settings import check_size
from cooperation.reports.bootstrap import RESAMPLES
from cooperation.reports.needed import check_asked, check_condition, path_of
from cooperation.reports.scores import Scores


def add_resamples(parser: argparse.ArgumentParser) -> None:
    """The flag that says how many samples the intervals are made of."""
    parser.add_argument(
        "--resamples",
        type=_resamples,
        default=RESAMPLES,
        help="bootstrap samples of the dialogs (default: %(default)s)",
    )


def _resamples(text: str) -> int:
    try:
        check_size(int(text), "resamples")
    except InputError as error:
        raise argparse.ArgumentTypeError(f"{error}") from error
    return int(text)


def read_games(experiment: Experiment, dataset: str, folder: Path) -> list[Scores]:
    """What the statistics need of all games on a data set; folder: of its results.

    Raises `InputError` where a result is missing, or not what the settings ask for.
    """
    found = []
    for game in tqdm(experiment.games(dataset), "results", disable=None):
        path = path_of(game, folder)
        result = read_ranks(path)
        check_asked(path, result.attributes, game, experiment)
        found.append(Scores.of(path, result))
        check_condition(found[-1], experiment.conditions_of(dataset)[game.model][game.condition])
    return found


def read_scores(paths: Iterable[Path]) -> list[Scores]:
    """What the statistics need of each result; raises `InputError` for a file that is no result."""
    return [Scores.of(path, read_ranks(path)) for path in tqdm(list(paths), "results", disable=None)]
