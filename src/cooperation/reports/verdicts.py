"""Whether a quantity lies in a range that was fixed beforehand, and how many such verdicts may be wrong."""

from collections.abc import Sequence
from math import isnan

import numpy as np

from cooperation.reports.bootstrap import Doubles
from cooperation.reports.quantities import estimate
from cooperation.reports.trainings import Drawn, Estimate

HOLDS, FAILS, UNDECIDED = "holds", "fails", "undecided"
NOT_COMPARABLE, ABOUT_PAPER = "not comparable", "about the paper itself"
RATE = 0.05
"""The expected share of wrong ones among the verdicts that stand together."""
STEPS = 12
"""Halvings of the doubt's logarithm: to less than one part in 500."""


def judge(found: Estimate, at_least: float, at_most: float) -> tuple[str, str]:
    """Verdict and reason: only if the whole interval and every training lie inside, or outside, of the range.

    Bounds (NaN: none) are excluded. One training says nothing about others, so it decides nothing that trainings move.
    What no training moves is judged by its value.
    """
    if len(found.seeds) > 1 and isnan(found.low):
        return UNDECIDED, "there is no interval: the trainings give the same, or there is one dialog"
    low, high = (found.value, found.value) if isnan(found.low) else (found.low, found.high)
    where = _where(low, high, at_least, at_most)
    if not where:
        return UNDECIDED, "the interval reaches over the edge of the range"
    if len(found.seeds) == 1:
        return UNDECIDED, f"one training, seed {found.seeds[0]}: it lies {where} the range, others may not"
    trainings = zip(found.seeds, found.each, strict=True)
    if others := [str(seed) for seed, value in trainings if _where(value, value, at_least, at_most) != where]:
        return UNDECIDED, f"the interval lies {where} the range, but not every training: seed {', '.join(others)}"
    who = "the interval and every training lie" if found.seeds else "the value lies"
    return HOLDS if where == "inside" else FAILS, f"{who} {where} the range"


def _where(low: float, high: float, at_least: float, at_most: float) -> str:
    """`inside` or `outside` of the range, or "" across its edge."""
    if not low <= at_least and not high >= at_most:
        return "inside"
    return "outside" if high <= at_least or low >= at_most else ""


def doubt(quantity: str, drawn: Drawn, at_least: float, at_most: float) -> float:
    """How wide an interval still decides: the smallest p whose interval of level 1 − p lies on one side of the edge.

    At least 2 / (1 + resamples), since no sample lies beyond the last; 1 where none does.
    """

    def decides(p: float) -> bool:
        found = estimate(quantity, drawn, (50 * p, 100 - 50 * p))
        return bool(_where(found.low, found.high, at_least, at_most))

    low, high = 2 / int(drawn.means.shape[1]), 1.0
    if decides(low):
        return low
    for _ in range(STEPS):
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if decides(middle) else (middle, high)
    return high


def discoveries(doubts: Sequence[float]) -> Doubles:
    """The smallest false discovery rate at which each verdict stands among all, whatever their dependence: [n].

    doubts: each one's p. Benjamini & Yekutieli, The control of the false discovery rate in multiple testing under
    dependency, Annals of Statistics 29 (2001), theorem 1.3.
    """
    p = np.asarray(doubts, np.float64)
    number = len(p)
    order = np.argsort(p, kind="stable")
    ranks = np.arange(1, number + 1)
    adjusted = p[order] * number * (1 / ranks).sum() / ranks
    found = np.empty(number)
    found[order] = np.minimum(np.minimum.accumulate(adjusted[::-1])[::-1], 1)
    return found
