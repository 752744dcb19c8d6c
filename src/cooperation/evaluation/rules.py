"""The rules of the game that a builder's bots (`cooperation.api`) must keep to, as tests on a few dialogs.

A rule is given a function that makes the bots anew, and a sample, and returns what breaks the rule, "" where nothing
does. Bots are made anew for each rule, so that what one leaves behind can't bear on the next.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cooperation.api import Dialog, Picture
from cooperation.bots.calls import Calls
from cooperation.bots.text_players import noise
from cooperation.game.messages import ROUNDS

# Scores of one dialog alone and among others are products of other shapes, and differ in rounding.
CLOSE = 1e-3
# Rounds that the bots speak themselves, and how many these are made by saying them again: two before the end.
SPOKEN, LATE = 3, ROUNDS - 2
ANSWERS = ("yes", "no", "red", "two", "a man", "i can't tell")


@dataclass(frozen=True)
class Sample:
    """What the checks are made with: dialogs of the same rounds, what was asked next, pictures and the candidates.

    dialogs, pictures: at least two of each, in the same order. questions: one a dialog.
    """

    dialogs: tuple[Dialog, ...]
    questions: tuple[str, ...]
    pictures: tuple[Picture, ...]

    @property
    def others(self) -> tuple[Picture, ...]:
        """Another picture for each dialog."""
        return (*self.pictures[1:], self.pictures[0])

    def copied(self) -> "Sample":
        """The same, with dialogs of its own."""
        return replace(self, dialogs=tuple(Dialog(dialog.caption, dialog.turns) for dialog in self.dialogs))

    def with_answers(self, shift: int = 0) -> tuple[Dialog, ...]:
        """The dialogs after another turn; shift: chooses the answers."""
        return tuple(
            dialog.after(question, ANSWERS[(number + shift) % len(ANSWERS)])
            for number, (dialog, question) in enumerate(zip(self.dialogs, self.questions, strict=True))
        )


@dataclass(frozen=True)
class Subject:
    """Bots under test, and how their guesses are asked for.

    rows: the candidates as `score` gets them; width: of the vectors that `guess` is compared with.
    """

    calls: Calls
    rows: Sequence[Any]
    width: int

    @classmethod
    def of(cls, calls: Calls, sample: Sample) -> "Subject":
        """Prepare the candidates, as a game does."""
        index = calls.prepare(sample.pictures)
        rows = sample.pictures if index is None else index
        width = 0 if calls.has("score") else calls.vectors(sample.pictures, index).shape[1]
        return cls(calls, rows, width)

    def judge(self, dialogs: tuple[Dialog, ...]) -> Any:
        """Scores [dialogs, candidates] or guesses [dialogs, features]."""
        return (
            self.calls.score(dialogs, self.rows) if self.calls.has("score") else self.calls.guess(dialogs, self.width)
        )

    def questioner(self, dialogs: tuple[Dialog, ...]) -> tuple[Any, Any]:
        """What the questioner does: its questions and its guesses."""
        return self.calls.ask(dialogs), self.judge(dialogs)


def same(one: Any, other: Any, close: float = 0) -> bool:
    """Whether two outputs are the same; close: how far numbers may lie apart, relative to the largest."""
    if isinstance(one, tuple):
        return all(same(mine, its, close) for mine, its in zip(one, other, strict=True))
    if isinstance(one, list):
        return bool(one == other)
    largest = np.abs(one[np.isfinite(one)]).max(initial=0)
    return bool(np.allclose(one, other, rtol=0, atol=close * largest))


def well_formed(make: Callable[[], Subject], sample: Sample) -> str:
    """Call each function in all the ways in which games do."""
    subject = make()
    for dialogs in (tuple(Dialog(dialog.caption) for dialog in sample.dialogs), sample.dialogs):
        subject.questioner(dialogs)
        subject.calls.answer(sample.pictures, dialogs, sample.questions)
    turns = tuple((question, "yes") for question in sample.questions * ROUNDS)
    subject.calls.ask(tuple(Dialog(dialog.caption, turns[: ROUNDS - 1]) for dialog in sample.dialogs))
    subject.judge(tuple(Dialog(dialog.caption, turns[:ROUNDS]) for dialog in sample.dialogs))
    # Words are other bots' or random; nothing at all may be heard.
    strange = tuple(Dialog("", (("", ""), ("Qwrtz, éß?", "NO!!"))) for _ in sample.dialogs)
    subject.questioner(strange)
    subject.calls.answer(sample.pictures, strange, ("",) * len(strange))
    # Noise is seen, too, in place of a picture.
    unlike = tuple(noise(picture, (number + 1) / 20) for number, picture in enumerate(sample.pictures))
    subject.calls.answer(unlike, sample.dialogs, sample.questions)
    subject.calls.describe()
    own_talk(subject.calls, sample)
    return ""


def _differs(name: str, one: Any, other: Any, close: float = 0) -> str:
    return "" if same(one, other, close) else name


def _listed(names: Iterable[str]) -> str:
    return " and ".join(dict.fromkeys(filter(None, names)))


def repeats(make: Callable[[], Subject], sample: Sample) -> str:
    """Bots that are made anew and called alike."""
    first, second = (_functions(make(), sample) for _ in range(2))
    pairs = zip(first, second, strict=True)
    different = _listed(
        _differs(f"`{name}`", one(slice(None)), other(slice(None))) for (name, one), (_, other) in pairs
    )
    return different and f"{different} returned something else for the same input, by bots just made"


def _functions(subject: Subject, sample: Sample) -> list[tuple[str, Callable[[Any], Any]]]:
    """Name of each function, and how it is called for some of the dialogs."""
    judge = "score" if subject.calls.has("score") else "guess"
    return [
        ("ask", lambda rows: subject.calls.ask(sample.dialogs[rows])),
        (
            "answer",
            lambda rows: subject.calls.answer(sample.pictures[rows], sample.dialogs[rows], sample.questions[rows]),
        ),
        (judge, lambda rows: subject.judge(sample.dialogs[rows])),
    ]


def any_batch(make: Callable[[], Subject], sample: Sample) -> str:
    """Each dialog alone, and among the others."""
    subject = make()

    def found() -> Iterator[str]:
        for name, call in _functions(subject, sample):
            together = call(slice(None))
            for number in range(len(sample.dialogs)):
                yield _differs(f"`{name}`", call(slice(number, number + 1)), together[number : number + 1], CLOSE)

    different = _listed(found())
    return different and f"{different} returned something else for a dialog alone than among others"


def any_order(make: Callable[[], Subject], sample: Sample) -> str:
    """The dialogs backwards."""
    subject = make()

    def found() -> Iterator[str]:
        for name, call in _functions(subject, sample):
            yield _differs(f"`{name}`", call(slice(None, None, -1)), call(slice(None))[::-1], CLOSE)

    different = _listed(found())
    return different and f"{different} returned something else when the dialogs stood in another order"


def any_candidates(make: Callable[[], Subject], sample: Sample) -> str:
    """The candidates in two parts, and all together: of many, some thousands are scored at a time."""
    subject = make()
    if not subject.calls.has("score"):
        return ""
    half = len(subject.rows) // 2
    parts = [subject.calls.score(sample.dialogs, subject.rows[part]) for part in (slice(half), slice(half, None))]
    fits = same(np.concatenate(parts, 1), subject.judge(sample.dialogs), CLOSE)
    return "" if fits else "`score` gave candidates something else among fewer others"


def own_talk(calls: Calls, sample: Sample) -> Sample:
    """The sample after so many rounds as come late in a game, of what the bots say themselves, over and over.

    Raises as `Calls`.
    """
    dialogs = tuple(Dialog(dialog.caption) for dialog in sample.dialogs)
    for _ in range(SPOKEN):
        asked = tuple(calls.ask(dialogs))
        turns = zip(dialogs, asked, calls.answer(sample.pictures, dialogs, asked), strict=True)
        dialogs = tuple(dialog.after(question, answer) for dialog, question, answer in turns)
    late = tuple(Dialog(dialog.caption, (dialog.turns * ROUNDS)[:LATE]) for dialog in dialogs)
    return replace(sample, dialogs=late, questions=tuple(calls.ask(late)))


def no_state(make: Callable[[], Subject], sample: Sample) -> str:
    """The same again, and after other dialogs, longer and shorter, as where a game branches off from another."""
    subject = make()
    again = _listed(
        _differs(f"`{name}`", call(slice(None)), call(slice(None))) for name, call in _functions(subject, sample)
    )
    if again:
        return f"{again} returned something else when called again"
    fresh, used = make(), make()
    opening = tuple(Dialog(dialog.caption) for dialog in reversed(sample.dialogs))
    for dialogs in (opening, sample.dialogs, sample.with_answers(1)):
        used.questioner(dialogs)
    later = sample.with_answers()
    questioner = _differs("the questioner", fresh.questioner(later), used.questioner(later))
    before = fresh.calls.answer(sample.pictures, sample.dialogs, sample.questions)
    for pictures in (sample.others, sample.pictures):
        used.calls.answer(pictures, opening, sample.questions[::-1])
    after = used.calls.answer(sample.pictures, sample.dialogs, sample.questions)
    who = _listed(iter([questioner, _differs("the answerer", before, after)]))
    return who and f"{who} did something else after other dialogs had come between"


def index_is_enough(make: Callable[[], Calls], sample: Sample) -> bool:
    """Whether bots do the same with an index that others have prepared."""
    subject = Subject.of(make(), sample)
    other = replace(subject, calls=make())
    pairs = zip(_functions(subject, sample), _functions(other, sample), strict=True)
    return all(same(one(slice(None)), its(slice(None)), CLOSE) for (_, one), (_, its) in pairs)


def remembers(make: Callable[[], Subject], sample: Sample) -> str:
    """The next turn is another than the bot's own: it must be read as it is given."""
    fresh, used, later = make(), make(), sample.with_answers()
    used.calls.ask(sample.dialogs)
    questioner = _differs("the questioner", fresh.judge(later), used.judge(later))
    fresh, used = make(), make()
    used.calls.answer(sample.pictures, sample.dialogs, sample.questions)
    answers = [one.calls.answer(sample.pictures, later, sample.questions) for one in (fresh, used)]
    who = _listed(iter([questioner, _differs("the answerer", answers[0], answers[1])]))
    return who and f"{who} read its own last message in place of the one that was delivered"


