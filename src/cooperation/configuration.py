"""config.yaml, read once into frozen settings. Needs nothing but the standard library, since the Snakefile reads it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from cooperation.experiments import MODELS, READINGS, Condition, Playing, Sizes, Training
from cooperation.files import InputError
from cooperation.preparation import Encoding, Extraction, Genuine, Normalisation, World
from cooperation.settings import NAMES, checked, known, mapping

Value = TypeVar("Value")


@dataclass(frozen=True)
class Dataset:
    """One data set and the models for it.

    source: what makes its raw files; files: paths of files that the user has, by name; threads: of a training or
    playing job; steps: settings of the steps that make the data set, `raw` and those of `STEPS`; training: model →
    how it is trained.
    """

    source: str
    files: Mapping[str, str]
    threads: int
    steps: Mapping[str, Any]
    sizes: Sizes
    training: Mapping[str, Training]
    playing: Playing


@dataclass(frozen=True)
class Experiment:
    """What config.yaml asks for. conditions: model → name → condition."""

    dataset: str
    data: Dataset
    seeds: tuple[int, ...]
    readings: tuple[str, ...]
    conditions: Mapping[str, Mapping[str, Condition]]

    def plays(self, model: str, reading: str, condition: str) -> bool:
        """Whether a condition is played under a reading: one that sets the facts apart belongs to the first alone."""
        return self.conditions[model][condition].facts == "reading" or reading == self.readings[0]


# What makes the raw files, by source; the other steps are the same for all.
RAW = {"miniature": World, "genuine": Genuine}
STEPS = {"text": Encoding, "pictures": Extraction, "features": Normalisation}
KEYS = ("dataset", "seeds", "readings", "conditions", "datasets")
DATASET_KEYS = ("source", "files", "raw", "threads", *STEPS, "sizes", "training", "playing")


def read(config: Mapping[str, Any]) -> Experiment:
    """Check a whole configuration; the first mistake is an `InputError` that names the key and the choices."""
    config = _numbers(config)
    for key in config:
        known(key, KEYS, "config")
    missing = [key for key in KEYS if key not in config]
    if missing:
        raise InputError(f"config: the key {missing[0]!r} is missing; see config.yaml")
    found = {
        name: _dataset(given, f"datasets.{name}") for name, given in mapping(config["datasets"], "datasets").items()
    }
    known(config["dataset"], found, "dataset")
    data = found[config["dataset"]]
    readings = _list(config["readings"], str, "readings")
    for reading in readings:
        known(reading, READINGS, "readings")
    conditions = _conditions(config["conditions"])
    for model in conditions:
        if model not in data.training:
            place = f"datasets.{config['dataset']}.training"
            raise InputError(f"{place}: {model!r} is missing, which has conditions; add `{model}: {{}}`")
    return Experiment(config["dataset"], data, _list(config["seeds"], int, "seeds"), readings, conditions)


def _numbers(given: Any) -> Any:
    """Snakemake hands over what stands inside of `--config KEY={…}` as texts: 0.3 as '0.3', true as 'true'."""
    if isinstance(given, Mapping):
        return {key: _numbers(value) for key, value in given.items()}
    if isinstance(given, list):
        return [_numbers(value) for value in given]
    for kind in (int, float, {"true": True, "false": False}.__getitem__) if isinstance(given, str) else ():
        try:
            return kind(given)
        except (ValueError, KeyError):
            continue
    return given


def _dataset(given: Any, place: str) -> Dataset:
    for key in mapping(given, place):
        known(key, DATASET_KEYS, place)
    known(given.get("source"), RAW, f"{place}.source")
    threads = given.get("threads", 1)
    if type(threads) is not int:
        raise InputError(f"{place}.threads: {threads!r} is not a whole number")
    training = mapping(given.get("training", {}), f"{place}.training")
    for model in training:
        known(model, MODELS, f"{place}.training")
    kinds = {"raw": RAW[given["source"]], **STEPS}
    return Dataset(
        source=given["source"],
        files=_files(given.get("files", {}), f"{place}.files"),
        threads=threads,
        steps={step: checked(kind, given.get(step, {}), f"{place}.{step}") for step, kind in kinds.items()},
        sizes=checked(Sizes, given.get("sizes", {}), f"{place}.sizes"),
        training={
            model: replace(checked(Training, settings, f"{place}.training.{model}"), regime=model)
            for model, settings in training.items()
        },
        playing=checked(Playing, given.get("playing", {}), f"{place}.playing"),
    )


def _files(given: Any, place: str) -> Mapping[str, str]:
    for name, path in mapping(given, place).items():
        if not isinstance(path, str):
            raise InputError(f"{place}.{name}: {path!r} is not a path")
    return {str(name): path for name, path in given.items()}


def _conditions(given: Any) -> Mapping[str, Mapping[str, Condition]]:
    found: dict[str, Mapping[str, Condition]] = {}
    for model, conditions in mapping(given, "conditions").items():
        known(model, MODELS, "conditions")
        place = f"conditions.{model}"
        if "none" not in mapping(conditions, place):
            raise InputError(f"{place}: the condition 'none' is missing, with which all others are compared; add it")
        found[model] = {name: checked(Condition, given, f"{place}.{name}") for name, given in conditions.items()}
        for name in found[model]:
            if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
                raise InputError(f"{place}: {name!r} is no name for a condition; use letters, digits, '.', '_', '-'")
    return found


def _list(given: Any, kind: type[Value], place: str) -> tuple[Value, ...]:
    if not isinstance(given, list) or not given or not all(type(one) is kind for one in given):
        raise InputError(f"{place}: {given!r} is not a list of {NAMES[kind]}s; write for example [1, 2, 3]")
    if len(set(given)) < len(given):
        raise InputError(f"{place}: {given!r} names something twice")
    return tuple(given)
