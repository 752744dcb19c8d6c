"""Captions and dialogs about scenes, in varied words."""

from typing import NamedTuple

import numpy as np

from cooperation.messages import ROUNDS
from cooperation.miniature.topics import TOPICS
from cooperation.miniature.world import Scene

Exchange = tuple[str, str]
"""A question (without its question mark, as in VisDial's files) and its answer."""


class Caption(NamedTuple):
    """A caption, its word for the thing, and which of `OPENINGS` it has."""

    text: str
    noun: str
    opening: int


NOUNS = {
    "ball": ("ball", "sphere"),
    "box": ("box", "cube"),
    "cone": ("cone", "pyramid"),
    "star": ("star",),
    "cross": ("cross", "plus"),
}
GROUNDS = {
    "grass": ("grass", "lawn", "meadow"),
    "sand": ("sand", "beach"),
    "snow": ("snow", "ice"),
    "water": ("water", "lake"),
    "stone": ("stone", "rock", "concrete"),
    "soil": ("soil", "dirt", "mud"),
}
# How a caption opens; each opening has its usual first topic.
OPENINGS = (
    "a {thing} on {ground}",
    "there is a {thing} on {ground}",
    "a picture of a {thing} on {ground}",
    "a photo of a {thing} lying on {ground}",
    "a {thing} is sitting on {ground}",
    "this is a {thing} on top of {ground}",
    "some {ground} with a {thing} on it",
    "one {thing} that stands on {ground}",
    "we see a {thing} on some {ground}",
    "an image of a {thing} against {ground}",
)
ADJECTIVES = ("color", "size", "pattern")
MORE = 0.35


def write_caption(scene: Scene, random: np.random.Generator) -> Caption:
    """Tell the setting, the shape and sometimes one thing more."""
    noun = str(random.choice(NOUNS[scene["shape"]]))
    adjective = scene[str(random.choice(ADJECTIVES))] + " " if random.random() < MORE else ""
    opening = int(random.integers(len(OPENINGS)))
    ground = random.choice(GROUNDS[scene["setting"]])
    return Caption(OPENINGS[opening].format(thing=adjective + noun, ground=ground), noun, opening)


def order_topics(opening: int, wander: float, random: np.random.Generator) -> list[int]:
    """Order the topics of the ten rounds, none twice.

    The first follows from the caption's opening, the next is the next on the circle of topics that hasn't been asked
    yet; with the chance `wander` either is any other. So a questioner can learn a way through all topics, but an
    answerer can't know what is asked without reading the question.
    """
    usual = opening % len(TOPICS)
    unasked = list(range(len(TOPICS)))
    order: list[int] = []
    for _ in range(ROUNDS):
        if random.random() < wander:
            chosen = int(random.choice(unasked))
        else:
            chosen = min(unasked, key=lambda topic: (topic - usual) % len(TOPICS))
        unasked.remove(chosen)
        order.append(chosen)
        usual = chosen + 1
    return order


def write_dialog(scene: Scene, noun: str, order: list[int], random: np.random.Generator) -> list[Exchange]:
    """Ask about the topics in turn; the answers are about `scene`, the word for the thing is the caption's."""
    exchanges = []
    for topic in (TOPICS[at] for at in order):
        weights = np.array([wording.weight for wording in topic.wordings])
        wording = topic.wordings[int(random.choice(len(weights), p=weights / weights.sum()))]
        thing = f"the {noun}" if random.random() < 0.3 else "it"
        exchanges.append((wording.question.format(it=thing), wording.answers[scene[topic.attribute]]))
    return exchanges
