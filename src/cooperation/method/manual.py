"""Manual interventions on single dialogs (paper, section 8.1): what a file of `paper/manual` says, and what it does."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cooperation.data.store import Dialogs
from cooperation.data.tokeniser import tokenise, tokenise_question
from cooperation.files import InputError, reachable
from cooperation.messages import ROUNDS, Ints, Messages, Rows
from cooperation.method.game import Remembered, Tampering
from cooperation.method.interventions import Tamper, Where, keep, look, noise
from cooperation.plain_yaml import Unshared, read_yaml
from cooperation.settings import known, mapping
from cooperation.text import Vocabulary, visible

KEYS = ("title", "text", "dialog", "words", "caption", "questions", "answers", "image")
PLACES = ("caption", "question", "answer")
RULES = tuple(f"{which} rank by {what}" for which in ("best", "median", "worst") for what in ("caption", "dialog"))
"""Rules that choose a dialog by its rank without interventions: after the caption alone, or after round 10."""
SLOT = re.compile(r"\{(\w+)\}")
LONGEST = 200
"""Words of a text; VisDial's longest captions have 40."""
QUOTE = "put quotes around it, since YAML reads yes, no and numbers as no texts"

Patterns = Mapping[str, re.Pattern[str]]
"""Place (caption, question, answer) → pattern that has to be found there."""


@dataclass(frozen=True)
class Manual:
    """A manual intervention on one dialog; the default changes nothing.

    dialog: an image id or one of `RULES`. words: slot → where the recorded dialog tells the word. Texts, in which
    `{slot}` stands for that word: caption; questions and answers, by round (1 to 10). exchange: words, each replaced by
    the next of its list (the last by the first) in answers that no text is given for. noise: the answerer sees noise.
    """

    dialog: int | str
    title: str = ""
    text: str = ""
    words: Mapping[str, Patterns] = field(default_factory=dict)
    caption: str = ""
    questions: Mapping[int, str] = field(default_factory=dict)
    answers: Mapping[int, str] = field(default_factory=dict)
    exchange: tuple[tuple[str, ...], ...] = ()
    noise: bool = False

    def changes(self) -> dict[str, Any]:
        """What is changed, as the result's settings say it: nothing else than texts, numbers and lists."""
        given = {
            "dialog": self.dialog,
            "caption": self.caption,
            "questions": {str(number): text for number, text in self.questions.items()},
            "answers": {str(number): text for number, text in self.answers.items()},
            "exchange": [" ".join(cycle) for cycle in self.exchange],
            "image": "noise" if self.noise else "",
        }
        return {name: value for name, value in given.items() if value}


@dataclass(frozen=True)
class Recorded:
    """The words of one recorded human dialog: its caption, and the question and answer of every round."""

    caption: str
    questions: tuple[str, ...]
    answers: tuple[str, ...]

    @classmethod
    def of(cls, dialogs: Dialogs, row: int, vocabulary: Vocabulary) -> "Recorded":
        """The dialog in this row."""
        questions, answers = (
            tuple(map(vocabulary.decode, messages[row].lists())) for messages in (dialogs.questions, dialogs.answers)
        )
        return cls(vocabulary.decode(dialogs.captions[row : row + 1].lists()[0]), questions, answers)

    def find(self, patterns: Patterns) -> str | None:
        """The word of the last of the patterns, its first group or all, in the first round where all are found."""
        for question, answer in zip(self.questions, self.answers, strict=True):
            texts = {"caption": self.caption, "question": question, "answer": answer}
            found = [pattern.search(texts[place]) for place, pattern in patterns.items()]
            if found and all(found):
                return str(found[-1][found[-1].lastindex or 0])  # type: ignore[index, union-attr]
        return None


@dataclass(frozen=True)
class Say:
    """Deliver given messages [1, length], by round (0: the caption); in other rounds do something else."""

    given: Mapping[int, Messages]
    otherwise: Tamper = keep

    def __call__(self, messages: Messages, where: Where) -> Messages:
        """The round's message, for a batch of one dialog."""
        return self.given[where.round] if where.round in self.given else self.otherwise(messages, where)


@dataclass(frozen=True)
class Exchange:
    """Replace words by others, wherever they stand: becomes [ids] is what each id becomes."""

    becomes: Ints

    def __call__(self, messages: Messages, where: Where) -> Messages:  # noqa: ARG002
        """Messages of the same lengths."""
        return Messages(self.becomes[messages.tokens], messages.lengths)


