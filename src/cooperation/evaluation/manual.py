"""Manual interventions on single dialogs (paper, section 8.1): what a file of `paper/manual` says and does."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cooperation.data.store import Dialogs
from cooperation.data.tokeniser import tokenise, tokenise_question
from cooperation.evaluation.recorded import OTHER_CAPTION, TOLD, Patterns, Recorded
from cooperation.game.interventions.noise import Noise
from cooperation.game.match import ChangeMessages, Perturbation, unchanged, unchanged_images
from cooperation.game.messages import ROUNDS, Ints, Messages, Rows
from cooperation.game.place import Place
from cooperation.game.readings import Reading
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.files import InputError, file_errors
from cooperation.io.plain_yaml import NoAliases, read_yaml
from cooperation.io.settings import known, mapping
from cooperation.io.text import visible

KEYS = ("title", "text", "found", "dialog", "words", "caption", "questions", "answers", "image")
PLACES = ("caption", "question", "answer")
FOUND = ("better", "same")
"""What the paper found of a rank after round 10: the intervention makes it better, or hardly changes it."""
RULES = tuple(f"{which} rank by {what}" for which in ("best", "median", "worst") for what in ("caption", "dialog"))
"""Rules that choose a dialog by its rank in the unperturbed game: after the caption alone, or after round 10."""
SLOT = re.compile(r"\{(\w+)\}")
FEWEST = 2
"""Words that an exchange needs."""
LONGEST = 200
"""Words of a text; VisDial's longest captions have 40."""
QUOTE = "put quotes around it, since YAML reads yes, no and numbers as no texts"


@dataclass(frozen=True)
class Manual:
    """A manual intervention on one dialog; the default changes nothing.

    found: what the paper found, one of `FOUND`, or nothing. dialog: an image id or one of `RULES`. words: slot →
    patterns that find its word in the recorded dialog; the slots of `TOLD` need none. Texts, in which `{slot}` stands
    for that word: caption; questions and answers, by round (1 to 10). exchange: lists of words, each replaced by the
    next (the last by the first) in answers that have no text; words that the vocabulary lacks are left out. noise: the
    answerer sees noise.
    """

    dialog: int | str
    title: str = ""
    text: str = ""
    found: str = ""
    words: Mapping[str, Patterns] = field(default_factory=dict)
    caption: str = ""
    questions: Mapping[int, str] = field(default_factory=dict)
    answers: Mapping[int, str] = field(default_factory=dict)
    exchange: tuple[tuple[str, ...], ...] = ()
    noise: bool = False

    @property
    def slots(self) -> tuple[str, ...]:
        """The slots of all texts."""
        texts = (self.caption, *self.questions.values(), *self.answers.values())
        return tuple(dict.fromkeys(slot for text in texts for slot in SLOT.findall(text)))

    def changes(self) -> dict[str, Any]:
        """What is changed, as the result's attribute `settings` states it: texts, numbers and lists."""
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
class Deliver:
    """Deliver given messages [1, length], by round (0: the caption); in other rounds do something else."""

    given: Mapping[int, Messages]
    otherwise: ChangeMessages = unchanged

    def __call__(self, messages: Messages, place: Place) -> Messages:
        """The message [1, length] of the round, for a batch of one dialog."""
        return self.given[place.round] if place.round in self.given else self.otherwise(messages, place)


@dataclass(frozen=True)
class Exchange:
    """Replace words by others, wherever they stand; becomes: what each id becomes, [ids]."""

    becomes: Ints

    def __call__(self, messages: Messages, place: Place) -> Messages:  # noqa: ARG002
        """Messages [dialogs, length] of the same lengths."""
        return Messages(self.becomes[messages.tokens], messages.lengths)


def read_manual(path: Path) -> Manual:
    """Read and check a manual intervention (YAML); the first mistake is an `InputError` that names file and key."""
    if not path.exists():
        raise InputError(f"{path}: no such file; paper/manual/README.md says how to write one")
    with file_errors(path):
        text = path.read_bytes()
    return parse_manual(read_yaml(text, f"{path}", NoAliases), f"{path}")


