"""What must come out of the controls' worlds, checked before any job.

Needs nothing but the standard library, since the Snakefile reads it.
"""

import csv
from pathlib import Path

from cooperation.config.conditions import ORACLE_CONDITIONS
from cooperation.config.experiment import Experiment
from cooperation.io.files import InputError, file_errors


def check_expected(path: str, experiment: Experiment) -> None:
    """Raise `InputError` that names the line where an expectation is of a game that no world plays."""
    played: dict[str, set[str]] = {"scripted": set(ORACLE_CONDITIONS)}
    for world in experiment.worlds:
        played[world] = {game.condition for game in experiment.games(world)}
    with file_errors(path), Path(path).open(encoding="utf-8", errors="replace") as file:
        lines = csv.DictReader(file)
        for column in {"world", "conditions"} - set(lines.fieldnames or ()):
            raise InputError(f"{path}: no column {column!r}; the first line names them")
        for line in lines:
            world, place = str(line.get("world")), f"{path}, line {lines.line_num}"
            if world not in played:
                choices = ", ".join(played)
                raise InputError(f"{place}: no world {world!r}; take the line out, or choose from {choices}")
            for condition in sorted(set((line.get("conditions") or "").split()) - played[world]):
                choices = ", ".join(sorted(played[world]))
                raise InputError(f"{place}: {world!r} does not play {condition!r}; choose from {choices}")
