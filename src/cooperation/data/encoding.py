"""Dialogs as texts → dialogs as token ids, the vocabulary, and counts for the report."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from cooperation.config.preparation import Encoding
from cooperation.data.records import VisDial
from cooperation.data.store import PARTS, DialogData, Dialogs
from cooperation.data.tokeniser import tokenise, tokenise_question
from cooperation.game.messages import Messages, Rows
from cooperation.game.vocabulary import UNKNOWN, Vocabulary, keep_words
from cooperation.io.files import InputError


@dataclass(frozen=True)
class Texts:
    """All captions, questions or answers of a split, each text tokenised once.

    texts: tokens of each text; rows: [dialogs] or [dialogs, 10] positions in `texts`; uses: [texts] how often each is
    in the dialogs; limit: tokens that are kept.
    """

    texts: list[list[str]]
    rows: Rows
    uses: npt.NDArray[np.intp]
    limit: int

    def words(self) -> Counter[str]:
        """How often each word is in the dialogs, before texts are cut."""
        counts: Counter[str] = Counter()
        for tokens, uses in zip(self.texts, self.uses.tolist(), strict=True):
            for token in tokens:
                counts[token] += uses
        return counts

    def encoded(self, vocabulary: Vocabulary) -> Messages:
        """The texts as token ids: [dialogs, ≤ limit] or [dialogs, 10, ≤ limit]."""
        return Messages.of([vocabulary.encode(tokens[: self.limit]) for tokens in self.texts])[self.rows]

    def cut(self) -> int:
        """How many texts in the dialogs are longer than the limit."""
        return int(self.uses[[len(tokens) > self.limit for tokens in self.texts]].sum())


def encode(splits: Mapping[str, VisDial], settings: Encoding) -> DialogData:
    """Encode the dialogs of all splits with one vocabulary, and count; names of counts begin with the split's name.

    Raises `InputError` where no word is seen often enough.
    """
    if settings.first:
        splits = {split: visdial.of_images(visdial.image_ids[: settings.first]) for split, visdial in splits.items()}
    parts = {split: _parts(visdial, settings) for split, visdial in splits.items()}
    counted = settings.count_words_in.split("+")
    of = [name for name in PARTS if name != "captions" or settings.count_captions]
    words = sum((parts[split][name].words() for split in counted for name in of), Counter[str]())
    vocabulary = keep_words(words, settings.threshold)
    if len(vocabulary.words) == 1:
        raise InputError(f"threshold: no word is seen {settings.threshold:,} times; choose a smaller one")
    dialogs, counts = {}, dict(asdict(settings))
    for split, visdial in splits.items():
        dialogs[split] = Dialogs(
            visdial.image_ids, **{name: part.encoded(vocabulary) for name, part in parts[split].items()}
        )
        found = _counts(visdial, parts[split], dialogs[split], vocabulary)
        counts |= {f"{split}_{name}": count for name, count in found.items()}
    return vocabulary, dialogs, counts


def _parts(visdial: VisDial, settings: Encoding) -> dict[str, Texts]:
    captions = np.arange(len(visdial.captions))
    return {
        "captions": _part("captions", tokenise, visdial.captions, captions, settings.caption_length),
        "questions": _part(
            "questions", tokenise_question, visdial.questions, visdial.question_rows, settings.question_length
        ),
        "answers": _part("answers", tokenise, visdial.answers, visdial.answer_rows, settings.answer_length),
    }


def _part(name: str, split: Callable[[str], list[str]], texts: list[str], rows: npt.NDArray[Any], limit: int) -> Texts:
    used, positions, uses = np.unique(rows, return_inverse=True, return_counts=True)
    tokens = [split(texts[row]) for row in tqdm(used, f"tokenise {name}", disable=None)]
    return Texts(tokens, positions.reshape(rows.shape), uses, limit)


def _counts(visdial: VisDial, parts: Mapping[str, Texts], dialogs: Dialogs, vocabulary: Vocabulary) -> dict[str, Any]:
    answers = np.array([visdial.answers[row].strip().lower() for row in visdial.answer_rows.flat])
    first = [tokens[:1] in (["yes"], ["no"]) for tokens in parts["answers"].texts]
    return {
        "version": visdial.version,
        "read": visdial.read,
        "kept": len(dialogs),
        "refused": visdial.refused,
        "exactly_yes_no": float(np.isin(answers, ["yes", "no"]).mean()),
        "beginning_yes_no": float(np.array(first)[parts["answers"].rows].mean()),
        **{f"cut_{name}": part.cut() for name, part in parts.items()},
        **count_tokens(dialogs, vocabulary),
    }


def count_tokens(dialogs: Dialogs, vocabulary: Vocabulary) -> dict[str, Any]:
    """Count the tokens of a split, those that are UNK, and empty answers; mean lengths of messages are in tokens."""
    messages = {name: getattr(dialogs, name) for name in PARTS}
    return {
        "tokens": sum(int(found.lengths.sum()) for found in messages.values()),
        "unknown_tokens": sum(int((found.tokens == vocabulary.ids[UNKNOWN]).sum()) for found in messages.values()),
        "empty_answers": int((dialogs.answers.lengths == 0).sum()),
        **{f"mean_length_{name}": float(found.lengths.mean()) for name, found in messages.items()},
    }
