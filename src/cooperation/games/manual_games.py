"""One dialog, played without and with a manual intervention (paper, section 8.1; Figures 2 to 5)."""

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from cooperation.bots.checkpoint import Checkpoint
from cooperation.bots.player import AnswererPlayer, QuestionerPlayer
from cooperation.data.store import Dialogs
from cooperation.files import InputError
from cooperation.games.playing import changed
from cooperation.games.ranking import Ranker
from cooperation.games.results import Result
from cooperation.messages import Floats, Messages, concatenate
from cooperation.method.facts import FORMATS
from cooperation.method.game import Game, Match, Script, Tampering, join_games
from cooperation.method.manual import Manual, interventions
from cooperation.method.readings import Reading

Play = Callable[[int, Tampering], Game]
"""Row of a dialog, what is done to it → the game of that one dialog."""


def play_manual(
    checkpoint: Checkpoint,
    dialogs: Dialogs,
    images: Floats,
    control: Result | None,
    manual: Manual,
    reading: Reading,
    attributes: Mapping[str, Any],
) -> Result:
    """Play the dialog that fits best without (row 0) and with the intervention (row 1): a result of two rows.

    dialogs, images: those of the candidates, [candidates] and [candidates, features]. control: the game without
    interventions, which a rule needs; of the dialogs in the rule's order, the first is taken in which the
    intervention changes anything at all.
    """
    ranks = None if control is None else control.ranks
    if control is not None and not np.array_equal(control.image_ids, dialogs.image_ids):
        raise InputError(
            f"the control has {len(control.image_ids):,} dialogs, which are not the {len(dialogs):,} candidates here; "
            "give the result of the condition none of the same data set, and the same --candidates"
        )
    game = _games(checkpoint, dialogs, images, reading)
    untouched = Tampering(remembered=reading.remembered)
    for row, done in interventions(manual, dialogs, ranks, checkpoint.vocabulary, reading.remembered):
        intervened, dialog = game(row, done), dialogs[np.array([row])]
        tokens = _tampered(intervened, dialog.captions)
        if manual.noise or tokens.any():
            given = {"model": "manual", "bots": checkpoint.training["regime"], "seed": checkpoint.training["seed"]}
            given |= {"candidates": len(dialogs), **attributes}
            return _result(game(row, untouched), intervened, dialog, tokens, manual, given)
    raise InputError(
        f"{manual.dialog}: nothing would be changed: what is put in place is what was said, "
        "or no word of an exchange was said; give other words or another dialog"
    )


def _games(checkpoint: Checkpoint, dialogs: Dialogs, images: Floats, reading: Reading) -> Play:
    """Prepare bots and candidates once, for games of one dialog each."""
    ranker = Ranker(images, checkpoint.device)
    reads = FORMATS[reading.facts[checkpoint.facts]](checkpoint.vocabulary)
    questioner = QuestionerPlayer(checkpoint.questioner, checkpoint.vocabulary, reads)
    answerer = AnswererPlayer(checkpoint.answerer, checkpoint.vocabulary, reads)

    def game(row: int, done: Tampering) -> Game:
        rows = np.array([row])
        return Match(
            questioner,
            answerer,
            dialogs.captions[rows],
            images[rows],
            dialogs.image_ids[rows],
            checkpoint.training["seed"],
            Script.silent(1),
            done,
            lambda guesses: ranker.rank(guesses, rows),
        ).finish()

    return game


def _tampered(game: Game, caption: Messages) -> npt.NDArray[np.int64]:
    """Tokens that were tampered with by round, the caption's first: [11]. caption: the recorded one, [1, length]."""
    turns = changed(game.question_said, game.question_heard) + changed(game.answer_said, game.answer_heard)
    tokens: npt.NDArray[np.int64] = np.concatenate([changed(caption, game.caption_heard), turns[0]])
    return tokens


def _result(
    original: Game,
    intervened: Game,
    dialog: Dialogs,
    tokens: npt.NDArray[np.int64],
    manual: Manual,
    attributes: Mapping[str, Any],
) -> Result:
    """Both games as one result. dialog: the one that was played, as a batch of its own."""
    messages = (tokens > 0).astype(np.int64)
    messages[1:] += manual.noise
    both = join_games([original, intervened])
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
        {"settings": json.dumps(manual.changes()), "title": manual.title, "text": manual.text, **attributes},
    )
