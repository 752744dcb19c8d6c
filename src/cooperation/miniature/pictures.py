"""Scenes as small JPEG pictures."""

import io
import math

import numpy as np
from PIL import Image, ImageDraw

from cooperation.miniature.world import ATTRIBUTES, Scene

BACKGROUND = {
    "grass": (96, 150, 72),
    "sand": (222, 196, 140),
    "snow": (240, 244, 250),
    "water": (70, 120, 170),
    "stone": (140, 140, 145),
    "soil": (92, 64, 48),
}
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
RADIUS = {"small": 0.11, "large": 0.22}
CENTRE = {"left": 0.26, "middle": 0.5, "right": 0.74}
# Drawn larger and shrunk, which smooths the edges.
OVERSAMPLE = 4


def draw_picture(scene: Scene, random: np.random.Generator, pixels: int) -> bytes:
    """Draw one scene as a square JPEG, pixels × pixels × 3, with a little noise in shade and place."""
    width = pixels * OVERSAMPLE
    image = Image.new("RGB", (width, width), _shaded(BACKGROUND[scene["setting"]], random))
    canvas = ImageDraw.Draw(image)
    if scene["fence"] == "yes":
        _draw_fence(canvas, width)
    _draw_birds(canvas, ATTRIBUTES["birds"].index(scene["birds"]), random, width)
    _draw_thing(canvas, scene, random, width)
    if scene["frame"] == "yes":
        canvas.rectangle((0, 0, width - 1, width - 1), outline=(60, 30, 10), width=round(0.05 * width))
    buffer = io.BytesIO()
    image.resize((pixels, pixels), Image.Resampling.BOX).save(buffer, "JPEG", quality=90)
    return buffer.getvalue()


def _shaded(color: tuple[int, int, int], random: np.random.Generator) -> tuple[int, int, int]:
    red, green, blue = (int(np.clip(part + random.normal(0, 4), 0, 255)) for part in color)
    return red, green, blue


def _draw_fence(canvas: ImageDraw.ImageDraw, width: int) -> None:
    for left in np.arange(0.03, 1, 0.12) * width:
        canvas.rectangle((left, 0.84 * width, left + 0.06 * width, width), fill=(250, 250, 250), outline=(60, 60, 60))


def _draw_birds(canvas: ImageDraw.ImageDraw, count: int, random: np.random.Generator, width: int) -> None:
    for number in range(count):
        x, y = (0.25 + 0.25 * number + random.normal(0, 0.01)) * width, (0.14 + random.normal(0, 0.01)) * width
        half = 0.07 * width
        canvas.ellipse(
            (x - half, y - half / 2, x + half, y + half / 2), fill=(250, 250, 250), outline=(0, 0, 0), width=3
        )


def _draw_thing(canvas: ImageDraw.ImageDraw, scene: Scene, random: np.random.Generator, width: int) -> None:
    x = (CENTRE[scene["place"]] + random.normal(0, 0.01)) * width
    y = (0.53 + random.normal(0, 0.01)) * width
    radius = RADIUS[scene["size"]] * width
    fill = _shaded(COLOR[scene["color"]], random)
    corners = [(x + radius * a, y + radius * b) for a, b in OUTLINE[scene["shape"]]]
    canvas.polygon(corners, fill=fill)
    if scene["pattern"] == "striped":
        stripe = Image.new("1", (width, width))
        ImageDraw.Draw(stripe).polygon(corners, fill=1)
        bars = np.zeros((width, width), bool)
        for offset in (-0.5, 0.1, 0.7):
            top = y + offset * radius - 0.15 * radius
            bars[int(top) : int(top + 0.3 * radius)] = True
        canvas.bitmap((0, 0), Image.fromarray(np.asarray(stripe) & bars), fill=(255, 255, 255))
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
