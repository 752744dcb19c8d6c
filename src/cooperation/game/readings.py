"""The two readings of the paper: as it is written, and as its program was released (protocol, section 3).

Needs nothing but the standard library, since the Snakefile reads it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from cooperation.game.interventions import Kind

if TYPE_CHECKING:
    from cooperation.game.messages import Messages
    from cooperation.game.place import Place

    ChangeMessages = Callable[[Messages, Place], Messages]
    Remember = Callable[[Messages, Messages], Messages]


def own(said: "Messages", heard: "Messages") -> "Messages":  # noqa: ARG001
    """A bot remembers its own messages [dialogs, length] as it said them (paper, section 3)."""
    return said


def delivered(said: "Messages", heard: "Messages") -> "Messages":  # noqa: ARG001
    """A bot remembers its own messages [dialogs, length] as they were delivered (as released)."""
    return heard


@dataclass(frozen=True)
class Reading:
    """What the interventions do, and what the bots remember.

    deliver: kind → what it does to messages. remember: a bot's message as said and as delivered → what its own history
    holds. facts: format of the facts in training → format at inference (`facts.FORMATS`).
    """

    deliver: "Callable[[Kind], ChangeMessages]"
    remember: "Remember"
    facts: Mapping[str, str]


READINGS = MappingProxyType(
    {
        "written": Reading(lambda kind: kind.deliver, own, {"marked": "marked", "plain": "plain"}),
        "released": Reading(lambda kind: kind.deliver_as_released, delivered, {"marked": "bare", "plain": "plain"}),
    }
)
