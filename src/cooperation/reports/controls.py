"""Compare with known ground truth: what must come out of the controls' worlds, and what did."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cooperation.config.interventions import Interventions
from cooperation.io.files import InputError
from cooperation.reports.paper import number, read_columns
from cooperation.reports.quantities import check_quantity, chosen, estimate
from cooperation.reports.scores import Scores
from cooperation.reports.statistics import Evidence, Resampled, resample
from cooperation.reports.table import Block, Cell, Column, Table
from cooperation.reports.trainings import COLUMNS, Drawn, Estimate

EXPECTED = {
    "world": "str",
    "statement": "str",
    "quantity": "str",
    "conditions": "str",
    "rounds": "str",
    "at_least": "float64",
    "at_most": "float64",
}
"""Columns of `workflow/controls.csv`.

world: a data set; quantity and rounds: as in `paper/claims.csv`; conditions: interventions of
`workflow/interventions.csv`, blanks between them. at_least, at_most: the range, bounds
included, that was fixed before anything was played; empty where there is no bound.
"""
FOUND = (*EXPECTED, "model", *COLUMNS, "holds")
"""Columns of `controls.csv`: what a model gave (see `trainings.COLUMNS`), and whether that is what was expected."""
ROUNDING = 1e-6


def read_expected(path: Path) -> pd.DataFrame:
    """Read `workflow/controls.csv`; raise `InputError` for an unknown quantity, or what is no rounds or no range."""
    expected = read_columns(path, EXPECTED)
    for line in expected.to_dict("records"):
        check_quantity(line, f"{path}: {line['world']}")
    return expected


def resample_worlds(scores: Sequence[Scores], resamples: int, seed: int) -> dict[str, Resampled]:
    """Resample the dialogs of each world by themselves.

    Raises `InputError` where a world was played under several readings, for an expectation names none.
    """
    worlds: dict[str, list[Scores]] = {}
    for score in scores:
        members = worlds.setdefault(score.dataset, [])
        members.append(score)
        if score.reading != (first := members[0]).reading:
            played = f"played as {score.reading}, but {first.path} as {first.reading}"
            raise InputError(f"{score.path}: {played}; give results of one reading")
    return {world: resample(members, resamples, seed) for world, members in worlds.items()}


def compare(expected: pd.DataFrame, interventions: Interventions, worlds: Mapping[str, Resampled]) -> pd.DataFrame:
    """Each expectation with what each model of its world gave, columns as in `FOUND`.

    It holds if the value of every training lies in the range and, where the range leaves out zero, the interval does
    too.

    Raises `InputError` for an unknown intervention, and where no model played what something is expected of.
    """
    played = {world: resampled.labelled(interventions.conditions) for world, resampled in worlds.items()}
    lines = [
        {**line, "model": model, **_found(line, games)}
        for line in expected.to_dict("records")
        for model, games in _played(line, interventions, played.get(line["world"], {})).items()
    ]
    return pd.DataFrame(lines, columns=FOUND)


def _played(line: Mapping[Any, Any], interventions: Interventions, played: Evidence) -> dict[str, list[Drawn]]:
    """Model → MPRs of the conditions that an expectation is about, of [11] each. played: in its world."""
    world, labels = line["world"], line["conditions"].split()
    meant = {label: interventions.of(label, world) for label in labels}
    games: dict[str, dict[str, Drawn]] = {}
    for (model, _, label), drawn in played.items():
        games.setdefault(model, {})[label] = drawn
    able = {model: [own[label] for label in labels] for model, own in games.items() if set(labels) <= own.keys()}
    if not able:
        missing = next((label for label in labels if not any(label in own for own in games.values())), labels[0])
        raise InputError(
            f"{world}: no result of the condition {missing!r}, {meant[missing].text}, of which something is expected; "
            "give it"
        )
    return able


def _found(line: Mapping[Any, Any], games: Sequence[Drawn]) -> dict[str, object]:
    drawn = chosen(games, line["rounds"])
    if drawn is None:
        raise InputError(f"{line['world']}: no training played all of {line['conditions']}; give results of one")
    found = estimate(line["quantity"], drawn)
    return {**found.cells, "holds": judge(found, line["at_least"], line["at_most"])}


def judge(found: Estimate, at_least: float, at_most: float) -> bool:
    """Whether every training lies in the range (NaN: no bound), and the interval leaves out zero where it does."""
    inside = all(not value < at_least - ROUNDING and not value > at_most + ROUNDING for value in found.each)
    clear = (not at_least > 0 or found.low > 0) and (not at_most < 0 or found.high < 0)
    return inside and clear


def controls_table(found: pd.DataFrame, size: str) -> Table:
    """The table of `compare`: a row an expectation and model. size: queries × candidates of the worlds, in words."""
    columns = ("World", "Model", "Expected", "Range", "Found", "Each seed", "Holds")
    rows = tuple(tuple(map(Cell, _texts(line))) for line in found.to_dict("records"))
    block = Block("", tuple(Column(title, "text") for title in columns), rows)
    caption = "Bots and worlds of known ground truth; MPR in percent and gaps in points, with 95 % intervals."
    return Table("controls", "Controls", (block,), found, caption=caption, size=size)


def _texts(line: Mapping[Any, Any]) -> tuple[str, ...]:
    found = Estimate.of(line)
    expected = (line["statement"], _range(line["at_least"], line["at_most"]))
    each = ", ".join(map(number, found.each))
    return line["world"], line["model"], *expected, str(found), each, "yes" if line["holds"] else "NO"


def _range(at_least: float, at_most: float) -> str:
    if at_least == at_most:
        return f"exactly {at_least:.1f}"
    if pd.isna(at_least):
        return f"at most {number(at_most)}"
    return f"at least {number(at_least)}" if pd.isna(at_most) else f"{number(at_least)} to {number(at_most)}"


def failures(found: pd.DataFrame) -> list[str]:
    """One line for each expectation that does not hold."""
    return [
        f"{world}, model {model}: {statement}: expected {allowed}, found {given}, by seed {each}"
        for world, model, statement, allowed, given, each, _ in map(_texts, found[~found["holds"]].to_dict("records"))
    ]
