"""The paper's statements, checked: a quantity, a range fixed beforehand, and a verdict from its interval."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cooperation.files import InputError
from cooperation.messages import Messages
from cooperation.paper import CONTROL, family, read_columns
from cooperation.results import Result
from cooperation.statistics import Doubles, Scores, interval, resample, resampled_means
from cooperation.text import Vocabulary
from cooperation.transcripts import places

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

quantity: one of `QUANTITIES`, of these conditions (blanks between them) of a model in these rounds (`10`, `1 10` or
`1-10`). The model `dialogs` stands for the human dialogs, `paper` for the paper's printed cells, `manual` for the ranks
of single dialogs without (`figure_2-original`) and with manual interventions (`figure_2-changed`). published: as the
paper has it. at_least, at_most: the range in which ours counts as reproduced, empty where there is no bound. datasets:
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

QUANTITIES: dict[str, Callable[[Doubles], Doubles]] = {
    "level": lambda mpr: mpr.mean((-2, -1)),
    "gap": lambda mpr: (mpr[..., 0, :] - mpr[..., 1, :]).mean(-1),
    "change": lambda mpr: (mpr[..., -1] - mpr[..., 0]).mean(-1),
    "lead": lambda mpr: mpr[..., 1:, :].mean(-1).min(-1) - mpr[..., 0, :].mean(-1),
    "step": lambda mpr: -np.diff(mpr.mean(-1), axis=-1).max(-1),
    "spread": lambda mpr: (mpr.max(-2) - mpr.min(-2)).max(-1),
}
"""Quantities of MPRs [..., conditions, rounds], in percentage points.

level: their mean. gap: the first condition minus the second. change: the last round minus the first. lead: how much
more the first condition loses than each of the others. step: the smallest fall from one condition to the next, over
the rounds together. spread: the largest difference between conditions in a round.
"""

Evidence = Mapping[tuple[str, str, str], Doubles]
"""(model, reading, condition) → [1 + resamples, rounds]: the plain means first, then the resampled ones."""


def read_claims(path: Path) -> pd.DataFrame:
    """Read `paper/claims.csv`, refusing an unknown quantity or rounds that aren't any."""
    claims = read_columns(path, CLAIMS).fillna({"datasets": ""})
    for claim, quantity, rounds in zip(claims["claim"], claims["quantity"], claims["rounds"], strict=True):
        if quantity not in QUANTITIES:
            raise InputError(f"{path}: claim {claim}: unknown quantity {quantity!r}; choose {', '.join(QUANTITIES)}")
        try:
            parse_rounds(rounds)
        except ValueError as error:
            raise InputError(f"{path}: claim {claim}: rounds {rounds!r} are not like 10, 1 10 or 1-10") from error
    return claims


def read_verdicts(path: Path) -> pd.DataFrame:
    """Read a file that `cooperation claims` wrote."""
    return read_columns(path, VERDICTS).fillna({"datasets": ""})


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
    rounds = parse_rounds(claim["rounds"])
    drawn = np.stack([evidence[key][:, rounds] for key in keys], -2)
    values = QUANTITIES[claim["quantity"]](drawn)
    low, high = (float(bound) for bound in interval(values[1:]))
    found: dict[str, object] = {"ours": float(values[0]), "low": low, "high": high}
    if claim["datasets"] and family(dataset) not in claim["datasets"].split():
        return found | {"verdict": "not comparable", "reason": f"for {' or '.join(claim['datasets'].split())} only"}
    return found | judge(low, high, claim["at_least"], claim["at_most"])


def judge(low: float, high: float, at_least: float, at_most: float) -> dict[str, object]:
    """Reproduced only if the whole interval lies inside the range, its bounds (NaN: none) excluded."""
    above, below = not low <= at_least, not high >= at_most
    if above and below:
        return {"verdict": "reproduced", "reason": "the whole interval lies inside the range"}
    if high <= at_least or low >= at_most:
        return {"verdict": "not reproduced", "reason": "the whole interval lies outside the range"}
    return {"verdict": "not reproduced", "reason": "the interval reaches outside the range"}


def answer_shares(answers: Messages, vocabulary: Vocabulary) -> Doubles:
    """Percentage of each dialog's answers that are exactly, and that begin with, yes or no: [dialogs, 2].

    answers: [dialogs, 10, length] without markers.
    """
    words = [vocabulary.ids[word] for word in ("yes", "no") if word in vocabulary.ids]
    begins = np.isin(answers.tokens[..., 0], words) & (answers.lengths > 0)
    exactly = begins & (answers.lengths == 1)
    return np.stack([100.0 * exactly.mean(1), 100.0 * begins.mean(1)], 1)


def game_evidence(scores: Sequence[Scores], resamples: int, seed: int) -> dict[tuple[str, str, str], Doubles]:
    """The MPRs of every model, reading and condition, mean over seeds, with their resamples."""
    drawn = resample(scores, resamples, seed)
    seeds: dict[tuple[str, str, str], list[Doubles]] = {}
    for score, means in zip(scores, drawn, strict=True):
        seeds.setdefault((score.model, score.reading, score.condition), []).append(means)
    return {key: np.mean(means, 0) for key, means in seeds.items()}


def dialog_evidence(split: str, shares: Doubles, resamples: int, seed: int) -> dict[str, Doubles]:
    """`train-exactly` and the like → [1 + resamples, 1], from `answer_shares` of a split."""
    draws = np.concatenate([shares.mean(0, keepdims=True), resampled_means(shares, resamples, seed)])
    return {f"{split}-{name}": draws[:, [number]] for number, name in enumerate(("exactly", "beginning"))}


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
