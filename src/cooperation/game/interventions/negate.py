"""yes ↔ no: the paper's intervention on answers (section 3, Table 2)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cooperation.game.interventions import Kind

if TYPE_CHECKING:
    from cooperation.game.messages import Messages
    from cooperation.game.place import Place


@dataclass(frozen=True)
class Negate(Kind):
    """yes becomes no, and no becomes yes"""

    channels = ("answer",)

    def deliver(self, messages: "Messages", place: "Place") -> "Messages":
        """Wherever they stand in an answer (paper, section 3)."""
        return messages.replaced(messages.real, place.vocabulary.negated(messages.tokens))

    def deliver_as_released(self, messages: "Messages", place: "Place") -> "Messages":
        """Only where they are the whole answer: one word and EOS."""
        negated = self.deliver(messages, place)
        one_word = (messages.lengths == 2) & (messages.tokens[:, 1:2] == place.vocabulary.eos).any(-1)
        return messages.replaced(one_word[:, None], negated.tokens)
