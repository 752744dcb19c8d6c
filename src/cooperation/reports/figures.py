"""The paper's Figures 1a and 1b, drawn for each reading; nothing is computed here."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from cooperation.files import InputError, written_whole
from cooperation.reports.paper import FIGURES, READING_TITLES
from cooperation.reports.statistics import across_seeds, readings, sizes

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's colours, told apart by the colour-blind; markers and dashes tell the lines apart without colour.
STYLES: list[dict[str, Any]] = [
    {"color": "#000000", "marker": "o", "linestyle": "-"},
    {"color": "#0072B2", "marker": "s", "linestyle": "--"},
    {"color": "#D55E00", "marker": "^", "linestyle": "-."},
    {"color": "#009E73", "marker": "D", "linestyle": ":"},
    {"color": "#AA4499", "marker": "v", "linestyle": (0, (5, 1, 1, 1, 1, 1))},
]
RC: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "cooperation",
    "pdf.fonttype": 42,
}


def lines_of(summary: pd.DataFrame, name: str) -> pd.DataFrame:
    """The rows of a summary that a figure (`1a`, `1b`) shows: rounds 0–10 of its conditions played, every reading."""
    figure = FIGURES[name]
    rows = across_seeds(summary)
    rows = rows[(rows["model"] == figure.model) & rows["condition"].isin(figure.lines)]
    if rows.empty:
        conditions = ", ".join(figure.lines)
        raise InputError(f"the summary has none of the conditions of Figure {name} ({conditions}); play them first")
    return rows


def draw(summary: pd.DataFrame, name: str) -> "Figure":
    """Draw Figure 1a or 1b: one panel a reading, MPR [%] over rounds 1–10, bands of 95 % intervals."""
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    rows, figure = lines_of(summary, name), FIGURES[name]
    names = readings(rows["reading"])
    with mpl.rc_context(RC):
        drawn = Figure(figsize=(0.6 + 3.7 * len(names), 3.9), layout="constrained")
        panels: list[Axes] = list(drawn.subplots(1, len(names), sharey=True, squeeze=False)[0])
        for axes, reading in zip(panels, names, strict=True):
            _panel(axes, rows[rows["reading"] == reading], figure.lines)
            axes.set_title(f"{reading}: {READING_TITLES.get(reading, reading)}", fontsize=9)
        panels[0].set_ylabel(f"MPR [%]\n(axis not aligned with Figure {figure.sibling})")
        handles, labels = panels[0].get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=len(labels), frameon=False, handlelength=3)
        missing = [label for condition, label in figure.lines.items() if condition not in set(rows["condition"])]
        title = f"Figure {name}. {figure.title}\n{rows['dataset'].iloc[0]}: {sizes(rows)} Bands: 95 % intervals."
        title += f" Not played: {'; '.join(missing)}." if missing else ""
        drawn.suptitle(title, fontsize=9, x=0.01, ha="left")
    return drawn


def _panel(axes: "Axes", rows: pd.DataFrame, lines: dict[str, str]) -> None:
    """Draw one reading's lines over rounds 1–10 with their bands."""
    for style, (condition, label) in zip(STYLES, lines.items(), strict=False):
        line = rows[(rows["condition"] == condition) & (rows["round"] > 0)]
        if line.empty:
            continue
        axes.plot(line["round"], line["mpr"], label=label, markersize=4, linewidth=1.3, **style)
        axes.fill_between(line["round"], line["low"], line["high"], color=style["color"], alpha=0.15, linewidth=0)
    axes.set_xticks(range(1, 11))
    axes.set_xlabel("Round")
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)


def save(figure: "Figure", path: Path) -> None:
    """Write a figure as .pdf, .svg or .png; the same figure gives the same bytes."""
    import matplotlib as mpl  # noqa: PLC0415

    undated = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}
    if path.suffix not in undated:
        raise InputError(f"{path}: unknown ending; choose .pdf, .svg or .png")
    with mpl.rc_context(RC), written_whole(path) as temporary:
        figure.savefig(temporary, dpi=200, metadata=undated[path.suffix])
