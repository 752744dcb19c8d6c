"""Quantities of MPRs that claims and expectations are about, with their intervals: levels, gaps, leads, spreads."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from cooperation.game.messages import ROUNDS
from cooperation.io.files import InputError
from cooperation.reports.bootstrap import LEVEL, Doubles, simultaneous_margins
from cooperation.reports.trainings import Drawn, Estimate, common, estimated

MANY = 10**6
"""Of conditions or rounds: any number."""


def _falls(mpr: Doubles) -> Doubles:
    """How far each other condition lies below the first, in each round: [..., conditions, rounds] → [..., falls]."""
    falls = mpr[..., :1, :] - mpr[..., 1:, :]
    return falls.reshape(*falls.shape[:-2], -1)


def _within_rounds(mpr: Doubles) -> Doubles:
    """Differences between any two conditions in each round that has both: [..., conditions, rounds] → [..., pairs]."""
    first, second = np.triu_indices(mpr.shape[-2], 1)
    differences = mpr[..., first, :] - mpr[..., second, :]
    flat = differences.reshape(*differences.shape[:-2], -1)
    return np.asarray(flat[..., ~np.isnan(flat).all(tuple(range(flat.ndim - 1)))])


@dataclass(frozen=True)
class Quantity:
    """A number of MPRs [..., conditions, rounds], in percentage points, or the most extreme of several.

    differences: [..., conditions, rounds] → [...], or [..., differences] of which the extreme is taken: the smallest,
    or the largest in size. conditions, rounds: the least and the most of them that it takes.
    """

    text: str
    of: Callable[[Doubles], Doubles]
    conditions: tuple[int, int]
    rounds: tuple[int, int] = (1, MANY)
    extreme: str = ""

    def value(self, differences: Doubles) -> Doubles:
        """The quantity of `of`'s [..., differences] (or [...])."""
        if not self.extreme:
            return differences
        return np.asarray(np.abs(differences).max(-1) if self.extreme == "largest" else differences.min(-1))


QUANTITIES = {
    "level": Quantity("the mean over the rounds", lambda mpr: mpr.mean((-2, -1)), (1, 1)),
    "gap": Quantity(
        "the first condition minus the second", lambda mpr: (mpr[..., 0, :] - mpr[..., 1, :]).mean(-1), (2, 2)
    ),
    "change": Quantity(
        "the last round minus the first", lambda mpr: (mpr[..., -1] - mpr[..., 0]).mean(-1), (1, 1), (2, 2)
    ),
    "lead": Quantity(
        "how much more the first condition loses than each of the others; the smallest",
        lambda mpr: mpr[..., 1:, :].mean(-1) - mpr[..., :1, :].mean(-1),
        (2, MANY),
        extreme="smallest",
    ),
    "step": Quantity(
        "the fall from each condition to the next, over the rounds together; the smallest",
        lambda mpr: -np.diff(mpr.mean(-1), axis=-1),
        (2, MANY),
        extreme="smallest",
    ),
    "fall": Quantity(
        "how far the other conditions lie below the first, in each round; the smallest",
        _falls,
        (2, MANY),
        extreme="smallest",
    ),
    "spread": Quantity(
        "between any two conditions in a round; the largest in size", _within_rounds, (2, MANY), extreme="largest"
    ),
}


def check_quantity(line: Mapping[Any, Any], place: str) -> None:
    """Check the quantity, conditions, rounds and range of a line of `paper/claims.csv` or `workflow/controls.csv`.

    Raises `InputError`, which begins with `place`, for an unknown quantity, a number of conditions or rounds that it
    does not take, what is no rounds, and what is no range.
    """
    name, rounds, conditions = line["quantity"], line["rounds"], line["conditions"].split()
    if name not in QUANTITIES:
        raise InputError(f"{place}: unknown quantity {name!r}; choose {', '.join(QUANTITIES)}")
    quantity = QUANTITIES[name]
    _check_number(f"{place}: {name} of {len(conditions)} conditions", len(conditions), quantity.conditions, quantity)
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
    if len(parsed) > 1 and (name != "spread" or len(parsed) != len(conditions)):
        raise InputError(f"{place}: rounds {rounds!r}: {len(parsed)} lists; give one, or for spread one a condition")
    for part in parsed:
        _check_number(f"{place}: {name} over {len(part)} rounds", len(part), quantity.rounds, quantity)
    at_least, at_most = line["at_least"], line["at_most"]
    if not (at_least <= at_most or pd.isna(at_least) != pd.isna(at_most)):
        raise InputError(f"{place}: {at_least} to {at_most} is no range; give one bound or two, the lower one first")


def _check_number(given: str, number: int, allowed: tuple[int, int], quantity: Quantity) -> None:
    least, most = allowed
    if not least <= number <= most:
        wanted = f"exactly {least}" if least == most else f"at least {least}"
        raise InputError(f"{given}; give {wanted}, for it is {quantity.text}")


def parse_rounds(text: str) -> list[int]:
    """`10` → [10], `1 10` → [1, 10], `1-10` → 1 to 10."""
    first, dash, last = text.partition("-")
    return list(range(int(first), int(last) + 1)) if dash else [int(word) for word in text.split()]


def chosen(games: Sequence[Drawn], rounds: str) -> Drawn | None:
    """The conditions' MPRs in these rounds, in the trainings that all have: of [11] each → of [conditions, rounds].

    Where each condition has rounds of its own, the rounds are all that any has, with NaN where a condition lacks one.
    None where no training played all conditions.
    """
    seeds = common(*games)
    if not seeds and any(game.seeds for game in games):
        return None
    each = [parse_rounds(part) for part in rounds.split(";")]
    union = sorted({number for numbers in each for number in numbers}) if len(each) > 1 else each[0]
    drawn = np.stack([game.only(seeds).means[..., union] for game in games], -2)
    for condition, numbers in enumerate(each if len(each) > 1 else []):
        drawn[..., condition, ~np.isin(union, numbers)] = np.nan
    return Drawn(seeds, drawn)


def estimate(quantity: str, drawn: Drawn, level: tuple[float, float] = LEVEL) -> Estimate:
    """A quantity of MPRs of [conditions, rounds], and its interval. level: percentiles that bound it.

    A single difference has a percentile interval. The most extreme of several can't have one: resampling adds noise to
    each difference, so a resampled maximum is too large and a minimum too small on average, and the percentiles may
    leave out the estimate itself. Instead all differences get simultaneous intervals (max-t, Romano & Wolf 2005). If
    all of them hold, the true extreme lies between the extremes of their lower and of their upper bounds; so does the
    estimate.
    """
    wanted = QUANTITIES[quantity]
    differences = drawn.of(wanted.of)
    if not wanted.extreme:
        return estimated(differences, level)
    together = differences.together
    plain = together[0]
    margin = simultaneous_margins(plain, together[1:], level) if len(together) > 1 else np.full_like(plain, np.nan)
    lower, upper = plain - margin, plain + margin
    if wanted.extreme == "largest":
        size = np.abs(plain)
        lower, upper = np.maximum(size - margin, 0), size + margin
    value, low, high = (float(wanted.value(bounds)) for bounds in (plain, lower, upper))
    return Estimate(value, low, high, drawn.seeds, tuple(wanted.value(differences.each).tolist()))
