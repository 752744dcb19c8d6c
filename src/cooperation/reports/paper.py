"""What the paper printed, as data: the layout and values of its tables, the lines of its figures."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isnan
from pathlib import Path
from string import ascii_lowercase
from typing import Any

import numpy as np
import pandas as pd

from cooperation.config.conditions import Condition
from cooperation.config.interventions import Interventions
from cooperation.config.rehearsal import SUFFIX
from cooperation.game.messages import ROUNDS
from cooperation.io.files import InputError, parse_errors

CITATION = "Examining Cooperation in Visual Dialog Models (arXiv 1712.01329, ViGIL workshop at NIPS 2017)"
OWN = "visdial"
OWN_DATASETS = (OWN, "visdial_0.9", "visdial_authors", "visdial_1.0")
"""Names of the data set that the paper used, VisDial 0.9; on any other its numbers can't be expected."""
NOTES = {
    "visdial_1.0": "VisDial 1.0’s text, v0.9’s split: the dialogs that version 1.0 trains on, divided as the paper’s "
    "version 0.9 was, by the COCO split of their pictures. They are compared with the paper’s numbers.",
    "miniature": "This is the miniature: a made-up world with small models and features from an untrained network. "
    "Its numbers are not expected to match the paper's.",
    "genuine": "Genuine dialogs, but with stand-in pictures that have nothing to do with them, and far too few to "
    "learn from: the MPR means nothing here. This data set only tries the chain on real text.",
}
"""What a reader must know of a data set, by its name."""
LEAST = {OWN: (1_000, 10_000), "miniature": (100, 100)}
"""Family of a data set → dialogs and candidates; with fewer, a run is called a rehearsal, and no claim is judged."""
REHEARSAL = "a rehearsal"
"""The family of all rehearsals."""
READING_TITLES = {"written": "as written in the paper", "released": "as in the released program"}
TABLES = {
    1: "MPR [%] of each intervention experiment with p = 1.0, where we intervened at each round during inference on "
    "the validation set. The difference between “None” and all other intervention rankings at the final round is shown "
    "in the final row.",
    2: "MPR [%] of Negation intervention results. A row starts at the round from which yes and no are swapped (0: from "
    "the beginning); columns are rounds.",
}
"""Captions of Tables 1 and 2."""
CORNERS = {1: "Intervention", 2: "Round"}
"""What stands above the row labels and left of the column labels."""
PUBLISHED = {
    "table": "int64",
    "row": "str",
    "column": "str",
    "quantity": "str",
    "model": "str",
    "condition": "str",
    "round": "int64",
    "value": "float64",
}
"""Columns of `paper/published.csv`.

quantity: `mpr` or `gap` (the baseline's MPR minus the condition's). condition: an intervention of
`paper/interventions.csv`.
"""
FIGURES = {"figure": "str", "title": "str", "model": "str", "condition": "str", "label": "str"}
"""Columns of `paper/figures.csv`: a line of a figure each; the title stands in a figure's first line alone.

condition: as in `PUBLISHED`.
"""


@dataclass(frozen=True)
class Line:
    """A line of a figure: the paper's model that played it, the condition that it played, and its label."""

    model: str
    condition: Condition
    label: str


@dataclass(frozen=True)
class Figure:
    """A panel of one of the paper's figures, drawn over rounds 1–10; the paper's text gives no numbers for it.

    siblings: panels of the same figure, whose y-axes are not aligned with this one's.
    """

    name: str
    title: str
    lines: tuple[Line, ...]
    siblings: tuple[str, ...]


def read_figures(path: Path, interventions: Interventions) -> dict[str, Figure]:
    """Read `paper/figures.csv`: each figure by its name, such as 1a.

    Raises `InputError` for another table than that of `FIGURES`, a figure without a title, and an unknown intervention.
    """
    lines = read_columns(path, FIGURES, ("title",))
    refuse_twice(lines, ("figure", "model", "condition"), path)
    figures = {}
    for name, rows in lines.groupby("figure", sort=False):
        title = rows["title"].iloc[0]
        if not title:
            raise InputError(f"{path}: Figure {name} has no title; write it into the figure's first line")
        shown = tuple(
            Line(model, interventions.of(condition, f"{path}: Figure {name}"), label)
            for model, condition, label in rows[["model", "condition", "label"]].itertuples(index=False)
        )
        figures[str(name)] = Figure(str(name), title, shown, _siblings(str(name), lines["figure"]))
    return figures


def _siblings(name: str, names: Iterable[str]) -> tuple[str, ...]:
    """Those that have the same number and another letter: of 1a, 1b."""
    number = name.rstrip(ascii_lowercase)
    return tuple(other for other in dict.fromkeys(names) if other != name and other.rstrip(ascii_lowercase) == number)


