"""The experiment that a file of settings describes, and whether files are what it asks for."""

import argparse
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cooperation.config.datasets import Dataset
from cooperation.config.experiment import Experiment, read
from cooperation.config.made import check_said, said_by_bots, said_by_dialogs, said_by_features
from cooperation.io.files import InputError, digest, recorded_digest
from cooperation.io.hdf5 import read_attributes
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
    if dataset in experiment.datasets:
        wanted = said_by_bots(experiment, dataset, model, checkpoint.training["seed"])
        found = {**checkpoint.training, **asdict(checkpoint.sizes)}
        check_said(place, found, wanted, f"train the model {model!r} of {dataset} again, or name another model")


def check_dialogs(place: Path, experiment: Experiment, dataset: str) -> None:
    """Raise `InputError` where the dialogs of the file `place` were not made as the settings say of the data set.

    Nothing is compared on a data set that the settings do not know.
    """
    if dataset in experiment.datasets:
        data, attributes = experiment.datasets[dataset], read_attributes(place)
        remedy = f"encode the dialogs of {dataset} again"
        check_said(place, attributes, said_by_dialogs(data), remedy)
        _check_files(place, attributes, data, Path("data", dataset, "raw"), remedy)


def check_features(place: Path, experiment: Experiment, dataset: str) -> None:
    """Raise `InputError` where the features of the file `place` were not made as the settings say of the data set.

    Nothing is compared on a data set that the settings do not know.
    """
    if dataset in experiment.datasets:
        wanted = said_by_features(experiment.datasets[dataset])
        check_said(place, read_attributes(place), wanted, f"make the features of {dataset} again")


def _check_files(place: Path, attributes: Mapping[str, Any], data: Dataset, raw: Path, remedy: str) -> None:
    """Compare the hashes of the files that dialogs were read from with those of the settings' files, where known."""
    for role, found in json.loads(attributes["files"]).items():
        files = data.inputs.files[role]
        if len(found) != len(files):
            raise InputError(f"{place}: was made of {len(found)} files of {role}, not {len(files)}; {remedy}")
        for file, sha256 in zip(files, found, strict=True):
            path = Path(data.inputs.path(file, str(raw)))
            stated = data.inputs.downloads[file].sha256 if file in data.inputs.downloads else ""
            wanted = stated or (digest(path) if path.is_file() else recorded_digest(path))
            if not sha256.startswith(wanted):
                raise InputError(
                    f"{place}: was made of a file with sha256 {sha256[:8]}…, but that of {path} is {wanted[:8]}…; "
                    f"{remedy}"
                )
