"""What several trainings of the same bots say together: a value, and an interval over dialogs and trainings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from cooperation.reports.bootstrap import LEVEL, Doubles, interval
from cooperation.reports.paper import signed, with_interval

COLUMNS = ("value", "low", "high", "seeds", "each")
"""Columns that an estimate has in a table: seeds and the values of each are listed with blanks between them."""
SEED = 0
"""Of the draws that stand for trainings; the bootstrap's own seed is for the dialogs."""

SHARE = 33
"""Draws of which one is kept."""


@dataclass(frozen=True)
class Drawn:
    """A statistic in each training, as it is and in the same samples of the dialogs, so that differences are paired.

    seeds: of the trainings; none for what no training moves, such as what the paper printed. means: [trainings,
    1 + resamples, …], the plain ones first; [1, 1 + resamples, …] where there are no seeds.
    """

    seeds: tuple[int, ...]
    means: Doubles

    @classmethod
    def stated(cls, value: "Doubles | float") -> "Drawn":
        """What is no estimate: a value without samples, so without an interval."""
        return cls((), np.asarray(value, np.float64)[None, None])

    def of(self, function: Callable[[Doubles], Doubles]) -> "Drawn":
        """A function of the statistic that is linear in it, such as `lambda mpr: mpr[..., 10]`; of [..., …]."""
        return Drawn(self.seeds, function(self.means))

    def only(self, seeds: tuple[int, ...]) -> "Drawn":
        """The same in some of the trainings; what no training moves is the same in all of them."""
        if not self.seeds or seeds == self.seeds:
            return self
        return Drawn(seeds, self.means[[self.seeds.index(seed) for seed in seeds]])

    def __sub__(self, other: "Drawn") -> "Drawn":
        """The difference in the trainings that both have; there must be one."""
        seeds = common(self, other)
        return Drawn(seeds, self.only(seeds).means - other.only(seeds).means)

    @property
    def together(self) -> Doubles:
        """The mean over the trainings, and samples of it: [1 + resamples, …].

        A sample is the mean in a sample of the dialogs, and beside it a draw for the trainings: t distributed, with the
        standard error of their mean and one degree of freedom less than there are trainings. Together they give the
        intervals of Behrens and Fisher for two sources of variance, which are rather too wide than too narrow
        (docs/intervals.md). One training draws nothing: its samples are of the dialogs alone.
        """
        plain = self.means[:, 0]
        mean, samples = plain.mean(0), self.means[:, 1:].mean(0)
        if len(plain) > 1:
            samples = samples + np.tensordot(_weights(len(samples), len(plain)), plain - mean, 1)
        return np.concatenate([mean[None], samples])

    @property
    def each(self) -> Doubles:
        """The plain values of the trainings: [trainings, …]; [0, …] where none moves them."""
        return self.means[: len(self.seeds), 0]


def common(*drawn: Drawn) -> tuple[int, ...]:
    """The seeds that all have, in the order of the first that has any."""
    trained = [one.seeds for one in drawn if one.seeds]
    return tuple(seed for seed in trained[0] if all(seed in seeds for seeds in trained)) if trained else ()


@cache
def _weights(resamples: int, trainings: int) -> Doubles:
    """What deviations of the trainings from their mean are multiplied by and summed, in each sample.

    [resamples, trainings], each row's sum 0. The sum is a draw of the t distribution, times the standard error.
    """
    generator = np.random.default_rng([SEED, trainings])
    half = -(-resamples // 2)
    directions = generator.standard_normal((half, trainings))
    directions -= directions.mean(1, keepdims=True)
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    # Two independent chi variables each; the tails are long, so of many the medians of equal shares are taken.
    above, below = generator.chisquare(trainings - 1, (2, half * SHARE))
    sizes = generator.permutation(np.sort(np.sqrt(above / below)).reshape(half, SHARE)[:, SHARE // 2])
    drawn = directions * sizes[:, None] / np.sqrt(trainings)
    # With the opposite of each draw, so that they are symmetric.
    return np.concatenate([drawn, -drawn])[:resamples]


@dataclass(frozen=True)
class Estimate:
    """A value with its 95 % interval, and what each training gives; low and high are NaN where there are no samples.

    seeds: of the trainings, each: their values.
    """

    value: float
    low: float
    high: float
    seeds: tuple[int, ...] = ()
    each: tuple[float, ...] = ()

    @classmethod
    def of(cls, line: Mapping[Any, Any]) -> "Estimate":
        """The estimate that a line of a table has in `COLUMNS`."""
        seeds, each = (str(line[name]).split() for name in ("seeds", "each"))
        return cls(line["value"], line["low"], line["high"], tuple(map(int, seeds)), tuple(map(float, each)))

    @property
    def cells(self) -> dict[str, Any]:
        """What stands in `COLUMNS`."""
        seeds, each = " ".join(map(str, self.seeds)), " ".join(f"{value:.4f}" for value in self.each)
        return dict(zip(COLUMNS, (self.value, self.low, self.high, seeds, each), strict=True))

    def __str__(self) -> str:
        return with_interval(self.value, self.low, self.high)

    @property
    def of_each(self) -> str:
        """The trainings and their values, with signs: seed 1 +2.3, seed 2 −16.9."""
        return ", ".join(f"seed {seed} {signed(value)}" for seed, value in zip(self.seeds, self.each, strict=True))

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval leaves zero out, and every training is on the same side of it."""
        return self.below(0) or self.above(0)

    def within(self, least: float, most: float) -> "Estimate":
        """The same with an interval of possible values alone: an MPR is between 0 and 100."""
        low, high = (float(np.clip(bound, least, most)) for bound in (self.low, self.high))
        return replace(self, low=low, high=high)

    def above(self, bound: float) -> bool:
        """Whether the interval and every training lie above; nothing lies above a bound that is NaN."""
        return self.low > bound and all(value > bound for value in self.each)

    def below(self, bound: float) -> bool:
        """Whether the interval and every training lie below."""
        return self.high < bound and all(value < bound for value in self.each)


def estimated(drawn: Drawn, level: tuple[float, float] = LEVEL) -> Estimate:
    """A number's value and percentile interval. drawn: of [trainings, 1 + resamples]; without samples, no interval.

    level: percentiles of the samples that bound the interval.
    """
    together = drawn.together
    low, high = interval(together[1:], level) if len(together) > 1 else (np.nan, np.nan)
    return Estimate(float(together[0]), float(low), float(high), drawn.seeds, tuple(drawn.each.tolist()))
