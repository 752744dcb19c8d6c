"""yes ↔ no: the paper's intervention on answers (section 3, Table 2)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cooperation.game.interventions import Kind
from cooperation.io.files import InputError

if TYPE_CHECKING:
    from cooperation.game.messages import Messages
    from cooperation.game.place import Place
    from cooperation.game.vocabulary import Vocabulary


@dataclass(frozen=True)
class Negate(Kind):
    """yes becomes no, and no becomes yes"""

    channels = ("answer",)

    def deliver(self, messages: "Messages", place: "Place") -> "Messages":
        """Wherever they stand in an answer (paper, section 3)."""
        yes, no = _yes_no(place.vocabulary)
        was_yes, was_no = messages.tokens == yes, messages.tokens == no
        return messages.replaced(was_yes, no).replaced(was_no, yes)

    def deliver_as_released(self, messages: "Messages", place: "Place") -> "Messages":
        """Only where they are the whole answer: one word and EOS."""
        negated = self.deliver(messages, place)
        one_word = (messages.lengths == 2) & (messages.tokens[:, 1:2] == place.vocabulary.eos).any(-1)
        return messages.replaced(one_word[:, None], negated.tokens)


def _yes_no(vocabulary: "Vocabulary") -> tuple[int, int]:
    missing = [word for word in ("yes", "no") if word not in vocabulary.ids]
    if missing:
        raise InputError(f"kind negate: “{missing[0]}” is not in the vocabulary; lower the threshold or leave it out")
    return vocabulary.ids["yes"], vocabulary.ids["no"]
