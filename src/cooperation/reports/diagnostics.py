"""Why the numbers are what they are: diagnostics that the paper lacks, as one long table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cooperation.conditions import READINGS, SWAPPED, Condition
from cooperation.files import InputError
from cooperation.messages import Messages
from cooperation.reports import talk
from cooperation.reports.bootstrap import Doubles, interval, resampled_means
from cooperation.reports.claims import game_evidence
from cooperation.reports.paper import read_columns
from cooperation.reports.statistics import Scores, control_of, readings

COLUMNS = {
    "dataset": "str",
    "table": "str",
    "reading": "str",
    "row": "str",
    "column": "str",
    "value": "float64",
    "low": "float64",
    "high": "float64",
}
"""Columns of `diagnostics.csv`: one cell a line, with its 95 % interval over dialogs.

Cells are in percentage points of MPR at round 10 unless their column or row says otherwise.
"""
TABLES = {
    "swap": "Noise, or another dialog’s: gap at round 10. Noise takes the information away and is strange besides; "
    "what belongs to another dialog takes it away and looks as ever. The difference is mere strangeness; below zero, "
    "what can be believed misleads more than noise.",
    "talk": "Who talks: MPR, and how much the talk repeats itself.",
    "facts": "Format of the facts: as in training, or bare as in the released program, all else as written.",
    "readings": "As written against as released: gap at round 10 of every condition.",
}
"""Name and title of each table."""
MODEL = "dialog"
"""The model that all tables but `readings` are about."""
TALKS = {
    "bots": Condition(),
    "people ask, bots answer": Condition(script="questions"),
    "people": Condition(script="dialog"),
}
"""Who talks in a row of the table `talk`, and the condition in which they do."""

Games = Mapping[tuple[str, str, Condition], Doubles]
"""(model, reading, condition) → MPR after each round, [1 + resamples, 11]: the plain means first."""
Cell = dict[str, Any]


def diagnose(
    scores: Sequence[Scores],
    talks: Mapping[tuple[str, int, str], talk.Talk],
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """All diagnostics that the results allow, columns as in `COLUMNS`.

    talks: (row of `TALKS`, seed, reading) → what was said there.
    """
    conditions = {(score.model, score.condition): score.done for score in scores}
    named = game_evidence(scores, resamples, seed)
    games: dict[tuple[str, str, Condition], Doubles] = {}
    for (model, reading, name), drawn in named.items():
        games.setdefault((model, reading, conditions[model, name]), drawn)
    names = readings({score.reading for score in scores})
    cells = [
        *(cell for reading in names for cell in _swap(games, reading)),
        *_talk(games, talks, names, resamples, seed),
        *_facts(games),
        *_readings(games, conditions),
    ]
    if not cells:
        raise InputError("the results allow no diagnostics; play swaps, `human`, other facts or both readings")
    return pd.DataFrame(cells).assign(dataset=scores[0].dataset)[list(COLUMNS)]


def read_diagnostics(path: Path) -> pd.DataFrame:
    """Read a file that `cooperation diagnose` wrote."""
    return read_columns(path, COLUMNS)


def _cell(table: str, reading: str, row: str, column: str, drawn: Doubles) -> Cell:
    """One cell from the plain value and its resamples [1 + resamples]."""
    low, high = interval(drawn[1:]) if len(drawn) > 1 else (np.nan, np.nan)
    place = {"table": table, "reading": reading, "row": row, "column": column}
    return place | {"value": float(drawn[0]), "low": float(low), "high": float(high)}


def _gap(games: Games, reading: str, condition: Condition, model: str = MODEL) -> Doubles | None:
    """The gap at round 10 to the game that differs only in that nothing is tampered with."""
    played = {other: drawn for (who, where, other), drawn in games.items() if (who, where) == (model, reading)}
    control, mine = control_of(condition, played), played.get(condition)
    return None if control is None or mine is None else control[:, -1] - mine[:, -1]


def _swap(games: Games, reading: str) -> Iterator[Cell]:
    for channel in SWAPPED:
        noise = _gap(games, reading, Condition(channel=channel))
        swap = _gap(games, reading, Condition(channel=channel, by="swap"))
        if noise is not None and swap is not None:
            for column, drawn in {"noise": noise, "swap": swap, "noise − swap": noise - swap}.items():
                yield _cell("swap", reading, channel, column, drawn)


def _facts(games: Games) -> Iterator[Cell]:
    """Marked facts, bare facts, and with them the released interventions, step by step."""
    written, released = READINGS
    rows: dict[str, list[Doubles | None]] = {}
    for row, talking in {"bots": Condition(), "people": Condition(script="dialog")}.items():
        keys = ((written, talking), (written, replace(talking, facts="bare")), (released, talking))
        found = [games.get((MODEL, reading, condition)) for reading, condition in keys]
        rows[f"MPR, {row} talk"] = [None if drawn is None else drawn[:, -1] for drawn in found]
    for channel in SWAPPED:
        noise = Condition(channel=channel)
        steps = ((written, noise), (written, replace(noise, facts="bare")), (released, noise))
        rows[f"gap, {channel}"] = [_gap(games, reading, condition) for reading, condition in steps]
    for row, (marked, bare, as_released) in rows.items():
        if marked is not None and bare is not None:
            yield _cell("facts", written, row, "facts as in training", marked)
            yield _cell("facts", written, row, "bare facts", bare)
            yield _cell("facts", written, row, "bare − as in training", bare - marked)
            if as_released is not None:
                yield _cell("facts", written, row, "as released", as_released)
                yield _cell("facts", written, row, "as released − bare", as_released - bare)


def _readings(games: Games, conditions: Mapping[tuple[str, str], Condition]) -> Iterator[Cell]:
    for (model, name), condition in conditions.items():
        written, released = (_gap(games, reading, condition, model) for reading in READINGS)
        if condition.channel == "none" or written is None or released is None:
            continue
        columns = {"written": written, "released": released, "released − written": released - written}
        for column, drawn in columns.items():
            yield _cell("readings", "both", name, column, drawn)


def _talk(
    games: Games, talks: Mapping[tuple[str, int, str], talk.Talk], names: list[str], resamples: int, seed: int
) -> Iterator[Cell]:
    """Rows of `TALKS` under each reading, every number the mean over the training seeds."""
    rows = []
    for reading in names:
        for row in TALKS:
            seeds = [number for who, number, where in talks if (who, where) == (row, reading)]
            if seeds:
                spoken = [talks[row, number, reading] for number in seeds]
                people = [talks.get(("people", number, reading)) for number in seeds]
                rows.append((reading, row, spoken, _habits(spoken, people)))
    # All columns at once: drawing the samples is what takes time.
    values = [values for *_, habits in rows for values in habits.values()]
    drawn = iter(_resampled(values, resamples, seed))
    for reading, row, spoken, habits in rows:
        mpr = games[MODEL, reading, TALKS[row]]
        yield _cell("talk", reading, row, "MPR by caption", mpr[:, 0])
        yield _cell("talk", reading, row, "MPR, round 10", mpr[:, -1])
        for column in habits:
            yield _cell("talk", reading, row, column, next(drawn))
        total = float(np.mean([talk.entropy(one.answers) for one in spoken]))
        yield _cell("talk", reading, row, "answer entropy, all dialogs [bits]", np.array([total]))


def _resampled(values: Sequence[Doubles], resamples: int, seed: int) -> list[Doubles]:
    """The mean of each [dialogs] and its resamples, paired: [1 + resamples] each."""
    if not values:
        return []
    columns = np.stack(values, 1)
    means = np.concatenate([columns.mean(0, keepdims=True), resampled_means(columns, resamples, seed)])
    return list(means.T)


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


def listen(said: Mapping[tuple[str, int, str], tuple[Messages, Messages]]) -> dict[tuple[str, int, str], talk.Talk]:
    """Questions and answers as said, [dialogs, 10, length], numbered together: equal messages get equal numbers."""
    if not said:
        return {}
    questions = talk.encode(*(questions for questions, _ in said.values()))
    answers = talk.encode(*(answers for _, answers in said.values()))
    return {key: talk.Talk(*pair) for key, *pair in zip(said, questions, answers, strict=True)}
