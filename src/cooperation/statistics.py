"""Mean percentile ranks with 95 % intervals by paired bootstrap over dialogs; pure functions of arrays."""

import os
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import exp, factorial, sqrt
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from cooperation.files import InputError
from cooperation.paper import CONTROL, READING_TITLES, read_columns
from cooperation.results import Result

RESAMPLES = 10_000
LEVEL = (2.5, 97.5)
"""Percentiles of the resampled means that bound the interval."""
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
    "tampered_messages": "int64",
    "tampered_tokens": "int64",
    "resamples": "int64",
}
"""Columns of the table that `summarise` makes and their types."""

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
BLOCK = 128
"""Samples that one thread draws at a time: 20 MB of counts at 40,000 dialogs."""


@dataclass(frozen=True)
class Scores:
    """What the statistics need of one result.

    path: the result's file, for messages. percentiles: [dialogs, 11] percentile ranks after rounds 0–10.
    tampered_messages, tampered_tokens: [11] counts a round.
    """

    path: Path
    dataset: str
    model: str
    seed: int
    reading: str
    condition: str
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
        return self.model, self.seed, self.reading, self.condition


def resampled_means(
    values: npt.NDArray[np.floating], resamples: int = RESAMPLES, seed: int = 0, threads: int | None = None
) -> Doubles:
    """Means of `resamples` samples of the rows, drawn with replacement: [rows, columns] → [resamples, columns].

    All columns share the draws, so differences of columns are paired. Instead of 10,000 × rows indices, the number
    of times that each row is drawn is made directly (`_draws`), then one matrix product sums all columns. Values are
    centred first, so that single precision suffices. The result depends on `seed`, not on `threads` (default: all).
    """
    rows = len(values)
    centre = values.mean(0, dtype=np.float64)
    centred = (values - centre).astype(np.float32)
    sizes = [min(BLOCK, resamples - start) for start in range(0, resamples, BLOCK)]

    def block(number: int) -> Singles:
        return np.asarray(_draws(rows, sizes[number], [seed, number]) @ centred)

    with ThreadPoolExecutor(threads or len(os.sched_getaffinity(0))) as pool:
        sums = np.concatenate(list(pool.map(block, range(len(sizes)))))
    return np.asarray(sums / np.float64(rows) + centre)


def _draws(rows: int, samples: int, seed: list[int]) -> Singles:
    """How often each of `rows` rows is drawn in each sample of size `rows`: [samples, rows] multinomial counts.

    Poisson counts, given their total, are multinomial; so rows get Poisson counts (inverse distribution function
    over 16 random bits, so probabilities are rounded to 1/65536) of a mean a little below 1, and the draws that are
    still missing are made one by one. A sample that has too many already is made anew.
    """
    generator = np.random.Generator(np.random.SFC64(seed))
    bits = generator.bit_generator
    steps = _poisson_steps(max(1 - 2 / sqrt(rows), 0))
    counts = np.zeros((samples, rows), np.float32)
    tally = np.empty(rows, np.uint8)
    for sample in counts:
        missing = -1
        while missing < 0:
            uniform = bits.random_raw((rows + 3) // 4).view(np.uint16)[:rows]
            tally[:] = 0
            for step in steps:
                np.add(tally, (uniform >= step).view(np.uint8), out=tally)
            missing = rows - int(tally.sum(dtype=np.uint32))
        sample[:] = tally
        np.add.at(sample, generator.integers(0, rows, missing), np.float32(1))
    return counts


def _poisson_steps(mean: float) -> npt.NDArray[np.uint16]:
    """Thresholds t0 ≤ t1 ≤ … such that the number of them that 16 random bits reach is Poisson distributed."""
    probabilities = [exp(-mean) * mean**k / factorial(k) for k in range(12)]
    steps = np.rint(np.cumsum(probabilities) * 2**16)
    return np.asarray(steps[steps < 2**16].astype(np.uint16))


def interval(draws: Doubles) -> Doubles:
    """95 % percentile interval of resampled statistics: [resamples, …] → [2, …], low and high."""
    return np.percentile(draws, LEVEL, axis=0)


def summarise(scores: Sequence[Scores], resamples: int = RESAMPLES, seed: int = 0) -> pd.DataFrame:
    """One row a model, seed, reading, condition and round, with intervals over dialogs; columns as in `SUMMARY`.

    round: 0 is the caption alone. mpr with low and high. gap: MPR of `none` of the same model, seed and reading minus
    this one's in the same round, with gap_low and gap_high (paired). seeds: their number; lowest, highest, gap_lowest
    and gap_highest are over them. tampered_messages, tampered_tokens: in this round, over all dialogs. Where there are
    several seeds, rows with seed "mean" give the mean over them, with the interval of that mean over dialogs.
    """
    means = np.stack(resample(scores, resamples, seed), 1)
    at = {score.key: number for number, score in enumerate(scores)}
    frames = []
    for label, members in _groups(scores):
        own = [at[score.key] for score in members]
        controls = [at[score.model, score.seed, score.reading, CONTROL] for score in members]
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
            "tampered_messages": sum(score.tampered_messages for score in members),
            "tampered_tokens": sum(score.tampered_tokens for score in members),
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
    for score in scores:
        if (score.model, score.seed, score.reading, CONTROL) not in keys:
            raise InputError(f"{score.path}: no result of `{CONTROL}` for its model, seed and reading; add that file")


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
    if len(names) != 1:
        raise InputError(f"{path}: {len(names)} data sets ({', '.join(names)}); a table or figure shows exactly one")
    return str(names[0])


def readings(names: Iterable[str]) -> list[str]:
    """The different readings among the names, `written` first."""
    found = set(names)
    return [name for name in READING_TITLES if name in found] + sorted(found - set(READING_TITLES))


def sizes(summary: pd.DataFrame) -> str:
    """Queries × candidates and training seeds of a summary, in words."""
    first = summary.iloc[0]
    seeds = sorted(set(summary["seed"]) - {MEAN}, key=int)
    named = f"seed {seeds[0]}" if len(seeds) == 1 else f"mean of seeds {', '.join(seeds)}"
    return f"{first['queries']:,} queries × {first['candidates']:,} candidates, {named}."
