"""The games of scripted bots, whose percentile rank under every intervention is known without training.

The N candidates are equally far from each other. So a right guess scores 100·(1 − 1/(2N)); with a wrong one, the true
image ties with all candidates but the one that was guessed (50 − 50/N); with the candidates' mean, which is guessed
where nothing is known, it ties with all of them (50).

In the world `scripted_leak` the questioner knows the last binary digit of the true image from the beginning: half of
the candidates are out of question, and the true image ties with the others (75), whatever is perturbed.
"""

from dataclasses import dataclass
from json import dumps

import numpy as np

from cooperation.bots.scripted import AskingOracleQuestioner, LeakingOracleQuestioner, ListeningOracleAnswerer
from cooperation.config.conditions import BASELINE, ORACLE_CONDITIONS
from cooperation.data.store import Dialogs
from cooperation.evaluation.playing import Games, as_result
from cooperation.evaluation.ranking import Ranker
from cooperation.evaluation.results import Result
from cooperation.game.messages import Floats, Messages
from cooperation.game.readings import READINGS
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.identity import ATTRIBUTE

# Numbers are said in binary digits, no and yes, so that a negated answer is always wrong.
VOCABULARY = Vocabulary.of(["no", "yes", "which", "UNK"])
BASE, DIGITS = 2, 7
DIALOGS = BASE**DIGITS
SEED = 1
READING = "written"
FEATURES = "unit vectors, equally far from each other"
# All of it follows from this program.
MADE_OF = {
    "vocabulary": ", ".join(VOCABULARY.words),
    "val dialogs": f"{DIALOGS} dialogs without a word",
    **dict.fromkeys(("features", "val images"), FEATURES),
}


@dataclass(frozen=True)
class Oracles:
    """See `protocols.Bots`: an oracle that asks, honest or with a leak, and one that answers."""

    candidates: Floats
    world: str
    facts: str = "plain"

    def players(self, facts: str) -> tuple[AskingOracleQuestioner, ListeningOracleAnswerer]:  # noqa: ARG002
        """Both oracles for all dialogs, one a candidate; they have no history, so they read no facts."""
        given = self.candidates, BASE, VOCABULARY.ids["which"]
        leaks = self.world == "scripted_leak"
        questioner = LeakingOracleQuestioner(*given, np.arange(DIALOGS)) if leaks else AskingOracleQuestioner(*given)
        return questioner, ListeningOracleAnswerer(*given)


def play_oracles(world: str) -> dict[str, Result]:
    """The result of each of `ORACLE_CONDITIONS`, by name, in one of `ORACLE_WORLDS`: 128 dialogs and candidates."""
    candidates = np.eye(DIALOGS, dtype=np.float32)
    dialogs = Dialogs(np.arange(DIALOGS, dtype=np.int64), _captions(), *[Messages.of([])] * 2)
    games = Games(Oracles(candidates, world), VOCABULARY, dialogs, candidates, Ranker(candidates), SEED, DIALOGS)
    results: dict[str, Result] = {}
    # The first is `none`, the baseline of the others.
    for name, condition in ORACLE_CONDITIONS.items():
        baseline = results[BASELINE] if condition.needs_baseline else None
        game = games.play(condition, READINGS[READING], baseline)
        named = {"dataset": world, "model": "scripted", "seed": SEED, "game_seed": SEED, "reading": READING}
        features = {"features": FEATURES, "candidates": DIALOGS}
        made_of = dumps(dict.fromkeys(("bots", "training"), world) | MADE_OF)
        attributes = {**named, "condition": name, **features, "device": "cpu", ATTRIBUTE: made_of}
        results[name] = as_result(game, dialogs, condition, attributes)
    return results


def _captions() -> Messages:
    """A different caption of seven words for every dialog; the oracles ignore it."""
    digits = np.arange(DIALOGS)[:, None] // BASE ** np.arange(DIGITS) % BASE
    return Messages((digits + 1).astype(np.int32), np.full(DIALOGS, DIGITS, np.int32))
