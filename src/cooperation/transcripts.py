"""What was said and heard in one dialog of a result, as words."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cooperation.messages import Messages
from cooperation.results import Result
from cooperation.text import Vocabulary

WHO = {"caption": "", "asks": "Q", "answers": "A"}
"""Who says a message, in a letter."""


@dataclass(frozen=True)
class Message:
    """One message: its round (0: the caption), who says it (caption, asks, answers), as said and as heard."""

    round: int
    who: str
    said: str
    heard: str

    @property
    def changed(self) -> bool:
        """Whether something else was heard than was said."""
        return self.said != self.heard


def transcript(result: Result, row: int, vocabulary: Vocabulary) -> list[Message]:
    """The caption, and the question and answer of every round, of the dialog in this row."""
    said, heard = result.caption_said[row], result.caption_heard[row]
    messages = [_message(0, "caption", said, heard, vocabulary)]
    for turn in range(result.question_said.lengths.shape[1]):
        for who, name in (("asks", "question"), ("answers", "answer")):
            pair = (getattr(result, f"{name}_said")[row, turn], getattr(result, f"{name}_heard")[row, turn])
            messages.append(_message(turn + 1, who, *pair, vocabulary))
    return messages


def _message(number: int, who: str, said: Messages, heard: Messages, vocabulary: Vocabulary) -> Message:
    return Message(number, who, " ".join(words(said, vocabulary)), " ".join(words(heard, vocabulary)))


def places(ranks: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Ranks counted from 1, the best, as the paper prints them; a result counts the candidates that lie nearer."""
    return ranks + 1


def sees_noise(result: Result) -> bool:
    """Whether the answerer sees noise in the second row of a manual intervention's result."""
    return bool(json.loads(result.attributes["settings"]).get("image"))


def figure_of(result: Result) -> str:
    """Name of the figure: 2 of a result whose condition is `figure_2`."""
    return str(result.attributes["condition"]).removeprefix("figure_")


def title_of(result: Result) -> str:
    """Two lines: the figure and its title; which dialog of which data set, and how it was played."""
    names = result.attributes
    title = f"Figure {figure_of(result)}. {names['title']}".rstrip(". ")
    dialog = json.loads(names["settings"])["dialog"]
    rule = f", the dialog of {dialog}" if isinstance(dialog, str) else ""
    image = f"{names['dataset']}: image {result.image_ids[0]}{rule}"
    return f"{title}\n{image}; reading {names['reading']}, seed {names['seed']}"


def describe_manual(result: Result) -> str:
    """A figure in words, for those who can't see it: what was changed, and the ranks without and with."""
    names, ranks = result.attributes, places(result.ranks)
    kinds = ["answers" if name == "exchange" else name for name in json.loads(names["settings"]) if name != "dialog"]
    without, with_it = (f"from {row[0]:,g} by caption to {row[-1]:,g} in round 10" for row in ranks)
    return (
        f"Two transcripts of one dialog, without and with an intervention ({', '.join(dict.fromkeys(kinds))}), and a "
        f"line chart of its rank among {names['candidates']:,}: without {without}, with {with_it}."
    )


def as_text(result: Result, vocabulary: Vocabulary) -> str:
    """Both dialogs of a manual intervention to print: `*` marks what was changed, brackets hold what had been said."""
    return "\n".join(_lines(result, vocabulary))


def _lines(result: Result, vocabulary: Vocabulary) -> Iterator[str]:
    names = result.attributes
    yield f"image {result.image_ids[0]}, reading {names['reading']}; ranks among {names['candidates']:,}, 1 is best"
    for row, title in enumerate(("without the intervention", "with it (*: changed; in brackets: what had been said)")):
        yield f"\n{title}"
        if row and sees_noise(result):
            yield "*        the answerer sees noise"
        ranks = places(result.ranks[row])
        for message in transcript(result, row, vocabulary):
            mark, note = ("*", f"  [{message.said}]") if message.changed else (" ", "")
            number = "" if message.who == "answers" else message.round
            rank = "" if message.who == "asks" else f"  (rank {ranks[message.round]:g})"
            yield f"{mark} {number:>2} {WHO[message.who]:2}  {message.heard}{note}{rank}"


def words(message: Messages, vocabulary: Vocabulary) -> list[str]:
    """Every token of one message as a word, markers too, except the EOS that closes it."""
    ids = message.tokens[: int(message.lengths)].tolist()
    if ids and ids[-1] == vocabulary.eos:
        ids.pop()
    markers = {0: "‹pad›", vocabulary.start: "‹start›", vocabulary.eos: "‹end›"}
    return [
        vocabulary.words[number - 1] if 1 <= number <= len(vocabulary.words) else markers.get(number, "‹?›")
        for number in ids
    ]
