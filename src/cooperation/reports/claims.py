"""The paper's statements, checked: a quantity, a range fixed beforehand, and a verdict from its interval."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cooperation.conditions import CONTROL
from cooperation.files import InputError
from cooperation.games.results import Result
from cooperation.games.transcripts import places
from cooperation.messages import ROUNDS
from cooperation.reports.bootstrap import Doubles, interval, simultaneous_margins
from cooperation.reports.paper import family, read_columns
from cooperation.reports.statistics import Scores, resample

CLAIMS = {
    "claim": "str",
    "statement": "str",
    "source": "str",
    "quantity": "str",
    "model": "str",
    "conditions": "str",
    "rounds": "str",
    "published": "str",
    "at_least": "float64",
    "at_most": "float64",
    "datasets": "str",
}
"""Columns of `paper/claims.csv`.

quantity: one of `ALL_QUANTITIES`, of these conditions (blanks between them) of a model in these rounds (`10`, `1 10`
or `1-10`; for `spread` also a list a condition, `1-10; 2-10`, for the cells that Table 2 has). The model `dialogs`
stands for the human dialogs, `paper` for the paper's printed cells, `manual` for the ranks of single dialogs without
(`figure_2-original`) and with manual interventions (`figure_2-changed`). published: as the paper has it. at_least,
at_most: the range in which ours counts as reproduced, empty where there is no bound. datasets:
those on which ours can be compared, empty where any will do; a number needs the paper's own, a direction or an order
may be looked for in the miniature too.
"""
VERDICTS = {
    **CLAIMS,
    "reading": "str",
    "ours": "float64",
    "low": "float64",
    "high": "float64",
    "verdict": "str",
    "reason": "str",
}
"""Columns of `claims.csv` as `check` makes it: a claim once a reading, ours with its 95 % interval, the verdict."""


def _within_rounds(mpr: Doubles) -> Doubles:
    """Differences between any two conditions in each round, where there are both (else NaN)."""
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

Evidence = Mapping[tuple[str, str, str], Doubles]
"""(model, reading, condition) → [1 + resamples, rounds]: the plain means first, then the resampled ones."""


def read_claims(path: Path) -> pd.DataFrame:
    """Read `paper/claims.csv`, refusing an unknown quantity or rounds that aren't any."""
    claims = read_columns(path, CLAIMS, ("published", "datasets"))
    for line in claims.to_dict("records"):
        check_quantity(line, f"{path}: claim {line['claim']}")
    return claims


def check_quantity(line: Mapping[Any, Any], place: str) -> None:
    """Refuse an unknown quantity, too few conditions for it, or rounds that aren't any; `place` begins the message."""
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


def read_verdicts(path: Path) -> pd.DataFrame:
    """Read a file that `cooperation claims` wrote."""
    return read_columns(path, VERDICTS, ("published", "datasets", "reason"))


def parse_rounds(text: str) -> list[int]:
    """`10` → [10], `1 10` → [1, 10], `1-10` → 1 to 10."""
    first, dash, last = text.partition("-")
    return list(range(int(first), int(last) + 1)) if dash else [int(word) for word in text.split()]


def check(claims: pd.DataFrame, evidence: Evidence, readings: list[str], dataset: str) -> pd.DataFrame:
    """Every claim in every reading: ours, its interval and the verdict; columns as in `VERDICTS`."""
    lines = [
        claim | {"reading": reading} | _checked(claim, evidence, reading, dataset)
        for claim in claims.to_dict("records")
        for reading in readings
    ]
    return pd.DataFrame(lines, columns=list(VERDICTS))


def _checked(claim: Mapping[Any, Any], evidence: Evidence, reading: str, dataset: str) -> dict[str, object]:
    """Ours, low, high, verdict and reason of one claim in one reading."""
    keys = [(claim["model"], reading, name) for name in claim["conditions"].split()]
    missing = [name for model, reading, name in keys if (model, reading, name) not in evidence]
    if missing:
        return {"verdict": "not comparable", "reason": f"not played: {', '.join(missing)}"}
    ours, low, high = estimate(claim["quantity"], chosen([evidence[key] for key in keys], claim["rounds"]))
    found: dict[str, object] = {"ours": ours, "low": low, "high": high}
    if claim["datasets"] and family(dataset) not in claim["datasets"].split():
        return found | {"verdict": "not comparable", "reason": f"for {' or '.join(claim['datasets'].split())} only"}
    return found | judge(low, high, claim["at_least"], claim["at_most"])


