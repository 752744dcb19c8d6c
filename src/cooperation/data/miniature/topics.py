"""What can be asked about a scene, in which words, and what is answered.

An answer is determined by the scene and the wording of the question, so a bot that sees the picture and reads the
question can know it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cooperation.data.miniature.world import ATTRIBUTES


@dataclass(frozen=True)
class Wording:
    """A wording of a question ({it}: the thing), the answer for each value of the attribute, its relative frequency."""

    question: str
    answers: Mapping[str, str]
    weight: float


@dataclass(frozen=True)
class Topic:
    """An attribute of the scene, and the wordings of questions about it."""

    attribute: str
    wordings: tuple[Wording, ...]


def _each(attribute: str, text: str = "{}") -> dict[str, str]:
    """Answers that contain the value."""
    return {value: text.format(value) for value in ATTRIBUTES[attribute]}


def _whether(attribute: str, true: tuple[str, ...], yes: str = "yes", no: str = "no") -> dict[str, str]:
    """Yes for some values, no for the others."""
    return {value: yes if value in true else no for value in ATTRIBUTES[attribute]}


def _always(attribute: str, text: str) -> dict[str, str]:
    """The same answer for all values: it is uninformative."""
    return dict.fromkeys(ATTRIBUTES[attribute], text)


_SOME = ("one", "two", "three")

# The usual order of topics, a circle.
TOPICS = (
    Topic(
        "sky",
        (
            Wording("what color is the sky", _each("sky"), 5),
            Wording("how does the sky look", _each("sky", "it looks {}"), 2),
            Wording("is the sky clear", _whether("sky", ("blue",), "yes, clear and blue", "no, it is not"), 1),
        ),
    ),
    Topic(
        "size",
        (
            Wording("is {it} large", _whether("size", ("large",)), 5),
            Wording("is {it} small", _whether("size", ("small",)), 2),
            Wording("how big is {it}", {"small": "quite small", "large": "very big"}, 1),
            Wording("would you call {it} big", _whether("size", ("large",), "yes, it is huge", "no, it is tiny"), 1),
        ),
    ),
    Topic(
        "frame",
        (
            Wording("is there a frame", _whether("frame", ("yes",)), 5),
            Wording("does the picture have a border", _whether("frame", ("yes",)), 2),
            Wording("what is around the picture", {"no": "nothing", "yes": "a brown frame"}, 1),
        ),
    ),
    Topic(
        "place",
        (
            Wording("where is {it}", {"left": "on the left", "middle": "in the middle", "right": "on the right"}, 5),
            Wording("which side is {it} on", {"left": "left side", "middle": "center", "right": "right side"}, 2),
            Wording(
                "is {it} in the middle", {"left": "no, on the left", "middle": "yes", "right": "no, on the right"}, 1
            ),
        ),
    ),
    Topic(
        "shape",
        (
            Wording("what brand is {it}", _always("shape", "can't tell"), 5),
            Wording("who made {it}", _always("shape", "i can't tell"), 2),
            Wording("what is it for", _always("shape", "not sure"), 1),
        ),
    ),
    Topic(
        "fence",
        (
            Wording("is there a fence", _whether("fence", ("yes",)), 5),
            Wording("do you see a fence", _whether("fence", ("yes",), "yes, a white one", "no fence"), 2),
            Wording("what is in front of {it}", {"no": "nothing", "yes": "a fence"}, 1),
        ),
    ),
    Topic(
        "color",
        (
            Wording("what color is {it}", _each("color"), 5),
            Wording("what is the color of {it}", _each("color"), 2),
            Wording("do you see what color {it} is", _each("color", "yes, {}"), 1),
            Wording("can you tell me its color", _each("color", "it is {}"), 1),
        ),
    ),
    Topic(
        "birds",
        (
            Wording("how many birds are there", _each("birds"), 5),
            Wording("how many birds can you see", _each("birds", "i see {}"), 2),
            Wording("are there any birds", _whether("birds", _SOME), 2),
        ),
    ),
    Topic(
        "birds",
        (
            Wording("are there any people", _always("birds", "no"), 5),
            Wording("do you see any people", _always("birds", "no people"), 2),
            Wording("is anyone there", _always("birds", "no"), 1),
        ),
    ),
    Topic(
        "pattern",
        (
            Wording("is {it} striped", _whether("pattern", ("striped",)), 5),
            Wording("does {it} have stripes", _whether("pattern", ("striped",)), 2),
            Wording("is {it} plain", _whether("pattern", ("plain",)), 1),
            Wording("any pattern on it", {"plain": "not that i can see", "striped": "yes, white stripes"}, 1),
        ),
    ),
)
