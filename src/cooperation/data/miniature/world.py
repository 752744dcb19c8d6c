"""The made-up world: the scenes that its captions, dialogs and pictures are about."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from cooperation.config.preparation import World
from cooperation.config.sources import SPLITS

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


def generator(world: World, split: str, purpose: str) -> np.random.Generator:
    """A random generator for one purpose of its own, so that a change of one channel leaves the others as they are."""
    return np.random.default_rng([world.seed, SPLITS.index(split), *purpose.encode()])


@dataclass(frozen=True)
class GroundTruth:
    """The scenes [dialogs] that the captions, the answers and the pictures of a split are about."""

    captions: list[Scene]
    dialogs: list[Scene]
    pictures: list[Scene]


def draw_scenes(random: np.random.Generator, count: int) -> list[Scene]:
    """Draw scenes whose attributes are independent and uniform."""
    columns = [random.choice(values, count).tolist() for values in ATTRIBUTES.values()]
    return [dict(zip(ATTRIBUTES, row, strict=True)) for row in zip(*columns, strict=True)]


def draw_ground_truth(world: World, split: str) -> GroundTruth:
    """Draw the scenes of a split and, for each channel and dialog, whether it is about the dialog's own scene."""
    count = {"train": world.train, "val": world.val}[split]
    scenes = draw_scenes(generator(world, split, "scenes"), count)

    def about(channel: str, share: float) -> list[Scene]:
        others = draw_scenes(generator(world, split, f"other {channel}"), count)
        own = generator(world, split, f"own {channel}").random(count) < share
        return [scene if true else other for scene, other, true in zip(scenes, others, own, strict=True)]

    return GroundTruth(about("caption", world.caption), about("dialog", world.dialog), about("picture", world.picture))
