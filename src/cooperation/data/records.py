"""Dialogs as texts, as VisDial nests them: what readers read and `encoding` turns into token ids."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cooperation.game.messages import ROUNDS, Ints
from cooperation.io.files import InputError

Ids = npt.NDArray[np.int64]
REMEDY = "download the file again or correct it"


@dataclass(frozen=True)
class VisDial:
    """Dialogs that have all ten rounds.

    questions, answers: lists of texts; image_ids: [dialogs]; captions: one a dialog; question_rows, answer_rows:
    [dialogs, 10] positions in those lists; refused_ids: [refused] images of dialogs that were cut short and left out.
    """

    version: str
    split: str
    questions: list[str]
    answers: list[str]
    image_ids: Ids
    captions: list[str]
    question_rows: Ints
    answer_rows: Ints
    refused_ids: Ids

    def __post_init__(self) -> None:
        shape = (len(self.image_ids), ROUNDS)
        rows = self.question_rows.shape, self.answer_rows.shape
        if len(self.captions) != shape[0] or rows != (shape, shape):
            found = f"{len(self.captions)} captions, {rows[0]} question and {rows[1]} answer rows"
            raise ValueError(f"{found} for {shape[0]} image ids; a dialog has a caption and {ROUNDS} rows of each")

    @property
    def refused(self) -> int:
        """Number of dialogs that were cut short and left out."""
        return len(self.refused_ids)

    @property
    def read(self) -> int:
        """Number of dialogs in the file, those left out included."""
        return len(self.image_ids) + self.refused

    def of_images(self, image_ids: Ids) -> "VisDial":
        """The dialogs about some images [images], in their order here."""
        kept = np.isin(self.image_ids, image_ids)
        return replace(
            self,
            image_ids=self.image_ids[kept],
            captions=[caption for caption, own in zip(self.captions, kept, strict=True) if own],
            question_rows=self.question_rows[kept],
            answer_rows=self.answer_rows[kept],
            refused_ids=self.refused_ids[np.isin(self.refused_ids, image_ids)],
        )


def join(parts: Mapping[Path, VisDial]) -> VisDial:
    """Join the dialogs of several files, by their paths.

    Raises `InputError` where dialogs of two files are about the same image.
    """
    (path, joined), *others = parts.items()
    for other, part in others:
        for image in np.intersect1d(joined.image_ids, part.image_ids)[:1]:
            raise InputError(f"{other}: image {image} has a dialog in {path} already; give each dialog once")
        path, joined = other, _joined(joined, part)
    return joined


def _joined(one: VisDial, other: VisDial) -> VisDial:
    return VisDial(
        version=one.version if one.version == other.version else f"{one.version}, {other.version}",
        split=one.split,
        questions=one.questions + other.questions,
        answers=one.answers + other.answers,
        image_ids=np.concatenate([one.image_ids, other.image_ids]),
        captions=one.captions + other.captions,
        question_rows=np.concatenate([one.question_rows, other.question_rows + np.int32(len(one.questions))]),
        answer_rows=np.concatenate([one.answer_rows, other.answer_rows + np.int32(len(one.answers))]),
        refused_ids=np.concatenate([one.refused_ids, other.refused_ids]),
    )


def divide(dialogs: VisDial, pictures: Mapping[str, Ids], place: Path) -> dict[str, VisDial]:
    """Give each dialog to the split whose pictures include its own.

    pictures: split → image ids [pictures]; place: named in messages. Raises `InputError` where the picture of a dialog
    is in no split or in two, or where a split gets no dialogs.
    """
    known = np.concatenate(list(pictures.values()))
    distinct, times = np.unique(known, return_counts=True)
    both = np.intersect1d(dialogs.image_ids, distinct[times > 1])
    for image in both[:1]:
        raise InputError(f"{place}: image {image} is among the pictures of two splits; give each picture to one split")
    missing = np.setdiff1d(dialogs.image_ids, distinct)
    for image in missing[:1]:
        raise InputError(
            f"{place}: image {image} is in no archive of pictures ({len(missing):,} images missing); "
            "give the archives that these dialogs belong to"
        )
    splits = {split: dialogs.of_images(image_ids) for split, image_ids in pictures.items()}
    for split, found in splits.items():
        if not len(found.image_ids):
            raise InputError(f"{place}: no dialog is about a picture of the {split} split; give other pictures")
    return splits


def check_storable(text: str, place: str) -> None:
    """Raise `InputError` for a text that HDF5 can't hold; place: what the message calls it."""
    # JSON can escape what no file of UTF-8 strings can hold.
    if "\0" in text or not (text.isascii() or text.encode(errors="ignore").decode() == text):
        raise InputError(f"{place} holds a zero byte or half a character; {REMEDY}")
