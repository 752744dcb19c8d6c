"""Batches of token messages."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Floats = npt.NDArray[np.float32]
Rows = npt.NDArray[np.intp]

PAD = 0
ROUNDS = 10


@dataclass(frozen=True)
class Messages:
    """Messages of different lengths, left aligned and padded with `PAD`.

    tokens: [..., length] token ids; lengths: [...] tokens that count, per message. Raises `ValueError` where the shapes
    do not fit.
    """

    tokens: Ints
    lengths: Ints

    def __post_init__(self) -> None:
        if self.tokens.shape[:-1] != self.lengths.shape:
            raise ValueError(f"tokens {self.tokens.shape} do not fit lengths {self.lengths.shape}")

    @classmethod
    def of(cls, messages: Sequence[Sequence[int]]) -> "Messages":
        """Pad lists of ids to the longest of them: [messages, length]."""
        lengths = np.array([len(message) for message in messages], np.int32)
        tokens = np.full((len(messages), int(lengths.max(initial=0))), PAD, np.int32)
        for row, message in zip(tokens, messages, strict=True):
            row[: len(message)] = message
        return cls(tokens, lengths)

    def __getitem__(self, rows: "int | slice | Rows | tuple[slice | int | None, ...]") -> "Messages":
        """Messages at the given leading positions."""
        return Messages(self.tokens[rows], self.lengths[rows])

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def real(self) -> npt.NDArray[np.bool_]:
        """True where a token counts: [..., length]."""
        return np.arange(self.tokens.shape[-1]) < self.lengths[..., None]

    @property
    def width(self) -> int:
        """Places for tokens in each message, `PAD` included."""
        return int(self.tokens.shape[-1])

    def replaced(self, where: npt.NDArray[np.bool_], tokens: "npt.NDArray[np.integer] | int") -> "Messages":
        """Put other tokens in some places; where, tokens: broadcast to [..., length]."""
        return Messages(np.where(where, tokens, self.tokens).astype(np.int32), self.lengths)

    def cut(self, lengths: "npt.NDArray[np.integer]") -> "Messages":
        """Keep the first tokens of each message; lengths: how many, [...], none larger than before."""
        return clean(self.tokens, lengths.astype(np.int32))

    def lists(self) -> list[list[int]]:
        """The messages of a [messages, length] batch as lists of ids."""
        return [row[:n].tolist() for row, n in zip(self.tokens, self.lengths, strict=True)]


def widened(messages: Messages, width: int) -> Messages:
    """Pad messages [..., length] to [..., width] where they are shorter."""
    spare = max(width - messages.tokens.shape[-1], 0)
    return Messages(np.pad(messages.tokens, [(0, 0)] * messages.lengths.ndim + [(0, spare)]), messages.lengths)


def _equally_wide(batches: Sequence[Messages]) -> list[Ints]:
    width = max(batch.tokens.shape[-1] for batch in batches)
    return [widened(batch, width).tokens for batch in batches]


def stack_rounds(rounds: Sequence[Messages]) -> Messages:
    """Join one batch a round, each [dialogs, length], into [dialogs, rounds, longest length]."""
    return Messages(np.stack(_equally_wide(rounds), 1), np.stack([batch.lengths for batch in rounds], 1))


def concatenate(batches: Sequence[Messages], axis: int = 0) -> Messages:
    """Join batches [..., length] along a leading axis, all padded to the longest message."""
    return Messages(
        np.concatenate(_equally_wide(batches), axis), np.concatenate([batch.lengths for batch in batches], axis)
    )


def join(*parts: Messages) -> Messages:
    """Write messages one behind the other: parts of equal leading shape → [..., sum of the lengths]."""
    lengths: Ints = np.asarray(np.sum([part.lengths for part in parts], 0, dtype=np.int32))
    tokens = np.full((*lengths.shape, int(lengths.max(initial=0))), PAD, np.int32)
    offset: Ints = np.zeros_like(lengths)
    for part in parts:
        *place, column = part.real.nonzero()
        tokens[(*place, column + offset[tuple(place)])] = part.tokens[(*place, column)]
        np.add(offset, part.lengths, out=offset)
    return Messages(tokens, lengths)


def repeat(token: int, shape: tuple[int, ...]) -> Messages:
    """Messages of one token each: [*shape, 1]."""
    return Messages(np.full((*shape, 1), token, np.int32), np.ones(shape, np.int32))


def shorten(messages: Messages, by: npt.NDArray[Any] | int) -> Messages:
    """Drop tokens from the end of each message [..., length]; by: how many, one number or [...]."""
    return messages.cut(np.maximum(messages.lengths - by, 0))


def clean(tokens: Ints, lengths: Ints) -> Messages:
    """Messages of tokens [..., length] and lengths [...], with `PAD` in every place past the length."""
    return Messages(np.where(np.arange(tokens.shape[-1]) < lengths[..., None], tokens, PAD).astype(np.int32), lengths)


def without_end(messages: Messages, eos: int) -> Messages:
    """Drop the closing EOS of messages [..., length] where there is one (those cut at the token limit have none)."""
    if not messages.tokens.shape[-1]:
        return messages
    last = np.take_along_axis(messages.tokens, np.maximum(messages.lengths - 1, 0)[..., None], -1)[..., 0]
    return shorten(messages, (last == eos) & (messages.lengths > 0))


def with_end(messages: Messages, eos: int) -> Messages:
    """Close each message [..., length] with EOS: [..., length + 1]."""
    return join(messages, repeat(eos, messages.lengths.shape))
