"""The data sets of config.yaml: where their files come from, and the settings of the steps that prepare them.

Needs nothing but the standard library, since the Snakefile reads it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cooperation.config import preparation
from cooperation.config.conditions import Playing, check_apart, check_name
from cooperation.config.inputs import OF_FEATURES, Inputs, read_inputs
from cooperation.config.sources import Source, declared, source_names
from cooperation.config.training import REGIMES, Sizes, Training
from cooperation.io.files import InputError
from cooperation.io.settings import checked, known, mapping, names_in

DATASET_KEYS = (
    "source",
    "bots",
    "dialogs",
    "captions",
    "files",
    "threads",
    "jobs",
    "sizes",
    "training",
    "playing",
    "manual",
)
# What a job plays: one condition under one reading, or all of a model, where starting a process costs more than a game.
JOBS = ("condition", "model")
# Figures that are drawn of something else.
OTHER_FIGURES = ("1a", "1b", "why")


@dataclass(frozen=True)
class Dataset:
    """One data set and the models for it.

    source: name of its reader; bots: the data set whose bots play here, "" where it trains bots of its own; inputs: the
    files that it is made of; shards: jobs that share all pictures; threads: of
    a job that extracts, trains or plays; jobs: what a job plays, one of `JOBS`; steps: settings of the steps that make
    the data set (`raw` makes or downloads raw files, `text` encodes, `extraction`, `features` normalises); training:
    regime → how models of it are trained; manual: name of a figure (2 to 5, or another) → model that plays it, and file
    of its manual intervention; raw_of: the data set in whose folder its raw files are, "" for its own.
    """

    source: str
    bots: str
    inputs: Inputs
    shards: int
    threads: int
    jobs: str
    steps: Mapping[str, Any]
    sizes: Sizes
    training: Mapping[str, Training]
    playing: Playing
    manual: Mapping[str, tuple[str, str]]
    raw_of: str = ""


def read_one(given: Any, place: str) -> Dataset:
    """Read a data set of config.yaml; place: its key there. Raises `InputError` at the first mistake."""
    known(mapping(given, place).get("source"), source_names(), f"{place}.source")
    source = declared(given["source"])
    steps = _steps(source)
    extracted = ("pictures", "weights", "shards")
    keys = (*DATASET_KEYS, *steps, *(() if source.features else extracted), *(() if source.makes else ("downloads",)))
    for key in given:
        known(key, keys, place)
    training = mapping(given.get("training", {}), f"{place}.training")
    for regime, settings in training.items():
        known(regime, REGIMES, f"{place}.training")
        for key, instead in (("regime", "the key above says it"), ("seed", "see `seeds`")):
            if key in mapping(settings, f"{place}.training.{regime}"):
                raise InputError(f"{place}.training.{regime}.{key}: leave it out; {instead}")
    known(given.get("jobs", JOBS[0]), JOBS, f"{place}.jobs")
    inputs = read_inputs(given, source, place)
    settings = {**given, "features": {k: v for k, v in given.get("features", {}).items() if k not in OF_FEATURES}}
    made = {step: checked(kind, settings.get(step, {}), f"{place}.{step}") for step, kind in steps.items()}
    if "extraction" in made and inputs.weights in inputs.downloads:
        sha256 = inputs.downloads[inputs.weights].sha256
        preparation.check_preprocessing(made["extraction"].preprocessing, sha256, f"{place}.weights")
    return Dataset(
        source=given["source"],
        bots=_name(given, "bots", place),
        inputs=inputs,
        shards=_count(given, "shards", place),
        threads=_count(given, "threads", place),
        jobs=given.get("jobs", JOBS[0]),
        steps=made,
        sizes=checked(Sizes, given.get("sizes", {}), f"{place}.sizes"),
        training={
            regime: checked(
                Training, settings, f"{place}.training.{regime}", {"regime": regime, "seed": Training().seed}
            )
            for regime, settings in training.items()
        },
        playing=checked(Playing, given.get("playing", {}), f"{place}.playing"),
        manual=_manual(given.get("manual", {}), f"{place}.manual"),
    )


def _steps(source: Source) -> Mapping[str, type[Any]]:
    """The settings of the steps that make a data set, by their key."""
    steps: dict[str, type[Any]] = {"raw": getattr(preparation, source.raw)}
    if source.text:
        steps["text"] = preparation.Encoding
    if not source.features:
        steps["extraction"] = preparation.Extraction
    return {**steps, "features": preparation.Normalisation}


def _manual(given: Any, place: str) -> Mapping[str, tuple[str, str]]:
    """Name of a figure (2 to 5, or another) → model that plays it, and file of the manual intervention."""
    if isinstance(given, list):
        listed = ", ".join(map(str, given))
        raise InputError(f"{place}: [{listed}] is now written {{dialog: [{listed}]}}, under the model that plays them")
    found: dict[str, tuple[str, str]] = {}
    for model, paths in mapping(given, place).items():
        for path in names_in(paths, str, f"{place}.{model}", "[paper/manual/miniature/figure_2.yaml]"):
            name = re.search(r"(?:^|/)figure_([A-Za-z0-9-]+)\.ya?ml$", path)
            if not name:
                raise InputError(f"{place}: {path!r} is not named like figure_2.yaml; rename it")
            check_name(name[1], place, "figure")
            if name[1] in OTHER_FIGURES:
                raise InputError(f"{place}: {path!r} has another figure's name; rename it")
            if name[1] in found:
                other = found[name[1]][1]
                raise InputError(f"{place}: {path!r} and {other!r} are the same figure; rename one of them")
            found[name[1]] = (str(model), path)
    check_apart(found, place)
    return found


def _name(given: Mapping[str, Any], key: str, place: str) -> str:
    value = given.get(key, "")
    if not isinstance(value, str):
        raise InputError(f"{place}.{key}: {value!r} is no name of a data set")
    return value


def _count(given: Mapping[str, Any], key: str, place: str) -> int:
    value = given.get(key, 1)
    if type(value) is not int or value < 1:
        raise InputError(f"{place}.{key}: {value!r} is not a whole number of at least 1")
    return value
