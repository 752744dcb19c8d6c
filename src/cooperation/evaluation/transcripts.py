"""One dialog of a result as words: what was said, and what was heard."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np
import numpy.typing as npt

from cooperation.evaluation.results import Result
from cooperation.game.messages import Messages
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.text import visible

WHO = {"caption": "", "asks": "Q", "answers": "A"}
"""The letter of who says a message."""
SHOWN = {"better": "the rank gets better", "same": "the rank hardly changes"}
"""What the paper found of a manual intervention, in words."""
SAME = 1000 / 40_000
"""Share of the candidates by which a rank that hardly changes may change: Figure 3's range in paper/claims.csv."""
LONGEST_WORD = 60
"""Letters of a word that are printed; some texts hold addresses."""


@dataclass(frozen=True)
class Message:
    """One message: its round (0: the caption), who says it (caption, asks, answers), its words as said and as heard.

    rank: the true image's after this message, counted from 1, the best; None after a question.
    """

    round: int
    who: str
    said_words: tuple[str, ...]
    heard_words: tuple[str, ...]
    rank: float | None

    @property
    def said(self) -> str:
        """The message as said."""
        return " ".join(self.said_words)

    @property
    def heard(self) -> str:
        """The message as heard."""
        return " ".join(self.heard_words)

    @property
    def changed(self) -> bool:
        """Whether the heard message differs from the said one."""
        return self.said_words != self.heard_words

    @property
    def marked(self) -> list[tuple[str, bool]]:
        """Each word heard, and whether it differs from the one said in its place."""
        pairs = zip_longest(self.said_words, self.heard_words, fillvalue="")
        return [(now, now != was) for was, now in pairs if now]

    @property
    def place(self) -> str:
        """The rank as it is printed, with a half where it is shared; "" after a question."""
        return "" if self.rank is None else printed(self.rank)


def transcript(result: Result, row: int, vocabulary: Vocabulary) -> list[Message]:
    """The caption, then question and answer of every round, of the dialog in a row of the result (21 messages).

    vocabulary: of the file of dialogs; bots that talk in text have their own.
    """
    vocabulary = result.vocabulary or vocabulary
    ranks = places(result.ranks[row]).tolist()
    said, heard = (words(messages[row], vocabulary) for messages in (result.caption_said, result.caption_heard))
    messages = [Message(0, "caption", said, heard, ranks[0])]
    for turn in range(result.question_said.lengths.shape[1]):
        for who, name, rank in (("asks", "question", None), ("answers", "answer", ranks[turn + 1])):
            said, heard = (words(getattr(result, f"{name}_{how}")[row, turn], vocabulary) for how in ("said", "heard"))
            messages.append(Message(turn + 1, who, said, heard, rank))
    return messages


def places(ranks: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Ranks counted from 1, the best, as the paper prints them; of the same shape.

    ranks: of a result, which counts the candidates that lie nearer.
    """
    return ranks + 1


def printed(place: float) -> str:
    """A rank counted from 1 as it is printed everywhere: 1,234 or 4.5."""
    return f"{place:,g}"


def sees_noise(result: Result) -> bool:
    """Whether the answerer sees noise in the second row of a manual intervention's result."""
    return bool(json.loads(result.attributes["settings"]).get("image"))


def figure_of(result: Result) -> str:
    """Name of the figure: 2 of a result whose condition is `figure_2`."""
    return str(result.attributes["condition"]).removeprefix("figure_")


def contrary(result: Result) -> bool:
    """Whether the rank after round 10 does not show what the paper found, where a manual intervention says what."""
    found, (without, with_it) = result.attributes.get("found"), result.ranks[:, -1]
    if found == "same":
        return bool(abs(with_it - without) > SAME * result.attributes["candidates"])
    return found == "better" and bool(with_it >= without)


def title_of(result: Result) -> str:
    """Two lines: the figure and its title; which dialog of which data set, and how it was played."""
    names = result.attributes
    title = f"Figure {figure_of(result)}. {names['title']}".rstrip(". ")
    title += f" (in the paper, {SHOWN[names['found']]}; here it is otherwise)" if contrary(result) else ""
    dialog = json.loads(names["settings"])["dialog"]
    rule = f", the dialog of {dialog}" if isinstance(dialog, str) else ""
    image = f"{names['dataset']}: image {result.image_ids[0]}{rule}"
    return f"{title}\n{image}; reading {names['reading']}, seed {names['seed']}"


def describe_manual(result: Result) -> str:
    """A manual intervention's figure in words: what was changed, and the ranks without and with it."""
    names, ranks = result.attributes, places(result.ranks)
    kinds = ["answers" if name == "exchange" else name for name in json.loads(names["settings"]) if name != "dialog"]
    without, with_it = (f"from {printed(row[0])} by caption to {printed(row[-1])} in round 10" for row in ranks)
    return (
        f"Two transcripts of one dialog, without and with an intervention ({', '.join(dict.fromkeys(kinds))}), and a "
        f"line chart of its rank among {names['candidates']:,}: without {without}, with {with_it}."
    )


def as_text(result: Result, vocabulary: Vocabulary) -> str:
    """Both dialogs of a manual intervention, to print: `*` marks changed messages, brackets hold what had been said."""
    return "\n".join(_lines(result, vocabulary))


def _lines(result: Result, vocabulary: Vocabulary) -> Iterator[str]:
    names = result.attributes
    yield f"image {result.image_ids[0]}, reading {names['reading']}; ranks among {names['candidates']:,}, 1 is best"
    for row, title in enumerate(("without the intervention", "with it (*: changed; in brackets: what had been said)")):
        yield f"\n{title}"
        if row and sees_noise(result):
            yield "*        the answerer sees noise"
        for message in transcript(result, row, vocabulary):
            mark, note = ("*", f"  [{message.said}]") if message.changed else (" ", "")
            number = "" if message.who == "answers" else message.round
            rank = f"  (rank {message.place})" if message.place else ""
            yield f"{mark} {number:>2} {WHO[message.who]:2}  {message.heard}{note}{rank}"


def words(message: Messages, vocabulary: Vocabulary) -> tuple[str, ...]:
    """Every token of one message, [length] and a length, as a word; markers too, except the EOS that closes it."""
    ids = message.tokens[: int(message.lengths)].tolist()
    if ids and ids[-1] == vocabulary.eos:
        ids.pop()
    markers = {0: "‹pad›", vocabulary.start: "‹start›", vocabulary.eos: "‹end›"}
    return tuple(
        _shown(vocabulary.words[number - 1]) if 1 <= number <= len(vocabulary.words) else markers.get(number, "‹?›")
        for number in ids
    )


def _shown(word: str) -> str:
    return visible(word if len(word) <= LONGEST_WORD else f"{word[:LONGEST_WORD]}…")
