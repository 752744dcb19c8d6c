"""What an experiment plays of what the paper shows. Needs the standard library alone, since the Snakefile asks it."""

import csv
from collections.abc import Sequence
from pathlib import Path

from cooperation.config.conditions import Condition
from cooperation.config.experiment import Experiment
from cooperation.io.files import InputError, parse_errors


def read_rows(path: str, columns: Sequence[str]) -> list[dict[str, str]]:
    """Read a table of `paper/`, a mapping a row; only the columns named here are looked at.

    Raises `InputError` for a missing file, one without these columns, and a cell of theirs that is empty.
    """
    with parse_errors(path, "not a table of this kind", "make it again or correct it"):
        if not Path(path).is_file():
            raise InputError(f"{path}: no such file; run this in the project's folder")
        with Path(path).open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            rows = list(reader)
        missing = [name for name in columns if name not in (reader.fieldnames or ())]
        if missing:
            raise InputError(f"{path}: no column {missing[0]!r}; expected {', '.join(columns)}")
        for number, row in enumerate(rows, 1):
            for name in columns:
                if not row[name]:
                    raise InputError(f"{path}: row {number}: {name} is empty; make it again or correct it")
        return rows


def is_played(experiment: Experiment, model: str, condition: str) -> bool:
    """Whether any model that stands for the paper's plays the condition of this name."""
    return any(condition in experiment.conditions.get(own, ()) for own in experiment.stands_for.get(model, ()))


def plays_unperturbed(experiment: Experiment) -> bool:
    """Whether any model plays a game in which nothing is perturbed, whoever talks: what diagnostics begin with."""
    played = [one for conditions in experiment.conditions.values() for one in conditions.values()]
    return any(one == Condition(script=one.script) for one in played)
