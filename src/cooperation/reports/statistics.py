"""Mean percentile ranks with 95 % intervals over dialogs and trainings, paired in both."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from cooperation.config.conditions import Condition
from cooperation.data.agreements import check_comparable
from cooperation.io.files import InputError
from cooperation.reports.bootstrap import RESAMPLES, Doubles, interval, resampled_means
from cooperation.reports.paper import READING_TITLES, rehearsal
from cooperation.reports.scores import HITS, Scores, check_models
from cooperation.reports.trainings import Drawn, common

MEAN = "mean"
"""Stands in the column `seed` for the mean over several training seeds."""

Evidence = Mapping[tuple[str, str, str], Drawn]
"""(model, reading, label) → MPRs of [11].

The label is that of an intervention in the tables of `paper/` or `workflow/`, not the name that config.yaml gives it.
"""


@dataclass(frozen=True)
class Resampled:
    """The results of a data set, and their MPRs in the same samples of its dialogs, so that differences are paired.

    means: of each of the scores [1 + resamples, 11]: the plain mean first, then those of the samples. seed: of these.
    """

    scores: tuple[Scores, ...]
    means: tuple[Doubles, ...]
    seed: int

    @property
    def dataset(self) -> str:
        """The data set's name."""
        return self.scores[0].dataset

    @property
    def resamples(self) -> int:
        """The number of samples."""
        return len(self.means[0]) - 1

    @property
    def size(self) -> str:
        """Queries × candidates and training seeds, in words."""
        first = self.scores[0]
        return _size(len(first.image_ids), first.candidates, sorted({score.seed for score in self.scores}))

    @property
    def rehearsal(self) -> str:
        """What must be known where there is too little to judge: see `paper.rehearsal`."""
        first = self.scores[0]
        return rehearsal(self.dataset, len(first.image_ids), first.candidates)

    @property
    def models(self) -> list[str]:
        """The models that played, in the order of the results."""
        return list(dict.fromkeys(score.model for score in self.scores))

    @property
    def readings(self) -> list[str]:
        """The readings that were played, `written` first."""
        return readings(score.reading for score in self.scores)

    @cached_property
    def games(self) -> Mapping[tuple[str, str, Condition], Drawn]:
        """MPRs of [11] of each model, reading and condition, in each of its trainings."""
        trainings: dict[tuple[str, str, Condition], dict[int, Doubles]] = {}
        for score, means in zip(self.scores, self.means, strict=True):
            trainings.setdefault((score.model, score.reading, score.played), {})[score.seed] = means
        return {key: Drawn(tuple(means), np.stack(list(means.values()))) for key, means in trainings.items()}

    def labelled(self, conditions: Mapping[str, Condition]) -> Evidence:
        """MPRs of those of some conditions that were played, by their labels here. conditions: by label."""
        labels = {condition: label for label, condition in conditions.items()}
        return {
            (model, reading, labels[condition]): drawn
            for (model, reading, condition), drawn in self.games.items()
            if condition in labels
        }

    @cached_property
    def conditions(self) -> Mapping[tuple[str, str], Mapping[str, Condition]]:
        """(model, reading) → the conditions that it played, by name."""
        found: dict[tuple[str, str], dict[str, Condition]] = {}
        for score in self.scores:
            found.setdefault((score.model, score.reading), {})[score.condition] = score.played
        return found

    def changed(self, model: str, reading: str, condition: Condition) -> Drawn | None:
        """The share of messages that a condition changed in its rounds [%], in each training; None where not played."""
        rounds = slice(1) if condition.channel == "caption" else slice(condition.start, None)
        shares = {
            score.seed: 100 * float(score.perturbed_messages[rounds].mean()) / len(score.image_ids)
            for score in self.scores
            if (score.model, score.reading, score.played) == (model, reading, condition)
        }
        return Drawn(tuple(shares), np.array([[share] for share in shares.values()])) if shares else None

    def mpr(self, model: str, reading: str, condition: Condition) -> Drawn | None:
        """MPRs of [11] of a condition; None where it was not played."""
        return self.games.get((model, reading, condition))

    def gap(self, model: str, reading: str, condition: Condition) -> Drawn | None:
        """MPRs of the condition's baseline minus its own, of [11]; None where no training played both."""
        baseline, mine = self.mpr(model, reading, baseline_of(condition)), self.mpr(model, reading, condition)
        return None if baseline is None or mine is None or not common(baseline, mine) else baseline - mine

    def means_of(self, values: npt.NDArray[np.floating]) -> Doubles:
        """Means of other numbers of the same dialogs, in the same samples.

        [dialogs, columns] → [1 + resamples, columns], the plain means first.
        """
        return _means(values, self.resamples, self.seed)


def resample(scores: Sequence[Scores], resamples: int = RESAMPLES, seed: int = 0) -> Resampled:
    """Resample the dialogs of all results together.

    Raises `InputError` for no results, for those of several data sets, candidates, dialogs or bots of one name, twice
    of a condition, and where a model has one name for two conditions, two for one, or bots trained in several ways.
    """
    _check(scores)
    check_models(scores)
    means = _means(np.concatenate([score.percentiles for score in scores], 1), resamples, seed)
    return Resampled(tuple(scores), tuple(np.split(means, len(scores), 1)), seed)


def _means(values: npt.NDArray[np.floating], resamples: int, seed: int) -> Doubles:
    plain = values.mean(0, keepdims=True, dtype=np.float64)
    return np.concatenate([plain, resampled_means(values, resamples, seed)])


def baseline_of(condition: Condition) -> Condition:
    """What a condition's gap is to: the game of the same bots in which nothing is perturbed.

    They talk themselves, and read facts in the condition's format: else the gap would include what these cost.
    """
    return Condition(facts=condition.facts)


