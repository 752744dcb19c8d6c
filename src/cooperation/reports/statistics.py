"""Mean percentile ranks with 95 % intervals by paired bootstrap over dialogs; pure functions of arrays."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from cooperation.conditions import Condition
from cooperation.files import InputError
from cooperation.games.results import Result
from cooperation.reports.bootstrap import RESAMPLES, Doubles, Singles, interval, resampled_means
from cooperation.reports.paper import READING_TITLES, read_columns

MEAN = "mean"
"""Stands in the column `seed` for the mean over several training seeds."""

SUMMARY = {
    "dataset": "str",
    "model": "str",
    "seed": "str",
    "reading": "str",
    "condition": "str",
    "round": "int64",
    "mpr": "float64",
    "low": "float64",
    "high": "float64",
    "gap": "float64",
    "gap_low": "float64",
    "gap_high": "float64",
    "seeds": "int64",
    "lowest": "float64",
    "highest": "float64",
    "gap_lowest": "float64",
    "gap_highest": "float64",
    "queries": "int64",
    "candidates": "int64",
    "tampered_messages": "float64",
    "tampered_tokens": "float64",
    "resamples": "int64",
}
"""Columns of the table that `summarise` makes and their types."""

Played = TypeVar("Played")


@dataclass(frozen=True)
class Scores:
    """What the statistics need of one result.

    path: the result's file, for messages. done: what was done in the condition. training: how the bots were trained,
    JSON. percentiles: [dialogs, 11] percentile ranks after rounds 0–10. tampered_messages, tampered_tokens: [11]
    counts a round.
    """

    path: Path
    dataset: str
    model: str
    seed: int
    reading: str
    condition: str
    done: Condition
    training: str
    candidates: int
    image_ids: npt.NDArray[np.int64]
    percentiles: Singles
    tampered_messages: npt.NDArray[np.int64]
    tampered_tokens: npt.NDArray[np.int64]

    @classmethod
    def of(cls, path: Path, result: Result) -> "Scores":
        """Take the scores out of a result that was read from `path`."""
        names = {name: result.attributes[name] for name in ("dataset", "model", "reading", "condition")}
        return cls(
            path,
            seed=int(result.attributes["seed"]),
            done=_done(path, result),
            training=result.attributes.get("training", "{}"),
            candidates=int(result.attributes["candidates"]),
            image_ids=result.image_ids,
            percentiles=result.percentiles.astype(np.float32),
            tampered_messages=result.tampered_messages,
            tampered_tokens=result.tampered_tokens,
            **names,
        )

    @property
    def key(self) -> tuple[str, int, str, str]:
        """Model, seed, reading and condition."""
        return *self.bots, self.condition

    @property
    def bots(self) -> tuple[str, int, str]:
        """Who played, and under which reading: model, seed and reading."""
        return self.model, self.seed, self.reading


def _done(path: Path, result: Result) -> Condition:
    """What was done, from the result's own settings."""
    try:
        return Condition(**json.loads(result.attributes["settings"]))
    except (KeyError, TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise InputError(f"{path}: {error}") from error
        raise InputError(f"{path}: its settings are of another version ({error}); play it again") from error


def control_of(condition: Condition, played: Mapping[Condition, Played]) -> Played | None:
    """What a condition's gap is to: of all that the same bots played, the game in which nothing was tampered with.

    They must have talked themselves, and read facts in the condition's format: else the gap would tell of these, too.
    """
    found = (
        game
        for other, game in played.items()
        if (other.channel, other.script, other.facts) == ("none", "none", condition.facts)
    )
    return next(found, None)


def summarise(scores: Sequence[Scores], resamples: int = RESAMPLES, seed: int = 0) -> pd.DataFrame:
    """One row a model, seed, reading, condition and round, with intervals over dialogs; columns as in `SUMMARY`.

    round: 0 is the caption alone. mpr with low and high. gap: MPR of the condition's control (`control_of`) of the same
    model, seed and reading minus this one's in the same round, with gap_low and gap_high (paired). seeds: their number;
    lowest, highest, gap_lowest and gap_highest are over them. tampered_messages, tampered_tokens: in this round, over
    all dialogs. Where there are several seeds, rows with seed "mean" give the mean over them (of the tampering,
    too), with the interval of that mean over dialogs.
    """
    controlled = _controls(scores)
    means = np.stack(resample(scores, resamples, seed), 1)
    at = {score.key: number for number, score in enumerate(scores)}
    frames = []
    for label, members in _groups(scores):
        own = [at[score.key] for score in members]
        controls = [controlled[score.key] for score in members]
        frames.append(_rows(label, members, means[:, own], means[:, controls]))
    return pd.concat(frames, ignore_index=True)


def resample(scores: Sequence[Scores], resamples: int = RESAMPLES, seed: int = 0) -> list[Doubles]:
    """Each result's MPR after each round, [1 + resamples, 11]: the plain mean, then those of the samples.

    All results share the samples of dialogs, so that differences between them are paired.
    """
    _check(scores)
    values = np.concatenate([score.percentiles for score in scores], 1)
    plain = values.mean(0, keepdims=True, dtype=np.float64)
    means = np.concatenate([plain, resampled_means(values, resamples, seed)])
    return np.split(means, len(scores), 1)


def _rows(label: int | str, members: list[Scores], means: Doubles, controls: Doubles) -> pd.DataFrame:
    """Rows of `summarise` for one condition, from means of it and of its control.

    means, controls: [1 + resamples, seeds, 11], the plain means first, then the resampled ones.
    """
    first = members[0]
    gaps = controls - means
    low, high = interval(means[1:].mean(1))
    gap_low, gap_high = interval(gaps[1:].mean(1))
    return pd.DataFrame(
        {
            "dataset": first.dataset,
            "model": first.model,
            "seed": str(label),
            "reading": first.reading,
            "condition": first.condition,
            "round": range(means.shape[-1]),
            "mpr": means[0].mean(0),
            "low": low,
            "high": high,
            "gap": gaps[0].mean(0),
            "gap_low": gap_low,
            "gap_high": gap_high,
            "seeds": len(members),
            "lowest": means[0].min(0),
            "highest": means[0].max(0),
            "gap_lowest": gaps[0].min(0),
            "gap_highest": gaps[0].max(0),
            "queries": len(first.image_ids),
            "candidates": first.candidates,
            "tampered_messages": np.mean([score.tampered_messages for score in members], 0),
            "tampered_tokens": np.mean([score.tampered_tokens for score in members], 0),
            "resamples": len(means) - 1,
        }
    )


def _groups(scores: Sequence[Scores]) -> Iterator[tuple[int | str, list[Scores]]]:
    """Each result by itself, then, where a condition has several seeds, those together."""
    together: dict[tuple[str, str, str], list[Scores]] = {}
    for score in scores:
        yield score.seed, [score]
        together.setdefault((score.model, score.reading, score.condition), []).append(score)
    for members in together.values():
        if len(members) > 1:
            yield MEAN, members


def _check(scores: Sequence[Scores]) -> None:
    """Refuse results that can't stand in one paired table."""
    if not scores:
        raise InputError("no results given; name the files that `cooperation play` wrote")
    first = scores[0]
    keys: dict[tuple[str, int, str, str], Path] = {}
    for score in scores:
        if score.key in keys:
            raise InputError(f"{score.path}: the same condition as {keys[score.key]}; give one of them")
        keys[score.key] = score.path
        if (score.dataset, score.candidates) != (first.dataset, first.candidates):
            raise InputError(
                f"{score.path}: {score.dataset} with {score.candidates} candidates, but {first.path} has "
                f"{first.dataset} with {first.candidates}; summarise them apart"
            )
        if not np.array_equal(score.image_ids, first.image_ids):
            raise InputError(f"{score.path}: other dialogs than {first.path}; play both on the same split")


def _controls(scores: Sequence[Scores]) -> dict[tuple[str, int, str, str], int]:
    """Key of each result → number of its control."""
    played: dict[tuple[str, int, str], dict[Condition, int]] = {}
    for number, score in enumerate(scores):
        played.setdefault(score.bots, {}).setdefault(score.done, number)
    found = {}
    for score in scores:
        control = control_of(score.done, played[score.bots])
        if control is None:
            format_of = "" if score.done.facts == "reading" else f" with facts {score.done.facts}"
            raise InputError(
                f"{score.path}: no result without tampering{format_of} for its model, seed and reading; add that file"
            )
        found[score.key] = control
    return found


def refuse_several_games(scores: Sequence[Scores]) -> None:
    """Refuse results of more than one model or reading, where a table names neither."""
    for score in scores:
        first = scores[0]
        if (score.model, score.reading) != (first.model, first.reading):
            raise InputError(
                f"{score.path}: model {score.model} as {score.reading}, but {first.path} has model {first.model} as "
                f"{first.reading}; give those of one model and reading"
            )


def across_seeds(summary: pd.DataFrame) -> pd.DataFrame:
    """The rows to report: the mean over seeds where there are several, else the only seed's."""
    return summary[(summary["seeds"] > 1) | ~_has_mean(summary)].reset_index(drop=True)


def _has_mean(summary: pd.DataFrame) -> "pd.Series[bool]":
    """True for rows whose condition also has rows of the mean over seeds."""
    most = summary.groupby(["model", "reading", "condition"])["seeds"].transform("max")
    return most > 1


def read_summary(path: Path) -> pd.DataFrame:
    """Read a file that `cooperation summarise` wrote."""
    return read_columns(path, SUMMARY)


def only_dataset(summary: pd.DataFrame, path: Path) -> str:
    """The name of the one data set in the summary that was read from `path`."""
    names = sorted(set(summary["dataset"]))
    if not names:
        raise InputError(f"{path}: no rows; make it again with cooperation summarise")
    if len(names) > 1:
        raise InputError(f"{path}: {len(names)} data sets ({', '.join(names)}); give results of one")
    return str(names[0])


def readings(names: Iterable[str]) -> list[str]:
    """The different readings among the names, `written` first."""
    found = set(names)
    return [name for name in READING_TITLES if name in found] + sorted(found - set(READING_TITLES))


def sizes_of(scores: Sequence[Scores]) -> str:
    """Queries × candidates of results, in words; of each data set where there are several."""
    found: dict[str, str] = {}
    for score in scores:
        found[score.dataset] = f"{len(score.image_ids):,} queries × {score.candidates:,} candidates"
    texts = [text if len(found) == 1 else f"{dataset}: {text}" for dataset, text in found.items()]
    return f"{'; '.join(texts)}."


def sizes(summary: pd.DataFrame) -> str:
    """Queries × candidates and training seeds of a summary, in words."""
    first = summary.iloc[0]
    seeds = sorted(set(summary["seed"]) - {MEAN}, key=int)
    named = f"seed {seeds[0]}" if len(seeds) == 1 else f"mean of seeds {', '.join(seeds)}"
    return f"{first['queries']:,} queries × {first['candidates']:,} candidates, {named}."
