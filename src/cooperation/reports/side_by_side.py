"""Tested models side by side: what each reaches, and what it loses where a channel is perturbed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from cooperation.evaluation.results import read_ranks
from cooperation.evaluation.tested import Tested, read_tested
from cooperation.game.messages import ROUNDS
from cooperation.reports.bootstrap import Doubles
from cooperation.reports.diagnostics import NOISE, SWAP, TALKS
from cooperation.reports.paper import reading_heading
from cooperation.reports.scores import HITS, Scores
from cooperation.reports.statistics import Resampled, resample
from cooperation.reports.table import Block, Cell, Column, Table, number_cell
from cooperation.reports.trainings import COLUMNS as ESTIMATE
from cooperation.reports.trainings import Drawn, Estimate, estimated

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLUMNS = ("model", "reading", "quantity", "row", "round", *ESTIMATE)
"""Columns of the numbers.

quantity: `mpr` and `hits` in percent, `noise` and `swap` in points of MPR that are lost. row: who talks, the k of
Hits@k, or the channel; `OTHER_CAPTION`: the bots, of whom nothing but another dialog's caption was heard, in round 0.
"""
OTHER_CAPTION = "another’s caption"
TALK = {"bots": TALKS["bots"], "people": TALKS["people"]}
LOST = {"noise": NOISE, "swap": SWAP}
"""What is done to a channel in all rounds: noise or random words; the same of another dialog."""
KINDS = {"noise": "noise or random words", "swap": "another dialog’s"}
PAPER = "the paper’s bots"
PUBLISHED = {"image": 0.4, "caption": 40.1, "question": 3.0, "answer": 0.8}
"""Gaps at round 10 by noise or random words, as printed in the paper's Table 1; its MPR there is `REACHED`."""
REACHED = 92.6
CHANCE = "chance"
CHANGED = "changed by swap"
"""Quantity: the share of a channel's messages that a swap changes [%], in all rounds."""


@dataclass(frozen=True)
class Folder:
    """The folder of a test. label: what the model is called; scores: of all its results."""

    path: Path
    tested: Tested
    label: str
    scores: tuple[Scores, ...]


def read_folders(paths: Sequence[Path]) -> list[Folder]:
    """Read what was tested in each of the folders.

    Models are called by the names of their folders, or by their paths where two folders have one name. Raises
    `InputError` where something is missing or was edited since.
    """
    names = [path.resolve().name for path in paths]
    found = []
    for path, name in zip(paths, names, strict=True):
        tested, label = read_tested(path), name if names.count(name) == 1 else str(path)
        tested.check_results(path)
        files = [path / played.file for played in tested.played if played.file]
        scores = tuple(replace(Scores.of(file, read_ranks(file)), model=label) for file in files)
        found.append(Folder(path, tested, label, scores))
    return found


def compared(folders: Sequence[Folder], resamples: int) -> tuple[Resampled, pd.DataFrame]:
    """All numbers of some models, with 95 % intervals, in the same samples of the dialogs; see `COLUMNS`.

    Raises `InputError` where they played other dialogs, among other candidates, or with another seed of the games.
    """
    resampled = resample([score for folder in folders for score in folder.scores], resamples, 0)
    lines = [
        {"model": model, "reading": reading, **line}
        for model in resampled.models
        for reading in resampled.readings
        for line in _lines(resampled, model, reading)
    ]
    return resampled, pd.DataFrame(lines, columns=list(COLUMNS))


