"""The settings of the conditions: what is done to the game, and how it is played.

Needs nothing but the standard library, since the Snakefile reads it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from cooperation.files import InputError
from cooperation.settings import at_least, known, setting

CHANNELS = ("none", "image", "caption", "question", "answer", "negation")
SWAPPED = ("image", "caption", "question", "answer")
KINDS = ("noise", "swap")
READINGS = ("written", "released")
CONTROL = "none"
"""The condition without any tampering, which the others are compared with."""


@dataclass(frozen=True)
class Condition:
    """what is done to the game"""

    channel: str = setting("none", "what is tampered with", CHANNELS)
    by: str = setting(
        "noise", "what takes its place: noise (negation: the opposite), or a swap with that of another dialog", KINDS
    )
    p: float = setting(1.0, "probability that a token is replaced, 0 to 1 (captions, questions, answers)")
    start: int = setting(1, "first round that is tampered with, 1 to 10; 1 is the beginning")
    script: str = setting(
        "none", "what the recorded human dialog says instead of the bots", ("none", "questions", "dialog")
    )
    facts: str = setting(
        "reading",
        "how the bots read questions and facts: as the reading says, or in one format whatever it says",
        ("reading", "marked", "bare", "plain"),
    )

    def __post_init__(self) -> None:
        known(str(self.start), map(str, range(1, 11)), "start")
        if not 0 <= self.p <= 1:
            raise InputError(f"p: {self.p:g} is no probability; choose a number from 0 to 1")
        if self.channel == "none":
            for name, default in {"p": 1.0, "start": 1}.items():
                if getattr(self, name) != default:
                    raise InputError(f"{name}: {getattr(self, name)}, but nothing is tampered with; leave {name} out")
        elif self.p == 0:
            raise InputError(f"p: 0 changes no {self.channel}; choose a number above 0")
        if self.channel in ("image", "negation") and self.p < 1:
            raise InputError(f"p: {self.p}, but the {self.channel} is changed whole; leave p out")
        if self.channel == "caption" and self.start > 1:
            raise InputError(f"start: {self.start}, but the caption is read before round 1; leave start out")
        if self.channel == "image" and self.script == "dialog":
            raise InputError("script: dialog, but where people answer nobody sees the image; leave script out")
        if self.by == "swap":
            known(self.channel, SWAPPED, "channel of a swap")
            if self.p < 1:
                raise InputError(f"p: {self.p}, but whole messages are swapped; leave p out")
            if self.channel == "answer" and self.script == "questions":
                raise InputError("script: questions, but swapped answers were given to the bots' own questions")
            if self.takes_messages and self.facts != "reading":
                raise InputError(f"facts: {self.facts}, but the swapped messages were said under the reading's")

    @property
    def takes_messages(self) -> bool:
        """Whether another dialog's questions or answers are delivered: they must have been said before."""
        return self.by == "swap" and self.channel in ("question", "answer")

    @property
    def needs_control(self) -> bool:
        """Whether the result of the bots' game without tampering is part of this one.

        Until they are tampered with, bots play as there; and it says what other dialogs' bots say. Recorded dialogs
        say it themselves, and with other facts the game is another from the beginning.
        """
        return self.script == "none" and self.facts == "reading" and (self.start > 1 or self.takes_messages)

    @property
    def branches(self) -> bool:
        """Whether the game is the control until its start, and needs nothing else of it."""
        return self.needs_control and not self.takes_messages


def check_name(name: object, place: str, what: str = "condition") -> None:
    """Refuse what can't name a condition (or another thing): it becomes part of a path."""
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
        raise InputError(f"{place}: {name!r} is no name for a {what}; use letters, digits, '.', '_', '-'")
    # Between two steps of a command line.
    if name == "then":
        raise InputError(f"{place}: {name!r} is no name for a {what}; choose another")


def check_apart(names: Iterable[str], place: str) -> None:
    """Refuse names that differ in case alone: their files would be one on a disk that doesn't tell case apart."""
    seen: dict[str, str] = {}
    for name in names:
        other = seen.setdefault(name.lower(), name)
        if other != name:
            raise InputError(f"{place}: {other!r} and {name!r} differ in case alone; rename one of them")


def check_control_settings(name: str, condition: Condition, place: str) -> None:
    """Refuse another condition under the control's name."""
    if name == CONTROL and condition != Condition():
        raise InputError(f"{place}: is what all others are compared with; leave it {{}}")


# What the scripted bots play, whose outcome is known; their questions are all the same, so a swap changes none.
ORACLE_CONDITIONS = {
    "none": Condition(),
    **{channel: Condition(channel=channel) for channel in (*SWAPPED, "negation")},
    **{f"{channel}-swap": Condition(channel=channel, by="swap") for channel in SWAPPED if channel != "question"},
}


@dataclass(frozen=True)
class Playing:
    """how games are played and ranked"""

    candidates: int = setting(40000, "the first so many validation images are guessed, among themselves")
    batch: int = setting(1024, "dialogs played at a time")

    def __post_init__(self) -> None:
        at_least(self, candidates=1, batch=1)
