"""Random tokens in place of those that were said: the paper's intervention on captions, questions and answers."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cooperation.game.interventions import Kind
from cooperation.io.settings import setting

if TYPE_CHECKING:
    from cooperation.game.messages import Messages
    from cooperation.game.place import Place


@dataclass(frozen=True)
class Replace(Kind):
    """each token becomes a random one with probability p"""

    channels = ("caption", "question", "answer")

    p: float = setting(1.0, "probability that a token is replaced", above=0, at_most=1)

    def deliver(self, messages: "Messages", place: "Place") -> "Messages":
        """Each word becomes a random word; of a caption, each content word (paper, section 3)."""
        words = place.vocabulary
        eligible = words.is_content_word if place.channel == "caption" else words.is_word
        return self._replaced(messages, place, eligible, words.known_words)

    def deliver_as_released(self, messages: "Messages", place: "Place") -> "Messages":
        """Each token, the closing EOS too, becomes any id of the vocabulary, START and EOS too."""
        words = place.vocabulary
        return self._replaced(messages, place, words.is_token, words.every_token)

    def _replaced(self, messages: "Messages", place: "Place", eligible: Any, drawn: Any) -> "Messages":
        """eligible: [ids], whether an id may be replaced; drawn: the ids that replace it, all equally likely.

        The token that is drawn does not depend on p, so a higher p only adds replacements.
        """
        hit = place.uniform("whether", messages.width) < self.p
        token = drawn[place.integers("token", len(drawn), messages.width)]
        return messages.replaced(hit & messages.real & eligible[messages.tokens], token)
