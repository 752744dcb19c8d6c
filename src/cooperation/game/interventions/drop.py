"""Messages that get lost. The paper lacks it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cooperation.game.interventions import Kind
from cooperation.io.settings import setting

if TYPE_CHECKING:
    from cooperation.game.messages import Messages
    from cooperation.game.place import Place


@dataclass(frozen=True)
class Drop(Kind):
    """nothing is heard of a message with probability p"""

    channels = ("caption", "question", "answer")

    p: float = setting(1.0, "probability that a message is lost", above=0, at_most=1)

    def deliver(self, messages: "Messages", place: "Place") -> "Messages":
        """A lost message has no tokens, not even an EOS."""
        lost = place.uniform("whether") < self.p
        return messages.cut(messages.lengths * ~lost)
