"""Captions and dialogs about scenes of the made-up world, in varied words."""

from typing import NamedTuple

import numpy as np

from cooperation.data.miniature.topics import TOPICS
from cooperation.data.miniature.world import Scene
from cooperation.game.messages import ROUNDS

Exchange = tuple[str, str]
"""A question (without its question mark, as in VisDial's files) and its answer."""


class Caption(NamedTuple):
    """A caption, its noun for the thing, and the index of its opening in `OPENINGS`."""

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
    "stone": ("stones", "rock", "concrete"),
    "soil": ("soil", "dirt", "mud"),
}
# Each opening has its usual first topic. The words around thing and ground are uninformative about them, and so is a
# caption whose content words are replaced.
OPENINGS = (
    "{thing} on the {ground}",
    "there is {thing} on the {ground}",
    "a picture of {thing} on the {ground}",
    "a photo of {thing} lying on the {ground}",
    "{thing} is sitting on the {ground}",
    "this is {thing} on top of the {ground}",
    "the {ground} with {thing} on it",
    "one can see {thing} standing on the {ground}",
    "we see {thing} on the {ground}",
    "an image of {thing} placed upon the {ground}",
)
ADJECTIVES = ("color", "size", "pattern")
# What a caption that is retold adds to the setting and the shape.
TELLING = {
    "color": "{}",
    "size": "{}",
    "pattern": "{}",
    "place": "in the {}",
    "birds": "birds {}",
    "fence": "fence {}",
    "sky": "{} sky",
    "frame": "frame {}",
}
# Share of captions with one of these adjectives.
MORE = 0.35


def write_caption(scene: Scene, random: np.random.Generator) -> Caption:
    """Write a caption that mentions the setting, the shape and sometimes an adjective."""
    noun = str(random.choice(NOUNS[scene["shape"]]))
    more = [scene[str(random.choice(ADJECTIVES))]] if random.random() < MORE else []
    thing = " ".join([*more, noun])
    article = "an" if thing[0] in "aeiou" else "a"
    opening = int(random.integers(len(OPENINGS)))
    ground = random.choice(GROUNDS[scene["setting"]])
    return Caption(OPENINGS[opening].format(thing=f"{article} {thing}", ground=ground), noun, opening)


def retell(caption: Caption, scene: Scene) -> Caption:
    """The same caption with all of the scene, so that no answer adds to it."""
    rest = ", ".join(TELLING[name].format(scene[name]) for name in TELLING)
    return caption._replace(text=f"{caption.text}, {rest}")


def order_topics(opening: int, wander: float, random: np.random.Generator) -> list[int]:
    """Order the topics of the ten rounds: indices in `TOPICS`, none twice.

    The first follows from the caption's opening, each further one is the next unasked one on the circle of topics; with
    probability `wander` either is any unasked one. So a questioner can learn an order of topics, but an answerer can't
    predict a question without reading it.
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
    """Write ten questions about the topics in `order`, and the answers for a scene; noun: the caption's."""
    exchanges = []
    for topic in (TOPICS[at] for at in order):
        weights = np.array([wording.weight for wording in topic.wordings])
        wording = topic.wordings[int(random.choice(len(weights), p=weights / weights.sum()))]
        thing = f"the {noun}" if random.random() < 0.3 else "it"
        exchanges.append((wording.question.format(it=thing), wording.answers[scene[topic.attribute]]))
    return exchanges
