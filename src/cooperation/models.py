"""The settings of the bots: how large they are and how they are trained.

Needs nothing but the standard library, since the Snakefile reads it.
"""

from dataclasses import dataclass

from cooperation.files import InputError
from cooperation.settings import at_least, check_seed, setting

MODELS = ("dialog", "round")
# What is said of a file that is no checkpoint of them, and what helps.
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

    regime: str = setting("dialog", "one update a dialog (Table 1, Figures 1) or a round (Table 2)", MODELS)
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
