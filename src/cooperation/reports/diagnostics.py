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
from cooperation.reports.bootstrap import Doubles
from cooperation.reports.findings import CHANGED, findings
from cooperation.reports.paper import reading_heading
from cooperation.reports.scores import Scores
from cooperation.reports.statistics import Resampled
from cooperation.reports.table import Block, Cell, Column, Table, number_cell
from cooperation.reports.trainings import COLUMNS as ESTIMATE
from cooperation.reports.trainings import Drawn, Estimate, common, estimated

COLUMNS = ("dataset", "model", "table", "reading", "row", "column", *ESTIMATE)
"""Columns of `diagnose`'s table: one cell a line, with its 95 % interval.

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
    "swap": "Noise, or another dialog’s: gap at round 10. Noise changes every message and is out of distribution;"
    " another dialog’s is in distribution, but may say the same (last column). Their difference is what both of these"
    " cost; below zero, plausible messages or images mislead more than noise.",
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
    found = {(line["row"], line["column"]): number_cell(Estimate.of(line)) for line in cells.to_dict("records")}
    rows = [
        (Cell(row), *(found.get((row, column), Cell("–")) for column in columns)) for row in dict.fromkeys(cells["row"])
    ]
    head = (Column(name.capitalize(), "text"), *map(Column, columns))
    heading = "Both readings" if reading == BOTH else reading_heading(reading)
    return Block(f"Model “{model}”. {heading}", head, tuple(rows), TABLES[name])


def _line(place: tuple[str, str, str, str, str], drawn: Drawn) -> Line:
    """A line of `diagnose`: model, table, reading, row and column, and the estimate."""
    names = ("model", "table", "reading", "row", "column")
    *_, row, column = place
    found = estimated(drawn)
    # An MPR or another percentage, but no difference.
    share = "−" not in column and ("MPR" in (row + column) or "%" in column)
    return {**dict(zip(names, place, strict=True)), **(found.within(0, 100) if share else found).cells}


def _by_caption(rounds: Doubles) -> Doubles:
    return rounds[..., 0]


def _at_last(rounds: Doubles) -> Doubles:
    return rounds[..., -1]


def _last(drawn: Drawn | None) -> Drawn | None:
    """MPRs or gaps of [11] at round 10."""
    return None if drawn is None else drawn.of(_at_last)


def _compared(
    place: tuple[str, str, str, str], columns: Mapping[str, Drawn | None], differences: Mapping[str, tuple[str, str]]
) -> Iterator[Line]:
    """The cells of a row that were played, in the trainings that played them all, and differences of them.

    place: model, table, reading and row. differences: column → the one that is subtracted from, and the subtracted one.
    """
    played = {column: drawn for column, drawn in columns.items() if drawn is not None}
    seeds = common(*played.values())
    said: dict[str, Drawn] = {}
    for column, drawn in played.items() if seeds else ():
        said[column] = drawn.only(seeds)
        yield _line((*place, column), said[column])
        for title, (more, less) in differences.items():
            if column in (more, less) and {more, less} <= said.keys():
                yield _line((*place, title), said[more] - said[less])


def _swap(resampled: Resampled, model: str, reading: str) -> Iterator[Line]:
    for channel in NOISE:
        noise, swap = (_last(resampled.gap(model, reading, kind[channel])) for kind in (NOISE, SWAP))
        if noise is not None and swap is not None:
            place = (model, "swap", reading, channel)
            yield from _compared(place, {"noise": noise, "swap": swap}, {"noise − swap": ("noise", "swap")})
            if changed := resampled.changed(model, reading, SWAP[channel]):
                yield _line((*place, CHANGED), changed)


def _facts(resampled: Resampled, model: str) -> Iterator[Line]:
    """Marked facts, bare facts, and with them the released interventions, step by step."""
    written, released = READINGS
    rows: dict[str, list[Drawn | None]] = {}

    def steps(condition: Condition) -> list[tuple[str, Condition]]:
        return [(written, condition), (written, replace(condition, facts="bare")), (released, condition)]

    for row in ("bots", "people"):
        rows[f"MPR, {row} talk"] = [_last(resampled.mpr(model, *step)) for step in steps(TALKS[row])]
    for channel, noise in NOISE.items():
        rows[f"gap, {channel}"] = [_last(resampled.gap(model, *step)) for step in steps(noise)]
    columns = ("facts as in training", "bare facts", "as released")
    differences = {"bare − as in training": (columns[1], columns[0]), "as released − bare": (columns[2], columns[1])}
    for row, found in rows.items():
        if found[0] is not None and found[1] is not None:
            yield from _compared((model, "facts", written, row), dict(zip(columns, found, strict=True)), differences)


def _readings(resampled: Resampled, model: str) -> Iterator[Line]:
    first, second = READINGS
    for name, condition in resampled.conditions.get((model, first), {}).items():
        gaps = {reading: _last(resampled.gap(model, reading, condition)) for reading in (first, second)}
        if condition.kind is not None and None not in gaps.values():
            yield from _compared((model, "readings", BOTH, name), gaps, {"released − written": (second, first)})


def _talk(resampled: Resampled, talks: Talks) -> Iterator[Line]:
    """Rows of `TALKS` of each model and reading."""
    rows = []
    for model, reading, row in product(resampled.models, resampled.readings, TALKS):
        spoken = {
            seed: one for (who, said, seed, where), one in talks.items() if (who, said, where) == (model, row, reading)
        }
        if spoken:
            people = {seed: talks.get((model, "people", seed, reading)) for seed in spoken}
            rows.append(((model, reading, row), spoken, _habits(spoken, people)))
    if not rows:
        return
    # All columns at once: drawing the samples is what takes time.
    values = [values for *_, habits in rows for each in habits.values() for values in each.values()]
    drawn = iter(resampled.means_of(np.stack(values, 1)).T)
    for (model, reading, row), spoken, habits in rows:
        mpr = resampled.mpr(model, reading, TALKS[row])
        columns = {} if mpr is None else {"MPR by caption": mpr.of(_by_caption), "MPR, round 10": mpr.of(_at_last)}
        columns |= {
            column: Drawn(tuple(each), np.stack([next(drawn) for _ in each])) for column, each in habits.items()
        }
        total = np.array([[talk.entropy(one.answers)] for one in spoken.values()])
        columns |= {"answer entropy, all dialogs [bits]": Drawn(tuple(spoken), total)}
        for column, numbers in columns.items():
            yield _line((model, "talk", reading, row, column), numbers)


def _habits(spoken: Mapping[int, talk.Talk], people: Mapping[int, talk.Talk | None]) -> dict[str, dict[int, Doubles]]:
    """Name → seed → a number for each dialog: [dialogs]. spoken, people: by seed."""
    found = {
        "different questions a dialog": {seed: talk.different(one.questions) for seed, one in spoken.items()},
        "questions asked before [%]": {seed: talk.repeated(one.questions) for seed, one in spoken.items()},
        "different answers a dialog": {seed: talk.different(one.answers) for seed, one in spoken.items()},
        "most frequent answer [%]": {seed: talk.most_frequent(one.answers) for seed, one in spoken.items()},
        "most frequent answer to the question [%]": {
            seed: talk.most_frequent_to(one.questions, one.answers) for seed, one in spoken.items()
        },
        "answer entropy in a dialog [bits]": {seed: talk.entropy_within(one.answers) for seed, one in spoken.items()},
    }
    pairs = {seed: (one, other) for seed, one in spoken.items() if (other := people[seed]) and one is not other}
    # Only where the questions are the same can answers be compared.
    if pairs and all((one.questions == other.questions).all() for one, other in pairs.values()):
        found["answers as people’s [%]"] = {
            seed: talk.agreement(one.answers, other.answers) for seed, (one, other) in pairs.items()
        }
    return found
