"""Misspelt words. The paper lacks it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cooperation.game.interventions import Kind
from cooperation.io.settings import setting

if TYPE_CHECKING:
    from cooperation.game.messages import Messages
    from cooperation.game.place import Place


@dataclass(frozen=True)
class Typos(Kind):
    """each word has two neighbouring letters exchanged with probability p"""

    channels = ("caption", "question", "answer")

    p: float = setting(1.0, "probability that a word is misspelt", above=0, at_most=1)

    def deliver(self, messages: "Messages", place: "Place") -> "Messages":
        """A misspelling that is not in the vocabulary is read as UNK, as any unknown word is.

        The letters do not depend on p, so a higher p only adds typos. A word that has no two neighbouring letters that
        differ (a, aa) stays as it is.
        """
        words = place.vocabulary
        hit = (place.uniform("whether", messages.width) < self.p) & messages.real & words.is_word[messages.tokens]
        where = place.uniform("letter", messages.width)
        tokens = messages.tokens.copy()
        # All at once: a vocabulary that grows is built anew for new words. One without UNK may have none to encode.
        if spots := list(zip(*hit.nonzero(), strict=True)):
            tokens[hit] = words.encode([misspelt(words.words[tokens[spot] - 1], where[spot]) for spot in spots])
        return messages.replaced(hit, tokens)


def misspelt(word: str, where: float) -> str:
    """Exchange two neighbouring letters that differ; where: in [0, 1), from the first such pair to the last."""
    pairs = [at for at in range(len(word) - 1) if word[at] != word[at + 1]]
    if not pairs:
        return word
    at = pairs[int(where * len(pairs))]
    return word[:at] + word[at + 1] + word[at] + word[at + 2 :]
