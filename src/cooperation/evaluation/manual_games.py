"""Games of one dialog, without and with a manual intervention (paper, section 8.1; Figures 2 to 5)."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from cooperation.data.store import Dialogs
from cooperation.evaluation.manual import Manual, fitting_dialogs
from cooperation.evaluation.playing import Games, changed
from cooperation.evaluation.results import Result
from cooperation.game.match import Game, Perturbation, Script, join_games
from cooperation.game.messages import Messages, concatenate
from cooperation.game.place import Context
from cooperation.game.readings import Reading
from cooperation.io.files import InputError


def play_manual(
    games: Games,
    manual: Manual,
    reading: Reading,
    baseline: Result | None,
    attributes: Mapping[str, Any],
    captions: Mapping[int, Sequence[str]] | None = None,
) -> Result:
    """Play one dialog without (row 0) and with the intervention (row 1): a result of two rows.

    baseline: the unperturbed game of all candidates, which a rule needs to order the dialogs; the first dialog in which
    the intervention changes anything is played. captions: image id → COCO's, for interventions that use them. Raises
    `InputError` where there is none, or the baseline is of other dialogs.
    """
    dialogs = games.dialogs
    if baseline is not None and not np.array_equal(baseline.image_ids, dialogs.image_ids):
        raise InputError(
            f"the baseline's {len(baseline.image_ids):,} dialogs are not the {len(dialogs):,} candidates here; "
            "give the result of the condition none of the same data set, and the same --candidates"
        )
    ranks = None if baseline is None else baseline.ranks
    for row, perturbation in fitting_dialogs(manual, dialogs, ranks, games.vocabulary, reading, captions):
        intervened, dialog = _play(games, row, perturbation, reading), dialogs[np.array([row])]
        tokens = _perturbed(intervened, dialog.captions)
        if manual.noise or tokens.any():
            original = _play(games, row, Perturbation(remember=reading.remember), reading)
            given = {"candidates": len(dialogs), **attributes}
            return _result(join_games([original, intervened]), dialog, tokens, manual, given)
    raise InputError(
        f"{manual.dialog}: nothing would be changed: the texts are what was said, "
        "or no word of an exchange was said; give other words or another dialog"
    )


def _play(games: Games, row: int, perturbation: Perturbation, reading: Reading) -> Game:
    """The game of one dialog."""
    facts, context = reading.facts[games.bots.facts], Context(games.seed, games.vocabulary)
    return games.match(np.array([row]), facts, Script.silent(1), perturbation, context).finish()


def _perturbed(game: Game, caption: Messages) -> npt.NDArray[np.int64]:
    """Number of perturbed tokens by round, the caption's first: [11]. caption: the recorded one, [1, length]."""
    turns = changed(game.question_said, game.question_heard) + changed(game.answer_said, game.answer_heard)
    tokens: npt.NDArray[np.int64] = np.concatenate([changed(caption, game.caption_heard), turns[0]])
    return tokens


def _result(
    both: Game, dialog: Dialogs, tokens: npt.NDArray[np.int64], manual: Manual, attributes: Mapping[str, Any]
) -> Result:
    """Both games as one result; dialog: a batch of the one that was played."""
    messages = (tokens > 0).astype(np.int64)
    messages[1:] += manual.noise
    told = {name: getattr(manual, name) for name in ("title", "text", "found")}
    return Result(
        np.repeat(dialog.image_ids, 2),
        both.ranks,
        messages,
        tokens,
        concatenate([dialog.captions, dialog.captions]),
        both.caption_heard,
        both.question_said,
        both.question_heard,
        both.answer_said,
        both.answer_heard,
        {"settings": json.dumps(manual.changes()), **told, **attributes},
    )
