"""Quantities of MPRs that claims and expectations are about, with their intervals: levels, gaps, leads, spreads."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from cooperation.game.messages import ROUNDS
from cooperation.io.files import InputError
from cooperation.reports.bootstrap import Doubles, estimated, simultaneous_margins


def _within_rounds(mpr: Doubles) -> Doubles:
    """Differences between any two conditions in each round that has both: [..., conditions, rounds] → [..., pairs]."""
    first, second = np.triu_indices(mpr.shape[-2], 1)
    differences = mpr[..., first, :] - mpr[..., second, :]
    flat = differences.reshape(*differences.shape[:-2], -1)
    return np.asarray(flat[..., ~np.isnan(flat).all(tuple(range(flat.ndim - 1)))])


QUANTITIES: dict[str, Callable[[Doubles], Doubles]] = {
    "level": lambda mpr: mpr.mean((-2, -1)),
    "gap": lambda mpr: (mpr[..., 0, :] - mpr[..., 1, :]).mean(-1),
    "change": lambda mpr: (mpr[..., -1] - mpr[..., 0]).mean(-1),
}
"""Quantities of MPRs [..., conditions, rounds], in percentage points.

level: their mean. gap: the first condition minus the second. change: the last round minus the first.
"""
DIFFERENCES: dict[str, Callable[[Doubles], Doubles]] = {
    "lead": lambda mpr: mpr[..., 1:, :].mean(-1) - mpr[..., :1, :].mean(-1),
    "step": lambda mpr: -np.diff(mpr.mean(-1), axis=-1),
    "spread": _within_rounds,
}
"""Differences [..., differences] between MPRs [..., conditions, rounds], of which the most extreme is the quantity.

lead: how much more the first condition loses than each of the others; the smallest. step: the fall from each condition
to the next, over the rounds together; the smallest. spread: between any two conditions in a round; the largest in size.
"""
ALL_QUANTITIES = (*QUANTITIES, *DIFFERENCES)
SEVERAL = ("gap", *DIFFERENCES)
"""Quantities of at least two conditions."""


def check_quantity(line: Mapping[Any, Any], place: str) -> None:
    """Check the quantity, conditions and rounds of a line of `paper/claims.csv` or `workflow/controls.csv`.

    Raises `InputError`, which begins with `place`, for an unknown quantity, too few conditions for it, or what is no
    rounds.
    """
    quantity, rounds, conditions = line["quantity"], line["rounds"], line["conditions"].split()
    if quantity not in ALL_QUANTITIES:
        raise InputError(f"{place}: unknown quantity {quantity!r}; choose {', '.join(ALL_QUANTITIES)}")
    if len(conditions) < 1 + (quantity in SEVERAL):
        raise InputError(f"{place}: {quantity} of {len(conditions)} conditions; name more of them")
    # The share of yes and no in dialogs has one value, where games have one a round.
    known = ["0"] if line.get("model") == "dialogs" else [str(number) for number in range(ROUNDS + 1)]
    if not all(part.split() and set(re.split(r"[\s-]+", part.strip())) <= set(known) for part in rounds.split(";")):
        raise InputError(f"{place}: rounds {rounds!r} are not like 10, 1 10 or 1-10, from {known[0]} to {known[-1]}")
    try:
        parsed = [parse_rounds(part) for part in rounds.split(";")]
    except ValueError as error:
        raise InputError(f"{place}: rounds {rounds!r} are not like 10, 1 10 or 1-10") from error
    if not all(parsed):
        raise InputError(f"{place}: rounds {rounds!r} have none; write the lower number first")
    if len(parsed) > 1 and (quantity != "spread" or len(parsed) != len(conditions)):
        raise InputError(f"{place}: rounds {rounds!r}: {len(parsed)} lists; give one, or for spread one a condition")


def parse_rounds(text: str) -> list[int]:
    """`10` → [10], `1 10` → [1, 10], `1-10` → 1 to 10."""
    first, dash, last = text.partition("-")
    return list(range(int(first), int(last) + 1)) if dash else [int(word) for word in text.split()]


def chosen(games: Sequence[Doubles], rounds: str) -> Doubles:
    """The conditions' MPRs in these rounds: [1 + resamples, 11] each → [1 + resamples, conditions, rounds].

    Where each condition has rounds of its own, the rounds are all that any has, with NaN where a condition lacks one.
    """
    each = [parse_rounds(part) for part in rounds.split(";")]
    union = sorted({number for numbers in each for number in numbers}) if len(each) > 1 else each[0]
    drawn = np.stack([game[:, union] for game in games], -2)
    for condition, numbers in enumerate(each if len(each) > 1 else []):
        drawn[:, condition, ~np.isin(union, numbers)] = np.nan
    return drawn


def estimate(quantity: str, drawn: Doubles) -> tuple[float, float, float]:
    """A quantity of [1 + resamples, conditions, rounds] (the plain means first) and its 95 % interval, low and high.

    `QUANTITIES` have percentile intervals. The most extreme of several differences can't have one: resampling adds
    noise to each difference, so a resampled maximum is too large and a minimum too small on average, and the
    percentiles may leave out the estimate itself. Instead each difference d gets d ± c·s, with s its bootstrap standard
    error and c such that in 95 % of the resamples all differences lie within: simultaneous intervals (max-t, Romano &
    Wolf 2005). If all of them hold, the true extreme lies between the extremes of their lower and of their upper
    bounds; so does the estimate.
    """
    if quantity in QUANTITIES:
        return estimated(QUANTITIES[quantity](drawn))
    differences = DIFFERENCES[quantity](drawn)
    plain = differences[0]
    margin = simultaneous_margins(plain, differences[1:])
    if quantity == "spread":
        size = np.abs(plain)
        return float(size.max()), float(np.maximum(size - margin, 0).max()), float((size + margin).max())
    return float(plain.min()), float((plain - margin).min()), float((plain + margin).min())
