"""The experiment that a file of settings describes, and whether files are what it asks for."""

import argparse
import json
import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from cooperation.config.experiment import Experiment, read
from cooperation.config.inputs import FEATURES, Inputs
from cooperation.config.made import check_said, said_by_bots, said_by_dialogs, said_by_features
from cooperation.data.archives import json_digest
from cooperation.io.files import InputError, at, recorded_digest
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
    with at(path):
        return read({**given, **chosen})


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
        _check_files(place, json.loads(attributes["files"]), data.inputs, Path(experiment.raw(dataset)), remedy)


def check_features(place: Path, experiment: Experiment, dataset: str) -> None:
    """Raise `InputError` where the features of the file `place` were not made as the settings say of the data set.

    Nothing is compared on a data set that the settings do not know.
    """
    if dataset in experiment.datasets:
        data, attributes = experiment.datasets[dataset], read_attributes(place)
        remedy = f"make the features of {dataset} again"
        check_said(place, attributes, said_by_features(data), remedy)
        if "files" in attributes and data.inputs.features:
            hashes, count = json.loads(attributes["files"]), len(data.inputs.features)
            lists = {data.inputs.ids[0]: hashes[count:]} if data.inputs.ids and hashes[count:] else {}
            found = {FEATURES if data.inputs.given else data.inputs.source.features: hashes[:count], **lists}
            _check_files(place, found, data.inputs, Path(experiment.raw(dataset)), remedy)


def _digest(path: Path) -> str:
    """The hash of dialogs or features that are there, or the one that was recorded; "" where neither is known."""
    return json_digest(path) if path.exists() else recorded_digest(path)


def _check_files(place: Path, found: Mapping[str, list[str]], inputs: Inputs, raw: Path, remedy: str) -> None:
    """Compare the hashes of the files that `place` was made of with those of the settings' files, where known.

    found: role → hashes; raw: the folder of raw files. Raises `InputError` where they differ.
    """
    for role, hashes in found.items():
        files = inputs.files[role]
        if len(hashes) != len(files):
            raise InputError(f"{place}: was made of {len(hashes)} files of {role}, not {len(files)}; {remedy}")
        for file, sha256 in zip(files, hashes, strict=True):
            path = Path(inputs.path(file, str(raw)))
            stated = inputs.downloads[file].sha256 if file in inputs.downloads else ""
            # A folder or a bare file in the place of an archive has a hash of its own.
            unpacked = bool(stated) and path.exists() and not sha256.startswith(stated)
            wanted = stated if stated and not unpacked else _digest(path)
            if not sha256.startswith(wanted):
                raise InputError(
                    f"{place}: was made of a file with sha256 {sha256[:8]}…, but that of {path} is {wanted[:8]}…; "
                    f"{remedy}"
                )
