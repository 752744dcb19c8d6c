"""What follows from the diagnostics: sentences filled from their numbers, and the tables as Markdown and HTML."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pandas as pd

from cooperation.reports.diagnostics import TABLES
from cooperation.reports.paper import READING_TITLES, dataset_note, number, signed, with_interval
from cooperation.reports.statistics import readings
from cooperation.reports.tables import environment, paragraphs


@dataclass(frozen=True)
class Cell:
    """A number with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return with_interval(self.value, self.low, self.high)

    @property
    def clear(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


Cells = dict[tuple[str, str, str, str], Cell]
"""(table, reading, row, column) → cell."""


def findings(diagnostics: pd.DataFrame) -> list[str]:
    """Sentences on what the diagnostics show, in the order of the tables; what was not played is left out."""
    cells: Cells = {
        (line["table"], line["reading"], line["row"], line["column"]): Cell(line["value"], line["low"], line["high"])
        for line in diagnostics.to_dict("records")
    }
    names = readings(reading for reading in diagnostics["reading"] if reading != "both")
    sentences = [sentence for reading in names for sentence in _swap(cells, reading)]
    sentences += [sentence for reading in names for sentence in _talk(cells, reading)]
    return [*sentences, *_facts(cells), *_readings(cells)]


def _rows(cells: Cells, table: str, reading: str, column: str) -> dict[str, Cell]:
    """Row → cell of one column."""
    return {key[2]: cell for key, cell in cells.items() if (key[0], key[1], key[3]) == (table, reading, column)}


def _swap(cells: Cells, reading: str) -> Iterator[str]:
    swaps, strange = (_rows(cells, "swap", reading, column) for column in ("swap", "noise − swap"))
    if not swaps:
        return
    ordered = sorted(swaps, key=lambda row: -swaps[row].value)
    listed = ", ".join(f"{row} {swaps[row]}" for row in ordered)
    yield f"As {reading}, what the game loses when a channel tells nothing but stays natural (swap): {listed}."
    sides = {
        "what noise costs beyond that, only because it is strange": [row for row in ordered if strange[row].low > 0],
        "where noise costs less, so that another’s words mislead more": [
            row for row in ordered if strange[row].high < 0
        ],
    }
    for what, rows in sides.items():
        if rows:
            yield f"As {reading}, {what}: {', '.join(f'{row} {signed(strange[row].value)}' for row in rows)}."
    vague = [row for row in ordered if not strange[row].clear]
    if vague:
        yield f"As {reading}, noise and swap cost the same, as far as the interval tells: {', '.join(vague)}."


def _talk(cells: Cells, reading: str) -> Iterator[str]:
    def at(row: str, column: str) -> Cell | None:
        return cells.get(("talk", reading, row, column))

    ends = {row: at(row, "MPR, round 10") for row in ("bots", "people")}
    start = at("bots", "MPR by caption")
    bots, people = ends["bots"], ends["people"]
    if start and bots and people:
        yield (
            f"As {reading}, the caption alone gives an MPR of {start}; ten rounds of the bots’ own talk make it "
            f"{bots}, ten rounds of the recorded human dialog {people}."
        )
    mine, theirs = (at(row, "different questions a dialog") for row in ends)
    again = at("bots", "questions asked before [%]")
    if mine and theirs and again:
        yield (
            f"As {reading}, the bots ask {number(mine.value)} different questions in ten rounds (people "
            f"{number(theirs.value)}); {number(again.value)} % of their questions were asked before in the same dialog."
        )
    same, usual = at("people ask, bots answer", "answers as people’s [%]"), at("people", "most frequent answer [%]")
    if same and usual:
        yield (
            f"As {reading}, asked people’s questions, the answerer says what people said in {same} % of the rounds; "
            f"always giving the most frequent answer would match {number(usual.value)} %."
        )


def _facts(cells: Cells) -> Iterator[str]:
    for row, lost in _rows(cells, "facts", "written", "bare − as in training").items():
        kind, who = row.split(", ")
        if kind != "MPR":
            continue
        whose = {"bots talk": "the bots’ own dialog", "people talk": "the recorded human dialog"}[who]
        if lost.clear:
            verb = "costs" if lost.value < 0 else "gains"
            size = Cell(abs(lost.value), *sorted((abs(lost.low), abs(lost.high))))
            yield f"Reading facts bare, not as in training, {verb} {whose} {size} points of MPR."
        else:
            yield f"Reading facts bare, not as in training, makes no difference to {whose} that the interval tells."


def _readings(cells: Cells) -> Iterator[str]:
    differences = _rows(cells, "readings", "both", "released − written")
    clear = {row: cell for row, cell in differences.items() if cell.clear}
    if not differences:
        return
    yield f"The gap at round 10 differs between the readings in {len(clear)} of {len(differences)} conditions."
    if clear:
        row = max(clear, key=lambda name: abs(clear[name].value))
        written, released = (cells["readings", "both", row, column] for column in ("written", "released"))
        yield f"It differs most for {row}: {written} as written, {released} as released."


def view(diagnostics: pd.DataFrame) -> dict[str, Any]:
    """What the templates show: sentences, and each table with a part a reading of rows of cells."""
    tables = []
    for name, title in TABLES.items():
        chosen = diagnostics[diagnostics["table"] == name]
        parts = []
        for reading in dict.fromkeys(chosen["reading"]):
            lines = chosen[chosen["reading"] == reading]
            columns = list(dict.fromkeys(lines["column"]))
            cells = lines.set_index(["row", "column"])[["value", "low", "high"]].to_dict("index")
            rows = [
                {"label": row, "cells": [cells.get((row, column)) for column in columns]}
                for row in dict.fromkeys(lines["row"])
            ]
            title_of = READING_TITLES.get(reading, "")
            parts.append({"name": reading, "title": title_of, "columns": columns, "rows": rows})
        if parts:
            tables.append({"name": name, "title": title, "parts": parts})
    return {"findings": findings(diagnostics), "tables": tables}


def to_markdown(diagnostics: pd.DataFrame, dataset: str, size: str) -> str:
    """The sentences as a list, then each table. `size`: queries × candidates."""
    shown = view(diagnostics)
    parts = ["**Why**: diagnostics that the paper lacks, with 95 % intervals", size, dataset_note(dataset)]
    parts.append("\n".join(f"- {sentence}" for sentence in shown["findings"]))
    for table in shown["tables"]:
        parts.append(f"**{table['title']}**")
        for part in table["parts"]:
            lines = [[row["label"], *map(_text, row["cells"])] for row in part["rows"]]
            frame = pd.DataFrame(lines, columns=["", *part["columns"]])
            parts += [f"Reading *{part['name']}*", frame.to_markdown(index=False, disable_numparse=True)]
    return paragraphs(*parts)


def _text(cell: dict[str, float] | None) -> str:
    if cell is None:
        return "–"
    return number(cell["value"]) if pd.isna(cell["low"]) else str(Cell(**cell))


def to_html(diagnostics: pd.DataFrame, dataset: str, size: str) -> str:
    """A self-contained HTML page of the diagnostics."""
    template = environment().get_template("diagnostics.html.j2")
    return template.render(why=view(diagnostics), dataset=dataset, size=size, note=dataset_note(dataset))
