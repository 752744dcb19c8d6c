"""The made-up world: its parameters, and the scenes that its dialogs are about."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from cooperation.files import InputError
from cooperation.settings import setting

Scene = Mapping[str, str]
"""Attribute → value, see `ATTRIBUTES`."""

ATTRIBUTES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "setting": ("grass", "sand", "snow", "water", "stone", "soil"),
        "shape": ("ball", "box", "cone", "star", "cross"),
        "color": ("red", "orange", "yellow", "green", "blue", "purple", "pink", "black"),
        "size": ("small", "large"),
        "place": ("left", "middle", "right"),
        "pattern": ("plain", "striped"),
        "birds": ("none", "one", "two", "three"),
        "fence": ("no", "yes"),
        "sky": ("blue", "gray", "orange", "black"),
        "frame": ("no", "yes"),
    }
)
SPLITS = ("train", "val")


@dataclass(frozen=True)
class World:
    """The made-up world.

    Every dialog has a scene of its own. `caption`, `dialog` and `picture` say how often the caption, the answers
    and the picture are about that scene; otherwise they are about another scene, drawn independently, so that
    their statistics stay the same and only what they tell goes. Worlds whose truth is known:

    caption only (1, 0, 1), dialog only (0, 1, 1), picture blind (1, 1, 0: what is said agrees, the picture shows
    something else), nothing (0, 0, 0).
    """

    seed: int = setting(1, "everything in the world follows from this number")
    train: int = setting(3000, "dialogs to train on")
    val: int = setting(600, "dialogs to play and rank")
    pixels: int = setting(64, "width and height of a picture, in pixels")
    caption: float = setting(1.0, "share of captions that are about their dialog's scene, 0 to 1")
    dialog: float = setting(1.0, "share of dialogs whose answers are about their scene, 0 to 1")
    picture: float = setting(1.0, "share of pictures that show their dialog's scene, 0 to 1")
    wander: float = setting(0.3, "chance that a question leaves the usual order of topics, 0 to 1")

    def __post_init__(self) -> None:
        for name in ("caption", "dialog", "picture", "wander"):
            if not 0 <= getattr(self, name) <= 1:
                raise InputError(f"miniature: {name} is {getattr(self, name)}; choose a number from 0 to 1")
        for name, least in {"seed": 0, "train": 1, "val": 1, "pixels": 32}.items():
            if getattr(self, name) < least:
                raise InputError(f"miniature: {name} is {getattr(self, name)}; choose at least {least}")

    def size(self, split: str) -> int:
        """Number of dialogs of a split (`train` or `val`)."""
        return {"train": self.train, "val": self.val}[split]

    def generator(self, split: str, purpose: str) -> np.random.Generator:
        """Random numbers of their own for one purpose, so that changing one channel leaves the others as they are."""
        return np.random.default_rng([self.seed, SPLITS.index(split), *purpose.encode()])


@dataclass(frozen=True)
class Truths:
    """What the three channels of each dialog are about: three lists of scenes, equally long."""

    captions: list[Scene]
    dialogs: list[Scene]
    pictures: list[Scene]


def draw_scenes(random: np.random.Generator, count: int) -> list[Scene]:
    """Draw scenes whose attributes are independent and even."""
    columns = [random.choice(values, count).tolist() for values in ATTRIBUTES.values()]
    return [dict(zip(ATTRIBUTES, row, strict=True)) for row in zip(*columns, strict=True)]


def draw_truths(world: World, split: str) -> Truths:
    """Draw the scenes of a split and, for each channel, whether it is about them."""
    count = world.size(split)
    scenes = draw_scenes(world.generator(split, "scenes"), count)

    def about(channel: str, share: float) -> list[Scene]:
        others = draw_scenes(world.generator(split, f"other {channel}"), count)
        own = world.generator(split, f"own {channel}").random(count) < share
        return [scene if true else other for scene, other, true in zip(scenes, others, own, strict=True)]

    return Truths(about("caption", world.caption), about("dialog", world.dialog), about("picture", world.picture))
