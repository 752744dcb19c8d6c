"""The figure of the diagnostics: what noise costs beside what a swap costs, and who talks; nothing is computed here."""

from typing import TYPE_CHECKING

import pandas as pd

from cooperation.files import InputError
from cooperation.reports.figures import RC, STYLES
from cooperation.reports.statistics import readings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS = {
    "swap": ("Gap at round 10 [points of MPR]", ("noise", "swap")),
    "talk": ("MPR [%]", ("MPR, round 10", "MPR by caption")),
}
"""Table of the diagnostics → label of the axis and the columns that are drawn."""


def draw_why(diagnostics: pd.DataFrame, size: str) -> "Figure":
    """Draw noise beside swap, and MPR by who talks: one row of panels a table, one panel a reading.

    size: queries × candidates, in words.
    """
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    shown = [name for name in PANELS if (diagnostics["table"] == name).any()]
    if not shown:
        raise InputError("the diagnostics have neither swaps nor talks to draw; play such conditions first")
    drawn_rows = diagnostics[diagnostics["table"].isin(shown)]
    names = readings(drawn_rows["reading"])
    with mpl.rc_context(RC):
        drawn = Figure(figsize=(0.8 + 3.6 * len(names), 0.8 + 1.9 * len(shown)), layout="constrained")
        grid = drawn.subplots(len(shown), len(names), sharex="row", sharey="row", squeeze=False)
        for table, line in zip(shown, grid, strict=True):
            label, columns = PANELS[table]
            for reading, axes in zip(names, line, strict=True):
                chosen = drawn_rows[(drawn_rows["table"] == table) & (drawn_rows["reading"] == reading)]
                _panel(axes, chosen, columns)
                axes.set_xlabel(label)
                axes.set_title(f"{table}, {reading}", fontsize=9)
            line[0].invert_yaxis()
            line[-1].legend(frameon=False, fontsize=8)
        title = (
            f"{diagnostics['dataset'].iloc[0]}: noise or another dialog’s, and who talks.\n{size} Bars: 95 % intervals."
        )
        drawn.suptitle(title, fontsize=9, x=0.01, ha="left")
    return drawn


def _panel(axes: "Axes", cells: pd.DataFrame, columns: tuple[str, ...]) -> None:
    """A point with its interval for each row and column; rows from top to bottom, columns a little apart."""
    rows = list(dict.fromkeys(cells["row"]))
    for number, (column, style) in enumerate(zip(columns, STYLES, strict=False)):
        line = cells[cells["column"] == column].set_index("row").loc[rows]
        error = [line["value"] - line["low"], line["high"] - line["value"]]
        places = [place + 0.24 * number - 0.12 for place in range(len(rows))]
        look = {"color": style["color"], "marker": style["marker"], "linestyle": "none", "markersize": 4}
        axes.errorbar(line["value"], places, xerr=error, label=column, capsize=2, **look)
    axes.set_yticks(range(len(rows)), rows)
    axes.margins(y=0.15)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)


def describe_why(diagnostics: pd.DataFrame) -> str:
    """The figure in words, for those who can't see it."""
    parts = ["Dot chart with intervals."]
    for table, (label, columns) in PANELS.items():
        for reading in readings(diagnostics.loc[diagnostics["table"] == table, "reading"]):
            lines = diagnostics[(diagnostics["table"] == table) & (diagnostics["reading"] == reading)]
            values = lines[lines["column"].isin(columns)]
            listed = "; ".join(
                f"{row}, {column}: {value:.1f}"
                for row, column, value in zip(values["row"], values["column"], values["value"], strict=True)
            )
            parts.append(f"{label}, reading {reading}: {listed}.")
    return " ".join(parts)