def chosen(games: Sequence[Doubles], rounds: str) -> Doubles:
    """The conditions' MPRs in these rounds: [1 + resamples, rounds] each → [1 + resamples, conditions, rounds].

    Where each condition has rounds of its own, all that any has are there, and NaN stands in those it lacks.
    """
    each = [parse_rounds(part) for part in rounds.split(";")]
    union = sorted({number for numbers in each for number in numbers}) if len(each) > 1 else each[0]
    drawn = np.stack([game[:, union] for game in games], -2)
    for condition, numbers in enumerate(each if len(each) > 1 else []):
        drawn[:, condition, ~np.isin(union, numbers)] = np.nan
    return drawn


def estimate(quantity: str, drawn: Doubles) -> tuple[float, float, float]:
    """A quantity of [1 + resamples, conditions, rounds] (the plain means first) and its 95 % interval, low and high.

    `QUANTITIES` have percentile intervals. The extreme of several differences can't: chance parts the resampled values
    further than the plain ones, so the percentiles of a maximum lie too high, of a minimum too low, and may leave out
    the estimate itself. Instead each difference d gets d ± c·s, with s its bootstrap standard error and c so that
    95 % of the resamples have all their differences within: simultaneous intervals (max-t, Romano & Wolf 2005). Where
    all are right, the true extreme lies between the extremes of their lower and of their upper bounds; so does ours.
    """
    if quantity in QUANTITIES:
        values = QUANTITIES[quantity](drawn)
        low, high = interval(values[1:])
        return float(values[0]), float(low), float(high)
    differences = DIFFERENCES[quantity](drawn)
    plain = differences[0]
    margin = simultaneous_margins(plain, differences[1:])
    if quantity == "spread":
        size = np.abs(plain)
        return float(size.max()), float(np.maximum(size - margin, 0).max()), float((size + margin).max())
    return float(plain.min()), float((plain - margin).min()), float((plain + margin).min())


def judge(low: float, high: float, at_least: float, at_most: float) -> dict[str, object]:
    """Reproduced only if the whole interval lies inside the range, its bounds (NaN: none) excluded."""
    above, below = not low <= at_least, not high >= at_most
    if above and below:
        return {"verdict": "reproduced", "reason": "the whole interval lies inside the range"}
    if high <= at_least or low >= at_most:
        return {"verdict": "not reproduced", "reason": "the whole interval lies outside the range"}
    return {"verdict": "not reproduced", "reason": "the interval reaches outside the range"}


def game_evidence(scores: Sequence[Scores], resamples: int, seed: int) -> dict[tuple[str, str, str], Doubles]:
    """The MPRs of every model, reading and condition, mean over seeds, with their resamples."""
    drawn = resample(scores, resamples, seed)
    seeds: dict[tuple[str, str, str], list[Doubles]] = {}
    for score, means in zip(scores, drawn, strict=True):
        seeds.setdefault((score.model, score.reading, score.condition), []).append(means)
    return {key: np.mean(means, 0) for key, means in seeds.items()}


def dialog_evidence(counts: Mapping[str, Any]) -> dict[str, Doubles]:
    """`train-exactly` and the like → percentage of a split's answers that are, or begin with, yes or no, [2, 1].

    counts: the attributes of a file of dialogs, which counted them when it was made. The paper states what its data
    are, not what they are a sample of: so a value and its equal, without an interval.
    """
    shares = {
        f"{split}-{name}": counts.get(f"{split}_{name}_yes_no")
        for split in ("train", "val")
        for name in ("exactly", "beginning")
    }
    return {name: np.full((2, 1), 100.0 * share) for name, share in shares.items() if share is not None}


def manual_evidence(results: Sequence[Result]) -> dict[tuple[str, str, str], Doubles]:
    """`figure_2-original` and `figure_2-changed` → ranks (1 is best) in a reading, [2, 11]: a value and its equal."""
    found = {}
    for result in results:
        names = result.attributes
        for title, ranks in zip(("original", "changed"), places(result.ranks), strict=True):
            found["manual", names["reading"], f"{names['condition']}-{title}"] = np.stack([ranks, ranks])
    return found


def paper_evidence(published: pd.DataFrame) -> dict[str, Doubles]:
    """`gap-COLUMN` → the gaps that Table 1's printed cells give, [2, 11] (a value and a draw that equals it)."""
    cells = published[(published["table"] == 1) & (published["quantity"] == "mpr")]
    control = cells[cells["condition"] == CONTROL].set_index("round")["value"]
    found = {}
    for column, values in cells.groupby("column"):
        gaps = np.full(11, np.nan)
        rounds = values["round"].to_numpy()
        gaps[rounds] = np.round(control.loc[rounds].to_numpy() - values["value"].to_numpy(), 1)
        found[f"gap-{column}"] = np.stack([gaps, gaps])
    return found
