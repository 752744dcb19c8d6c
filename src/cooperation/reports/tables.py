"""The paper's tables beside ours, in the paper's own layout."""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from cooperation.reports.paper import CORNERS, TABLES, interval_of, number, reading_heading, signed
from cooperation.reports.statistics import across_seeds, readings, sizes
from cooperation.reports.table import Block, Cell, Column, Table, alone

KEYS = ["model", "reading", "row", "quantity"]
QUANTITIES = ("paper", "ours", "difference", "low", "high", "lowest", "highest", "seeds")
"""Of a table's cell: the paper's value, ours, ours − paper; our 95 % interval; our range over seeds, their number."""
LINES = QUANTITIES[:3]
"""Those that are printed as lines of a row."""


def paper_table(
    published: pd.DataFrame, summary: pd.DataFrame, table: int, stands_for: Mapping[str, Sequence[str]]
) -> Table | None:
    """The paper's Table 1 or 2 with ours, a block a model and reading; None where none of its conditions was played.

    published: the table of `paper.read_published`. summary: of `statistics.summarise`. stands_for: model of the
    paper's → ours.
    """
    frame = compare(published, summary, table, stands_for)
    if frame.empty:
        return None
    spread = bool((_line(frame, "highest") > _line(frame, "lowest")).any())
    columns = (Column(CORNERS[table], "text"), *(Column(str(title)) for title in frame.columns))
    blocks = [
        Block(reading_heading(str(reading)), columns, _rows(block, spread=spread), f"Model “{model}”")
        for (model, reading), block in frame.groupby(["model", "reading"], sort=False)
    ]
    legend = (
        "Each cell: ours; its 95 % interval; "
        + "lowest…highest of the training seeds; " * spread
        + "the paper’s value (ours minus the paper’s). “–”: not played."
    )
    return Table(
        name=f"table_{table}",
        title=f"Table {table}",
        blocks=tuple(blocks),
        frame=frame.reset_index(),
        dataset=str(summary["dataset"].iloc[0]),
        caption=TABLES[table],
        size=sizes(summary),
        legend=legend,
        lines=LINES,
    )


def compare(
    published: pd.DataFrame, summary: pd.DataFrame, table: int, stands_for: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Lay out a table (1 or 2) as the paper does, once a model and reading, with ours.

    Rows: our model that stands for the paper's, reading, the paper's row label, quantity (`QUANTITIES`); columns: the
    paper's. A cell is NaN where the paper prints nothing, and ours where it was not played. Models that played none of
    the table's conditions are left out; without any, the frame is empty.
    """
    cells = published[published["table"] == table]
    # The longest row has the columns in their order; Table 2's rows start at different rounds.
    columns = list(cells.loc[cells["row"] == cells["row"].value_counts().idxmax(), "column"])
    lines, rows = _lines(summary), list(dict.fromkeys(cells["row"]))
    played = {(line["model"], line["settings"]) for line in lines.values()}
    pairs = [(model, cell) for cell in cells.to_dict("records") for model in stands_for.get(cell["model"], ())]
    models = dict.fromkeys(model for model, cell in pairs if (model, cell["settings"]) in played)
    keys = list(product(models, readings(summary["reading"]), rows, QUANTITIES))
    values: dict[tuple[str, str, str, str], dict[str, float]] = {key: {} for key in keys}
    for (model, cell), reading in product(pairs, readings(summary["reading"])):
        if model in models:
            found = _quantities(cell, lines.get((model, reading, cell["settings"], cell["round"])))
            for quantity, value in found.items():
                values[model, reading, cell["row"], quantity][cell["column"]] = value
    if not keys:
        return pd.DataFrame()
    frame = pd.DataFrame(list(values.values()), columns=pd.Index(columns), dtype="float64")
    return frame.set_axis(pd.MultiIndex.from_tuples(keys, names=KEYS))


def _lines(summary: pd.DataFrame) -> dict[tuple[str, str, str, int], dict[Any, Any]]:
    """The summary's row of each model, reading, condition (by its settings, not its name) and round."""
    rows = across_seeds(summary).to_dict("records")
    return {(row["model"], row["reading"], row["settings"], row["round"]): row for row in rows}


def _quantities(cell: Mapping[Any, Any], line: Mapping[Any, Any] | None) -> dict[str, float]:
    """The quantities of one printed number; ours are left out where they are missing."""
    if line is None:
        return {"paper": cell["value"]}
    prefix = "gap_" if cell["quantity"] == "gap" else ""
    ours = line[cell["quantity"]]
    bounds = {name: line[prefix + name] for name in QUANTITIES[3:-1]}
    return {"paper": cell["value"], "ours": ours, "difference": ours - cell["value"], **bounds, "seeds": line["seeds"]}


def _rows(block: pd.DataFrame, *, spread: bool) -> tuple[tuple[Cell, ...], ...]:
    """The rows of one model and reading. spread: whether the range over seeds is printed."""
    return tuple(
        (Cell(str(row), lines=(str(row), "", "")), *(_cell(values, spread=spread) for _, values in lines.items()))
        for row, lines in block.droplevel(["model", "reading"]).groupby("row", sort=False)
    )


def _cell(values: "pd.Series[float]", *, spread: bool) -> Cell:
    """What is printed of a number of the paper's, by its quantities; nothing where the paper prints nothing."""
    found = dict(zip(QUANTITIES, values, strict=True))
    if np.isnan(found["paper"]):
        return Cell("")
    ours, paper, difference = number(found["ours"]), number(found["paper"]), signed(found["difference"])
    seeds = (f"{number(found['lowest'])}…{number(found['highest'])}",) if spread else ()
    small = (interval_of(found["low"], found["high"]), *alone(found["seeds"]), *seeds, f"{paper} ({difference})")
    return Cell(ours, small, (paper, ours, difference))


def _line(frame: pd.DataFrame, quantity: str) -> npt.NDArray[np.float64]:
    """All cells' values of one quantity: [rows, columns]."""
    return frame[frame.index.get_level_values("quantity") == quantity].to_numpy(np.float64)
