"""Conditions are played on all validation dialogs: from bots and dialogs to results."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from cooperation.config.conditions import Condition
from cooperation.data.store import Dialogs
from cooperation.evaluation.results import Result
from cooperation.game.match import Batch, Game, Match, Perturbation, Script, join_games, play_branching
from cooperation.game.messages import ROUNDS, Floats, Messages, Rows, widened, with_end
from cooperation.game.place import Context, OtherDialogs
from cooperation.game.protocols import Bots
from cooperation.game.readings import Reading
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.files import InputError


class Ranking(Protocol):
    """Ranks guesses among candidates."""

    def rank(self, guesses: Any, truth: Rows) -> npt.NDArray[np.float64]:
        """Ranks [guesses] from 0 of the true images; guesses: as the questioners give them; truth: rows of dialogs."""


@dataclass(frozen=True)
class Games:
    """What two bots play with: dialogs about images, among which every guess is ranked.

    images: [dialogs, features], in the order of the dialogs and of the ranker's truth. seed: of perturbations and swap
    partners. batch: dialogs played at a time.
    """

    bots: Bots
    vocabulary: Vocabulary
    dialogs: Dialogs
    images: Floats
    ranker: Ranking
    seed: int
    batch: int

    def play(self, condition: Condition, reading: Reading, baseline: Result | None = None) -> Game:
        """Play a condition; baseline: the unperturbed game, where the condition needs it (`Condition.needs_baseline`).

        Raises `InputError` where it is needed for other dialogs' messages and missing.
        """
        script = (
            baseline_script(baseline, condition.start)
            if baseline
            else human_script(self.dialogs, self.vocabulary, condition.script)
        )
        context = Context(self.seed, self.vocabulary, self._others(condition, script, baseline))
        perturbation = Perturbation.of(reading, condition.channel, condition.kind, condition.start)
        facts = reading.facts[self.bots.facts] if condition.facts == "reading" else condition.facts
        return join_games([match.finish() for match in self._matches(facts, script, perturbation, context)])

    def play_branching(self, conditions: Sequence[Condition], reading: Reading) -> list[Game]:
        """Play the unperturbed game and, from their starts on, the conditions that branch (`Condition.branches`).

        Returns the unperturbed game, then the conditions' in their order.
        """
        script = Script.silent(len(self.dialogs))
        # Conditions that branch take no messages of other dialogs, images at most, which are the same for all of them.
        swapped = next((one for one in conditions if one.kind and one.kind.uses_other_dialogs), Condition())
        context = Context(self.seed, self.vocabulary, self._others(swapped, script, None))
        branches = [Perturbation.of(reading, one.channel, one.kind, one.start) for one in conditions]
        matches = self._matches(reading.facts[self.bots.facts], script, Perturbation.of(reading, "none", None), context)
        batches = [play_branching(match, branches) for match in matches]
        return [join_games(games) for games in zip(*batches, strict=True)]

    def _matches(self, facts: str, script: Script, perturbation: Perturbation, context: Context) -> Iterator[Match]:
        for start in tqdm(range(0, len(self.dialogs), self.batch), unit="batch", leave=None, disable=None):
            rows = np.arange(start, min(start + self.batch, len(self.dialogs)))
            yield self.match(rows, facts, script[rows], perturbation, context)

    def match(self, rows: Rows, facts: str, script: Script, perturbation: Perturbation, context: Context) -> Match:
        """The match of some dialogs [rows]; facts: their format; script: of these dialogs."""
        batch = Batch(self.dialogs.image_ids[rows], self.dialogs.captions[rows], self.images[rows])
        players = self.bots.players(facts)
        return Match(*players, batch, script, perturbation, context, lambda guesses: self.ranker.rank(guesses, rows))

    def _others(self, condition: Condition, script: Script, baseline: Result | None) -> OtherDialogs | None:
        """Other dialogs, where the condition uses them: as people said them, or bots in the baseline."""
        if condition.kind is None or not condition.kind.uses_other_dialogs:
            return None
        said = {"caption": self.dialogs.captions[:, None]}
        if condition.takes_messages:
            questions, answers = (
                (baseline.question_said, baseline.answer_said) if baseline else (script.questions, script.answers)
            )
            said[condition.channel] = questions if condition.channel == "question" else answers
            if said[condition.channel].lengths.shape[1] < ROUNDS:
                raise InputError(
                    f"another dialog's {condition.channel} is what its bots say unperturbed; give --baseline"
                )
        return OtherDialogs.of(self.dialogs.image_ids, self.images, said, self.seed)


def human_script(dialogs: Dialogs, vocabulary: Vocabulary, what: str) -> Script:
    """The part of the recorded human dialogs that takes the place of the bots' words: none, questions or dialog."""
    silent = Script.silent(len(dialogs))
    questions = silent.questions if what == "none" else with_end(dialogs.questions, vocabulary.eos)
    answers = with_end(dialogs.answers, vocabulary.eos) if what == "dialog" else silent.answers
    return Script(questions, answers, silent.ranks)


def baseline_script(baseline: Result, start: int) -> Script:
    """The baseline's messages and ranks before round `start`, from which on a condition differs."""
    rounds = slice(start - 1)
    return Script(baseline.question_said[:, rounds], baseline.answer_said[:, rounds], baseline.ranks[:, :start])


def as_result(game: Game, dialogs: Dialogs, condition: Condition, attributes: Mapping[str, Any]) -> Result:
    """Ranks, transcripts and how much was perturbed. dialogs: those of the game and, maybe, more behind them.

    attributes: see `Result`; `condition` is the condition's name.
    """
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
        {"settings": json.dumps(condition.settings), **attributes},
    )


def changed(said: Messages, heard: Messages) -> npt.NDArray[np.int64]:
    """Number of tokens that differ between messages [..., length] as said and as heard: [...]."""
    width = max(said.width, heard.width)
    differ: npt.NDArray[np.int64] = (widened(said, width).tokens != widened(heard, width).tokens).sum(-1)
    return differ
