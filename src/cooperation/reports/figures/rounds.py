"""MPR over the rounds, such as the paper's Figures 1a and 1b; `paper/figures.csv` lists the lines of each.

A panel a model and reading; models that stand for the same one of the paper's stand one below the other.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from cooperation.config.experiment import FIGURES, Experiment
from cooperation.reports.figures import Description
from cooperation.reports.played import played_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cooperation.reports.material import Material
    from cooperation.reports.paper import Line

Lines = dict[str, dict[str, str]]
"""Our model → settings of a condition (`Condition.text`) → label: the lines of its panels."""


def names(experiment: Experiment) -> Iterable[str]:
    """The figures of which at least one line is played."""
    return dict.fromkeys(row["figure"] for row in played_rows(experiment, FIGURES, "figure"))


def draw(material: "Material", name: str) -> "Figure":
    """One panel a model and reading: MPR [%] over rounds 1–10, bands of 95 % intervals."""
    from matplotlib.figure import Figure

    from cooperation.reports.drawing import styled
    from cooperation.reports.statistics import readings

    lines, rows = lines_of(material, name), rows_of(material, name)
    columns, models = readings(rows["reading"]), [model for model in lines if model in set(rows["model"])]
    with styled():
        # Room for the heading, even above one panel.
        size = (0.6 + 3.7 * max(len(columns), 2), 0.9 + 3.0 * len(models))
        drawn = Figure(figsize=size, layout="constrained")
        panels = drawn.subplots(len(models), len(columns), sharex=True, sharey=True, squeeze=False)
        for model, line in zip(models, panels, strict=True):
            for reading, axes in zip(columns, line, strict=True):
                chosen = rows[(rows["model"] == model) & (rows["reading"] == reading)]
                _panel(axes, chosen, lines[model])
                axes.set_title(_title(model if len(models) > 1 else "", reading), fontsize=9)
            line[0].set_ylabel(_label(material, name))
        for axes in panels[-1]:
            axes.set_xlabel("Round")
        _legend(drawn, panels.ravel())
        drawn.suptitle(_heading(material, name, rows, models), fontsize=9, x=0.01, ha="left")
    return drawn


def describe(material: "Material", name: str) -> Description:
    """Each line's MPR in rounds 1 and 10."""
    from cooperation.reports.paper import number
    from cooperation.reports.statistics import readings

    figure, lines, rows = material.lines[name], lines_of(material, name), rows_of(material, name)
    parts = [f"Line chart of MPR in percent over rounds 1 to 10. {figure.title}."]
    models = [model for model in lines if model in set(rows["model"])]
    for model in models:
        for reading in readings(rows["reading"]):
            chosen = rows[(rows["model"] == model) & (rows["reading"] == reading)]
            ends = []
            for settings, label in lines[model].items():
                line = chosen[chosen["settings"] == settings].set_index("round")["mpr"]
                ends += [f"{label} from {number(line[1])} to {number(line[10])}"] if len(line) else []
            place = f"Model {model}, reading {reading}" if len(models) > 1 else f"Reading {reading}"
            parts.append(f"{place}: {'; '.join(ends)}.")
    caption = f"{figure.title}. Bands are 95\N{NO-BREAK SPACE}% intervals."
    if figure.siblings:
        caption += f" The y-axes of Figures {' and '.join(sorted((name, *figure.siblings)))} are not aligned."
    return Description(f"Figure {name}", " ".join(parts), caption, "mpr.csv")


def lines_of(material: "Material", name: str) -> Lines:
    """The lines of a figure for each of our models that stands for the paper's."""
    found: Lines = {}
    line: Line
    for line in material.lines[name].lines:
        for model in material.experiment.stands_for.get(line.model, ()):
            found.setdefault(model, {})[line.condition.text] = line.label
    return found


def rows_of(material: "Material", name: str) -> "pd.DataFrame":
    """The rows of the summary that a figure shows: rounds 0–10 of what was played, of every model and reading."""
    from cooperation.reports.statistics import across_seeds

    lines, rows = lines_of(material, name), across_seeds(material.summary)
    shown = [settings in lines.get(model, ()) for model, settings in zip(rows["model"], rows["settings"], strict=True)]
    return rows[shown]


def _panel(axes: "Axes", rows: "pd.DataFrame", lines: dict[str, str]) -> None:
    """Draw the lines of one model and reading over rounds 1–10, with their bands."""
    from cooperation.reports.drawing import style

    for number, (settings, label) in enumerate(lines.items()):
        line = rows[(rows["settings"] == settings) & (rows["round"] > 0)]
        if line.empty:
            continue
        [drawn] = axes.plot(line["round"], line["mpr"], label=label, markersize=4, linewidth=1.3, **style(number))
        axes.fill_between(line["round"], line["low"], line["high"], color=drawn.get_color(), alpha=0.15, linewidth=0)
    axes.set_xticks(range(1, 11))
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)


def _title(model: str, reading: str) -> str:
    from cooperation.reports.paper import READING_TITLES

    return f"{model}, " * bool(model) + f"{reading}: {READING_TITLES.get(reading, reading)}"


def _label(material: "Material", name: str) -> str:
    siblings = material.lines[name].siblings
    return "MPR [%]" + (f"\n(axis not aligned with Figure {', '.join(siblings)})" if siblings else "")


def _legend(drawn: "Figure", panels: "Iterable[Axes]") -> None:
    """One legend of the labels of all panels."""
    handles: dict[str, Artist] = {}
    for axes in panels:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    style: dict[str, Any] = {"ncols": len(handles), "frameon": False, "handlelength": 3}
    drawn.legend(handles.values(), handles, loc="outside lower center", **style)


def _heading(material: "Material", name: str, rows: "pd.DataFrame", models: list[str]) -> str:
    """Title, data set and sizes, and which lines are missing since nobody played them."""
    lines = lines_of(material, name)
    missing: list[str] = []
    for model in models:
        played = set(rows.loc[rows["model"] == model, "settings"])
        labels = [label for settings, label in lines[model].items() if settings not in played]
        missing += [f"{label} ({model})" if len(models) > 1 else label for label in labels]
    heading = f"Figure {name}. {material.lines[name].title}\n{material.experiment.dataset}: {material.size}"
    return f"{heading} Bands: 95 % intervals." + (f" Not played: {'; '.join(missing)}." if missing else "")
