"""Words and their ids."""

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

UNKNOWN = "UNK"
# Control characters, marks that change the direction of writing and the like, halves of characters, line separators.
HIDDEN = ("Cc", "Cf", "Cs", "Zl", "Zp")


def visible(text: str) -> str:
    """The text with what nobody sees, and what would disturb the text around it, shown: ‹U+202E›."""
    if text.isprintable():
        return text
    return "".join(f"‹U+{ord(sign):04X}›" if unicodedata.category(sign) in HIDDEN else sign for sign in text)


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
        """Ids of the tokens; words that are not in the vocabulary become UNK."""
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


def keep_words(counts: Mapping[str, int], threshold: int) -> Vocabulary:
    """Keep the words seen at least `threshold` times, in alphabetical order, and UNK as the last word."""
    kept = sorted(word for word, count in counts.items() if count >= threshold and word != UNKNOWN)
    return Vocabulary.of([*kept, UNKNOWN])
