"""MPR over the rounds, such as the paper's Figures 1a and 1b; `paper/figures.csv` lists the lines of each.

Two panels a model and reading: the MPR, and beside it the gap to the baseline, whose interval is paired. Readings and
models that stand for the same one of the paper's stand one below the other.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from cooperation.config.conditions import Condition
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


class Shown(NamedTuple):
    """What a panel shows: columns of the summary, value and interval, and the label of its axis."""

    value: str
    low: str
    high: str
    label: str


BASELINE = Condition().text
MOST = 5
"""Entries of the legend that stand in a row."""
MPR = Shown("mpr", "low", "high", "MPR [%]")
GAP = Shown("gap", "gap_low", "gap_high", "Gap to None [points]")


def names(experiment: Experiment) -> Iterable[str]:
    """The figures of which at least one line is played."""
    return dict.fromkeys(row["figure"] for row in played_rows(experiment, FIGURES, "figure"))


def draw(material: "Material", name: str) -> "Figure":
    """MPR [%] and gap [points] over rounds 1–10, bands of 95 % intervals, a thin line a training where several are."""
    from matplotlib.figure import Figure

    from cooperation.reports.drawing import styled
    from cooperation.reports.statistics import readings

    lines, rows = lines_of(material, name), rows_of(material, name)
    models = [model for model in lines if model in set(rows["model"])]
    places = [(model, reading) for model in models for reading in readings(rows["reading"])]
    with styled():
        drawn = Figure(figsize=(8.2, 1.1 + 2.7 * len(places)), layout="constrained")
        panels = drawn.subplots(len(places), 2, sharex=True, sharey="col", squeeze=False)
        for (model, reading), (left, right) in zip(places, panels, strict=True):
            chosen = rows[(rows["model"] == model) & (rows["reading"] == reading)]
            left.set_title(_title(model if len(models) > 1 else "", reading), fontsize=9)
            right.set_title("gap, paired", fontsize=9)
            for axes, shown in ((left, MPR), (right, GAP)):
                _panel(axes, chosen, _drawn(material, name, model), shown)
                axes.set_ylabel(shown.label)
            _published(left, material, name, model)
            left.set_ylabel(_label(material, name))
        for axes in panels[-1]:
            axes.set_xlabel("Round")
        _legend(drawn, panels.ravel())
        drawn.suptitle(_heading(material, name, rows, models), fontsize=9, x=0.01, ha="left")
    return drawn


def describe(material: "Material", name: str) -> Description:
    """Each line's MPR in rounds 1 and 10, and its gap in round 10."""
    from cooperation.reports.paper import number, signed
    from cooperation.reports.statistics import across_seeds, readings

    figure, lines, rows = material.lines[name], lines_of(material, name), across_seeds(rows_of(material, name))
    parts = [f"Line charts of MPR in percent, and of the gap in points, over rounds 1 to 10. {figure.title}."]
    models = [model for model in lines if model in set(rows["model"])]
    for model in models:
        for reading in readings(rows["reading"]):
            chosen = rows[(rows["model"] == model) & (rows["reading"] == reading)]
            ends = []
            for settings, label in lines[model].items():
                line = chosen[chosen["settings"] == settings].set_index("round")
                if len(line):
                    mpr, gap = line["mpr"], f", gap {signed(line['gap'][10])}" * (settings != BASELINE)
                    ends.append(f"{label} from {number(mpr[1])} to {number(mpr[10])}{gap}")
            place = f"Model {model}, reading {reading}" if len(models) > 1 else f"Reading {reading}"
            parts.append(f"{place}: {'; '.join(ends)}.")
    caption = f"{figure.title}. {_about(material, name)} {material.size}"
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
    """The rows of the summary that a figure shows: rounds 0–10 of what was played, of every model, reading and seed."""
    lines, rows = lines_of(material, name), material.summary
    shown = [settings in lines.get(model, ()) for model, settings in zip(rows["model"], rows["settings"], strict=True)]
    return rows[shown]


def _drawn(material: "Material", name: str, model: str) -> list[tuple[str, str, dict[str, Any]]]:
    """Settings, label and style of the lines of a model."""
    from cooperation.reports.drawing import styles

    labels = lines_of(material, name)[model]
    mine = [line.condition for line in material.lines[name].lines if line.condition.text in labels]
    return [(one.text, labels[one.text], style) for one, style in zip(mine, styles(mine), strict=True)]


def _panel(axes: "Axes", rows: "pd.DataFrame", lines: list[tuple[str, str, dict[str, Any]]], shown: Shown) -> None:
    """Draw the lines of one model and reading over rounds 1–10, with their bands; the baseline has no gap."""
    from cooperation.reports.drawing import say
    from cooperation.reports.paper import with_interval
    from cooperation.reports.statistics import across_seeds

    for settings, label, style in lines:
        own = rows[(rows["settings"] == settings) & (rows["round"] > 0)]
        if own.empty or (shown is GAP and settings == BASELINE):
            continue
        line = across_seeds(own)
        [drawn] = axes.plot(line["round"], line[shown.value], label=label, markersize=4, linewidth=1.3, **style)
        cells = line[["round", shown.value, shown.low, shown.high]].itertuples(index=False)
        say(drawn, [f"{label}, round {after}: {with_interval(*numbers)}" for after, *numbers in cells])
        band = {"color": style["color"], "alpha": 0.15, "linewidth": 0}
        axes.fill_between(line["round"], line[shown.low], line[shown.high], **band)
        for _, training in own[own["seeds"] == 1].groupby("seed") if own["seeds"].max() > 1 else ():
            axes.plot(training["round"], training[shown.value], color=style["color"], linewidth=0.6, alpha=0.7)
    if shown is GAP:
        axes.axhline(0, color="#000000", linewidth=0.8)
    axes.set_xticks(range(1, 11))
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)


def _published(axes: "Axes", material: "Material", name: str, model: str) -> None:
    """Draw what the paper's tables print of the figure's lines: of Figures 1, None."""
    figure, printed = material.lines[name], material.published
    for line in figure.lines:
        cells = printed[(printed["model"] == line.model) & (printed["settings"] == line.condition.text)]
        cells = cells[cells["quantity"] == "mpr"]
        if model in material.experiment.stands_for.get(line.model, ()) and len(cells):
            label = f"{line.label}, the paper’s Table {cells['table'].iloc[0]}"
            style: dict[str, Any] = {"color": "#888888", "linestyle": (0, (1, 1)), "linewidth": 1.6}
            axes.plot(cells["round"], cells["value"], label=label, **style)


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
    rows = -(-len(handles) // MOST)
    style: dict[str, Any] = {"ncols": -(-len(handles) // rows), "frameon": False, "handlelength": 3}
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
    return f"{heading}\n{_about(material, name)}" + (f" Not played: {'; '.join(missing)}." if missing else "")


def _about(material: "Material", name: str) -> str:
    """What bands and thin lines are."""
    thin = " Thin lines: each training." if rows_of(material, name)["seeds"].max() > 1 else ""
    return f"Bands: 95\N{NO-BREAK SPACE}% intervals.{thin}"
