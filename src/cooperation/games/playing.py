"""Conditions, played on every validation dialog: from checkpoint and dialogs to results."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from cooperation.bots.checkpoint import Checkpoint
from cooperation.bots.player import AnswererPlayer, QuestionerPlayer
from cooperation.conditions import Condition
from cooperation.data.store import Dialogs
from cooperation.files import InputError
from cooperation.games.ranking import Ranker
from cooperation.games.results import Result
from cooperation.messages import ROUNDS, Floats, Messages, widened, with_end
from cooperation.method.facts import FORMATS
from cooperation.method.game import Game, Match, Script, Tampering, join_games, own, play_branching
from cooperation.method.interventions import Partners
from cooperation.method.readings import Reading, swapping, tampering
from cooperation.text import Vocabulary


class Games:
    """The games of two bots about images, each guess ranked among these, so many dialogs played at a time.

    images: [dialogs, features], in the dialogs' order.
    """

    def __init__(self, checkpoint: Checkpoint, dialogs: Dialogs, images: Floats, reading: Reading, batch: int) -> None:
        self.checkpoint, self.reading, self.batch = checkpoint, reading, batch
        self.ranker = Ranker(images, checkpoint.device, checkpoint.questioner.span().cpu().numpy())
        self.dialogs, self.images = dialogs, images

    def play(self, condition: Condition, control: Result | None = None) -> Game:
        """Play a condition; control: the game without tampering, where it needs that."""
        script = (
            control_script(control, condition.start)
            if control
            else human_script(self.dialogs, self.checkpoint.vocabulary, condition.script)
        )
        done = self._tampering(condition, script, control)
        return join_games([match.finish() for match in self._matches(condition.facts, script, done)])

    def play_branching(self, conditions: Sequence[Condition]) -> list[Game]:
        """The game without tampering, and the conditions that are this very game until they start."""
        script = Script.silent(len(self.dialogs))
        branches = [self._tampering(condition, script, None) for condition in conditions]
        whole = self._tampering(Condition(), script, None)
        batches = [play_branching(match, branches) for match in self._matches("reading", script, whole)]
        return [join_games(games) for games in zip(*batches, strict=True)]

    def _tampering(self, condition: Condition, script: Script, control: Result | None) -> Tampering:
        vocabulary, seed = self.checkpoint.vocabulary, self.checkpoint.training["seed"]
        return tampering_of(condition, self.reading, vocabulary, self.dialogs, self.images, script, control, seed)

    def _matches(self, facts: str, script: Script, done: Tampering) -> Iterator[Match]:
        """A match for each batch of dialogs."""
        vocabulary = self.checkpoint.vocabulary
        reads = FORMATS[self.reading.facts[self.checkpoint.facts] if facts == "reading" else facts](vocabulary)
        for start in tqdm(range(0, len(self.dialogs), self.batch), unit="batch", disable=None):
            rows = np.arange(start, min(start + self.batch, len(self.dialogs)))
            yield Match(
                QuestionerPlayer(self.checkpoint.questioner, vocabulary, reads),
                AnswererPlayer(self.checkpoint.answerer, vocabulary, reads),
                self.dialogs.captions[rows],
                self.images[rows],
                self.dialogs.image_ids[rows],
                self.checkpoint.training["seed"],
                script[rows],
                done,
                lambda guesses, rows=rows: self.ranker.rank(guesses, rows),  # type: ignore[misc]
            )


def tampering_of(
    condition: Condition,
    reading: Reading,
    vocabulary: Vocabulary,
    dialogs: Dialogs,
    images: Floats,
    script: Script,
    control: Result | None,
    seed: int,
) -> Tampering:
    """What a condition does to a game of all these dialogs.

    Swaps take what is said in other dialogs: by people, or by the bots in the control.
    """
    if condition.channel == "question" and condition.script == "dialog" and reading.remembered is own:
        raise InputError(
            "the question is tampered with, but where people answer nobody heeds what the answerer hears, nor is it "
            "remembered under this reading; leave script out"
        )
    if condition.by == "noise":
        return tampering(condition, reading, vocabulary)
    said = {
        "image": lambda: Messages.of([]),
        "caption": lambda: dialogs.captions[:, None],
        "question": lambda: control.question_said if control else script.questions,
        "answer": lambda: control.answer_said if control else script.answers,
    }[condition.channel]()
    if condition.takes_messages and said.lengths.shape[1] < ROUNDS:
        raise InputError(f"a swap of each {condition.channel} needs what other dialogs' bots say; give --control")
    return swapping(condition, reading, Partners.of(dialogs.image_ids, seed), images, said)


def check_control(control: Result, checkpoint: Checkpoint, dialogs: Dialogs, reading: str, place: Path) -> None:
    """Refuse, as an `InputError` that names `place`, a control of other bots, dialogs or another reading."""
    training = checkpoint.training
    for name, found, wanted in (
        ("model", control.attributes["model"], training["regime"]),
        ("seed", control.attributes["seed"], training["seed"]),
        ("reading", control.attributes["reading"], reading),
        ("dialogs", control.image_ids.tolist(), dialogs.image_ids.tolist()),
        ("condition", json.loads(control.attributes["settings"]), asdict(Condition())),
    ):
        if found != wanted:
            raise InputError(
                f"{place}: its {name} is not that of this game; give the condition `none` of the same bots"
            )


def human_script(dialogs: Dialogs, vocabulary: Vocabulary, what: str) -> Script:
    """What the recorded human dialog says instead of the bots: `none`, `questions` or the whole `dialog`."""
    silent = Script.silent(len(dialogs))
    questions = silent.questions if what == "none" else with_end(dialogs.questions, vocabulary.eos)
    answers = with_end(dialogs.answers, vocabulary.eos) if what == "dialog" else silent.answers
    return Script(questions, answers, silent.ranks)


def control_script(control: Result, start: int) -> Script:
    """The control's rounds before `start`: nothing differs there, so they are said and ranked as in the control."""
    rounds = slice(start - 1)
    return Script(control.question_said[:, rounds], control.answer_said[:, rounds], control.ranks[:, :start])


