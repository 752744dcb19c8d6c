"""Interventions: what is done to a message or an image on its way from one bot to the other (paper, section 3).

One file a kind, found by being in this folder: `first_word.py` is the kind `first-word`. A kind is a frozen dataclass
whose fields are its parameters, with their bounds, and whose docstring is its help. It knows nothing of bots.

Importing a kind needs the standard library alone, since the Snakefile checks parameters; arrays come as arguments.
"""

import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar

from cooperation.io.settings import check_bounds

if TYPE_CHECKING:
    from cooperation.game.messages import Floats, Messages
    from cooperation.game.place import Place

CHANNELS = ("caption", "image", "question", "answer")


@dataclass(frozen=True)
class Kind:
    """Base of all kinds.

    channels: those that it can perturb. uses_other_dialogs: whether it delivers other dialogs' messages or images.
    may_change_nothing: whether a game in which it changed no message at all is no mistake.

    Raises `InputError` where a parameter is out of its bounds.
    """

    channels: ClassVar[tuple[str, ...]] = ()
    uses_other_dialogs: ClassVar[bool] = False
    may_change_nothing: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_bounds(self)

    def deliver(self, messages: "Messages", place: "Place") -> "Messages":
        """Messages [dialogs, length] as said → as heard, of any length [dialogs, length]; as the paper writes."""
        raise NotImplementedError

    def deliver_as_released(self, messages: "Messages", place: "Place") -> "Messages":
        """The same as the authors' program does it; a kind that the program lacks does what `deliver` does."""
        return self.deliver(messages, place)

    def show(self, images: "Floats", place: "Place") -> "Floats":
        """Images [dialogs, features] → what the answerer sees instead, [dialogs, features]."""
        raise NotImplementedError


@cache
def kinds() -> Mapping[str, type[Kind]]:
    """All kinds by name, one for each file of this folder; raises `TypeError` for a file without a kind of its own."""
    found = {}
    for entry in pkgutil.iter_modules(__path__):
        module = import_module(f"{__name__}.{entry.name}")
        classes = [one for one in vars(module).values() if isinstance(one, type) and one.__module__ == module.__name__]
        defined = [one for one in classes if issubclass(one, Kind)]
        if len(defined) != 1:
            raise TypeError(f"interventions/{entry.name}.py: {len(defined)} kinds; a file holds one")
        found[entry.name.replace("_", "-")] = defined[0]
    return found


def kinds_of(channel: str) -> list[str]:
    """Names of the kinds that can perturb a channel."""
    return [name for name, kind in kinds().items() if channel in kind.channels]


def name_of(kind: Kind) -> str:
    """The name of a kind in config.yaml."""
    return next(name for name, one in kinds().items() if type(kind) is one)
