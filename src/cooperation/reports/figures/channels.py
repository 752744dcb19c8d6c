"""What each channel costs at round 10: the paper's gap, ours by noise and by another dialog's."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from cooperation.config.experiment import Experiment
from cooperation.reports.figures import Description
from cooperation.reports.played import plays_unperturbed

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from cooperation.reports.material import Material
    from cooperation.reports.trainings import Estimate

LABELS = {
    "paper": "the paper, noise or random words",
    "noise": "ours, noise or random words",
    "swap": "ours, another dialog’s",
}
LOOKS = {"paper": ("#767a82", "D"), "noise": ("#0072b2", "o"), "swap": ("#c04a00", "s")}
"""Colour and marker; colour-blind safe, and told apart by shape, too."""
Gaps = dict[str, dict[str, "Estimate"]]
"""Kind of `LABELS` → channel → gap."""


def names(experiment: Experiment) -> Iterable[str]:
    """`channels`, where a model that stands for the paper's first one is played without perturbation."""
    return ["channels"] if models(experiment) and plays_unperturbed(experiment) else []


def models(experiment: Experiment) -> list[str]:
    """The models that stand for the paper's first one, as far as they play."""
    return [model for model in experiment.stands_for.get("dialog", ()) if model in experiment.conditions]


def draw(material: "Material", _name: str) -> "Figure":
    """A panel a reading: a row a channel, with intervals and a stroke for each training."""
    from matplotlib.figure import Figure

    from cooperation.reports.drawing import styled

    panels = gaps(material)
    with styled():
        drawn = Figure(figsize=(1.4 + 3.6 * max(len(panels), 1), 3.1), layout="constrained")
        grid = drawn.subplots(1, max(len(panels), 1), sharex=True, sharey=True, squeeze=False)[0]
        for (title, found), axes in zip(panels.items(), grid, strict=False):
            _panel(axes, found)
            axes.set_title(title, fontsize=9)
        grid[0].invert_yaxis()
        handles = grid[0].get_legend_handles_labels()
        drawn.legend(*handles, loc="outside lower center", ncols=3, frameon=False, fontsize=8)
        drawn.suptitle(f"{material.experiment.dataset}: {material.size}", fontsize=9, x=0.01, ha="left")
    return drawn


def describe(material: "Material", _name: str) -> Description:
    """Every point's value."""
    from cooperation.reports.paper import number

    points = [
        f"{title}, {channel}, {LABELS[kind]}: {number(one.value)}"
        for title, found in gaps(material).items()
        for kind, of_channels in found.items()
        for channel, one in of_channels.items()
    ]
    caption = (
        "Points of MPR that are lost at round 10 where a channel is perturbed in all rounds: how much the bots rely on "
        f"it. Bars: paired 95\N{NO-BREAK SPACE}% intervals. Strokes: each training. {material.size}"
    )
    alt = f"Dot chart with intervals. {'; '.join(points)}."
    return Description("What the bots rely on", alt, caption, "diagnostics.csv", "first")


def gaps(material: "Material") -> dict[str, Gaps]:
    """Title of each panel → what is drawn there."""
    from cooperation.reports.diagnostics import NOISE
    from cooperation.reports.headline import gaps_of
    from cooperation.reports.trainings import Estimate

    table = material.published
    printed = table[table["quantity"] == "gap"].set_index("settings")["value"]
    nan = float("nan")
    paper = {
        channel: Estimate(float(printed[condition.text]), nan, nan)
        for channel, condition in NOISE.items()
        if condition.text in printed
    }
    found: dict[str, Gaps] = {}
    playing = models(material.experiment)
    for model in playing:
        for reading in material.experiment.readings:
            ours = {kind: gaps_of(material.diagnostics, model, reading, kind) for kind in ("noise", "swap")}
            if any(ours.values()):
                found[f"{model}, {reading}" if len(playing) > 1 else reading] = {"paper": paper, **ours}
    return found


def _panel(axes: "Axes", found: Gaps) -> None:
    from cooperation.reports.drawing import points

    channels = list(dict.fromkeys(channel for of_channels in found.values() for channel in of_channels))
    for number, (kind, of_channels) in enumerate(found.items()):
        color, marker = LOOKS[kind]
        placed = {channels.index(channel) + 0.24 * (number - 1): one for channel, one in of_channels.items()}
        points(axes, placed, LABELS[kind], list(of_channels), color=color, marker=marker, markersize=4.5)
    axes.set_yticks(range(len(channels)), channels)
    axes.axvline(0, color="#888888", linewidth=0.8)
    axes.set_xlabel("Gap at round 10 [points of MPR]")
    axes.margins(y=0.12)
