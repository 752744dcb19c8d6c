"""All conditions of a builder's model, under all readings, one after another."""

import hashlib
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from tqdm import tqdm

from cooperation.bots.recalling import Tally
from cooperation.commands.loaded import TextPlayers
from cooperation.commands.play import Plan
from cooperation.config.conditions import BASELINE, Condition
from cooperation.evaluation.playing import Games
from cooperation.evaluation.results import IDLE, read_ranks
from cooperation.evaluation.tested import Count, Played
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

    tally: of its calls. once: name → reading and game of what is the same in all readings. words: all and unknown ones
    that its bots said unperturbed, by channel; baseline: a hash of that game. prepared: seconds that `prepare` took.
    """

    number: int
    players: TextPlayers
    folder: Path
    results: str
    tally: Tally
    played: list[Played] = field(default_factory=list)
    once: dict[str, tuple[str, Game]] = field(default_factory=dict)
    words: dict[str, tuple[int, int]] = field(default_factory=dict)
    baseline: str = ""
    prepared: float = 0.0

    def play(self, conditions: Mapping[str, Condition], games: Games) -> None:
        """Play the conditions under all readings; each result is written as soon as it is there."""
        for reading in READINGS:
            folder = self.folder / self.results / reading
            plan = Plan(reading, dict(conditions), folder, folder / f"{BASELINE}.h5", self.players)
            for name in conditions:
                self.tally.clear()
                played = self._one(plan, name, games)
                self.prepared += self.tally.seconds.get("prepare", 0.0)
                self.played.append(played)
                if not played.same_as:
                    tqdm.write(f"{self.results}/{reading}/{name}: {self._said(played)}")

    def _one(self, plan: Plan, name: str, games: Games) -> Played:
        """Play a condition, or take it from another reading, and write its result."""
        begun, condition = time.perf_counter(), plan.conditions[name]
        nothing = Played(self.number, plan.reading, name, condition.settings, "", "", "", "", {}, 0.0)
        try:
            condition.check_reading(plan.reading)
        except InputError as error:
            return replace(nothing, note=str(error))
        same_as, game = self.once.get(name, ("", None))
        if game is None:
            [(_, game)] = replace(plan, conditions={name: condition}).play(games)
            if self.players.same_in_all_readings(condition):
                self.once[name] = plan.reading, game
            if name == BASELINE:
                self._count(game)
        file, note = f"{self.results}/{plan.reading}/{name}.h5", ""
        result = plan.write(name, game)
        if condition.kind and not result.perturbed_messages.any():
            note = "perturbed nothing: other dialogs have the same"
        if condition.idle(result.perturbed_messages):
            (self.folder / file).unlink()
            file, note = "", IDLE
        counts = {
            function: Count(made, self.tally.known[function], self.tally.seconds.get(function, 0.0))
            for function, made in self.tally.made.items()
        }
        return replace(
            nothing,
            file=file,
            sha256=digest(self.folder / file) if file else "",
            same_as=same_as,
            note=note,
            calls=counts,
            seconds=0.0 if same_as else time.perf_counter() - begun,
        )

    def _said(self, played: Played) -> str:
        """What was played, in a line."""
        found = [] if not played.note else [played.note]
        if played.file:
            mpr = read_ranks(self.folder / played.file).percentiles[:, ROUNDS].mean()
            made, known = (sum(getattr(count, name) for count in played.calls.values()) for name in ("made", "cached"))
            found.insert(0, f"MPR {mpr:.1f}; {made:,} calls, and {known:,} known, in {played.seconds:.1f} s")
        return "; ".join(found)

    def _count(self, game: Game) -> None:
        """Count the words that the bots say, and those that the data set does not know."""
        said = hashlib.sha256(game.ranks.tobytes())
        for channel, messages in (("question", game.question_said), ("answer", game.answer_said)):
            self.words[channel] = self.players.vocabulary.unknown(messages)
            said.update(messages.tokens.tobytes())
        self.baseline = said.hexdigest()
