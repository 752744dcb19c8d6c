"""One HDF5 file a condition: ranks and transcripts, from which all tables, figures and claims are made."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cooperation.game.messages import Messages
from cooperation.game.text import TextVocabulary
from cooperation.io.hdf5 import Verified, created, opened
from cooperation.io.identity import ATTRIBUTE, Identity, content_hash
from cooperation.io.origin import write_origin

MESSAGES = ("caption_said", "caption_heard", "question_said", "question_heard", "answer_said", "answer_heard")

IDLE = (
    "perturbed nothing, which would look like robustness: check what it does, and that the bots say such words at all"
)
"""What is said of a condition that is idle."""


@dataclass(frozen=True)
class Result:
    """The ranks and transcripts of one condition.

    image_ids: [dialogs]. ranks: [dialogs, 11], after rounds 0 (caption only) to 10: candidates strictly nearer
    to the guess than the true image plus half of the others equally near, so 0 is best and a tie is shared.
    perturbed_messages, perturbed_tokens: [11], counts over all dialogs, round 0 is the caption (an image counts as one
    message without tokens in every round in which it is perturbed). Messages, as said and as delivered, EOS included
    where it was said: captions [dialogs, length], the others [dialogs, 10, length].
    attributes: `dataset`, `model`, `reading`, `condition` (names), `seed` (of the training), `game_seed`, `settings`,
    `training` and `sizes` (JSON of the condition and of the bots), `candidates` (their number), `val_dialogs` (that of
    the file's dialogs), `dialogs` and `features` (JSON of how they were made), `identity` (JSON, see the function) and
    provenance. Those of a manual intervention have a `title`, too.
    vocabulary: the words of bots that talk in text; None where they have the words of the file of dialogs.
    content: a hash of all arrays, of a result that was read from a file.
    """

    image_ids: npt.NDArray[np.int64]
    ranks: npt.NDArray[np.float64]
    perturbed_messages: npt.NDArray[np.int64]
    perturbed_tokens: npt.NDArray[np.int64]
    caption_said: Messages
    caption_heard: Messages
    question_said: Messages
    question_heard: Messages
    answer_said: Messages
    answer_heard: Messages
    attributes: Mapping[str, Any]
    vocabulary: TextVocabulary | None = None
    content: str = ""

    @property
    def is_manual(self) -> bool:
        """Whether it is of a manual intervention: one dialog without (row 0) and with it (row 1)."""
        return "title" in self.attributes

    def texts(self, name: str) -> list[list[str]]:
        """The texts of one of `MESSAGES` of bots that talk in text: one for each round (a caption has one) and dialog.

        Raises `ValueError` for a result of other bots.
        """
        if self.vocabulary is None:
            raise ValueError("the words are those of the file of dialogs")
        messages: Messages = getattr(self, name)
        rounds = messages[:, None] if messages.lengths.ndim == 1 else messages
        return [self.vocabulary.texts(rounds[row]) for row in range(len(rounds))]

    def identity(self, place: Path) -> Identity:
        """What the result in the file `place` is made of; of one of an earlier version hardly anything is known.

        `bots`, `training`, `train dialogs`, `train images` (see `Checkpoint.identity`), `vocabulary`, `val dialogs`,
        `features`, `val images`, `candidates`, `game seed`; how the data was made up, if so. `baseline`: the game by
        whose ranks a rule chose the dialog of a manual intervention; `game`: this one's own content.
        """
        known = {name.replace("_", " "): str(self.attributes.get(name)) for name in ("candidates", "game_seed")}
        game = {"game": f"{self.attributes.get('condition')}, {self.attributes.get('reading')} ({self.content})"}
        made_of = json.loads(self.attributes.get(ATTRIBUTE, "{}"))
        return Identity(place, {**made_of, **known, **(game if self.content else {})})

    @property
    def percentiles(self) -> npt.NDArray[np.float64]:
        """Percentile rank 100·(1 − (r + ½)/N) of every dialog and round: [dialogs, 11]."""
        return np.asarray(100 * (1 - (self.ranks + 0.5) / self.attributes["candidates"]))


def write_result(path: Path, result: Result) -> None:
    """Write a result, whole or not at all, and its origin; raises `InputError` where the file system refuses."""
    with created(path) as file:
        file.attributes.update(result.attributes)
        file.add("image_id", result.image_ids)
        file.add("rank", result.ranks)
        file.add("perturbed_messages", result.perturbed_messages)
        file.add("perturbed_tokens", result.perturbed_tokens)
        for name in MESSAGES:
            messages = getattr(result, name)
            file.add(name, messages.tokens)
            file.add(f"{name}_length", messages.lengths)
        if result.vocabulary is not None:
            file.attributes["known_words"] = result.vocabulary.known
            file.add_texts("words", result.vocabulary.words)
    write_origin(path)


def read_result(path: Path) -> Result:
    """Read a result; raises `InputError` for a file that is missing, damaged or none."""
    return _read(path, MESSAGES)


def read_ranks(path: Path) -> Result:
    """Read a result without its transcripts (its messages are empty), which is much faster; raises as `read_result`."""
    return _read(path, ())


def _read(path: Path, wanted: Sequence[str]) -> Result:
    empty = Messages.of([])
    with opened(path) as file:
        verified = Verified(file)
        messages = {name: Messages(verified[name], verified[f"{name}_length"]) for name in wanted}
        words = verified.texts("words") if wanted and "words" in file else None
        return Result(
            verified["image_id"],
            verified["rank"],
            verified["perturbed_messages"],
            verified["perturbed_tokens"],
            **dict.fromkeys(MESSAGES, empty) | messages,
            attributes=verified.attributes,
            vocabulary=TextVocabulary.of_words(words, int(verified.attributes["known_words"])) if words else None,
            content=content_hash(verified.sums),
        )
