"""Words of bots that talk in text: a vocabulary that grows, so that every word stays what it was."""

import re
from collections.abc import Iterable, Sequence
from functools import cache, cached_property

import numpy as np
import numpy.typing as npt

from cooperation.game.messages import Ints, Messages
from cooperation.game.vocabulary import UNKNOWN, Vocabulary, function_words

MARKERS = ("‹start›", "‹end›")
"""Stand among the words in the places of START and EOS."""
# A yes or no that is a word of its own, with any punctuation around it: no-one and yes'm are other words, 'no' and _no_
# are not. A letter's accent may be a character of its own.
LETTER, JOINT, ACCENT = r"[^\W_]", r"[-_'’‐‑]", r"[\u0300-\u036f]"
YES_NO = re.compile(f"(?<!{LETTER})(?<!{LETTER}{JOINT})(yes|no)(?!{LETTER}|{JOINT}{LETTER}|{ACCENT})", re.IGNORECASE)
# What depends on the words.
_DERIVED = ("ids", "every_token", "known_words", "is_token", "is_word", "is_content_word")


class TextVocabulary(Vocabulary):
    """The words of a data set, with the ids that they have there, and behind them each new word that occurs.

    A word is what stands between blanks, with its punctuation and in its casing, so a message is its words joined by
    blanks. Interventions replace new words as they do others, but draw words of the data set alone.

    words: the data set's 1…n, two markers in the places of START n+1 and EOS n+2, then the new words.
    """

    def __init__(self, known: Vocabulary) -> None:
        super().__init__((*known.words, *MARKERS), len(known.words) + 1, len(known.words) + 2)

    @classmethod
    def of_words(cls, words: Sequence[str], known: int) -> "TextVocabulary":
        """The vocabulary of a list of `words` as another had it; known: how many are the data set's."""
        vocabulary = cls(Vocabulary.of(words[:known]))
        vocabulary.encode(words[known + len(MARKERS) :])
        return vocabulary

    @property
    def known(self) -> int:
        """How many words are the data set's."""
        return self.start - 1

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """Ids of the words; new ones get the next ids."""
        new = [token for token in dict.fromkeys(tokens) if token not in self.ids]
        if new:
            ids = self.ids
            ids.update(zip(new, range(self.size, self.size + len(new)), strict=True))
            object.__setattr__(self, "words", (*self.words, *new))
            for name in _DERIVED:
                self.__dict__.pop(name, None)
            # Made anew, they would cost more than a round of a few dialogs.
            self.__dict__["ids"] = ids
        return [self.ids[token] for token in tokens]

    def decode(self, ids: Iterable[int]) -> str:
        """The words of the ids up to EOS, joined by blanks; PAD and START are left out."""
        return super().decode(number for number in ids if number != self.start)

    def messages(self, texts: Sequence[str]) -> Messages:
        """Each text as ids with EOS behind it: [texts, length]."""
        words = [text.split() for text in texts]
        self.encode([word for said in words for word in said])
        return Messages.of([[*(self.ids[word] for word in said), self.eos] for said in words])

    def texts(self, messages: Messages) -> list[str]:
        """The texts of messages [messages, length]."""
        return [self.decode(ids) for ids in messages.lists()]

    def unknown(self, messages: Messages) -> tuple[int, int]:
        """How many words messages [..., length] have, and how many of them the data set does not know in any casing."""
        words, counts = np.unique(messages.tokens[self.is_word[messages.tokens]], return_counts=True)
        bare = [_bare(self.words[number - 1]) for number in words.tolist()]
        unknown = [
            number > self.eos and word != "" and self.ids.get(word, self.size) > self.eos
            for number, word in zip(words.tolist(), bare, strict=True)
        ]
        return int(counts.sum()), int(counts[np.array(unknown, bool)].sum())

    def adopted(self, messages: Messages, other: "TextVocabulary") -> Messages:
        """Messages [..., length] in the words of another, which has the same data set's, in the words of this one."""
        ids = np.array([*range(other.eos + 1), *self.encode(other.words[other.eos :])], np.int32)
        return Messages(ids[messages.tokens], messages.lengths)

    def negated(self, tokens: Ints) -> Ints:
        """Yes for no and no for yes in tokens [..., length], in the same casing, whatever punctuation is around it."""
        words = ((number, self.words[number - 1]) for number in np.unique(tokens[tokens > 0]).tolist())
        opposite = {number: YES_NO.sub(_opposite, word) for number, word in words if YES_NO.search(word)}
        becomes = self.encode(list(opposite.values()))
        for_each = np.arange(self.size, dtype=np.int32)
        for_each[list(opposite)] = becomes
        negated: Ints = for_each[tokens]
        return negated

    @cached_property
    def ids(self) -> dict[str, int]:
        """Word → id; no text is read as a marker."""
        places = enumerate(self.words, 1)
        return {word: number for number, word in places if number not in (self.start, self.eos)}

    @cached_property
    def every_token(self) -> npt.NDArray[np.int32]:
        """All ids of the data set but PAD: its words and the markers."""
        return np.arange(1, self.eos + 1, dtype=np.int32)

    @cached_property
    def known_words(self) -> npt.NDArray[np.int32]:
        """Ids of the data set's real words: [words]."""
        return np.array([number for number in range(1, self.start) if self.words[number - 1] != UNKNOWN], np.int32)

    @cached_property
    def is_token(self) -> npt.NDArray[np.bool_]:
        """False for PAD: [size]."""
        return np.arange(self.size) > 0

    @cached_property
    def is_word(self) -> npt.NDArray[np.bool_]:
        """True for words, new ones included: [size]."""
        return self.is_token & ~np.isin(np.arange(self.size), [self.start, self.eos])

    @cached_property
    def is_content_word(self) -> npt.NDArray[np.bool_]:
        """True for words that, without their casing and punctuation, are neither function words nor empty: [size]."""
        return np.array([False, *map(_is_content, self.words)]) & self.is_word


def _bare(word: str) -> str:
    """A word without its casing and the punctuation around it."""
    return re.sub(r"^\W+|\W+$", "", word).casefold()


@cache
def _is_content(word: str) -> bool:
    bare = _bare(word)
    return bool(bare) and bare not in function_words() and word not in function_words()


def _opposite(found: "re.Match[str]") -> str:
    """The other of yes and no, as it would be cased: Yes → No, NO → YES."""
    said = found[1]
    other = "no" if said.lower() == "yes" else "yes"
    return other.upper() if said.isupper() and len(said) > 1 else other.title() if said[0].isupper() else other
