"""Messages and images of other dialogs: in distribution, but sometimes the same. The paper lacks it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cooperation.game.interventions import CHANNELS, Kind

if TYPE_CHECKING:
    from cooperation.game.messages import Floats, Messages
    from cooperation.game.place import Place


@dataclass(frozen=True)
class Swap(Kind):
    """another dialog's caption, image, question or answer is delivered: which is in distribution"""

    channels = CHANNELS
    uses_other_dialogs = True
    # Another dialog may say the same.
    may_change_nothing = True

    def deliver(self, messages: "Messages", place: "Place") -> "Messages":  # noqa: ARG002
        """What was said in the partner's dialog in the same round of the unperturbed game."""
        return place.partners_messages()

    def show(self, images: "Floats", place: "Place") -> "Floats":  # noqa: ARG002
        """The partner's image."""
        return place.partners_images()