def _lines(resampled: Resampled, model: str, reading: str) -> Iterator[dict[str, Any]]:
    for who, condition in TALK.items():
        mpr = resampled.mpr(model, reading, condition)
        for after in range(ROUNDS + 1) if mpr else ():
            yield _line("mpr", who, after, estimated(mpr.of(_at(after))).within(0, 100))  # type: ignore[union-attr]
    misled = resampled.mpr(model, reading, SWAP["caption"])
    if misled:
        yield _line("mpr", OTHER_CAPTION, 0, estimated(misled.of(_at(0))).within(0, 100))
    hits = hits_of(resampled, model, reading)
    for number, k in enumerate(HITS) if hits else ():
        for after in range(ROUNDS + 1):
            found = estimated(hits.of(lambda mean, at=(after, number): mean[..., *at])).within(0, 100)  # type: ignore[misc, union-attr]
            yield _line("hits", str(k), after, found)
    for quantity, conditions in LOST.items():
        for channel, condition in conditions.items():
            gap, changed = resampled.gap(model, reading, condition), resampled.changed(model, reading, condition)
            # Where all dialogs have the same, nothing was swapped, and nothing could be lost.
            if gap is not None and changed and changed.means.any():
                yield _line(quantity, channel, ROUNDS, estimated(gap.of(_at(ROUNDS))))
    for channel, condition in SWAP.items():
        if changed := resampled.changed(model, reading, condition):
            yield _line(CHANGED, channel, ROUNDS, estimated(changed))


def _at(after: int) -> Any:
    return lambda mean: mean[..., after]


def _line(quantity: str, row: str, after: int, found: Estimate) -> dict[str, Any]:
    return {"quantity": quantity, "row": row, "round": after, **found.cells}


def hits_of(resampled: Resampled, model: str, reading: str) -> Drawn | None:
    """Share [%] of dialogs whose image is among the k likeliest, [11, k of `HITS`], when the bots talk themselves.

    A rank that is shared with others counts as its mean. None where that game was not played.
    """
    means: dict[int, Doubles] = {}
    for score in resampled.scores:
        if (score.model, score.reading, score.played) == (model, reading, TALK["bots"]):
            hit = 100.0 * (score.places[..., None] <= np.array(HITS))
            found = resampled.means_of(hit.reshape(len(hit), -1))
            means[score.seed] = found.reshape(len(found), ROUNDS + 1, len(HITS))
    return Drawn(tuple(means), np.stack(list(means.values()))) if means else None


def estimates(numbers: pd.DataFrame, model: str, reading: str) -> Mapping[tuple[str, str, int], Estimate]:
    """(quantity, row, round) → the estimate, of a model under a reading."""
    chosen = numbers[(numbers["model"] == model) & (numbers["reading"] == reading)]
    return {(line["quantity"], line["row"], line["round"]): Estimate.of(line) for line in chosen.to_dict("records")}


def table(resampled: Resampled, numbers: pd.DataFrame) -> Table:
    """A row a model: MPR by the caption alone, by own talk and people's, Hits@10, and gaps; the paper's and chance."""
    heads = ["caption alone", "own talk", "people’s talk", "Hits@10, own talk"]
    heads += [f"{channel}, {kind}" for kind in LOST for channel in NOISE]
    columns = (Column("Model", "text"), *map(Column, heads))
    blocks = [
        Block(
            reading_heading(reading),
            columns,
            (*(_row(numbers, model, reading) for model in resampled.models), *_references(resampled)),
        )
        for reading in resampled.readings
    ]
    size = f"{len(resampled.scores[0].image_ids):,} queries × {resampled.scores[0].candidates:,} candidates."
    caption = (
        "MPR and Hits@10 [%] after round 10, and gaps: points of MPR that are lost there where a channel is noise "
        f"(random words), or another dialog’s (swap), in all rounds. 95\N{NO-BREAK SPACE}% intervals, paired, "
        f"{intervals(resampled)}. The paper’s bots, as published, played VisDial 0.9 among 40,000 candidates, so their "
        "row tells nothing about which model is better."
    )
    return Table("compared", "Tested models", tuple(blocks), numbers, resampled.dataset, caption, size, sortable=True)


def intervals(resampled: Resampled) -> str:
    """What the intervals are over."""
    several = len({score.seed for score in resampled.scores}) > 1
    return "over dialogs and samples of a model" if several else "over dialogs"


def cell(found: Estimate | None) -> Cell:
    """A number with its interval; a dash where it was not played."""
    # A model that is loaded has no training here that another could be set beside.
    return Cell("–") if found is None else number_cell(found if len(found.seeds) > 1 else replace(found, seeds=()))