def read_manual(path: Path) -> Manual:
    """Read and check a manual intervention (YAML); the first mistake is an `InputError` that names file and key."""
    if not path.exists():
        raise InputError(f"{path}: no such file; paper/manual/README.md says how to write one")
    with reachable(path):
        text = path.read_bytes()
    return parse_manual(read_yaml(text, f"{path}", Unshared), f"{path}")


def parse_manual(given: Any, place: str) -> Manual:
    """Check what a file says; `place` is what messages call it."""
    for key in mapping(given, place):
        known(key, KEYS, place)
    words = {
        str(name): _patterns(patterns, f"{place}: words.{name}")
        for name, patterns in mapping(given.get("words", {}), f"{place}: words").items()
    }
    answers = dict(mapping(given.get("answers", {}), f"{place}: answers"))
    cycles = answers.pop("exchange", [])
    if given.get("image", "noise") != "noise":
        raise InputError(f"{place}: image: {given['image']!r} is not known; write `image: noise`")
    manual = Manual(
        _dialog(given.get("dialog"), f"{place}: dialog"),
        words=words,
        questions=_by_round(given.get("questions", {}), words, f"{place}: questions"),
        answers=_by_round(answers, words, f"{place}: answers"),
        exchange=_cycles(cycles, f"{place}: answers.exchange"),
        noise="image" in given,
        **{key: _text(given[key], words, f"{place}: {key}") for key in ("title", "text", "caption") if key in given},
    )
    if not manual.changes().keys() - {"dialog"}:
        raise InputError(f"{place}: nothing is changed; give a caption, questions, answers or `image: noise`")
    return manual


def _dialog(given: Any, place: str) -> int | str:
    if type(given) is int:
        return given
    if given not in RULES:
        raise InputError(f"{place}: {given!r} is neither an image id nor a rule; choose from {', '.join(RULES)}")
    return str(given)


def _text(given: Any, words: Mapping[str, Any], place: str) -> str:
    if not isinstance(given, str):
        raise InputError(f"{place}: {given!r} is not a text; {QUOTE}")
    if not given.strip():
        raise InputError(f"{place}: the text is empty; give one or leave it out")
    for slot in SLOT.findall(given):
        if slot not in words:
            raise InputError(f"{place}: no word is described for {{{slot}}}; describe it under `words:`")
    words_given = given.split()
    if len(words_given) > LONGEST:
        raise InputError(f"{place}: {len(words_given):,} words; give at most {LONGEST}")
    return visible(" ".join(words_given))


def _by_round(given: Any, words: Mapping[str, Any], place: str) -> dict[int, str]:
    rounds: Mapping[Any, Any] = mapping(given, place)
    for number in rounds:
        if type(number) is not int or not 1 <= number <= ROUNDS:
            raise InputError(f"{place}: {number!r} is no round; write a number from 1 to {ROUNDS}")
    return {number: _text(text, words, f"{place}.{number}") for number, text in rounds.items()}


def _cycles(given: Any, place: str) -> tuple[tuple[str, ...], ...]:
    if not isinstance(given, list) or not all(isinstance(line, str) and len(line.split()) > 1 for line in given):
        raise InputError(f"{place}: {given!r} is not a list of texts of two words or more, such as `- yes no`")
    cycles = tuple(tuple(line.split()) for line in given)
    words = [word for cycle in cycles for word in cycle]
    twice = [word for word in words if words.count(word) > 1]
    if twice:
        raise InputError(f"{place}: {twice[0]!r} is there twice; a word can become one other word only")
    return cycles


def _patterns(given: Any, place: str) -> Patterns:
    for name, pattern in mapping(given, place).items():
        known(name, PLACES, place)
        if not isinstance(pattern, str):
            raise InputError(f"{place}.{name}: {pattern!r} is not a text; {QUOTE}")
    if not given:
        raise InputError(f"{place}: no pattern; say where the word is told: {', '.join(PLACES)}")
    try:
        # In the order of a round, whatever the file's: the last one holds the word.
        return {name: re.compile(given[name]) for name in PLACES if name in given}
    except re.error as error:
        raise InputError(f"{place}: not a regular expression ({error}); correct it") from error


