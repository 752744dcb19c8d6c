"""The experiment that a file of settings describes, for commands that read all of it."""

import argparse
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cooperation.config.experiment import Experiment, read
from cooperation.io.files import InputError
from cooperation.io.plain_yaml import read_yaml_file
from cooperation.io.settings import mapping

if TYPE_CHECKING:
    from cooperation.bots.checkpoint import Checkpoint

CONFIG = "COOPERATION_CONFIG"
"""The workflow names in this variable the settings that --config and --configfile made of config.yaml."""


def add_config(parser: argparse._ActionsContainer) -> None:
    """The flag that names the file."""
    default = Path(os.environ.get(CONFIG, "config.yaml"))
    parser.add_argument("--config", type=Path, default=default, metavar="FILE", help="settings (default: %(default)s)")


def read_settings(path: Path, dataset: str | None = None) -> Experiment:
    """Read and check all settings; dataset: takes the place of the one that they choose.

    Raises `InputError` that names the file and the key.
    """
    chosen = {"dataset": dataset} if dataset else {}
    given = mapping(read_yaml_file(path), str(path))
    try:
        return read({**given, **chosen})
    except InputError as error:
        raise InputError(f"{path}: {error}") from error


def check_training(checkpoint: "Checkpoint", place: Path, experiment: Experiment, dataset: str, model: str) -> None:
    """Raise `InputError` where the bots of the file `place` were not trained as the settings say of the model.

    Nothing is compared on a data set that the settings do not know.
    """
    if dataset not in experiment.datasets:
        return
    wanted = asdict(experiment.training(dataset, model, checkpoint.training["seed"]))
    wanted |= asdict(experiment.datasets[dataset].sizes)
    found = {**checkpoint.training, **asdict(checkpoint.sizes)}
    for name, value in wanted.items():
        if found.get(name) != value:
            raise InputError(
                f"{place}: {name} {found.get(name)}, but the settings say {value} for the model {model!r} on "
                f"{dataset}; train it again, or name another model"
            )
