"""All models side by side: how they were trained, and what their bots made of the game."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from cooperation.config.training import in_effect
from cooperation.reports.diagnostics import NOISE, TALKS
from cooperation.reports.paper import reading_heading
from cooperation.reports.statistics import Resampled
from cooperation.reports.table import Block, Cell, Column, Table, number_cell
from cooperation.reports.trainings import COLUMNS as ESTIMATE
from cooperation.reports.trainings import Drawn, Estimate, estimated

COLUMNS = ("dataset", "model", "regime", "training", "reading", "quantity", "row", "round", *ESTIMATE)
"""Columns of `compare_models`' table.

training: the settings in which it differs from other models. quantity: `mpr`, in percent, or `gap`, in
percentage points. row: who talks, or the channel.
"""
ROUNDS = (0, 10)
"""After which the MPR is given; the gap is that after the last of them."""


def compare_models(resampled: Resampled) -> pd.DataFrame:
    """MPR of the bots' own and of the human dialog, and gaps by channel, of every model and reading; see `COLUMNS`."""
    lines = [
        {**training, "reading": reading, **line}
        for training in _trainings(resampled)
        for reading in resampled.readings
        for line in _lines(resampled, training["model"], reading)
    ]
    return pd.DataFrame(lines, columns=list(COLUMNS)).assign(dataset=resampled.dataset)


def _trainings(resampled: Resampled) -> list[dict[str, str]]:
    """Of each model: its name, its regime, and all settings in which it differs from any other, in words."""
    settings = {score.model: in_effect(json.loads(score.training)) for score in resampled.scores}
    found = []
    for model, own in settings.items():
        differing = [
            key
            for key in own
            if key != "regime" and any(other.get(key, own[key]) != own[key] for other in settings.values())
        ]
        training = ", ".join(f"{key} {_short(own[key])}" for key in differing)
        found.append({"model": model, "regime": own.get("regime", ""), "training": training})
    return found


def _short(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _lines(resampled: Resampled, model: str, reading: str) -> Iterator[dict[str, Any]]:
    for row in ("bots", "people"):
        mpr = resampled.mpr(model, reading, TALKS[row])
        if mpr is not None:
            for after in ROUNDS:
                yield _line("mpr", row, after, mpr)
    for channel, condition in NOISE.items():
        gap = resampled.gap(model, reading, condition)
        if gap is not None:
            yield _line("gap", channel, ROUNDS[-1], gap)


def _line(quantity: str, row: str, after: int, drawn: Drawn) -> dict[str, Any]:
    """drawn: of [11]."""
    found = estimated(drawn.of(lambda rounds: rounds[..., after]))
    found = found.within(0, 100) if quantity == "mpr" else found
    return {"quantity": quantity, "row": row, "round": after, **found.cells}


def models_table(models: pd.DataFrame, size: str) -> Table:
    """The table of `compare_models`: a block a reading, a row a model. size: queries × candidates, in words."""
    quantities = list(dict.fromkeys(zip(models["quantity"], models["row"], models["round"], strict=True)))
    columns = [Column("Model", "text"), Column("Regime", "text"), Column("Training", "text")]
    columns += [Column(_title(*quantity)) for quantity in quantities]
    blocks = tuple(
        Block(reading_heading(str(reading)), tuple(columns), _rows(lines, quantities))
        for reading, lines in models.groupby("reading", sort=False)
    )
    caption = (
        "MPR [%] when bots or people talk, and the gap [points] at round 10 when a channel is noise or random words,"
        " with 95 % intervals. Training: all settings in which models differ."
    )
    return Table(
        name="models",
        title="Models",
        blocks=blocks,
        frame=models,
        dataset=str(models["dataset"].iloc[0]),
        caption=caption,
        size=size,
    )


def _title(quantity: str, row: str, after: int) -> str:
    if quantity == "gap":
        return f"Gap, {row}"
    return f"{row.capitalize()} talk, " + ("caption alone" if after == 0 else f"round {after}")


def _rows(lines: pd.DataFrame, quantities: Sequence[tuple[str, str, int]]) -> tuple[tuple[Cell, ...], ...]:
    """A row a model of one reading."""
    rows = []
    for model, own in lines.groupby("model", sort=False):
        found = {
            (line["quantity"], line["row"], line["round"]): number_cell(Estimate.of(line))
            for line in own.to_dict("records")
        }
        words = (str(model), *(own[name].iloc[0] or "–" for name in ("regime", "training")))
        rows.append((*map(Cell, words), *(found.get(quantity, Cell("–")) for quantity in quantities)))
    return tuple(rows)
