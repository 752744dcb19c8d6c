"""Ranks of a builder's bots (`cooperation.api`): by scores, or by the distance of a guess."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from cooperation.api import Dialog, Picture
from cooperation.bots.calls import Calls
from cooperation.bots.recalling import RecallingCalls, spoken
from cooperation.evaluation.ranking import Ranker
from cooperation.game.messages import Rows

Ranks = npt.NDArray[np.float64]
# Candidates that are scored in a call, and scores that are kept at a time: four million are 32 MB.
CANDIDATES, SCORES = 10_000, 4_000_000


def ranks_of(scores: npt.NDArray[np.floating], truth: Rows) -> Ranks:
    """How many candidates score higher than the true image, plus half of the others that score the same.

    scores [dialogs, candidates], truth: columns of the true images [dialogs] → ranks [dialogs] from 0.
    """
    own = np.take_along_axis(scores, truth[:, None], 1)  # [dialogs, 1]
    higher, same = (scores > own).sum(1), (scores == own).sum(1) - 1
    return np.asarray(higher + same / 2, np.float64)


@dataclass(frozen=True)
class ScoreRanker:
    """Ranks by `score`, some dialogs and candidates at a time.

    candidates: all pictures, or the rows of the bots' index. truth: row among them of each dialog's image, [dialogs].
    """

    calls: Calls
    candidates: Sequence[Any]
    truth: Rows

    def rank(self, guesses: tuple[Dialog, ...], truth: Rows) -> Ranks:
        """Ranks [dialogs] of the true images; guesses: the dialogs as the questioner heard them; truth: their rows."""
        at_once = max(SCORES // len(self.candidates), 1)
        parts = []
        for start in range(0, len(guesses), at_once):
            dialogs = guesses[start : start + at_once]
            scores = [
                self.calls.score(dialogs, self.candidates[at : at + CANDIDATES])
                for at in range(0, len(self.candidates), CANDIDATES)
            ]
            parts.append(ranks_of(np.concatenate(scores, 1), self.truth[truth[start : start + at_once]]))
        return np.concatenate(parts)


@dataclass(frozen=True)
class GuessRanker:
    """Ranks by the distance of `guess` to the candidates; truth: row of each dialog's image, [dialogs]."""

    calls: Calls
    ranker: Ranker
    truth: Rows

    def rank(self, guesses: tuple[Dialog, ...], truth: Rows) -> Ranks:
        """Ranks [dialogs] of the true images; guesses: the dialogs as the questioner heard them; truth: their rows."""
        width = int(self.ranker.candidates.shape[1])
        return self.ranker.rank(self.calls.guess(guesses, width), self.truth[truth])


def ranker_of(calls: Calls, pictures: Sequence[Picture], truth: Rows) -> ScoreRanker | GuessRanker:
    """How the bots' guesses are ranked among all pictures; truth: row of each dialog's picture, [dialogs].

    Raises `InputError` where guesses have nothing to be compared with (`Calls.vectors`).
    """
    index = calls.prepare(tuple(pictures))
    if calls.has("score"):
        return ScoreRanker(calls, tuple(pictures) if index is None else index, truth)
    return GuessRanker(calls, Ranker(calls.vectors(pictures, index)), truth)


@dataclass(frozen=True)
class RecallingRanker:
    """Ranks that are asked for once: what is kept is the rank of each dialog, not its scores.

    ranker: makes the one that finds those that are not known. candidates: hash of all pictures. truth: row among them
    of each dialog's image, [dialogs].
    """

    calls: RecallingCalls
    ranker: Callable[[], ScoreRanker | GuessRanker]
    candidates: str
    truth: Rows

    def rank(self, guesses: tuple[Dialog, ...], truth: Rows) -> Ranks:
        """Ranks [dialogs] of the true images; guesses: the dialogs as the questioner heard them; truth: their rows."""
        name = "score" if self.calls.has("score") else "guess"
        inputs = [
            [self.candidates, row, spoken(dialog)]
            for dialog, row in zip(guesses, self.truth[truth].tolist(), strict=True)
        ]

        def call(rows: list[int]) -> list[float]:
            return list(self.ranker().rank(tuple(guesses[row] for row in rows), truth[rows]))

        return np.array(self.calls.recall(name, inputs, call), np.float64)
