"""The models: how large their bots are and how they are trained, or where bots of your own are loaded from.

Needs nothing but the standard library, since the Snakefile reads it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cooperation.io.files import InputError
from cooperation.io.settings import at_least, check_seed, checked, known, mapping, plain, setting

REGIMES = ("dialog", "round")
# Letters of the name of a file, at most.
LONGEST = 1000
# Error message and remedy for a file that is no checkpoint.
UNUSABLE = (
    "damaged or not a checkpoint of this program",
    "give the right one; if this was one, delete it and train again",
)
UNUSABLE_PROGRESS = ("damaged, or not the progress of a training", "delete it, and the training begins afresh")
"""The same for what a training writes to go on from."""


@dataclass(frozen=True)
class Sizes:
    """sizes of the networks"""

    embedding: int = setting(300, "numbers in a word's embedding")
    hidden: int = setting(512, "hidden units of every LSTM layer")
    layers: int = setting(2, "layers of every LSTM")

    def __post_init__(self) -> None:
        at_least(self, embedding=1, hidden=1, layers=1)


@dataclass(frozen=True)
class Training:
    """how the bots are trained"""

    regime: str = setting("dialog", "one update a dialog (Table 1, Figures 1) or a round (Table 2)", REGIMES)
    epochs: int = setting(15, "passes over the training dialogs")
    batch: int = setting(64, "dialogs an update")
    rate: float = setting(0.001, "Adam's learning rate")
    image_weight: float = setting(1.0, "weight of the image loss against the language losses (dialog updates)")
    precision: str = setting("float32", "type that matrix products are made in", ("float32", "bfloat16"))
    seed: int = setting(1, "seed of the initial weights and of the order of the dialogs")

    def __post_init__(self) -> None:
        at_least(self, epochs=1, batch=1, rate=1e-12, image_weight=0)
        check_seed(self.seed)
        if self.regime == "round" and self.image_weight != 1:
            raise InputError("image_weight: round updates learn the image apart, so it has no effect; leave it out")


def in_effect(training: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that determine how bots learn, without the seed; a weight of the image loss where it is weighed."""
    without = {"seed"} | ({"image_weight"} if training.get("regime") == "round" else set())
    return {key: value for key, value in training.items() if key not in without}


@dataclass(frozen=True)
class Model:
    """A model of config.yaml: its regime, and the settings in which its training differs from the data set's."""

    regime: str
    differences: Mapping[str, Any]

    def training(self, defaults: Mapping[str, Training], place: str) -> Training:
        """How its bots are trained on a data set; defaults: regime → the data set's training settings.

        Raises `InputError` that names `place`, the key of these, where there are none for the regime.
        """
        if self.regime not in defaults:
            raise InputError(f"{place}: {self.regime!r} is missing, which a model needs; add `{self.regime}: {{}}`")
        return Training(**{**asdict(defaults[self.regime]), **self.differences})


@dataclass(frozen=True)
class LoadedModel:
    """A model of config.yaml that is not trained here: `load` is FILE.py:NAME, which is called with the options."""

    load: str
    options: Mapping[str, Any]

    @property
    def file(self) -> str:
        """The path of FILE.py."""
        return file_and_name(self.load)[0]


def files_of(options: Any) -> list[Path]:
    """The files that options name, wherever in them."""
    if isinstance(options, str):
        # Too long a text is no name.
        return [Path(options)] if len(options) < LONGEST and Path(options).is_file() else []
    parts = options.values() if isinstance(options, Mapping) else options if isinstance(options, list | tuple) else ()
    return [path for part in parts for path in files_of(part)]


def file_and_name(place: str) -> tuple[str, str]:
    """The parts of FILE.py:NAME; the name is "" where there is none."""
    file, colon, name = place.rpartition(":")
    return (file, name) if colon and file.endswith(".py") else (place, "")


def read_model(given: Any, place: str) -> Model | LoadedModel:
    """Check an entry of `models` such as {regime: dialog, image_weight: 1} or {load: my_bots.py:make, options: {…}}.

    Raises `InputError` that names the key.
    """
    given = mapping(given, place)
    if "load" in given:
        return _read_loaded(given, place)
    if "regime" not in given:
        raise InputError(f"{place}: no regime; choose from {', '.join(REGIMES)}, or load bots of your own")
    known(given["regime"], REGIMES, f"{place}.regime")
    if "seed" in given:
        raise InputError(f"{place}.seed: leave it out; see `seeds`")
    settings = asdict(checked(Training, given, place))
    return Model(given["regime"], {key: settings[key] for key in given if key != "regime"})


def _read_loaded(given: Mapping[str, Any], place: str) -> LoadedModel:
    for key in given:
        known(key, ("load", "options"), f"{place}.{key}")
    if not isinstance(given["load"], str) or not given["load"]:
        raise InputError(f"{place}.load: {given['load']!r} names no file; write my_bots.py:make")
    return LoadedModel(given["load"], plain(mapping(given.get("options", {}), f"{place}.options"), f"{place}.options"))
