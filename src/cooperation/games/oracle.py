"""The game of scripted bots, whose outcome under every intervention is known without training.

The candidates are equally far from each other. So a right guess has all but half a candidate behind it, a wrong one
ties with all the others (100/2 − 50/N), and so does the candidates' mean, which is guessed where nothing is known (50).
"""

import numpy as np

from cooperation.bots.scripted import AskingOracle, HeedingOracle
from cooperation.conditions import CONTROL, ORACLE_CONDITIONS, Condition
from cooperation.data.store import Dialogs
from cooperation.games.playing import as_result, tampering_of
from cooperation.games.ranking import Ranker
from cooperation.games.results import Result
from cooperation.messages import Messages
from cooperation.method.game import Match, Script
from cooperation.method.readings import READINGS
from cooperation.provenance import software
from cooperation.text import Vocabulary

# Numbers are said in binary digits, no and yes, so that a negated answer is always wrong.
VOCABULARY = Vocabulary.of(["no", "yes", "which", "UNK"])
BASE, DIGITS = 2, 7
DIALOGS = BASE**DIGITS
SEED = 1
READING = "written"


def play_oracles() -> dict[str, Result]:
    """The result of each of `ORACLE_CONDITIONS`, by name: a data set `scripted` of 128 dialogs and candidates."""
    results: dict[str, Result] = {}
    # The first is `none`, the control of the others.
    for name, condition in ORACLE_CONDITIONS.items():
        results[name] = _play(name, condition, results.get(CONTROL))
    return results


def _play(name: str, condition: Condition, control: Result | None) -> Result:
    candidates = np.eye(DIALOGS, dtype=np.float32)
    rows = np.arange(DIALOGS)
    ranker = Ranker(candidates)
    dialogs = Dialogs(rows.astype(np.int64), _captions(), *[Messages.of([])] * 2)
    script = Script.silent(DIALOGS)
    game = Match(
        AskingOracle(candidates, BASE, VOCABULARY.ids["which"]),
        HeedingOracle(candidates, BASE, VOCABULARY.ids["which"]),
        dialogs.captions,
        candidates,
        dialogs.image_ids,
        SEED,
        script,
        tampering_of(condition, READINGS[READING], VOCABULARY, dialogs, candidates, script, control, SEED),
        lambda guesses: ranker.rank(guesses, rows),
    ).finish()
    named = {"dataset": "scripted", "model": "scripted", "seed": SEED, "reading": READING, "condition": name}
    features = {"features": "unit vectors, equally far from each other", "candidates": DIALOGS}
    return as_result(game, dialogs, condition, named | features | software() | {"device": "cpu"})


def _captions() -> Messages:
    """A different caption of seven words for every dialog; the oracles don't care."""
    digits = np.arange(DIALOGS)[:, None] // BASE ** np.arange(DIGITS) % BASE
    return Messages((digits + 1).astype(np.int32), np.full(DIALOGS, DIGITS, np.int32))
