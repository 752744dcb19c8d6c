"""Why the numbers are what they are: diagnostics that the paper lacks."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from cooperation.config.conditions import Condition, read_condition
from cooperation.evaluation.results import read_result
from cooperation.game.interventions import CHANNELS
from cooperation.game.readings import READINGS
from cooperation.reports import talk
from cooperation.reports.bootstrap import Doubles, estimated
from cooperation.reports.findings import findings
from cooperation.reports.paper import reading_heading
from cooperation.reports.scores import Scores
from cooperation.reports.statistics import Resampled
from cooperation.reports.table import Block, Cell, Column, Table, number_cell

COLUMNS = ("dataset", "model", "table", "reading", "row", "column", "value", "low", "high")
"""Columns of `diagnose`'s table: one cell a line, with its 95 % interval over dialogs.

Cells are in percentage points of MPR at round 10 unless their column or row says otherwise.
"""
BOTH = "both"
"""Stands in the column `reading` where both are compared."""


def intervention(channel: str, kind: str) -> Condition:
    """A channel perturbed in all rounds, with the kind's default parameters."""
    return read_condition({"channel": channel, "kind": kind}, f"{channel}, {kind}")


NOISE = {
    "image": intervention("image", "noise"),
    **{channel: intervention(channel, "replace") for channel in CHANNELS if channel != "image"},
}
"""The paper's intervention on each channel: noise, or random words."""
SWAP = {channel: intervention(channel, "swap") for channel in NOISE}
TALKS = {
    "bots": Condition(),
    "people ask, bots answer": Condition(script="questions"),
    "people": Condition(script="dialog"),
}
"""Who talks in a row of the table `talk`, and the condition in which they do."""
TABLES = {
    "swap": "Noise, or another dialog’s: gap at round 10. Noise is uninformative and out of distribution; what belongs"
    " to another dialog is uninformative but in distribution. The difference is the cost of being out of distribution;"
    " below zero, plausible messages or images mislead more than noise.",
    "talk": "Who talks: MPR, and how much the talk repeats itself.",
    "facts": "Format of the facts: as in training, or bare as in the released program, all else as written.",
    "readings": "As written against as released: gap at round 10 of every condition.",
}
"""Name and title of each table."""
Line = dict[str, Any]
Talks = Mapping[tuple[str, str, int, str], talk.Talk]
"""(model, row of `TALKS`, seed, reading) → what was said there."""


def diagnose(resampled: Resampled, talks: Talks) -> pd.DataFrame:
    """All diagnostics that the results allow, of every model, columns as in `COLUMNS`; empty where they allow none.

    talks: of `read_talks`.
    """
    models, names = resampled.models, resampled.readings
    lines = [
        *(line for model in models for reading in names for line in _swap(resampled, model, reading)),
        *_talk(resampled, talks),
        *(line for model in models for line in _facts(resampled, model)),
        *(line for model in models for line in _readings(resampled, model)),
    ]
    return pd.DataFrame(lines, columns=list(COLUMNS)).assign(dataset=resampled.dataset)


def read_talks(scores: Sequence[Scores]) -> Talks:
    """What was said in the conditions of `TALKS`, read from the results' files; equal messages get equal numbers."""
    rows = {condition: row for row, condition in TALKS.items()}
    said = {}
    for score in scores:
        if score.played in rows:
            result = read_result(score.path)
            said[score.model, rows[score.played], score.seed, score.reading] = result.question_said, result.answer_said
    if not said:
        return {}
    questions = talk.encode(*(questions for questions, _ in said.values()))
    answers = talk.encode(*(answers for _, answers in said.values()))
    return {key: talk.Talk(*pair) for key, *pair in zip(said, questions, answers, strict=True)}


def diagnostics_table(diagnostics: pd.DataFrame, size: str) -> Table | None:
    """Sentences that follow, then every table by model and reading; None where there are no diagnostics.

    diagnostics: the table of `diagnose`. size: queries × candidates, in words.
    """
    if diagnostics.empty:
        return None
    blocks = [
        _block(name, str(model), str(reading), cells)
        for name in TABLES
        for (model, reading), cells in diagnostics[diagnostics["table"] == name].groupby(
            ["model", "reading"], sort=False
        )
    ]
    return Table(
        name="diagnostics",
        title="Why",
        blocks=tuple(blocks),
        frame=diagnostics,
        dataset=str(diagnostics["dataset"].iloc[0]),
        caption="Diagnostics that the paper lacks, with 95 % intervals.",
        size=size,
        findings=tuple(findings(diagnostics)),
    )


def _block(name: str, model: str, reading: str, cells: pd.DataFrame) -> Block:
    """The rows of one table, model and reading."""
    columns = list(dict.fromkeys(cells["column"]))
    found = {
        (line["row"], line["column"]): number_cell(line["value"], line["low"], line["high"])
        for line in cells.to_dict("records")
    }
    rows = [
        (Cell(row), *(found.get((row, column), Cell("–")) for column in columns)) for row in dict.fromkeys(cells["row"])
    ]
    head = (Column(name.capitalize(), "text"), *map(Column, columns))
    heading = "Both readings" if reading == BOTH else reading_heading(reading)
    return Block(f"Model “{model}”. {heading}", head, tuple(rows), TABLES[name])


