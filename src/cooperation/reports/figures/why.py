"""The figure of the diagnostics: what noise costs beside what a swap costs, and MPR by who talks."""

from collections.abc import Iterable
from itertools import product
from typing import TYPE_CHECKING

from cooperation.config.experiment import Experiment
from cooperation.reports.figures import Description
from cooperation.reports.played import plays_unperturbed

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cooperation.reports.material import Material

PANELS = {
    "swap": ("Gap at round 10 [points of MPR]", ("noise", "swap")),
    "talk": ("MPR [%]", ("MPR, round 10", "MPR by caption")),
}
"""Table of the diagnostics → label of the axis and the columns that are drawn."""


def names(experiment: Experiment) -> Iterable[str]:
    """`why`, where there are diagnostics."""
    return ["why"] if plays_unperturbed(experiment) else []


def draw(material: "Material", _name: str) -> "Figure":
    """Noise beside swap, then MPR by who talks: a row of panels a table and model, a panel a reading."""
    from matplotlib.figure import Figure

    from cooperation.reports.drawing import styled
    from cooperation.reports.statistics import readings

    rows = shown(material.diagnostics)
    pairs = [pair for pair in product(PANELS, dict.fromkeys(rows["model"])) if not _cells(rows, *pair).empty]
    several, columns = len(set(rows["model"])) > 1, readings(rows["reading"])
    with styled():
        drawn = Figure(figsize=(1.8 + 3.6 * len(columns), 0.8 + 1.9 * len(pairs)), layout="constrained")
        grid = drawn.subplots(len(pairs), len(columns), sharex="row", sharey="row", squeeze=False)
        first: dict[str, Axes] = {}
        for (table, model), line in zip(pairs, grid, strict=True):
            label, drawn_columns = PANELS[table]
            # All models on the same scale.
            if first.setdefault(table, line[0]) is not line[0]:
                line[0].sharex(first[table])
            cells = _cells(rows, table, model)
            for reading, axes in zip(columns, line, strict=True):
                _panel(axes, cells[cells["reading"] == reading], drawn_columns)
                axes.set_xlabel(label)
                axes.set_title(f"{table}, " + f"{model}, " * several + reading, fontsize=9)
            line[0].invert_yaxis()
            line[-1].legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
        title = f"{material.experiment.dataset}: noise or another dialog’s, and who talks."
        drawn.suptitle(f"{title}\n{material.size}\n{_about(rows)}", fontsize=9, x=0.01, ha="left")
    return drawn


def describe(material: "Material", _name: str) -> Description:
    """Every point's value."""
    from cooperation.reports.statistics import readings

    rows = shown(material.diagnostics)
    several = len(set(rows["model"])) > 1
    parts = ["Dot chart with intervals."]
    for table, model, reading in product(PANELS, dict.fromkeys(rows["model"]), readings(rows["reading"])):
        label, columns = PANELS[table]
        cells = _cells(rows, table, model)
        values = cells[(cells["reading"] == reading) & cells["column"].isin(columns)]
        points = zip(values["row"], values["column"], values["value"], strict=True)
        listed = "; ".join(f"{row}, {column}: {value:.1f}" for row, column, value in points)
        place = f"model {model}, " * several + f"reading {reading}"
        parts += [f"{label}, {place}: {listed}."] if listed else []
    caption = f"Noise or another dialog’s, and who talks. {_about(rows)} {material.size}"
    return Description("Figure of the diagnostics", " ".join(parts), caption, "diagnostics.csv", "why")


def _about(rows: "pd.DataFrame") -> str:
    """What bars and strokes are."""
    strokes = " Strokes: each training." if any(" " in seeds for seeds in rows["seeds"]) else ""
    return f"Bars: 95\N{NO-BREAK SPACE}% intervals.{strokes}"


def shown(diagnostics: "pd.DataFrame") -> "pd.DataFrame":
    """The cells of the models that have something to compare: swaps, or two who talk. If none has, of all models."""
    cells = diagnostics[diagnostics["table"].isin(PANELS)]
    comparing = [model for model, own in cells.groupby("model") if len(set(own["row"])) > 1]
    return cells[cells["model"].isin(comparing or list(cells["model"]))]


def _cells(rows: "pd.DataFrame", table: str, model: str) -> "pd.DataFrame":
    return rows[(rows["table"] == table) & (rows["model"] == model)]


def _panel(axes: "Axes", cells: "pd.DataFrame", columns: tuple[str, ...]) -> None:
    """A point with its interval for each row and column; rows from top to bottom, columns a little apart."""
    from cooperation.reports.drawing import STYLES, points
    from cooperation.reports.trainings import Estimate

    rows = list(dict.fromkeys(cells["row"]))
    for number, (column, style) in enumerate(zip(columns, STYLES, strict=False)):
        lines = cells[cells["column"] == column].set_index("row").loc[rows].to_dict("records")
        placed = {place + 0.24 * number - 0.12: Estimate.of(line) for place, line in enumerate(lines)}
        points(axes, placed, column, rows, color=style["color"], marker=style["marker"], markersize=4)
    axes.set_yticks(range(len(rows)), rows)
    axes.margins(y=0.15)
