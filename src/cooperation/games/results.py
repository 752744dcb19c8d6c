"""One HDF5 file a condition: the ranks and transcripts that every table, figure and claim is made from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cooperation.data.hdf5 import Ours, created, opened
from cooperation.messages import Messages

MESSAGES = ("caption_said", "caption_heard", "question_said", "question_heard", "answer_said", "answer_heard")


@dataclass(frozen=True)
class Result:
    """What one condition gave, dialog by dialog.

    image_ids: [dialogs]. ranks: [dialogs, 11], after rounds 0 (caption only) to 10: candidates strictly nearer
    to the guess than the true image plus half of the others equally near, so 0 is best and a tie is shared.
    tampered_messages, tampered_tokens: [11], round 0 is the caption (an image counts as one message without
    tokens in every round in which it is noise). The messages are [dialogs, length] for captions and
    [dialogs, 10, length] else: as said and as delivered; EOS included where it was said.
    attributes: `dataset`, `model`, `seed`, `reading`, `condition` (names), `settings` and `training` (JSON of the
    condition and of how the bots were trained), `candidates`, `features` (how the image features were made) and
    provenance.
    """

    image_ids: npt.NDArray[np.int64]
    ranks: npt.NDArray[np.float64]
    tampered_messages: npt.NDArray[np.int64]
    tampered_tokens: npt.NDArray[np.int64]
    caption_said: Messages
    caption_heard: Messages
    question_said: Messages
    question_heard: Messages
    answer_said: Messages
    answer_heard: Messages
    attributes: Mapping[str, Any]

    @property
    def percentiles(self) -> npt.NDArray[np.float64]:
        """Percentile rank 100·(1 − (r + ½)/N) of every dialog and round: [dialogs, 11]."""
        return np.asarray(100 * (1 - (self.ranks + 0.5) / self.attributes["candidates"]))


def write_result(path: Path, result: Result) -> None:
    """Write a result, whole or not at all."""
    with created(path) as file:
        file.attributes.update(result.attributes)
        file.add("image_id", result.image_ids)
        file.add("rank", result.ranks)
        file.add("tampered_messages", result.tampered_messages)
        file.add("tampered_tokens", result.tampered_tokens)
        for name in MESSAGES:
            messages = getattr(result, name)
            file.add(name, messages.tokens)
            file.add(f"{name}_length", messages.lengths)


def read_result(path: Path) -> Result:
    """Read a result."""
    return _read(path, MESSAGES)


def read_ranks(path: Path) -> Result:
    """Read a result without its transcripts (its messages are empty): all that statistics need, much sooner."""
    return _read(path, ())


def _read(path: Path, wanted: Sequence[str]) -> Result:
    empty = Messages.of([])
    with opened(path) as file:
        ours = Ours(file)
        messages = {name: Messages(ours[name], ours[f"{name}_length"]) for name in wanted}
        return Result(
            ours["image_id"],
            ours["rank"],
            ours["tampered_messages"],
            ours["tampered_tokens"],
            **dict.fromkeys(MESSAGES, empty) | messages,
            attributes=ours.attributes,
        )
