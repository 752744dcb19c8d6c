"""A dozen made-up dialogs with pictures, on which a builder's bots are checked where none are given."""

from typing import TYPE_CHECKING

import numpy as np

from cooperation.api import Dialog, Picture
from cooperation.evaluation.rules import Sample

if TYPE_CHECKING:
    from PIL.Image import Image

COLOURS = {"red": (200, 40, 40), "blue": (40, 60, 200), "green": (40, 160, 60), "yellow": (220, 200, 40)}
PLACES = {"grass": (90, 140, 70), "sand": (210, 190, 140), "snow": (235, 240, 245)}
SIDE, GRID = 64, 4


def made_up() -> Sample:
    """Twelve dialogs after two rounds about coloured boxes; a picture's features are the means of a grid, [48]."""
    scenes = [(colour, place) for colour in COLOURS for place in PLACES]
    dialogs = tuple(
        Dialog(
            f"a {colour} box on the {place}",
            (("is there a person?", "no"), ("what color is the box?", colour)),
        )
        for colour, place in scenes
    )
    questions = tuple(f"is there {('a dog', 'snow', 'a red thing')[number % 3]}?" for number in range(len(scenes)))
    return Sample(dialogs, questions, tuple(_picture(*scene, number) for number, scene in enumerate(scenes)))


def _picture(colour: str, place: str, number: int) -> Picture:
    pixels = np.full((SIDE, SIDE, 3), PLACES[place], np.uint8)
    pixels[16:44, 20:48] = COLOURS[colour]

    def opened() -> "Image":
        from PIL import Image  # noqa: PLC0415 - features need no Pillow

        return Image.fromarray(pixels)

    cell = SIDE // GRID
    row = pixels.reshape(GRID, cell, GRID, cell, 3).mean((1, 3)).reshape(-1).astype(np.float32) / 255
    row.flags.writeable = False
    return Picture(f"image {number}", None, opened, row)