def chosen(manual: Manual, image_ids: npt.NDArray[np.int64], ranks: npt.NDArray[np.float64] | None) -> Rows:
    """Rows of the dialogs that the intervention may be on, the best fitting first: one for an image id.

    image_ids: [candidates]; ranks: [candidates, 11] without interventions, which a rule needs.
    """
    if isinstance(manual.dialog, int):
        rows = np.flatnonzero(image_ids == manual.dialog)
        if not len(rows):
            raise InputError(f"image {manual.dialog} is not among the {len(image_ids):,} candidates; choose another")
        return rows
    if ranks is None:
        raise InputError(
            f"the rule {manual.dialog!r} needs ranks without interventions; give that of none as --control"
        )
    which, *_, what = manual.dialog.split()
    order = np.argsort(ranks[:, 0 if what == "caption" else -1], kind="stable")
    from_median = np.argsort(np.abs(np.arange(len(order)) - len(order) // 2), kind="stable")
    return {"best": order, "worst": order[::-1], "median": order[from_median]}[which]


def filled(manual: Manual, recorded: Recorded) -> dict[str, str] | None:
    """The word for every slot, or None where the recorded dialog doesn't tell one of them."""
    found = {slot: recorded.find(patterns) for slot, patterns in manual.words.items()}
    return None if None in found.values() else {slot: str(word) for slot, word in found.items()}


def written(text: str, words: Mapping[str, str]) -> str:
    """A text with its slots filled; “a” before a slot becomes “an” where the word wants it."""
    text = re.sub(r"\ba (?=\{(\w+)\})", lambda match: "an " if words[match[1]][0] in "aeiou" else match[0], text)
    return SLOT.sub(lambda match: words[match[1]], text)


def tampering(manual: Manual, words: Mapping[str, str], vocabulary: Vocabulary, remembered: Remembered) -> Tampering:
    """What the intervention does to a game of one dialog.

    Raises `InputError` naming the words that the vocabulary, and so the bots, don't have.
    """
    texts = {
        "caption": {0: tokenise(written(manual.caption, words))} if manual.caption else {},
        "questions": {number: tokenise_question(written(text, words)) for number, text in manual.questions.items()},
        "answers": {number: tokenise(written(text, words)) for number, text in manual.answers.items()},
    }
    tokens = [token for part in texts.values() for message in part.values() for token in message]
    tokens += [word for cycle in manual.exchange for word in cycle]
    unknown = [token for token in dict.fromkeys(tokens) if token not in vocabulary.ids]
    if unknown:
        listed = ", ".join(f"“{word}”" for word in unknown)
        raise InputError(f"not in the bots' vocabulary: {listed}; use other words")

    def messages(part: str, end: list[int]) -> dict[int, Messages]:
        return {number: Messages.of([vocabulary.encode(text) + end]) for number, text in texts[part].items()}

    said = [vocabulary.eos]
    return Tampering(
        caption=Say(messages("caption", [])),
        question=Say(messages("questions", said)),
        answer=Say(messages("answers", said), _exchange(manual, vocabulary)),
        image=noise if manual.noise else look,
        remembered=remembered,
    )


def _exchange(manual: Manual, vocabulary: Vocabulary) -> Exchange:
    becomes = np.arange(vocabulary.size, dtype=np.int32)
    for cycle in manual.exchange:
        ids = vocabulary.encode(cycle)
        becomes[ids] = np.roll(ids, -1)
    return Exchange(becomes)


def interventions(
    manual: Manual,
    dialogs: Dialogs,
    ranks: npt.NDArray[np.float64] | None,
    vocabulary: Vocabulary,
    remembered: Remembered,
) -> Iterator[tuple[int, Tampering]]:
    """Yield rows of dialogs that fit, the best fitting first, and what is done to each.

    dialogs: the candidates' dialogs; ranks: as in `chosen`. A dialog fits where it tells the words of all slots.
    """
    fits = False
    for row in chosen(manual, dialogs.image_ids, ranks).tolist():
        words = filled(manual, Recorded.of(dialogs, row, vocabulary))
        if words is not None:
            fits = True
            yield row, tampering(manual, words, vocabulary, remembered)
    if not fits:
        raise InputError(
            f"{manual.dialog}: no such dialog tells the words of {', '.join(manual.words)}; change their patterns"
        )
