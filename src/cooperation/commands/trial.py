"""All conditions of a builder's model, under all readings, one after another."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from tqdm import tqdm

from cooperation.bots.recalling import Tally
from cooperation.commands.loaded import TextPlayers
from cooperation.commands.play import Plan
from cooperation.config.conditions import BASELINE, Condition
from cooperation.evaluation.playing import Games, NothingPerturbedError
from cooperation.evaluation.tested import RESULTS, Count, Played
from cooperation.game.match import Game
from cooperation.game.messages import ROUNDS
from cooperation.game.readings import READINGS
from cooperation.io.files import InputError, digest

PEOPLE = Condition(script="dialog")


def with_people(conditions: Mapping[str, Condition]) -> dict[str, Condition]:
    """The conditions, the baseline first, and people's dialog among them."""
    found = {BASELINE: conditions[BASELINE], **conditions}
    if PEOPLE not in found.values():
        found["human" if "human" not in found else "human-dialog"] = PEOPLE
    return found


def calls_of(condition: Condition) -> int:
    """How many calls of the bots' functions a dialog takes."""
    rounds = ROUNDS + 1 - condition.start if condition.needs_baseline else ROUNDS
    asked, answered = condition.script == "none", condition.script != "dialog"
    return (asked + answered) * rounds + rounds + (not condition.needs_baseline)


@dataclass
class Trial:
    """A sample of a model that plays. number: from 1; folder: of the test; results: of the sample's results in it.

    tally: of its calls. words: known and unknown ones that its bots said unperturbed, by channel. prepared: seconds
    that `prepare` took.
    """

    number: int
    players: TextPlayers
    folder: Path
    results: str
    tally: Tally
    played: list[Played] = field(default_factory=list)
    words: dict[str, tuple[int, int]] = field(default_factory=dict)
    prepared: float = 0.0

    def play(self, conditions: Mapping[str, Condition], games: Games) -> None:
        """Play the conditions under all readings; each result is written as soon as it is there."""
        once: dict[str, tuple[str, Game]] = {}
        for reading in READINGS:
            folder = self.folder / self.results / reading
            plan = Plan(reading, dict(conditions), folder, folder / f"{BASELINE}.h5", self.players)
            for name, condition in conditions.items():
                try:
                    condition.check_reading(reading)
                except InputError as error:
                    self._note(plan, name, note=str(error))
                    continue
                if name in once:
                    first, game = once[name]
                    self._write(plan, name, game, same_as=first)
                    continue
                self.tally.clear()
                begun = time.perf_counter()
                [(_, game)] = replace(plan, conditions={name: condition}).play(games)
                self._write(plan, name, game, seconds=time.perf_counter() - begun)
                if self.players.same_in_all_readings(condition):
                    once[name] = reading, game
                if name == BASELINE and not self.words:
                    self._count(game)

    def _write(self, plan: Plan, name: str, game: Game, same_as: str = "", seconds: float = 0.0) -> None:
        """Write a result, and note it."""
        path = plan.folder / f"{name}.h5"
        try:
            plan.write(name, game)
        except NothingPerturbedError as error:
            path.unlink(missing_ok=True)
            self._note(plan, name, same_as, str(error), seconds)
            return
        self._note(plan, name, same_as, "", seconds)
        if not same_as:
            candidates = self.players.attributes["candidates"]
            mpr = 100 * (1 - (game.ranks[:, ROUNDS].mean() + 0.5) / candidates)
            made, known = sum(self.tally.made.values()), sum(self.tally.known.values())
            tqdm.write(
                f"{path.relative_to(self.folder / RESULTS)}: MPR {mpr:.1f} after round {ROUNDS}; {made:,} calls, and "
                f"{known:,} known, in {seconds:.1f} s"
            )

    def _note(self, plan: Plan, name: str, same_as: str = "", note: str = "", seconds: float = 0.0) -> None:
        """Note what was played, or why not."""
        self.prepared += self.tally.seconds.pop("prepare", 0.0)
        file = f"{self.results}/{plan.reading}/{name}.h5" if not note else ""
        counts = {
            function: Count(made, self.tally.known[function], self.tally.seconds.get(function, 0.0))
            for function, made in self.tally.made.items()
            if not same_as
        }
        settings = plan.conditions[name].settings
        sha256 = digest(self.folder / file) if file else ""
        self.played.append(
            Played(self.number, plan.reading, name, settings, file, sha256, same_as, note, counts, seconds)
        )

    def _count(self, game: Game) -> None:
        """Count the words that the bots say, and those that the data set does not know."""
        vocabulary = self.players.vocabulary
        for channel, said in (("question", game.question_said), ("answer", game.answer_said)):
            words = said.tokens[np.asarray(vocabulary.is_word)[said.tokens]]
            self.words[channel] = len(words), int((words > vocabulary.eos).sum())
