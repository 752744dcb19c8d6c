"""What an intervention is told: channel, round and dialogs, random numbers keyed by these, and other dialogs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cooperation.game import randomness
from cooperation.game.messages import Floats, Messages, Rows
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.files import InputError

Ids = npt.NDArray[np.int64]


@dataclass(frozen=True)
class OtherDialogs:
    """What is seen and said in all dialogs of the data set, and the partner of each: another dialog, for all channels.

    image_ids: [dialogs], sorted; partners: [dialogs], the partner's row of each of these. Rows are those of the data
    set: images: [dialogs, features]; said: channel → messages [dialogs, rounds, length], the caption as one round.
    """

    image_ids: Ids
    partners: Rows
    images: Floats
    said: Mapping[str, Messages]

    @classmethod
    def of(cls, image_ids: Ids, images: Floats, said: Mapping[str, Messages], seed: int) -> "OtherDialogs":
        """Put the dialogs in a random circle: each one's partner is its neighbour.

        image_ids: [dialogs], by the data set's rows. Raises `InputError` where there is only one dialog.
        """
        if len(image_ids) < 2:
            raise InputError("a swap needs at least two dialogs")
        circle = np.argsort(randomness.uniform(seed, "partner", image_ids), kind="stable")
        rows = np.empty_like(circle)
        rows[circle] = np.roll(circle, 1)
        order = np.argsort(image_ids)
        return cls(image_ids[order], rows[order], images, said)

    def partners_of(self, image_ids: Ids) -> Rows:
        """Rows [batch] of the partners of some dialogs; image_ids: [batch]."""
        return self.partners[np.searchsorted(self.image_ids, image_ids)]


@dataclass(frozen=True)
class Context:
    """What all places of a game have in common: the game's seed, the vocabulary, and other dialogs where needed."""

    seed: int
    vocabulary: Vocabulary
    others: OtherDialogs | None = None

    def place(self, channel: str, number: int, dialogs: Ids) -> "Place":
        """A channel in a round (0: the caption) of some dialogs; dialogs: their image ids, [dialogs]."""
        return Place(self.seed, channel, number, dialogs, self.vocabulary, self.others)


@dataclass(frozen=True)
class Place:
    """A channel in a round of a batch of dialogs, as an intervention sees it.

    dialogs: [dialogs] image ids; round: 1 to 10, 0 for the caption. others: None where no intervention needs them.

    Random numbers depend on (seed, channel, purpose, dialog, round, position) alone, so neither the batch nor other
    conditions nor the order of play change them.
    """

    seed: int
    channel: str
    round: int
    dialogs: Ids
    vocabulary: Vocabulary
    others: OtherDialogs | None = None

    def uniform(self, purpose: str, width: int | None = None) -> npt.NDArray[np.float64]:
        """Numbers in [0, 1): one a dialog [dialogs], or `width` a dialog [dialogs, width]."""
        return randomness.uniform(self.seed, f"{self.channel}/{purpose}", *self._keys(width))

    def integers(self, purpose: str, bound: int, width: int | None = None) -> npt.NDArray[np.int64]:
        """Integers in [0, bound), shaped as those of `uniform`."""
        return randomness.integers(self.seed, f"{self.channel}/{purpose}", bound, *self._keys(width))

    def _keys(self, width: int | None) -> tuple[npt.NDArray[Any] | int, ...]:
        return (self.dialogs, self.round) if width is None else (self.dialogs[:, None], self.round, np.arange(width))

    def uniform_of_all_rounds(self, width: int) -> npt.NDArray[np.float64]:
        """Numbers in [0, 1) that are the same in every round: [dialogs, width]."""
        return randomness.uniform(self.seed, self.channel, self.dialogs[:, None], np.arange(width))

    def partners_messages(self) -> Messages:
        """What was said on this channel in this round of the partners' unperturbed games: [dialogs, length].

        Raises `ValueError` for a kind that does not state `uses_other_dialogs`.
        """
        others = self._others()
        return others.said[self.channel][:, max(self.round - 1, 0)][others.partners_of(self.dialogs)]

    def partners_images(self) -> Floats:
        """The partners' images: [dialogs, features]. Raises as `partners_messages` does."""
        others = self._others()
        return others.images[others.partners_of(self.dialogs)]

    def _others(self) -> OtherDialogs:
        if self.others is None:
            raise ValueError("a kind that uses other dialogs must state it: uses_other_dialogs = True")
        return self.others
