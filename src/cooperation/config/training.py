"""The models: how large their bots are and how they are trained.

Needs nothing but the standard library, since the Snakefile reads it.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from cooperation.io.files import InputError
from cooperation.io.settings import at_least, check_seed, checked, known, mapping, setting

REGIMES = ("dialog", "round")
# Error message and remedy for a file that is no checkpoint.
UNUSABLE = (
    "damaged or not a checkpoint of this program",
    "give the right one; if this was one, delete it and train again",
)


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


def read_model(given: Any, place: str) -> Model:
    """Check an entry of `models` such as {regime: dialog, image_weight: 1}; raises `InputError` that names the key."""
    given = mapping(given, place)
    if "regime" not in given:
        raise InputError(f"{place}: no regime; choose from {', '.join(REGIMES)}")
    known(given["regime"], REGIMES, f"{place}.regime")
    if "seed" in given:
        raise InputError(f"{place}.seed: leave it out; see `seeds`")
    settings = asdict(checked(Training, given, place))
    return Model(given["regime"], {key: settings[key] for key in given if key != "regime"})