def as_result(game: Game, dialogs: Dialogs, condition: Condition, attributes: Mapping[str, Any]) -> Result:
    """The game's ranks, transcripts, and how much was tampered with; tampering with nothing is an error."""
    dialogs_played = slice(len(game.ranks))
    captions = dialogs.captions[dialogs_played]
    differing = [
        changed(captions, game.caption_heard)[:, None],
        changed(game.question_said, game.question_heard) + changed(game.answer_said, game.answer_heard),
    ]
    tokens = np.concatenate(differing, 1)
    messages = (tokens > 0).sum(0)
    if condition.channel == "image":
        messages[condition.start :] += len(game.ranks)
    # Where bots say the same in every dialog, another's message is no other: that is found, and no mistake.
    may_stay = condition.channel == "none" or condition.by == "swap"
    if not may_stay and not messages.any():
        raise InputError(
            f"the condition {attributes['condition']} tampered with nothing, which would look like robustness; "
            "check its channel, p and start, and that the bots say such words at all"
        )
    return Result(
        dialogs.image_ids[dialogs_played],
        game.ranks,
        messages,
        tokens.sum(0),
        captions,
        game.caption_heard,
        game.question_said,
        game.question_heard,
        game.answer_said,
        game.answer_heard,
        {"settings": json.dumps(asdict(condition)), **attributes},
    )


def changed(said: Messages, heard: Messages) -> Any:
    """Number of places in which the tokens differ: [...]."""
    width = max(said.tokens.shape[-1], heard.tokens.shape[-1])
    return (widened(said, width).tokens != widened(heard, width).tokens).sum(-1)


def trained_on(checkpoint: Checkpoint, dialogs: Dialogs) -> npt.NDArray[np.int64]:
    """Images of the dialogs that the bots were trained on."""
    return np.intersect1d(dialogs.image_ids, checkpoint.image_ids)


def refuse_trained_on(overlap: npt.NDArray[np.int64]) -> None:
    """Refuse, as an `InputError`, images that the bots were trained on."""
    if len(overlap):
        raise InputError(
            f"the bots were trained on image {overlap[0]} ({len(overlap)} such images), which they are now asked "
            "to guess; train them on other dialogs, or give --allow-trained-on"
        )


def odd_images(attributes: Mapping[str, Any], overlap: int) -> list[str]:
    """A line for each thing about the images that a reader of the ranks must know."""
    lines = {
        "have the very features of another, so they share their ranks": attributes.get("duplicates_val", 0),
        "were trained on, so their ranks may be known by heart": overlap,
    }
    return [f"{count:,} of the images {what}" for what, count in lines.items() if count]
