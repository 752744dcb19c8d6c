"""What the statistics need of the results of the games."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cooperation.config.conditions import Condition, read_condition
from cooperation.evaluation.results import Result
from cooperation.io.files import InputError
from cooperation.reports.bootstrap import Singles


@dataclass(frozen=True)
class Scores:
    """What the statistics need of one result.

    path: the result's file, for its messages. condition: its name; played: what it is. training: how the bots were
    trained, JSON. image_ids: [dialogs]. percentiles: [dialogs, 11] percentile ranks after rounds 0–10.
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
            candidates=int(result.attributes["candidates"]),
            image_ids=result.image_ids,
            percentiles=result.percentiles.astype(np.float32),
            perturbed_messages=result.perturbed_messages,
            perturbed_tokens=result.perturbed_tokens,
            **names,
        )

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
