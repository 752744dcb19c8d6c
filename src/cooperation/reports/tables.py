"""The paper's tables beside ours, as CSV, Markdown, LaTeX and HTML, in the paper's own layout."""

from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined

from cooperation.files import InputError, write_text
from cooperation.reports.paper import (
    CORNERS,
    READING_TITLES,
    TABLES,
    dataset_note,
    number,
    read_columns,
    signed,
    with_interval,
)
from cooperation.reports.statistics import across_seeds, readings

KEYS = ["reading", "row", "quantity"]
QUANTITIES = ["paper", "ours", "difference", "low", "high", "lowest", "highest"]
"""Lines of a table's cell: the paper's value, ours and ours − paper; our 95 % interval; our range over seeds."""


def environment() -> Environment:
    """The templates, with all text escaped.

    table.html.j2 and claims.html.j2 are used here and the page's in page.py; all but the page's extend small.html.j2.
    All include macros.html.j2 and page.css, those of the claims also sort.js. (Workflow rules take the files named in
    the source as a command's inputs.)
    """
    loader = PackageLoader("cooperation.reports", "")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters["number"] = number
    made.filters["signed"] = signed
    return made


def compare(published: pd.DataFrame, summary: pd.DataFrame, table: int) -> pd.DataFrame:
    """Lay out a table (1 or 2) as the paper does, once a reading, with ours.

    Rows: reading, the paper's row label, quantity (`QUANTITIES`); columns: the paper's. A cell is empty where the
    paper prints nothing, and ours where the summary lacks the condition.
    """
    cells = published[published["table"] == table]
    rows = list(dict.fromkeys(cells["row"]))
    # The longest row has the columns in their order; Table 2's rows start at different rounds.
    columns = list(cells.loc[cells["row"] == cells["row"].value_counts().idxmax(), "column"])
    lines = _lines(summary)
    values: dict[tuple[str, str, str], dict[str, float]] = {}
    for reading in readings(summary["reading"]):
        for cell in cells.to_dict("records"):
            for quantity, value in _cell(cell, lines, reading).items():
                values.setdefault((reading, cell["row"], quantity), {})[cell["column"]] = value
    order = [
        (reading, row, quantity) for reading in readings(summary["reading"]) for row in rows for quantity in QUANTITIES
    ]
    if not any(key[2] == "ours" for key in values):
        conditions = ", ".join(dict.fromkeys(cells["condition"]))
        raise InputError(f"the summary has none of the conditions of Table {table} ({conditions}); play them first")
    frame = pd.DataFrame([values.get(key, {}) for key in order], columns=pd.Index(columns), dtype="float64")
    frame.index = pd.MultiIndex.from_tuples(order, names=KEYS)
    return frame


def _lines(summary: pd.DataFrame) -> dict[tuple[str, str, str, int], dict[Any, Any]]:
    """The summary's row of each model, reading, condition and round."""
    rows = across_seeds(summary).to_dict("records")
    return {(row["model"], row["reading"], row["condition"], row["round"]): row for row in rows}


def _cell(cell: dict[Any, Any], lines: Mapping[Any, dict[Any, Any]], reading: str) -> dict[str, float]:
    """The quantities of one printed number; ours are left out where they are missing."""
    line = lines.get((cell["model"], reading, cell["condition"], cell["round"]))
    if line is None:
        return {"paper": cell["value"]}
    prefix = "gap_" if cell["quantity"] == "gap" else ""
    ours = line[cell["quantity"]]
    bounds = {name: line[prefix + name] for name in QUANTITIES[3:]}
    return {"paper": cell["value"], "ours": ours, "difference": ours - cell["value"], **bounds}


def to_csv(frame: pd.DataFrame) -> str:
    """The whole table, four decimals."""
    return frame.to_csv(float_format="%.4f", lineterminator="\n")


def read_table(path: Path) -> pd.DataFrame:
    """Read a table that `to_csv` wrote."""
    return read_columns(path, dict.fromkeys(KEYS, "str")).set_index(KEYS)


