"""The paper's statements, checked: a quantity, a range fixed beforehand, and a verdict from its interval."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isnan, nan
from pathlib import Path
from typing import Any

import pandas as pd

from cooperation.config.interventions import Interventions
from cooperation.io.files import InputError
from cooperation.reports.paper import family, read_columns, refuse_twice
from cooperation.reports.quantities import check_quantity, chosen, estimate
from cooperation.reports.statistics import Evidence
from cooperation.reports.table import Block, Cell, Column, Table, number_cell
from cooperation.reports.trainings import Estimate
from cooperation.reports.verdicts import (
    ABOUT_PAPER,
    FAILS,
    HOLDS,
    NOT_COMPARABLE,
    RATE,
    UNDECIDED,
    discoveries,
    doubt,
    judge,
)

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
    "counted": "str",
    "why": "str",
}
"""Columns of `paper/claims.csv`.

quantity: one of `quantities.QUANTITIES`, of these conditions (interventions of `paper/interventions.csv`, blanks
between them) of a model of the paper's, in these rounds (`10`, `1 10` or `1-10`; for `spread` also a list a condition,
`1-10; 2-10`, for the cells that Table 2 has). The model may be one of `WITHOUT_MODEL`: `dialogs` stands for the human
dialogs, `paper` for the paper's printed cells, `manual` for the ranks of single dialogs without
(`figure_2-caption-original`) and with manual interventions (`figure_2-caption-changed`) on the channels that are named.
published: as the paper has it. at_least, at_most: the range in which ours holds, bounds excluded, empty where there is
none. datasets: those on which ours can be compared, empty where any will do; a number needs the paper's own, a
direction or an order may be looked for in the miniature too. counted: `no` for one of several meanings of a statement;
else empty. why: the reason for the range.
"""
FOUND = ("reading", "ours", "low", "high", "seeds", "each", "p", "q", "verdict", "reason")
"""Further columns of `check`'s table; there, `model` is our model that stands for the paper's.

seeds, each: of the trainings, and what each gives. p: of `verdicts.doubt`, q: of `verdicts.discoveries`, both NaN where
no interval decides.
"""
WITHOUT_MODEL = {"dialogs": "the dialogs", "paper": "the paper", "manual": "single dialogs"}
"""What stands in the column `model` of claims that are not about a model's games, and how it is printed."""
CAPTION = (
    "Ours with 95 % intervals, in percentage points unless the claim says otherwise. A claim holds if the interval"
    " and every training lie inside a range that was fixed beforehand, and fails if they lie outside; it is undecided"
    " where the interval reaches over the edge, where trainings disagree, and where there is one training alone. It is"
    " not comparable where the number belongs to the paper’s own data set or the intervention"
    " (paper/interventions.csv) was not played."
)


def read_claims(path: Path, interventions: Interventions) -> pd.DataFrame:
    """Read `paper/claims.csv`.

    Raises `InputError` for two claims of one name, an unknown quantity or intervention, and what is no rounds or range.
    """
    claims = read_columns(path, CLAIMS, ("published", "datasets", "counted", "why"))
    refuse_twice(claims, ("claim",), path)
    for line in claims.to_dict("records"):
        place = f"{path}: claim {line['claim']}"
        check_quantity(line, place)
        if line["at_least"] == line["at_most"]:
            raise InputError(f"{place}: nothing lies between {line['at_least']:g} and itself; give room on either side")
        if line["counted"] not in ("", "no"):
            raise InputError(f"{place}: counted is {line['counted']!r}; write no, or leave it empty")
        if line["model"] not in WITHOUT_MODEL:
            for label in line["conditions"].split():
                interventions.of(label, place)
    return claims


def check(
    claims: pd.DataFrame,
    evidence: Evidence,
    stands_for: Mapping[str, Sequence[str]],
    readings: Sequence[str],
    dataset: str,
) -> pd.DataFrame:
    """Every claim for each model that stands for the claim's, in every reading: columns of `CLAIMS`, then of `FOUND`.

    stands_for: model of the paper's → ours.
    """
    lines = [
        {
            **claim,
            "model": model,
            "reading": reading,
            "seeds": "",
            "each": "",
            **_checked(claim, evidence, (model, reading), dataset),
        }
        for claim in claims.to_dict("records")
        for model in stands_for.get(claim["model"], (claim["model"],))
        for reading in readings
    ]
    return _together(pd.DataFrame(lines, columns=[*CLAIMS, *FOUND]).astype({"p": "float64", "q": "float64"}))


def _checked(claim: Mapping[Any, Any], evidence: Evidence, played: tuple[str, str], dataset: str) -> dict[str, object]:
    """Ours, its interval, verdict and reason of one claim for one model and reading."""
    keys = [(*played, name) for name in claim["conditions"].split()]
    if missing := [key[2] for key in keys if key not in evidence]:
        return {"verdict": NOT_COMPARABLE, "reason": f"not played: {', '.join(missing)}"}
    drawn = chosen([evidence[key] for key in keys], claim["rounds"])
    if drawn is None:
        return {"verdict": NOT_COMPARABLE, "reason": "no training played all of them"}
    ours = estimate(claim["quantity"], drawn)
    if claim["quantity"] == "level" and claim["model"] not in WITHOUT_MODEL:
        ours = ours.within(0, 100)
    if claim["model"] == "manual" and ours.low == ours.high:
        # Of a single dialog, trainings alone make the interval: those that agree say nothing of how far others differ.
        ours = replace(ours, low=nan, high=nan)
    cells = ours.cells
    found = {"ours": cells.pop("value"), **cells}
    if isnan(ours.value):
        return {"verdict": NOT_COMPARABLE, "reason": "no numbers of these rounds"}
    if claim["datasets"] and family(dataset) not in claim["datasets"].split():
        return {**found, "verdict": NOT_COMPARABLE, "reason": f"for {' or '.join(claim['datasets'].split())} only"}
    bounds = claim["at_least"], claim["at_most"]
    verdict, reason = judge(ours, *bounds)
    if claim["model"] == "paper":
        return {**found, "verdict": ABOUT_PAPER, "reason": f"{verdict}: {reason}"}
    if len(ours.seeds) > 1:
        found["p"] = doubt(claim["quantity"], drawn, *bounds) if verdict in (HOLDS, FAILS) else 1.0
    return {**found, "verdict": verdict, "reason": reason}


