"""A builder's bots that are asked nothing twice, not even by another process, and how often they were asked."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from cooperation.api import Dialog, Picture
from cooperation.bots.calls import Calls
from cooperation.bots.memory import Memory

Thing = TypeVar("Thing")


@dataclass
class Tally:
    """Calls by function, one for each dialog: made and known from before; seconds within the builder's functions.

    advance: told how many were done.
    """

    advance: Callable[[int], object] = lambda _: None
    made: dict[str, int] = field(default_factory=dict)
    known: dict[str, int] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def add(self, name: str, count: int, known: int) -> None:
        """Count calls."""
        self.made[name] = self.made.get(name, 0) + count - known
        self.known[name] = self.known.get(name, 0) + known
        self.advance(count)

    def clear(self) -> None:
        """Count from nothing."""
        for counts in (self.made, self.known, self.seconds):
            counts.clear()


def spoken(dialog: Dialog) -> list[Any]:
    """A dialog as JSON can hold it."""
    return [dialog.caption, dialog.turns]


@dataclass(frozen=True)
class RecallingCalls(Calls):
    """A builder's bots that are asked for what is not in the memory.

    first: called before any of the functions but `prepare`, which it calls. candidates: a hash of what is prepared; ""
    where no index may be kept.
    """

    memory: Memory
    tally: Tally
    first: Callable[[], object]
    candidates: str

    def ask(self, dialogs: tuple[Dialog, ...]) -> list[str]:
        """A question for each dialog."""
        inputs = [spoken(dialog) for dialog in dialogs]
        return self.recall("ask", inputs, lambda rows: super(RecallingCalls, self).ask(_some(dialogs, rows)))

    def answer(
        self, pictures: tuple[Picture, ...], dialogs: tuple[Dialog, ...], questions: tuple[str, ...]
    ) -> list[str]:
        """An answer for each dialog."""
        inputs = [
            [picture.name, picture.content(), spoken(dialog), question]
            for picture, dialog, question in zip(pictures, dialogs, questions, strict=True)
        ]

        def call(rows: list[int]) -> list[str]:
            given = _some(pictures, rows), _some(dialogs, rows), _some(questions, rows)
            return super(RecallingCalls, self).answer(*given)

        return self.recall("answer", inputs, call)

    def prepare(self, pictures: tuple[Picture, ...]) -> Any:
        """The index of all candidates, one row a picture: None where the bots make none."""
        if not self.candidates or not self.has("prepare"):
            return super().prepare(pictures)
        index, _ = self.memory.array("prepare", self.candidates, lambda: super(RecallingCalls, self).prepare(pictures))
        if hasattr(index, "flags"):
            index.flags.writeable = False
        return index

    def recall(self, name: str, inputs: Sequence[Any], call: Callable[[list[int]], Sequence[Any]]) -> list[Any]:
        """See `Memory.recall`; counts the calls of the function `name`."""
        outcomes, known = self.memory.recall(name, inputs, call)
        self.tally.add(name, len(inputs), known)
        return outcomes

    def _call(self, name: str, dialogs: tuple[Dialog, ...], arguments: tuple[Any, ...]) -> Any:
        if name not in ("prepare", "describe"):
            self.first()
        begun = time.perf_counter()
        try:
            return super()._call(name, dialogs, arguments)
        finally:
            self.tally.seconds[name] = self.tally.seconds.get(name, 0) + time.perf_counter() - begun


def _some(things: Sequence[Thing], rows: list[int]) -> tuple[Thing, ...]:
    return tuple(things[row] for row in rows)
