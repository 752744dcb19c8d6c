"""The words of a recorded human dialog, from which texts of manual interventions take theirs."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from cooperation.data.store import Dialogs
from cooperation.data.tokeniser import tokenise
from cooperation.game.vocabulary import Vocabulary

Patterns = Mapping[str, re.Pattern[str]]
"""Part of a round (caption, question, answer) → pattern that must be found in it."""
OTHER_CAPTION = "other_caption"
TOLD = re.compile(rf"caption|{OTHER_CAPTION}|(question|answer)_([1-9]|10)")
"""Slots that need no pattern: the recorded caption, another one of the picture, the questions and answers by round."""


@dataclass(frozen=True)
class Recorded:
    """One recorded human dialog: its caption, the question and answer of every round, and all captions of its picture.

    captions: COCO's, none where they are not at hand.
    """

    caption: str
    questions: tuple[str, ...]
    answers: tuple[str, ...]
    captions: tuple[str, ...] = ()

    @classmethod
    def of(cls, dialogs: Dialogs, row: int, vocabulary: Vocabulary, captions: Sequence[str] = ()) -> "Recorded":
        """The dialog in this row; captions: of its picture."""
        questions, answers = (
            tuple(map(vocabulary.decode, messages[row].lists())) for messages in (dialogs.questions, dialogs.answers)
        )
        return cls(vocabulary.decode(dialogs.captions[row : row + 1].lists()[0]), questions, answers, tuple(captions))

    def find(self, patterns: Patterns) -> str | None:
        """The word that the last pattern finds (its first group, or all), in the first round where all are found."""
        for question, answer in zip(self.questions, self.answers, strict=True):
            texts = {"caption": self.caption, "question": question, "answer": answer}
            found = [pattern.search(texts[place]) for place, pattern in patterns.items()]
            if found and all(found):
                return str(found[-1][found[-1].lastindex or 0])  # type: ignore[index, union-attr]
        return None

    def tell(self, slot: str, vocabulary: Vocabulary) -> str | None:
        """The text of a slot of `TOLD`; None where the vocabulary lacks one of its words, or there is no other caption.

        Of several other captions it is the longest one, the first of those. There is none where the recorded caption is
        none of the picture's, for then they are not of this picture.
        """
        who, _, number = slot.partition("_")
        if slot == OTHER_CAPTION:
            # VisDial leaves out the full stops and capitals of COCO's.
            texts = [text for text in self.captions if _letters(text) != _letters(self.caption)]
            texts = texts if len(texts) < len(self.captions) else []
        else:
            texts = [self.caption if who == "caption" else getattr(self, f"{who}s")[int(number) - 1]]
        known = [text for text in texts if set(tokenise(text)) <= vocabulary.ids.keys()]
        return max(known, key=lambda text: len(tokenise(text)), default=None)


def _letters(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())
