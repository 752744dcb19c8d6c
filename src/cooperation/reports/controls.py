"""Known answers: what must come out of worlds whose truth is known, and what did."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from cooperation.files import InputError
from cooperation.reports.bootstrap import Doubles
from cooperation.reports.claims import check_quantity, chosen, estimate, game_evidence
from cooperation.reports.paper import number, read_columns, with_interval
from cooperation.reports.statistics import Scores, refuse_several_games

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

world: a data set; quantity, conditions and rounds: as in `paper/claims.csv`. at_least, at_most: the range, bounds
included, that was fixed before anything was played; empty where there is no bound.
"""
FOUND = {**EXPECTED, "found": "float64", "low": "float64", "high": "float64", "holds": "bool"}
"""Columns of `controls.csv`: what was found, with its 95 % interval, and whether that is what was expected."""
ROUNDING = 1e-6


def read_expected(path: Path) -> pd.DataFrame:
    """Read `workflow/controls.csv`, refusing an unknown quantity or rounds that aren't any."""
    expected = read_columns(path, EXPECTED)
    for line in expected.to_dict("records"):
        place = f"{path}: {line['world']}"
        check_quantity(line, place)
        if not (line["at_least"] <= line["at_most"] or pd.isna(line["at_least"]) != pd.isna(line["at_most"])):
            raise InputError(f"{place}: {line['at_least']} to {line['at_most']} is no range; give one bound or two")
    return expected


def read_found(path: Path) -> pd.DataFrame:
    """Read a file that `cooperation controls` wrote."""
    return read_columns(path, FOUND)


def confront(expected: pd.DataFrame, scores: Sequence[Scores], resamples: int, seed: int) -> pd.DataFrame:
    """Each expectation with what was found, columns as in `FOUND`.

    It holds if the value lies in the range and, where the range leaves out zero, the interval does too. A world's
    results must be of one model and reading, for an expectation names neither.
    """
    worlds: dict[str, list[Scores]] = {}
    for score in scores:
        worlds.setdefault(score.dataset, []).append(score)
    for members in worlds.values():
        refuse_several_games(members)
    evidence = {
        (world, name): drawn
        for world, members in worlds.items()
        for (_, _, name), drawn in game_evidence(members, resamples, seed).items()
    }
    lines = [{**line, **_found(line, evidence)} for line in expected.to_dict("records")]
    return pd.DataFrame(lines, columns=list(FOUND))


def _found(line: Mapping[object, object], evidence: Mapping[tuple[str, str], Doubles]) -> dict[str, object]:
    world, names = str(line["world"]), str(line["conditions"]).split()
    missing = [name for name in names if (world, name) not in evidence]
    if missing:
        raise InputError(f"{world}: no result of the condition {missing[0]!r}, of which something is expected; give it")
    drawn = chosen([evidence[world, name] for name in names], str(line["rounds"]))
    found, low, high = estimate(str(line["quantity"]), drawn)
    holds = judge(found, low, high, float(str(line["at_least"])), float(str(line["at_most"])))
    return {"found": found, "low": low, "high": high, "holds": holds}


def judge(found: float, low: float, high: float, at_least: float, at_most: float) -> bool:
    """Whether the value lies in the range (NaN: no bound), and the interval leaves out zero where the range does."""
    inside = not found < at_least - ROUNDING and not found > at_most + ROUNDING
    clear = (not at_least > 0 or low > 0) and (not at_most < 0 or high < 0)
    return inside and clear


def printed(found: pd.DataFrame) -> pd.DataFrame:
    """The table to print: world, statement, expected, found with its interval, and whether it holds."""
    lines = found.to_dict("records")
    return pd.DataFrame(
        {
            "World": [line["world"] for line in lines],
            "Expected": [line["statement"] for line in lines],
            "Range": [_range(line["at_least"], line["at_most"]) for line in lines],
            "Found": [with_interval(line["found"], line["low"], line["high"]) for line in lines],
            "Holds": ["yes" if line["holds"] else "NO" for line in lines],
        }
    )


def _range(at_least: float, at_most: float) -> str:
    if at_least == at_most:
        return f"exactly {at_least:.1f}"
    if pd.isna(at_least):
        return f"at most {number(at_most)}"
    return f"at least {number(at_least)}" if pd.isna(at_most) else f"{number(at_least)} to {number(at_most)}"


def complaints(found: pd.DataFrame) -> list[str]:
    """One line for each expectation that does not hold."""
    lines = printed(found[~found["holds"]]).to_dict("records")
    return [f"{line['World']}: {line['Expected']}: expected {line['Range']}, found {line['Found']}" for line in lines]
