"""What is done to a message or an image on its way from one bot to the other (paper, section 3).

Interventions are frozen and know nothing of bots. Each takes a batch and `Where` it is in the game, and draws its
randomness from there: the same token is drawn whatever p is, so a higher p only adds replacements.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from cooperation import randomness
from cooperation.files import InputError
from cooperation.messages import Floats, Messages, Rows
from cooperation.text import UNKNOWN, Vocabulary


@dataclass(frozen=True)
class Where:
    """The place in the game that randomness is keyed by: channel, round and, per message, the dialog's image id."""

    seed: int
    channel: str
    dialogs: npt.NDArray[np.int64]
    round: int


Tamper = Callable[[Messages, Where], Messages]
Blur = Callable[[Floats, Where], Floats]


def keep(messages: Messages, where: Where) -> Messages:  # noqa: ARG001
    """Deliver messages as they were said."""
    return messages


@dataclass(frozen=True)
class Replace:
    """Replace each token with probability p by a random one.

    eligible: [ids] may the id be replaced; drawn: the ids that replace it, all equally likely.
    """

    p: float
    eligible: npt.NDArray[np.bool_]
    drawn: npt.NDArray[np.int32]

    def __call__(self, messages: Messages, where: Where) -> Messages:
        """Messages [dialogs, length] with some tokens replaced; their lengths stay."""
        keys = (where.dialogs[:, None], where.round, np.arange(messages.tokens.shape[-1]))
        hit = randomness.uniform(where.seed, f"{where.channel}/whether", *keys) < self.p
        token = self.drawn[randomness.integers(where.seed, f"{where.channel}/token", len(self.drawn), *keys)]
        return Messages(
            np.where(hit & messages.real & self.eligible[messages.tokens], token, messages.tokens), messages.lengths
        )


def _word_ids(vocabulary: Vocabulary) -> npt.NDArray[np.int32]:
    """Ids of the real words: no PAD, no markers, no UNK."""
    ids = (number for number, word in enumerate(vocabulary.words, 1) if word != UNKNOWN)
    return np.array([number for number in ids if number not in (vocabulary.start, vocabulary.eos)], np.int32)


def _mask(ids: npt.NDArray[np.int32], vocabulary: Vocabulary) -> npt.NDArray[np.bool_]:
    mask = np.zeros(vocabulary.size, bool)
    mask[ids] = True
    return mask


def replace_words(p: float, vocabulary: Vocabulary) -> Replace:
    """As the paper writes of questions and answers: each word, by a random word."""
    everything = np.arange(1, vocabulary.size, dtype=np.int32)
    markers = [vocabulary.start, vocabulary.eos]
    return Replace(p, _mask(np.setdiff1d(everything, markers), vocabulary), _word_ids(vocabulary))


def replace_content_words(p: float, vocabulary: Vocabulary) -> Replace:
    """As the paper writes of captions: each content word (no function word, no punctuation), by a random word."""
    content = [number for number, word in enumerate(vocabulary.words, 1) if word not in function_words()]
    return Replace(p, _mask(np.array(content, np.int32), vocabulary), _word_ids(vocabulary))


def replace_tokens(p: float, vocabulary: Vocabulary) -> Replace:
    """As released: each token, the closing EOS too, by any id of the vocabulary, START and EOS too."""
    everything = np.arange(1, vocabulary.size, dtype=np.int32)
    return Replace(p, _mask(everything, vocabulary), everything)


@cache
def function_words() -> frozenset[str]:
    """English function words and punctuation: what the paper's “content word” leaves out."""
    text = files("cooperation.method").joinpath("function_words.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("# ") for word in line.split())


@dataclass(frozen=True)
class Negate:
    """Change yes to no and no to yes, wherever they stand in an answer (paper, section 3)."""

    yes: int
    no: int

    def __call__(self, messages: Messages, where: Where) -> Messages:  # noqa: ARG002
        """Messages [dialogs, length] with yes and no exchanged."""
        tokens = messages.tokens
        swapped = np.where(tokens == self.yes, self.no, np.where(tokens == self.no, self.yes, tokens))
        return Messages(swapped.astype(np.int32), messages.lengths)


@dataclass(frozen=True)
class NegateExact:
    """As released: exchange yes and no only where they are the whole answer."""

    yes: int
    no: int
    eos: int

    def __call__(self, messages: Messages, where: Where) -> Messages:
        """Messages [dialogs, length]; those of exactly one word and EOS have yes and no exchanged."""
        tokens = messages.tokens
        exact = messages.lengths == 2
        if tokens.shape[-1] >= 2:
            exact &= tokens[:, 1] == self.eos
        return Messages(
            np.where(exact[:, None], Negate(self.yes, self.no)(messages, where).tokens, tokens), messages.lengths
        )


def look(images: Floats, where: Where) -> Floats:  # noqa: ARG001
    """Show the images as they are."""
    return images


def noise(images: Floats, where: Where) -> Floats:
    """Replace feature vectors [dialogs, features] by z ~ U(0, 1), not normalised, one z a dialog for all rounds."""
    keys = (where.dialogs[:, None], np.arange(images.shape[1]))
    return randomness.uniform(where.seed, where.channel, *keys).astype(np.float32)


@dataclass(frozen=True)
class Partners:
    """Another dialog for each, never itself, the same for every channel and round.

    image_ids: all dialogs' image ids, sorted; rows: the partner's row among the dialogs as they were given.
    """

    image_ids: npt.NDArray[np.int64]
    rows: Rows

    @classmethod
    def of(cls, image_ids: npt.NDArray[np.int64], seed: int) -> "Partners":
        """Put the dialogs in a random circle: each one's partner is its neighbour."""
        if len(image_ids) < 2:
            raise InputError("a swap needs at least two dialogs")
        circle = np.argsort(randomness.uniform(seed, "partner", image_ids), kind="stable")
        rows = np.empty_like(circle)
        rows[circle] = np.roll(circle, 1)
        order = np.argsort(image_ids)
        return cls(image_ids[order], rows[order])

    def __call__(self, where: Where) -> Rows:
        """Rows of the batch's partners: [dialogs of the batch]."""
        return self.rows[np.searchsorted(self.image_ids, where.dialogs)]


@dataclass(frozen=True)
class SwapMessages:
    """Deliver what was said in another dialog in the same round: the information goes, the language stays.

    messages: those of all dialogs, [dialogs, rounds, length]; the caption is the only one of its kind.
    """

    partners: Partners
    messages: Messages

    def __call__(self, messages: Messages, where: Where) -> Messages:  # noqa: ARG002
        """The partners' messages of this round [dialogs of the batch, length]."""
        return self.messages[:, max(where.round - 1, 0)][self.partners(where)]


@dataclass(frozen=True)
class SwapImages:
    """Show another dialog's image. images: those of all dialogs, [dialogs, features]."""

    partners: Partners
    images: Floats

    def __call__(self, images: Floats, where: Where) -> Floats:  # noqa: ARG002
        """The partners' images [dialogs of the batch, features]."""
        return self.images[self.partners(where)]