def _line(place: tuple[str, str, str, str, str], drawn: Doubles) -> Line:
    """A line of `diagnose`: model, table, reading, row and column, the plain value and its interval.

    drawn: as `estimated` takes it.
    """
    names = ("model", "table", "reading", "row", "column", "value", "low", "high")
    return dict(zip(names, (*place, *estimated(drawn)), strict=True))


def _last_gap(resampled: Resampled, model: str, reading: str, condition: Condition) -> Doubles | None:
    """The gap at round 10: [1 + resamples]."""
    gap = resampled.gap(model, reading, condition)
    return None if gap is None else gap[:, -1]


def _swap(resampled: Resampled, model: str, reading: str) -> Iterator[Line]:
    for channel in NOISE:
        noise, swap = (_last_gap(resampled, model, reading, kind[channel]) for kind in (NOISE, SWAP))
        if noise is not None and swap is not None:
            for column, drawn in {"noise": noise, "swap": swap, "noise − swap": noise - swap}.items():
                yield _line((model, "swap", reading, channel, column), drawn)


def _facts(resampled: Resampled, model: str) -> Iterator[Line]:
    """Marked facts, bare facts, and with them the released interventions, step by step."""
    written, released = READINGS
    rows: dict[str, list[Doubles | None]] = {}

    def steps(condition: Condition) -> list[tuple[str, Condition]]:
        return [(written, condition), (written, replace(condition, facts="bare")), (released, condition)]

    for row in ("bots", "people"):
        mprs = [resampled.mpr(model, *step) for step in steps(TALKS[row])]
        rows[f"MPR, {row} talk"] = [None if mpr is None else mpr[:, -1] for mpr in mprs]
    for channel, noise in NOISE.items():
        rows[f"gap, {channel}"] = [_last_gap(resampled, model, *step) for step in steps(noise)]
    for row, (marked, bare, as_released) in rows.items():
        if marked is None or bare is None:
            continue
        columns = {"facts as in training": marked, "bare facts": bare, "bare − as in training": bare - marked}
        if as_released is not None:
            columns |= {"as released": as_released, "as released − bare": as_released - bare}
        for column, drawn in columns.items():
            yield _line((model, "facts", written, row, column), drawn)


def _readings(resampled: Resampled, model: str) -> Iterator[Line]:
    first, second = READINGS
    for name, condition in resampled.conditions.get((model, first), {}).items():
        written, released = (_last_gap(resampled, model, reading, condition) for reading in (first, second))
        if condition.kind is None or written is None or released is None:
            continue
        columns = {"written": written, "released": released, "released − written": released - written}
        for column, drawn in columns.items():
            yield _line((model, "readings", BOTH, name, column), drawn)


def _talk(resampled: Resampled, talks: Talks) -> Iterator[Line]:
    """Rows of `TALKS` of each model and reading, every number the mean over the training seeds."""
    rows = []
    for model, reading, row in product(resampled.models, resampled.readings, TALKS):
        seeds = [seed for who, said, seed, where in talks if (who, said, where) == (model, row, reading)]
        if seeds:
            spoken = [talks[model, row, seed, reading] for seed in seeds]
            people = [talks.get((model, "people", seed, reading)) for seed in seeds]
            rows.append((model, reading, row, spoken, _habits(spoken, people)))
    if not rows:
        return
    # All columns at once: drawing the samples is what takes time.
    values = [values for *_, habits in rows for values in habits.values()]
    drawn = iter(resampled.means_of(np.stack(values, 1)).T)
    for model, reading, row, spoken, habits in rows:
        mpr = resampled.mpr(model, reading, TALKS[row])
        total = float(np.mean([talk.entropy(one.answers) for one in spoken]))
        columns = {} if mpr is None else {"MPR by caption": mpr[:, 0], "MPR, round 10": mpr[:, -1]}
        columns |= {column: next(drawn) for column in habits}
        columns |= {"answer entropy, all dialogs [bits]": np.array([total])}
        for column, numbers in columns.items():
            yield _line((model, "talk", reading, row, column), numbers)


def _habits(spoken: Sequence[talk.Talk], people: Sequence[talk.Talk | None]) -> dict[str, Doubles]:
    """Name → a number for each dialog, mean over seeds: [dialogs]."""

    def mean(values: list[Doubles]) -> Doubles:
        return np.asarray(np.mean(values, 0))

    found = {
        "different questions a dialog": mean([talk.different(one.questions) for one in spoken]),
        "questions asked before [%]": mean([talk.repeated(one.questions) for one in spoken]),
        "different answers a dialog": mean([talk.different(one.answers) for one in spoken]),
        "most frequent answer [%]": mean([talk.most_frequent(one.answers) for one in spoken]),
        "answer entropy in a dialog [bits]": mean([talk.entropy_within(one.answers) for one in spoken]),
    }
    pairs = [(one, other) for one, other in zip(spoken, people, strict=True) if other is not None and one is not other]
    # Only where the questions are the same can answers be compared.
    if pairs and all((one.questions == other.questions).all() for one, other in pairs):
        found["answers as people’s [%]"] = mean([talk.agreement(one.answers, other.answers) for one, other in pairs])
    return found