def no_leak(make: Callable[[], Subject], sample: Sample) -> str:
    """The same words heard, another picture seen by the answerer: the questioner must do exactly the same."""
    later, did = sample.with_answers(), []
    for pictures in (sample.pictures, sample.others):
        subject = make()
        subject.calls.answer(pictures, sample.dialogs, sample.questions)
        did.append(subject.questioner(later))
    return (
        ""
        if same(did[0], did[1])
        else "the questioner did something else because the answerer had seen another picture"
    )


def reads_only(make: Callable[[], Subject], sample: Sample) -> str:
    """Compare what was given before and afterwards."""
    given = [picture.row.tobytes() for picture in sample.pictures if picture.row is not None]
    words = repr(sample.dialogs)
    subject = make()
    subject.questioner(sample.dialogs)
    subject.calls.answer(sample.pictures, sample.dialogs, sample.questions)
    after = [picture.row.tobytes() for picture in sample.pictures if picture.row is not None]
    return "" if (words, given) == (repr(sample.dialogs), after) else "dialogs or features were changed"


def listens(make: Callable[[], Subject], sample: Sample) -> str:
    """Other answers in the last turn: the bots' own to their own questions about other pictures, and made-up ones."""
    subject = make()
    asked = subject.calls.ask(sample.dialogs)
    heard = [sample.with_answers(shift) for shift in range(4)]
    for pictures in (sample.pictures, sample.others):
        answers = subject.calls.answer(pictures, sample.dialogs, tuple(asked))
        turns = zip(sample.dialogs, asked, answers, strict=True)
        heard.append(tuple(dialog.after(question, answer) for dialog, question, answer in turns))
    guesses = [subject.judge(dialogs) for dialogs in heard]
    # Among made-up answers, and among the bots' own, the questions are the same.
    changes = any(not same(guesses[at], guesses[at + 1]) for at in (0, 1, 2, 4))
    return "" if changes else "no other answer changed any guess"


def looks(make: Callable[[], Subject], sample: Sample) -> str:
    """Other pictures."""
    calls = make().calls
    own, other = (calls.answer(seen, sample.dialogs, sample.questions) for seen in (sample.pictures, sample.others))
    return "" if own != other else "no other picture changed any answer"