def _row(numbers: pd.DataFrame, model: str, reading: str) -> tuple[Cell, ...]:
    found = estimates(numbers, model, reading)
    keys = [("mpr", "bots", 0), ("mpr", "bots", ROUNDS), ("mpr", "people", ROUNDS), ("hits", "10", ROUNDS)]
    keys += [(kind, channel, ROUNDS) for kind in LOST for channel in NOISE]
    return Cell(model), *(cell(found.get(key)) for key in keys)


def _references(resampled: Resampled) -> Iterator[tuple[Cell, ...]]:
    """The paper's bots as published, and a guess by chance."""
    printed = [cell(Estimate(PUBLISHED[channel], np.nan, np.nan)) for channel in NOISE]
    none = Cell("–")
    yield Cell(PAPER), none, cell(Estimate(REACHED, np.nan, np.nan)), none, none, *printed, *([none] * len(SWAP))
    chance = 100 * min(1, 10 / resampled.scores[0].candidates)
    level = cell(Estimate(50.0, np.nan, np.nan))
    yield Cell(CHANCE), level, level, level, cell(Estimate(chance, np.nan, np.nan)), *([none] * 2 * len(NOISE))


def figure(resampled: Resampled, numbers: pd.DataFrame) -> "Figure":
    """A panel a reading: what is lost by channel, a colour a model; noise is filled, another dialog's open."""
    from matplotlib.figure import Figure  # noqa: PLC0415

    from cooperation.reports.drawing import styled  # noqa: PLC0415

    readings, models = resampled.readings, resampled.models
    with styled():
        height = 1.2 + (0.5 + 0.22 * len(models)) * len(NOISE)
        drawn = Figure(figsize=(1.6 + 3.6 * len(readings), height), layout="constrained")
        panels = drawn.subplots(1, len(readings), sharex=True, sharey=True, squeeze=False)[0]
        for reading, axes in zip(readings, panels, strict=True):
            _panel(axes, {model: estimates(numbers, model, reading) for model in models})
            axes.set_title(reading, fontsize=9)
        panels[0].set_yticks(range(len(NOISE)), list(NOISE))
        panels[0].invert_yaxis()
        named = panels[0].get_legend_handles_labels()
        drawn.legend(*named, loc="outside lower center", ncols=2, frameon=False, fontsize=8)
    return drawn


def _panel(axes: "Axes", models: Mapping[str, Mapping[tuple[str, str, int], Estimate]]) -> None:
    """Points with their intervals; models: name → its estimates."""
    from cooperation.reports.drawing import STYLES, points  # noqa: PLC0415

    places = np.linspace(-0.36, 0.36, 2 * len(models)) * (1 if len(models) > 1 else 0.4)
    lines = product(models.items(), LOST)
    for number, ((model, found), kind) in enumerate(lines):
        played = {at: found.get((kind, channel, ROUNDS)) for at, channel in enumerate(NOISE)}
        shown = {at + places[number]: one for at, one in played.items() if one is not None}
        style = STYLES[number // 2 % len(STYLES)]
        fill = style["color"] if kind == "noise" else "white"
        label = f"{model}, {KINDS[kind]}" if len(models) > 1 else KINDS[kind]
        rows = [channel for channel, one in zip(NOISE, played.values(), strict=True) if one is not None]
        points(axes, shown, label, rows, color=style["color"], marker=style["marker"], markerfacecolor=fill)
    axes.axvline(0, color="#888888", linewidth=0.8)
    axes.set_xlabel("lost at round 10 [points of MPR]")


def described(numbers: pd.DataFrame) -> str:
    """The figure in words: every point."""
    lost = numbers[numbers["quantity"].isin(LOST)]
    points = (
        f"{line['model']}, {line['reading']}, {line['row']}, {KINDS[line['quantity']]}: {line['value']:.1f}"
        for line in lost.to_dict("records")
    )
    return "Dot chart with intervals of what is lost by channel. " + "; ".join(points)