def _printed(frame: pd.DataFrame, table: int) -> pd.DataFrame:
    """The lines to print of one reading's rows, formatted: columns row label, quantity and the paper's."""
    cells = []
    for row in _labels(frame, "row"):
        block = _block(frame, row)
        for quantity in QUANTITIES[:3]:
            form = signed if quantity == "difference" else number
            # An en dash says that ours is missing; where the paper prints nothing either, the cell stays empty.
            values = zip(_line(block, quantity)[0], _line(block, "paper")[0], strict=True)
            texts = ["" if np.isnan(paper) else form(value) for value, paper in values]
            cells.append([row if quantity == "paper" else "", quantity, *texts])
    return pd.DataFrame(cells, columns=[CORNERS[table], "", *frame.columns])


def _labels(frame: pd.DataFrame, level: str) -> list[str]:
    """The different labels of a level of the index, in their order."""
    return list(dict.fromkeys(frame.index.get_level_values(level)))


def _block(frame: pd.DataFrame, label: str) -> pd.DataFrame:
    """The rows under a label of the index's first level, which is dropped."""
    return frame[frame.index.get_level_values(0) == label].droplevel(0)


def _by_reading(frame: pd.DataFrame, render: Callable[[pd.DataFrame], str]) -> list[tuple[str, str]]:
    """(Title of the reading, rendered rows) of each reading in the table."""
    return [
        (f"{name}: {READING_TITLES.get(name, name)}", render(_block(frame, name))) for name in _labels(frame, "reading")
    ]


def to_markdown(frame: pd.DataFrame, table: int, dataset: str, size: str) -> str:
    """A Markdown table a reading; three lines a row: paper, ours, difference. `size`: queries × candidates."""
    parts = [f"**Table {table}**: {TABLES[table]}", size, dataset_note(dataset)]
    for title, text in _by_reading(
        frame, lambda rows: _printed(rows, table).to_markdown(index=False, disable_numparse=True)
    ):
        parts += [f"Reading *{title}*", text]
    return paragraphs(*parts)


def to_latex(frame: pd.DataFrame, table: int, dataset: str, size: str) -> str:
    r"""A `table` environment (package booktabs), a tabular a reading, three lines a row."""
    parts = [r"% needs \usepackage{booktabs}", r"\begin{table}", r"\centering\small"]
    caption = " ".join(part for part in (TABLES[table], size, dataset_note(dataset)) if part)
    parts += [rf"\caption{{{_tex(caption)}}}", rf"\label{{tab:{table}}}"]
    for title, text in _by_reading(frame, lambda rows: _tabular(_printed(rows, table).map(_tex))):
        parts += [r"\par\medskip", rf"{_tex(title)}\par\smallskip", text]
    return "\n".join([*parts, r"\end{table}", ""])


