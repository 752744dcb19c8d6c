"""What must come out of the controls' worlds, checked before any job.

Needs nothing but the standard library, since the Snakefile reads it.
"""

import csv
from collections.abc import Mapping
from pathlib import Path

from cooperation.config.conditions import ORACLE_CONDITIONS, ORACLE_WORLDS, Condition
from cooperation.config.experiment import Experiment
from cooperation.config.interventions import Interventions
from cooperation.io.files import InputError, file_errors

BOUNDS = ("at_least", "at_most")


def check_expected(path: str, interventions: Interventions, experiment: Experiment) -> None:
    """Raise `InputError` that names the line where an expectation is of a game that no world plays.

    So it does where a world's condition has the name of another intervention.
    """
    interventions.check_names(experiment.world_conditions, "controls.conditions")
    played: dict[str, set[Condition]] = {world: set(ORACLE_CONDITIONS.values()) for world in ORACLE_WORLDS}
    for world in experiment.worlds:
        named = experiment.conditions_of(world)
        played[world] = {named[game.model][game.condition] for game in experiment.games(world)}
    with file_errors(path), Path(path).open(encoding="utf-8", errors="replace") as file:
        lines = csv.DictReader(file)
        for column in sorted({"world", "conditions", *BOUNDS} - set(lines.fieldnames or ())):
            raise InputError(f"{path}: no column {column!r}; the first line names them")
        for line in lines:
            world, place = str(line.get("world")), f"{path}, line {lines.line_num}"
            if world not in played:
                choices = ", ".join(played)
                raise InputError(f"{place}: no world {world!r}; take the line out, or choose from {choices}")
            _check_range(line, place)
            for label in sorted(set((line.get("conditions") or "").split())):
                if interventions.of(label, place) not in played[world]:
                    able = sorted(other for other, one in interventions.conditions.items() if one in played[world])
                    raise InputError(f"{place}: {world!r} does not play {label!r}; choose from {', '.join(able)}")


def _check_range(line: Mapping[str, str | None], place: str) -> None:
    """Raise `InputError` where the bounds of an expectation are no numbers, or no range."""
    bounds = []
    for name in BOUNDS:
        text = (line.get(name) or "").strip()
        try:
            bounds.append(float(text) if text else None)
        except ValueError as error:
            raise InputError(f"{place}: {name} is {text!r}, not a number; correct it, or leave it empty") from error
    low, high = bounds
    if bounds == [None, None] or (low is not None and high is not None and not low <= high):
        raise InputError(f"{place}: {low} to {high} is no range; give one bound or two")
