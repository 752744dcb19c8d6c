"""What the files that are made of a data set say of themselves if they are what the settings ask for.

Needs nothing but the standard library.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from cooperation.config.datasets import Dataset
from cooperation.config.experiment import Experiment
from cooperation.config.preparation import HASH, untrained_weights
from cooperation.config.sources import SPLITS, picture_role
from cooperation.io.files import InputError
from cooperation.io.settings import in_words

WORDS = {"made_up": "made-up files"}
"""How messages call an attribute, unless by its name."""


def said_by_dialogs(data: Dataset) -> dict[str, Any]:
    """Attributes of the file of dialogs: the source, how texts are encoded, and how the dialogs were made up."""
    text = asdict(data.steps["text"]) if "text" in data.steps else {}
    return {"source": data.source, **text, **_made_up(data, data.inputs.of_reader)}


def said_by_features(data: Dataset) -> dict[str, Any]:
    """Attributes of the file of features: how they are normalised and, unless they are given, how they are made."""
    normalised = asdict(data.steps["features"])
    if "extraction" not in data.steps or data.inputs.given:
        return normalised
    made = {"preprocessing": data.steps["extraction"].preprocessing, "weights": _weights(data)}
    return {**made, **normalised, **_made_up(data, map(picture_role, SPLITS))}


def said_by_bots(experiment: Experiment, dataset: str, model: str, seed: int) -> dict[str, Any]:
    """How a checkpoint's bots are trained, and their sizes; seed: of the training."""
    return {**asdict(experiment.training(dataset, model, seed)), **asdict(experiment.datasets[dataset].sizes)}


def check_said(place: Any, found: Mapping[str, Any], wanted: Mapping[str, Any], remedy: str) -> None:
    """Raise `InputError` where what a file says of itself is not what the settings say.

    place: the file. Values are compared as texts, since some files hold nothing else.
    """
    for name, value in wanted.items():
        what = WORDS.get(name, name.replace("_", " "))
        if name not in found:
            raise InputError(f"{place}: does not say its {what}, as files of an earlier version; {remedy}")
        said, asked = str(found[name]), str(value)
        # Of weights the settings may know the beginning of the hash.
        if said != asked and not (HASH in asked and said.startswith(asked)):
            raise InputError(f"{place}: {what} {said}, but the settings say {asked}; {remedy}")


def _weights(data: Dataset) -> str:
    """How features name the weights that they were extracted with."""
    file = data.inputs.weights
    if not file:
        return untrained_weights(data.steps["extraction"].seed)
    stated = data.inputs.downloads[file].sha256 if file in data.inputs.downloads else ""
    return f"{file.rpartition('/')[2]}{HASH}{stated}"


def _made_up(data: Dataset, roles: Iterable[str]) -> dict[str, str]:
    """What is said of files that the source's command made; nothing where the user's take the place of one."""
    source = data.inputs.source
    files = {file for role in roles if role in source.makes for file in data.inputs.files[role]}
    return {"made_up": in_words(data.source, data.steps["raw"])} if files and files <= {*data.inputs.made} else {}
