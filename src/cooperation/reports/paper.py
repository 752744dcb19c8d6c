"""What the paper printed, as data: the layout and values of its tables, the lines of its figures."""

import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cooperation.conditions import CONTROL
from cooperation.files import InputError, sound

CITATION = "Examining Cooperation in Visual Dialog Models (arXiv 1712.01329, ViGIL workshop at NIPS 2017)"
OWN = "visdial"
OWN_DATASETS = (OWN, "visdial_0.9", "visdial_authors")
"""Names of the data set that the paper used, VisDial 0.9; on any other its numbers can't be expected."""
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
"""Columns of `paper/published.csv`; quantity is `mpr` or `gap` (the control's MPR minus the condition's)."""


@dataclass(frozen=True)
class Figure:
    """One panel of Figure 1: a line a condition over rounds 1–10. `sibling` is the panel it isn't aligned with."""

    title: str
    model: str
    lines: dict[str, str]
    sibling: str


FIGURES = {
    "1a": Figure(
        "Caption: MPR when a token in the caption is replaced by another with probability p",
        "dialog",
        {CONTROL: "None"} | {f"caption-p{p}": f"Caption, p = {p}" for p in ("0.2", "0.4", "0.6", "0.8")},
        "1b",
    ),
    "1b": Figure(
        "Image, question & answer: MPR when we intervene starting at round 5 with p = 0.8",
        "dialog",
        {
            CONTROL: "None",
            "image-from5": "Image",
            "question-from5-p0.8": "Question",
            "answer-from5-p0.8": "Answer",
        },
        "1a",
    ),
}
"""Figures 1a and 1b: condition → label; the paper's text gives no numbers for them."""


def read_published(path: Path) -> pd.DataFrame:
    """Read the published values: one row a printed number, columns as in `PUBLISHED`, in the paper's order."""
    published = read_columns(path, PUBLISHED)
    for table in TABLES:
        if table not in set(published["table"]):
            raise InputError(f"{path}: no values of Table {table}; get the file again")
    return published


def read_columns(path: Path, columns: dict[str, str], may_be_empty: tuple[str, ...] = ()) -> pd.DataFrame:
    """Read a CSV with (at least) these columns and types; anything else is an `InputError` naming the place.

    may_be_empty: columns of texts in which a cell may be empty; it is "" then. A number that is missing is NaN.
    """
    with sound(path, "not a table of this kind", "make it again or correct it"):
        if not path.exists():
            raise InputError(f"{path}: no such file")
        # "None" is the name of a column of Table 1, not a missing value.
        frame = pd.read_csv(path, keep_default_na=False, na_values=[""])
        missing = [name for name in columns if name not in frame]
        if missing:
            raise InputError(f"{path}: no column {missing[0]!r}; expected {', '.join(columns)}")
        frame = frame.fillna(dict.fromkeys(may_be_empty, ""))
        for name, kind in columns.items():
            _check_column(frame[name], kind, path)
        return frame.astype(columns)


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


def dataset_note(dataset: str) -> str:
    """What a reader must know before comparing numbers of this data set with the paper's; "" on the paper's own."""
    if dataset in OWN_DATASETS:
        return ""
    if dataset == "miniature":
        return (
            "This is the miniature: a made-up world with small models and features from an untrained network. "
            "Its numbers are not expected to match the paper's."
        )
    if dataset == "genuine":
        return (
            "Genuine dialogs, but with stand-in pictures that have nothing to do with them, and far too few to learn "
            "from: the MPR means nothing here. This data set only tries the chain on real text."
        )
    return f"The data set “{dataset}” is not the paper's; its numbers are not expected to match."


def number(value: float) -> str:
    """One decimal, as the paper prints; an en dash where there is none."""
    return signed(value).removeprefix("+")


def with_interval(value: float, low: float, high: float) -> str:
    """A number and its 95 % interval: 3.0 [2.1, 4.4]."""
    return f"{number(value)} [{number(low)}, {number(high)}]"


def signed(value: float) -> str:
    """One decimal with its sign, and no sign for a zero; an en dash where there is none."""
    text = "–" if pd.isna(value) else f"{value:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") else text