def _tabular(cells: pd.DataFrame) -> str:
    columns = "ll" + "r" * (cells.shape[1] - 2)
    lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [" & ".join(cells.columns) + r" \\", r"\midrule"]
    for count, row in enumerate(cells.itertuples(index=False)):
        lines += [r"\addlinespace"] if row[0] and count else []
        lines.append(" & ".join(row) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


TEX = {"%": r"\%", "&": r"\&", "_": r"\_", "#": r"\#", "−": "$-$", "×": r"$\times$", "–": "--", "“": "``", "”": "''"}


def _tex(text: str) -> str:
    return "".join(TEX.get(letter, letter) for letter in text)


def to_html(frame: pd.DataFrame, table: int, dataset: str, size: str) -> str:
    """A self-contained HTML page of one table."""
    template = environment().get_template("table.html.j2")
    return template.render(table=view(frame, table), dataset=dataset, size=size, note=dataset_note(dataset))


def view(frame: pd.DataFrame, table: int) -> dict[str, Any]:
    """What the templates show of a table: number, caption, columns and for each reading rows of cells."""
    parts = []
    for name in _labels(frame, "reading"):
        block = _block(frame, name)
        rows = [{"label": row, "cells": list(_block(block, row).to_dict().values())} for row in _labels(block, "row")]
        parts.append({"name": name, "title": READING_TITLES.get(name, name), "rows": rows})
    spread = bool((_line(frame, "highest") > _line(frame, "lowest")).any())
    return {
        "number": table,
        "corner": CORNERS[table],
        "caption": TABLES[table],
        "columns": list(frame.columns),
        "readings": parts,
        "spread": spread,
    }


def claims_view(verdicts: pd.DataFrame) -> dict[str, Any]:
    """What the templates show of `claims.check`'s table: the readings, and a row a claim with a cell a reading.

    reproduced: of each reading, how many claims are reproduced, and how many can be compared.
    """
    rows: dict[str, dict[str, Any]] = {}
    for line in verdicts.to_dict("records"):
        known = {name: line[name] for name in ("statement", "source", "published")}
        known["published"] = str(known["published"]).replace("-", "−")
        row = rows.setdefault(line["claim"], known | {"range": _range(line["at_least"], line["at_most"])})
        row.setdefault("cells", []).append({name: line[name] for name in ("ours", "low", "high", "verdict", "reason")})
    readings = list(dict.fromkeys(verdicts["reading"]))
    said = {name: verdicts.loc[verdicts["reading"] == name, "verdict"].tolist() for name in readings}
    reproduced = [
        (name, all_said.count("reproduced"), len(all_said) - all_said.count("not comparable"))
        for name, all_said in said.items()
    ]
    return {"readings": readings, "rows": list(rows.values()), "reproduced": reproduced}


def _range(at_least: float, at_most: float) -> str:
    """The range fixed beforehand, in words."""
    low, high = f"{at_least:g}".replace("-", "−"), f"{at_most:g}"
    if pd.isna(at_least):
        return f"below {high}"
    return f"above {low}" if pd.isna(at_most) else f"{low} to {high}"


def claims_to_markdown(verdicts: pd.DataFrame, note: str) -> str:
    """A Markdown table, a row a claim: the statement, the paper's number, and for each reading ours and the verdict."""
    shown = claims_view(verdicts)
    head = [
        "Claim",
        "Source",
        "Paper",
        "Range",
        *(f"{name}: {what}" for name in shown["readings"] for what in ("ours", "verdict")),
    ]
    lines = [
        [
            row["statement"],
            row["source"],
            row["published"],
            row["range"],
            *chain.from_iterable(map(_claim_cells, row["cells"])),
        ]
        for row in shown["rows"]
    ]
    table = pd.DataFrame(lines, columns=head).to_markdown(index=False, disable_numparse=True)
    return paragraphs("**Claims of the paper**, ours with 95 % intervals", note, table)


def _claim_cells(cell: Mapping[str, Any]) -> list[str]:
    ours = "–" if pd.isna(cell["ours"]) else with_interval(cell["ours"], cell["low"], cell["high"])
    return [ours, f"{cell['verdict']}: {cell['reason']}"]


def claims_to_html(verdicts: pd.DataFrame, dataset: str, note: str) -> str:
    """A self-contained HTML page of the claims; its columns can be sorted."""
    template = environment().get_template("claims.html.j2")
    return template.render(claims=claims_view(verdicts), dataset=dataset, note=note)


def paragraphs(*parts: str) -> str:
    """A Markdown text of those parts that say something."""
    return "\n\n".join(filter(None, parts)) + "\n"


def csv_text(frame: pd.DataFrame) -> str:
    """A long table as CSV, four decimals."""
    return frame.to_csv(index=False, float_format="%.4f", lineterminator="\n")


def write_each(paths: Iterable[Path], texts: Mapping[str, Callable[[], str]]) -> None:
    """Write to each path the text that its ending names; texts: ending → what makes it."""
    for path in paths:
        if path.suffix not in texts:
            *others, last = texts
            raise InputError(f"{path}: unknown ending; choose {', '.join(others)} or {last}")
        write_text(path, texts[path.suffix]())


def write_simple(paths: Iterable[Path], frame: pd.DataFrame, shown: pd.DataFrame, title: str, note: str) -> None:
    """Write a table that is not the paper's: `frame` as .csv, or what is `shown` of it, all texts, as .md or .html."""

    def markdown() -> str:
        table = shown.to_markdown(index=False, disable_numparse=True)
        return paragraphs(f"**{title}**", note, table)

    def html() -> str:
        template = environment().get_template("simple.html.j2")
        return template.render(title=title, note=note, columns=list(shown.columns), rows=shown.to_numpy().tolist())

    write_each(paths, {".csv": lambda: csv_text(frame), ".md": markdown, ".html": html})


def _line(frame: pd.DataFrame, quantity: str) -> npt.NDArray[np.float64]:
    """All cells' values of one quantity."""
    return frame[frame.index.get_level_values("quantity") == quantity].to_numpy(np.float64)
