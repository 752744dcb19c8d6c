"""Pictures of scenes of the made-up world, as JPEG."""

import io
import math

import numpy as np
from PIL import Image, ImageDraw

from cooperation.data.miniature.world import ATTRIBUTES, Scene

GROUND = {
    "grass": (96, 150, 72),
    "sand": (222, 196, 140),
    "snow": (240, 244, 250),
    "water": (40, 100, 170),
    "stone": (140, 140, 145),
    "soil": (92, 64, 48),
}
SKY = {"blue": (130, 190, 250), "gray": (160, 160, 165), "orange": (250, 170, 90), "black": (25, 25, 60)}
COLOR = {
    "red": (220, 20, 30),
    "orange": (255, 140, 0),
    "yellow": (255, 235, 30),
    "green": (0, 190, 40),
    "blue": (20, 40, 230),
    "purple": (130, 20, 160),
    "pink": (255, 130, 190),
    "black": (15, 15, 15),
}
# Fractions of the picture's width.
RADIUS = {"small": 0.15, "large": 0.26}
CENTRE = {"left": 0.28, "middle": 0.5, "right": 0.72}
HORIZON = 0.42
JITTER = 0.005
# Drawn larger and shrunk, which smooths the edges.
OVERSAMPLE = 4


def draw_picture(scene: Scene, random: np.random.Generator, pixels: int) -> bytes:
    """Draw a scene, with a little noise in shades and places: the bytes of a JPEG file, pixels × pixels."""
    width = pixels * OVERSAMPLE
    image = Image.new("RGB", (width, width), _shaded(SKY[scene["sky"]], random))
    canvas = ImageDraw.Draw(image)
    canvas.rectangle((0, HORIZON * width, width, width), fill=_shaded(GROUND[scene["setting"]], random))
    if scene["fence"] == "yes":
        _draw_fence(canvas, width)
    _draw_birds(canvas, ATTRIBUTES["birds"].index(scene["birds"]), random, width)
    _draw_thing(canvas, scene, random, width)
    if scene["frame"] == "yes":
        canvas.rectangle((0, 0, width - 1, width - 1), outline=(90, 50, 20), width=round(0.05 * width))
    buffer = io.BytesIO()
    image.resize((pixels, pixels), Image.Resampling.BOX).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def _shaded(color: tuple[int, int, int], random: np.random.Generator) -> tuple[int, int, int]:
    red, green, blue = (int(np.clip(round(part + random.normal(0, 1.5)), 0, 255)) for part in color)
    return red, green, blue


def _near(place: float, random: np.random.Generator, width: int) -> float:
    return (place + random.normal(0, JITTER)) * width


def _draw_fence(canvas: ImageDraw.ImageDraw, width: int) -> None:
    for left in np.arange(0.03, 1, 0.12) * width:
        canvas.rectangle((left, 0.84 * width, left + 0.06 * width, width), fill=(250, 250, 250), outline=(60, 60, 60))


def _draw_birds(canvas: ImageDraw.ImageDraw, count: int, random: np.random.Generator, width: int) -> None:
    for number in range(count):
        x, y = _near(0.22 + 0.28 * number, random, width), _near(0.12, random, width)
        half = 0.08 * width
        canvas.ellipse(
            (x - half, y - half / 2, x + half, y + half / 2), fill=(250, 250, 250), outline=(0, 0, 0), width=6
        )


def _draw_thing(canvas: ImageDraw.ImageDraw, scene: Scene, random: np.random.Generator, width: int) -> None:
    x, y = _near(CENTRE[scene["place"]], random, width), _near(0.54, random, width)
    radius = RADIUS[scene["size"]] * width
    corners = [(x + radius * a, y + radius * b) for a, b in OUTLINE[scene["shape"]]]
    canvas.polygon(corners, fill=_shaded(COLOR[scene["color"]], random))
    if scene["pattern"] == "striped":
        inside = Image.new("1", (width, width))
        ImageDraw.Draw(inside).polygon(corners, fill=1)
        bars = np.zeros((width, width), bool)
        for offset in (-0.45, 0.1, 0.65):
            top = y + (offset - 0.12) * radius
            bars[round(top) : round(top + 0.24 * radius)] = True
        canvas.bitmap((0, 0), Image.fromarray(np.asarray(inside) & bars), fill=(255, 255, 255))
    canvas.polygon(corners, outline=(0, 0, 0), width=3)


def _turned(corners: int, reaches: tuple[float, ...]) -> list[tuple[float, float]]:
    """Corners of a shape around the origin, y down, the first at the top."""
    angles = [2 * math.pi * corner / corners - math.pi / 2 for corner in range(corners)]
    return [
        (math.cos(angle) * reaches[at % len(reaches)], math.sin(angle) * reaches[at % len(reaches)])
        for at, angle in enumerate(angles)
    ]


_ARM = 0.35
OUTLINE = {
    "ball": _turned(48, (1.0,)),
    "box": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    "cone": [(0, -1.0), (1.0, 0.9), (-1.0, 0.9)],
    "star": _turned(10, (1.1, 0.45)),
    "cross": [
        (-_ARM, -1), (_ARM, -1), (_ARM, -_ARM), (1, -_ARM), (1, _ARM), (_ARM, _ARM),
        (_ARM, 1), (-_ARM, 1), (-_ARM, _ARM), (-1, _ARM), (-1, -_ARM), (-_ARM, -_ARM),
    ],
}  # fmt: skip