def parse_manual(given: Any, place: str) -> Manual:
    """Check what a file says; place: what messages call it. Raises `InputError` that names the key."""
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
    if "found" in given:
        known(given["found"], FOUND, f"{place}: found")
    manual = Manual(
        _dialog(given.get("dialog"), f"{place}: dialog"),
        words=words,
        questions=_by_round(given.get("questions", {}), words, f"{place}: questions"),
        answers=_by_round(answers, words, f"{place}: answers"),
        exchange=_cycles(cycles, f"{place}: answers.exchange"),
        noise="image" in given,
        **{
            key: _text(given[key], words, f"{place}: {key}")
            for key in ("title", "text", "found", "caption")
            if key in given
        },
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
        if slot not in words and not TOLD.fullmatch(slot):
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
    if not isinstance(given, list) or not all(isinstance(line, str) and len(line.split()) >= FEWEST for line in given):
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


def rows_by_rule(manual: Manual, image_ids: npt.NDArray[np.int64], ranks: npt.NDArray[np.float64] | None) -> Rows:
    """Rows of the dialogs to try, in the order of the rule: all of them, or one for an image id.

    image_ids: [candidates]; ranks: [candidates, 11] of the unperturbed game, which a rule needs. Raises `InputError`
    where they are missing, or the image is not among the candidates.
    """
    if isinstance(manual.dialog, int):
        rows = np.flatnonzero(image_ids == manual.dialog)
        if not len(rows):
            raise InputError(f"image {manual.dialog} is not among the {len(image_ids):,} candidates; choose another")
        return rows
    if ranks is None:
        raise InputError(
            f"the rule {manual.dialog!r} needs the ranks of the unperturbed game; give the result of none as --baseline"
        )
    which, *_, what = manual.dialog.split()
    order = np.argsort(ranks[:, 0 if what == "caption" else -1], kind="stable")
    from_median = np.argsort(np.abs(np.arange(len(order)) - len(order) // 2), kind="stable")
    return {"best": order, "worst": order[::-1], "median": order[from_median]}[which]


def find_words(manual: Manual, recorded: Recorded, vocabulary: Vocabulary) -> dict[str, str] | None:
    """The words for every slot, or None where those of one are not found in the recorded dialog."""
    found = {slot: recorded.find(patterns) for slot, patterns in manual.words.items()}
    found |= {slot: recorded.tell(slot, vocabulary) for slot in manual.slots if slot not in found}
    return None if None in found.values() else {slot: str(word) for slot, word in found.items()}


def fill_slots(text: str, words: Mapping[str, str]) -> str:
    """Put the words in place of the slots of a text; “a” before a slot becomes “an” before a vowel."""
    text = re.sub(
        r"\ba (?=\{(\w+)\})", lambda match: "an " if words[match[1]][:1] in tuple("aeiou") else match[0], text
    )
    return SLOT.sub(lambda match: words[match[1]], text)


def perturbation(manual: Manual, words: Mapping[str, str], vocabulary: Vocabulary, reading: Reading) -> Perturbation:
    """What the intervention does to a game of one dialog; words: slot → word.

    Raises `InputError` that names the words which are not in the bots' vocabulary.
    """
    texts = {
        "caption": {0: tokenise(fill_slots(manual.caption, words))} if manual.caption else {},
        "questions": {number: tokenise_question(fill_slots(text, words)) for number, text in manual.questions.items()},
        "answers": {number: tokenise(fill_slots(text, words)) for number, text in manual.answers.items()},
    }
    tokens = [token for part in texts.values() for message in part.values() for token in message]
    if not any(_known(cycle, vocabulary) for cycle in manual.exchange):
        tokens += [word for cycle in manual.exchange for word in cycle]
    unknown = [token for token in dict.fromkeys(tokens) if token not in vocabulary.ids]
    if unknown:
        listed = ", ".join(f"“{word}”" for word in unknown)
        raise InputError(f"not in the bots' vocabulary: {listed}; use other words")

    def messages(part: str, end: list[int]) -> dict[int, Messages]:
        return {number: Messages.of([vocabulary.encode(text) + end]) for number, text in texts[part].items()}

    said = [vocabulary.eos]
    return Perturbation(
        caption=Deliver(messages("caption", [])),
        question=Deliver(messages("questions", said)),
        answer=Deliver(messages("answers", said), _exchange(manual, vocabulary)),
        image=Noise().show if manual.noise else unchanged_images,
        remember=reading.remember,
    )


def _exchange(manual: Manual, vocabulary: Vocabulary) -> Exchange:
    becomes = np.arange(vocabulary.size, dtype=np.int32)
    for cycle in manual.exchange:
        ids = vocabulary.encode(_known(cycle, vocabulary))
        becomes[ids] = np.roll(ids, -1)
    return Exchange(becomes)


def _known(cycle: tuple[str, ...], vocabulary: Vocabulary) -> list[str]:
    """The words of an exchange that can be said; none where that is one alone."""
    known = [word for word in cycle if word in vocabulary.ids]
    return known if len(known) >= FEWEST else []


def fitting_dialogs(
    manual: Manual,
    dialogs: Dialogs,
    ranks: npt.NDArray[np.float64] | None,
    vocabulary: Vocabulary,
    reading: Reading,
    captions: Mapping[int, Sequence[str]] | None = None,
) -> Iterator[tuple[int, Perturbation]]:
    """Yield row and perturbation of each dialog in which the words of all slots are found, in the rule's order.

    dialogs: those of the candidates; ranks: as in `rows_by_rule`; captions: image id → COCO's, if at hand. Raises
    `InputError` where no dialog has all words.
    """
    fits = False
    if OTHER_CAPTION in manual.slots and captions is None:
        raise InputError(f"{{{OTHER_CAPTION}}} is one of COCO's captions; give their file as --captions")
    for row in rows_by_rule(manual, dialogs.image_ids, ranks).tolist():
        others = (captions or {}).get(int(dialogs.image_ids[row]), ())
        words = find_words(manual, Recorded.of(dialogs, row, vocabulary, others), vocabulary)
        if words is not None:
            fits = True
            yield row, perturbation(manual, words, vocabulary, reading)
    if not fits:
        told = ", ".join(dict.fromkeys([*manual.words, *manual.slots]))
        raise InputError(f"{manual.dialog}: no such dialog has the words of {told}; change their patterns")
