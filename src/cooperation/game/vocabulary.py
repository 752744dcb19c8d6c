"""Words and their ids."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from cooperation.game.messages import Ints
from cooperation.io.files import InputError

UNKNOWN = "UNK"


@dataclass(frozen=True)
class Vocabulary:
    """Ids: PAD 0, the words 1…n, then START n+1 and EOS n+2, so n+3 ids in all.

    The released program makes START n and EOS n+1 (START shares the id of its last word); checkpoints
    trained so are read with those ids, hence they are fields.
    """

    words: tuple[str, ...]
    start: int
    eos: int

    @classmethod
    def of(cls, words: Iterable[str]) -> "Vocabulary":
        """Give the words the ids 1…n in their order."""
        words = tuple(words)
        return cls(words, len(words) + 1, len(words) + 2)

    @property
    def size(self) -> int:
        """Number of ids, PAD and the markers included."""
        return max(len(self.words), self.start, self.eos) + 1

    @cached_property
    def ids(self) -> dict[str, int]:
        """Word → id."""
        return {word: number for number, word in enumerate(self.words, 1)}

    def encode(self, tokens: Sequence[str]) -> list[int]:
        """Ids of the tokens; those that are not in the vocabulary become UNK, which the vocabulary must have."""
        unknown = self.ids[UNKNOWN]
        return [self.ids.get(token, unknown) for token in tokens]

    def decode(self, ids: Iterable[int]) -> str:
        """The words of the ids up to EOS, joined by blanks; PAD and START are left out."""
        words = []
        for number in ids:
            if number == self.eos:
                break
            if 1 <= number <= len(self.words):
                words.append(self.words[number - 1])
        return " ".join(words)

    def negated(self, tokens: Ints) -> Ints:
        """No for yes and yes for no in tokens [..., length]; raises `InputError` where one of them is no word."""
        missing = [word for word in ("yes", "no") if word not in self.ids]
        if missing:
            raise InputError(
                f"kind negate: “{missing[0]}” is not in the vocabulary; lower the threshold or leave it out"
            )
        yes, no = self.ids["yes"], self.ids["no"]
        swapped: Ints = np.where(tokens == yes, no, np.where(tokens == no, yes, tokens)).astype(np.int32)
        return swapped

    @cached_property
    def every_token(self) -> npt.NDArray[np.int32]:
        """All ids but PAD: [size − 1]."""
        return np.arange(1, self.size, dtype=np.int32)

    @cached_property
    def known_words(self) -> npt.NDArray[np.int32]:
        """Ids of the real words, without UNK and markers: [words]."""
        ids = (number for number, word in enumerate(self.words, 1) if word != UNKNOWN)
        return np.array([number for number in ids if number not in (self.start, self.eos)], np.int32)

    @cached_property
    def is_token(self) -> npt.NDArray[np.bool_]:
        """False for PAD: [size]."""
        return self._among(self.every_token)

    @cached_property
    def is_word(self) -> npt.NDArray[np.bool_]:
        """True for words, UNK included: [size]."""
        return self._among(np.setdiff1d(self.every_token, [self.start, self.eos]))

    @cached_property
    def is_content_word(self) -> npt.NDArray[np.bool_]:
        """True for words that are neither function words nor punctuation: [size]."""
        content = [number for number, word in enumerate(self.words, 1) if word not in function_words()]
        return self._among(np.array(content, np.int32))

    def _among(self, ids: npt.NDArray[np.integer]) -> npt.NDArray[np.bool_]:
        mask = np.zeros(self.size, bool)
        mask[ids] = True
        return mask


@cache
def function_words() -> frozenset[str]:
    """English function words and punctuation: what the paper's “content word” leaves out."""
    text = files("cooperation.game").joinpath("function_words.txt").read_text(encoding="utf-8")
    return frozenset(word for line in text.splitlines() if not line.startswith("# ") for word in line.split())


def keep_words(counts: Mapping[str, int], threshold: int) -> Vocabulary:
    """Keep the words seen at least `threshold` times, in alphabetical order, and UNK as the last word."""
    kept = sorted(word for word, count in counts.items() if count >= threshold and word != UNKNOWN)
    return Vocabulary.of([*kept, UNKNOWN])
