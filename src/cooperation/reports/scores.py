"""What the statistics need of the results of the games."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cooperation.config.conditions import Condition, read_condition
from cooperation.config.training import in_effect
from cooperation.data.agreements import OTHERS
from cooperation.evaluation.results import Result
from cooperation.io.files import InputError
from cooperation.io.identity import Identity
from cooperation.reports.bootstrap import Doubles, Singles

HITS = (1, 5, 10)
"""The k of Hits@k: the share of dialogs whose image is among the k likeliest."""


@dataclass(frozen=True)
class Scores:
    """What the statistics need of one result.

    path: the result's file, for its messages. condition: its name; played: what it is. training: how the bots were
    trained, JSON. identity: what it is made of; others: what differs where files were mixed as an experiment, by a name
    of `identities.OTHERS`. image_ids: [dialogs]. percentiles: [dialogs, 11] percentile ranks after rounds 0–10.
    perturbed_messages, perturbed_tokens: [11], their number in each round.
    """

    path: Path
    dataset: str
    model: str
    seed: int
    reading: str
    condition: str
    played: Condition
    training: str
    identity: Identity
    others: Mapping[str, str]
    candidates: int
    image_ids: npt.NDArray[np.int64]
    percentiles: Singles
    perturbed_messages: npt.NDArray[np.int64]
    perturbed_tokens: npt.NDArray[np.int64]

    @classmethod
    def of(cls, path: Path, result: Result) -> "Scores":
        """Take the scores out of a result that was read from `path`.

        Raises `InputError` where the result does not say which condition was played.
        """
        names = {name: result.attributes[name] for name in ("dataset", "model", "reading", "condition")}
        return cls(
            path,
            seed=int(result.attributes["seed"]),
            played=_played(path, result),
            training=result.attributes.get("training", "{}"),
            identity=result.identity(path),
            others={name: result.attributes[name] for name in OTHERS if name in result.attributes},
            candidates=int(result.attributes["candidates"]),
            image_ids=result.image_ids,
            percentiles=result.percentiles.astype(np.float32),
            perturbed_messages=result.perturbed_messages,
            perturbed_tokens=result.perturbed_tokens,
            **names,
        )

    @property
    def idle(self) -> bool:
        """Whether the condition must perturb something and did not: its numbers would look like robustness."""
        return self.played.idle(self.perturbed_messages)

    @property
    def places(self) -> Doubles:
        """Ranks counted from 1, the best, ties shared: [dialogs, 11]."""
        # Percentiles are rounded to single precision, ranks are halves.
        exact = self.candidates * (1 - self.percentiles.astype(np.float64) / 100) + 0.5
        return np.asarray(np.round(4 * exact) / 4)

    @property
    def key(self) -> tuple[str, int, str, str]:
        """Model, seed, reading and name of the condition."""
        return *self.bots, self.condition

    @property
    def bots(self) -> tuple[str, int, str]:
        """Who played, and under which reading: model, seed and reading."""
        return self.model, self.seed, self.reading


def _played(path: Path, result: Result) -> Condition:
    """The condition that was played, from the result's own settings."""
    try:
        return read_condition(json.loads(result.attributes["settings"]), "settings")
    except (InputError, KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: its settings are of another version ({error}); play it again") from error


def check_models(scores: Sequence[Scores]) -> None:
    """Raise `InputError` where the results of a model are of several kinds that one name, or one mean, would mix.

    A name that stands for two conditions, a condition with two names, bots that were trained in different ways.
    """
    named: dict[tuple[str, str], Scores] = {}
    played: dict[tuple[str, Condition], Scores] = {}
    bots: dict[str, Scores] = {}
    for score in scores:
        same = named.setdefault((score.model, score.condition), score)
        if same.played != score.played:
            raise InputError(
                f"{score.path}: {score.condition!r} is {score.played.text}, but {same.played.text} in {same.path}; "
                "report them apart"
            )
        same = played.setdefault((score.model, score.played), score)
        if same.condition != score.condition:
            raise InputError(
                f"{score.path}: {score.condition!r} is {score.played.text}, as is {same.condition!r} in {same.path}; "
                "report them apart"
            )
        _check_training(score, bots.setdefault(score.model, score))


def _check_training(one: Scores, other: Scores) -> None:
    """Refuse bots of one model that were not trained in the same way, but for the seed."""
    mine, its = in_effect(json.loads(one.training)), in_effect(json.loads(other.training))
    for key in sorted(mine.keys() | its.keys()):
        if mine.get(key) != its.get(key):
            raise InputError(
                f"{one.path}: the bots of the model {one.model!r} were trained with {key} {mine.get(key)}, but with "
                f"{its.get(key)} in {other.path}; report them apart"
            )