def read_published(path: Path, interventions: Interventions) -> pd.DataFrame:
    """Read the published values: one row a printed number, in the paper's order.

    Columns: those of `PUBLISHED`, and `settings`: what the condition is (`Condition.text`). Raises `InputError` for
    another table, and for an unknown intervention.
    """
    published = read_columns(path, PUBLISHED)
    refuse_twice(published, ("table", "row", "column"), path)
    meant = {label: interventions.of(label, str(path)).text for label in dict.fromkeys(published["condition"])}
    published["settings"] = published["condition"].map(meant)
    for row in np.flatnonzero(~published["round"].between(0, ROUNDS))[:1]:
        wrong = published["round"].tolist()[row]
        raise InputError(f"{path}: line {_line(path, row)}: round {wrong} is none from 0 to {ROUNDS}; correct it")
    for table in TABLES:
        if table not in set(published["table"]):
            raise InputError(f"{path}: no values of Table {table}; get the file again")
    cells = published[(published["table"] == 1) & (published["quantity"] == "mpr")]
    baseline = set(cells.loc[cells["settings"] == Condition().text, "round"])
    for line in cells[~cells["round"].isin(baseline)].head(1).to_dict("records"):
        raise InputError(
            f"{path}: Table 1, round {line['round']}: {line['column']} has a value, but the baseline has none; get the "
            "file again"
        )
    for table in set(published["table"]) - set(TABLES):
        raise InputError(f"{path}: Table {table} is none of the paper's ({', '.join(map(str, TABLES))}); correct it")
    return published


def read_columns(path: Path, columns: dict[str, str], may_be_empty: tuple[str, ...] = ()) -> pd.DataFrame:
    """Read a CSV with (at least) these columns and types; anything else is an `InputError` naming the place.

    may_be_empty: columns of texts in which a cell may be empty; it is "" then. A number that is missing is NaN.
    """
    with parse_errors(path, "not a table of this kind", "make it again or correct it"):
        if not path.exists():
            raise InputError(f"{path}: no such file")
        # "None" is the name of a column of Table 1, not a missing value.
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
        missing = [name for name in columns if name not in frame]
        if missing:
            raise InputError(f"{path}: no column {missing[0]!r}; expected {', '.join(columns)}")
        # Without this, a column of empty cells alone would be of numbers.
        frame = frame.astype(dict.fromkeys(may_be_empty, "object")).fillna(dict.fromkeys(may_be_empty, ""))
        for name, kind in columns.items():
            _check_column(frame[name], kind, path)
        return frame.astype(columns)


def refuse_twice(frame: pd.DataFrame, keys: Sequence[str], path: Path) -> None:
    """Raise `InputError` that names the line where a row of a CSV has the same keys as one above it."""
    for row in np.flatnonzero(frame.duplicated(list(keys)))[:1]:
        same = ", ".join(f"{key} {frame[key].tolist()[row]}" for key in keys)
        raise InputError(f"{path}: line {_line(path, frame.index[row])}: {same} is there twice; leave one out")


def _check_column(cells: "pd.Series[Any]", kind: str, path: Path) -> None:
    """Refuse what would silently become something else: an empty text, a broken whole number, a word that is true."""
    wrong = pd.Series(data=False, index=cells.index)
    if kind == "str":
        wrong = cells.isna()
    elif kind == "int64" and cells.dtype.kind == "f":
        wrong = cells % 1 != 0
    elif kind == "bool" and cells.dtype.kind != "b":
        wrong = ~cells.isin(["True", "False"])
    for row in np.flatnonzero(wrong)[:1]:
        value = cells.tolist()[row]
        raise InputError(f"{path}: line {_line(path, row)}: {cells.name} is {value!r}; make it again or correct it")


def _line(path: Path, row: int) -> int:
    """The line on which a row of a table begins; as pandas, it passes over blank lines, and cells may have several."""
    begins, found = 1, []
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        for cells in lines:
            if len(cells) > 1 or "".join(cells).strip():
                found.append(begins)
            begins = lines.line_num + 1
    # The first holds the columns' names.
    return found[row + 1]


def family(dataset: str) -> str:
    """The name by which `paper/claims.csv` knows a data set: `visdial` for every form of the paper's own."""
    return OWN if dataset in OWN_DATASETS else dataset


def rehearsal(dataset: str, queries: int, candidates: int) -> str:
    """What must be known of a run on too little to judge; "" where it is enough."""
    least = LEAST.get(family(dataset), (0, 0))
    if not dataset.endswith(SUFFIX) and queries >= least[0] and candidates >= least[1]:
        return ""
    return (
        f"This is a rehearsal: {queries:,} dialogs, each guessed among {candidates:,} candidates. It shows that the "
        "path works; its numbers mean nothing, and nothing is judged."
    )


def dataset_note(dataset: str) -> str:
    """What a reader must know before comparing numbers of this data set with the paper's; "" if there is nothing."""
    if dataset in NOTES:
        return NOTES[dataset]
    if dataset in OWN_DATASETS:
        return ""
    if dataset.endswith(SUFFIX):
        base = dataset.removesuffix(SUFFIX)
        return f"This is a rehearsal of {base} on a few dialogs with small bots: its numbers mean nothing."
    return f"The data set “{dataset}” is not the paper's; its numbers are not expected to match."


def reading_heading(reading: str) -> str:
    """What stands above a table's rows of a reading."""
    title = READING_TITLES.get(reading)
    return f"Reading {reading}: {title}" if title else f"Reading {reading}"


def number(value: float) -> str:
    """One decimal, as the paper prints; an en dash where there is none."""
    return signed(value).removeprefix("+")


def interval_of(low: float, high: float) -> str:
    """A 95 % interval: [2.1, 4.4]."""
    return f"[{number(low)}, {number(high)}]"


def with_interval(value: float, low: float, high: float) -> str:
    """A number and its 95 % interval, if it has one: 3.0 [2.1, 4.4]."""
    return number(value) if isnan(low) else f"{number(value)} {interval_of(low, high)}"


def signed(value: float) -> str:
    """One decimal with its sign, and no sign for a zero; an en dash where there is none."""
    text = "–" if pd.isna(value) else f"{value:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") else text
