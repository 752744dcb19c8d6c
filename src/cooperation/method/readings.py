"""The two readings of the paper's interventions: as written, and as its program was released (protocol, section 3)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from cooperation.conditions import Condition
from cooperation.files import InputError
from cooperation.messages import Floats, Messages
from cooperation.method.game import Remembered, Tampering, delivered, own
from cooperation.method.interventions import (
    Negate,
    NegateExact,
    Partners,
    SwapImages,
    SwapMessages,
    Tamper,
    noise,
    replace_content_words,
    replace_tokens,
    replace_words,
)
from cooperation.text import Vocabulary


@dataclass(frozen=True)
class Reading:
    """What the interventions mean.

    caption, message: p, vocabulary → tampering; negation: vocabulary → tampering of answers; remembered: what a bot's
    own history holds; facts: format of facts in training → format at inference.
    """

    caption: Callable[[float, Vocabulary], Tamper]
    message: Callable[[float, Vocabulary], Tamper]
    negation: Callable[[Vocabulary], Tamper]
    remembered: Remembered
    facts: Mapping[str, str]


def _yes_no(vocabulary: Vocabulary) -> tuple[int, int]:
    missing = [word for word in ("yes", "no") if word not in vocabulary.ids]
    if missing:
        raise InputError(f"negation: “{missing[0]}” is not in the vocabulary; lower the threshold or leave it out")
    return vocabulary.ids["yes"], vocabulary.ids["no"]


READINGS = MappingProxyType(
    {
        "written": Reading(
            caption=replace_content_words,
            message=replace_words,
            negation=lambda vocabulary: Negate(*_yes_no(vocabulary)),
            remembered=own,
            facts={"marked": "marked", "plain": "plain"},
        ),
        "released": Reading(
            caption=replace_tokens,
            message=replace_tokens,
            negation=lambda vocabulary: NegateExact(*_yes_no(vocabulary), vocabulary.eos),
            remembered=delivered,
            facts={"marked": "bare", "plain": "plain"},
        ),
    }
)


def tampering(condition: Condition, reading: Reading, vocabulary: Vocabulary) -> Tampering:
    """What a condition does to a game under a reading."""
    done: dict[str, Callable[[], dict[str, Any]]] = {
        "none": dict,
        "image": lambda: {"image": noise},
        "caption": lambda: {"caption": reading.caption(condition.p, vocabulary)},
        "question": lambda: {"question": reading.message(condition.p, vocabulary)},
        "answer": lambda: {"answer": reading.message(condition.p, vocabulary)},
        "negation": lambda: {"answer": reading.negation(vocabulary)},
    }
    return Tampering(**done[condition.channel](), start=condition.start, remembered=reading.remembered)


def swapping(
    condition: Condition, reading: Reading, partners: Partners, images: Floats, messages: Messages
) -> Tampering:
    """What a condition does that swaps dialogs, in place of noise; both readings do the same.

    images: all dialogs' [dialogs, features]; messages: what is said on the channel in all dialogs, [dialogs, rounds,
    length].
    """
    tamper = SwapImages(partners, images) if condition.channel == "image" else SwapMessages(partners, messages)
    return Tampering(**{condition.channel: tamper}, start=condition.start, remembered=reading.remembered)  # type: ignore[arg-type]
