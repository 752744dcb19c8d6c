"""Noise in place of the image's features: the paper's intervention on images."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cooperation.game.interventions import Kind

if TYPE_CHECKING:
    from cooperation.game.messages import Floats
    from cooperation.game.place import Place


@dataclass(frozen=True)
class Noise(Kind):
    """the answerer sees noise: a feature vector z ~ U(0, 1)"""

    channels = ("image",)

    def show(self, images: "Floats", place: "Place") -> "Floats":
        """z [dialogs, features] is not normalised, although the features are; a dialog has the same z in all rounds."""
        return place.uniform_of_all_rounds(images.shape[1]).astype(images.dtype)