def _together(verdicts: pd.DataFrame) -> pd.DataFrame:
    """The verdicts with q, and in the reason what does not stand among all of them."""
    judged = verdicts["p"].notna()
    verdicts.loc[judged, "q"] = discoveries(verdicts.loc[judged, "p"].tolist())
    alone = _alone(verdicts)
    verdicts.loc[alone, "reason"] += f"; at 95 % by itself, not among {judged.sum()} verdicts"
    return verdicts


def _alone(verdicts: pd.DataFrame) -> "pd.Series[bool]":
    """Which verdicts are given at 95 %, but do not stand where all verdicts are looked at together."""
    return verdicts["verdict"].isin([HOLDS, FAILS]) & (verdicts["q"] > RATE)


def standing(verdicts: pd.DataFrame) -> tuple[int, int]:
    """How many claims hold or fail by an interval, and how many of these stand where all are looked at together."""
    given = int((verdicts["p"].notna() & verdicts["verdict"].isin([HOLDS, FAILS])).sum())
    return given, given - int(_alone(verdicts).sum())


def of_all(verdicts: pd.DataFrame) -> str:
    """How many verdicts are given from intervals, and what that means, in words; "" where none is."""
    judged = verdicts["p"].notna()
    given, stand = standing(verdicts)
    if not given:
        return "No verdict is given from an interval over dialogs and trainings."
    return (
        f"Of {judged.sum()} quantities that trainings move, {given} have a verdict, at 95 % each: were all of them on"
        f" the edge of their ranges, {0.05 * judged.sum():.0f} verdicts would be wrong on average. {stand} of the"
        f" {given} stand where the expected share of wrong ones among all verdicts is at most {100 * RATE:.0f} %,"
        " however they depend on each other (false discovery rate; Benjamini & Yekutieli 2001); the others say so."
    )


def counted(verdicts: pd.DataFrame) -> list[tuple[str, int, int, int]]:
    """How many claims hold, fail and are undecided, by reading, and by model where one has a rival.

    Neither the paper's own arithmetic nor one of several meanings of a statement is counted.
    """
    rivals = verdicts.groupby("claim")["model"].nunique().max() > 1
    said: dict[str, list[str]] = {}
    for line in verdicts.to_dict("records"):
        model = WITHOUT_MODEL.get(line["model"], f"model {line['model']}")
        about = f"{line['reading']}, {model}" if rivals else line["reading"]
        if line["counted"] != "no" and line["verdict"] != ABOUT_PAPER:
            said.setdefault(about, []).append(line["verdict"])
    return [(about, found.count(HOLDS), found.count(FAILS), found.count(UNDECIDED)) for about, found in said.items()]


def claims_table(verdicts: pd.DataFrame, dataset: str, size: str) -> Table:
    """A row a claim and model: the statement, the paper's number, the range, and for each reading ours and the verdict.

    verdicts: the table of `check`. size: queries × candidates, in words.
    """
    readings = list(dict.fromkeys(verdicts["reading"]))
    columns = [Column("Claim", "claim"), Column("Source", "text source"), Column("Model", "text")]
    columns += [Column("Paper"), Column("Range", "text range")]
    for reading in readings:
        columns += [Column(f"{reading}: ours"), Column(f"{reading}: verdict", "text")]
    rows: dict[tuple[str, str], list[Cell]] = {}
    for line in verdicts.to_dict("records"):
        row = rows.setdefault((line["claim"], line["model"]), _claimed(line))
        row += _found(line)
    block = Block("", tuple(columns), tuple(tuple(row) for row in rows.values()))
    return Table(
        "claims",
        "Claims of the paper",
        (block,),
        verdicts,
        dataset,
        f"{CAPTION} {of_all(verdicts)}",
        size,
        sortable=True,
    )


def _claimed(line: Mapping[Any, Any]) -> list[Cell]:
    """What the paper says."""
    model = WITHOUT_MODEL.get(line["model"], line["model"])
    published = str(line["published"]).replace("-", "−")
    words = (line["statement"], line["source"], model, published)
    allowed = _range(line["at_least"], line["at_most"])
    return [*map(Cell, words), Cell(allowed, (line["why"],) if line["why"] else (), (allowed,))]


def _range(at_least: float, at_most: float) -> str:
    low, high = f"{at_least:g}".replace("-", "−"), f"{at_most:g}".replace("-", "−")
    if pd.isna(at_least):
        return f"below {high}"
    return f"above {low}" if pd.isna(at_most) else f"{low} to {high}"


def _found(line: Mapping[Any, Any]) -> list[Cell]:
    """Ours and the verdict."""
    verdict, reason = line["verdict"], line["reason"]
    style = f"verdict {verdict.replace(' ', '-')}"
    return [
        number_cell(Estimate.of({**line, "value": line["ours"]})),
        Cell(verdict, (reason,), (f"{verdict}: {reason}",), style),
    ]