def summarise(resampled: Resampled) -> pd.DataFrame:
    """One row a model, seed, reading, condition and round, with intervals over the dialogs in that training.

    Columns: dataset, model, seed, reading; condition: its name; settings: what it is (`Condition.text`); round: 0 is
    by caption alone; mpr, low, high; gap, gap_low,
    gap_high: MPR of the condition's baseline (`baseline_of`) of the same model, seed and reading minus this one's in
    the same round, paired; seeds: their number; lowest, highest, gap_lowest, gap_highest: over the seeds; queries,
    candidates; mrr: mean of the reciprocal ranks, hits_1, hits_5, hits_10: dialogs whose image is among so many
    likeliest, all in percent and means over the seeds; perturbed_messages, perturbed_tokens: in this round, over all
    dialogs; resamples. Where there are
    several seeds, rows with seed "mean" give the mean over them (of the perturbed messages and tokens, too), with the
    interval of that mean over dialogs and trainings.

    Raises `InputError` where a condition's baseline was not played.
    """
    scores = resampled.scores
    baselines = _baselines(scores)
    at = {score.key: number for number, score in enumerate(scores)}
    frames = []
    for label, members in _groups(scores):
        seeds = tuple(score.seed for score in members)
        own = Drawn(seeds, np.stack([resampled.means[at[score.key]] for score in members]))
        baseline = Drawn(seeds, np.stack([resampled.means[baselines[score.key]] for score in members]))
        frames.append(_rows(label, members, own, baseline - own))
    return pd.concat(frames, ignore_index=True)


def _rows(label: int | str, members: list[Scores], mprs: Drawn, gaps: Drawn) -> pd.DataFrame:
    """Rows of `summarise` for one condition, from its MPRs and gaps of [11]."""
    first = members[0]
    mpr, gap = mprs.together, gaps.together
    # No MPR lies beyond, whatever few trainings let expect.
    low, high = np.clip(interval(mpr[1:]), 0, 100)
    gap_low, gap_high = interval(gap[1:])
    return pd.DataFrame(
        {
            "dataset": first.dataset,
            "model": first.model,
            "seed": str(label),
            "reading": first.reading,
            "condition": first.condition,
            "settings": first.played.text,
            "round": range(mpr.shape[-1]),
            "mpr": mpr[0],
            "low": low,
            "high": high,
            "gap": gap[0],
            "gap_low": gap_low,
            "gap_high": gap_high,
            "seeds": len(members),
            "lowest": mprs.each.min(0),
            "highest": mprs.each.max(0),
            "gap_lowest": gaps.each.min(0),
            "gap_highest": gaps.each.max(0),
            "queries": len(first.image_ids),
            "candidates": first.candidates,
            "mrr": 100 * np.mean([(1 / score.places).mean(0) for score in members], 0),
            **{f"hits_{k}": 100 * np.mean([(score.places <= k).mean(0) for score in members], 0) for k in HITS},
            "perturbed_messages": np.mean([score.perturbed_messages for score in members], 0),
            "perturbed_tokens": np.mean([score.perturbed_tokens for score in members], 0),
            "resamples": len(mpr) - 1,
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
                f"{first.dataset} with {first.candidates}; report them apart"
            )
        if not np.array_equal(score.image_ids, first.image_ids):
            raise InputError(
                f"{score.path}: other dialogs than {first.path}; play both on the same split; test "
                "with the same --queries and --seed"
            )
    check_comparable((score.model, score.seed, score.identity) for score in scores)


def _baselines(scores: Sequence[Scores]) -> dict[tuple[str, int, str, str], int]:
    """Key of each result → number of its baseline."""
    played: dict[tuple[str, int, str], dict[Condition, int]] = {}
    for number, score in enumerate(scores):
        played.setdefault(score.bots, {}).setdefault(score.played, number)
    found = {}
    for score in scores:
        baseline = played[score.bots].get(baseline_of(score.played))
        if baseline is None:
            facts = "" if score.played.facts == "reading" else f" with facts {score.played.facts}"
            raise InputError(
                f"{score.path}: no result without perturbation{facts} for its model, seed and reading; add that file"
            )
        found[score.key] = baseline
    return found


def across_seeds(summary: pd.DataFrame) -> pd.DataFrame:
    """The rows to report: the mean over seeds where there are several, else the only seed's."""
    return summary[(summary["seeds"] > 1) | ~_has_mean(summary)].reset_index(drop=True)


def _has_mean(summary: pd.DataFrame) -> "pd.Series[bool]":
    """True for rows whose condition also has rows of the mean over seeds."""
    most = summary.groupby(["model", "reading", "condition"])["seeds"].transform("max")
    return most > 1


def readings(names: Iterable[str]) -> list[str]:
    """The different readings among the names, `written` first."""
    found = set(names)
    return [name for name in READING_TITLES if name in found] + sorted(found - set(READING_TITLES))


def sizes(summary: pd.DataFrame) -> str:
    """Queries × candidates and training seeds of a summary, in words."""
    first = summary.iloc[0]
    seeds = sorted(int(seed) for seed in set(summary["seed"]) - {MEAN})
    return _size(first["queries"], first["candidates"], seeds)


def _size(queries: int, candidates: int, seeds: Collection[int]) -> str:
    named = f"seed {min(seeds)}" if len(seeds) == 1 else f"mean of seeds {', '.join(map(str, sorted(seeds)))}"
    return f"{queries:,} queries × {candidates:,} candidates, {named}. Intervals are {over(len(seeds))}."


def over(trainings: int) -> str:
    """What the intervals of so many trainings are over, in words."""
    return "over dialogs, of one training" if trainings == 1 else "over dialogs and trainings"
