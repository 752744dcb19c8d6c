"""What must come out of the controls' worlds, checked before any job.

Needs nothing but the standard library, since the Snakefile reads it.
"""

import csv
from pathlib import Path

from cooperation.config.conditions import ORACLE_CONDITIONS, Condition
from cooperation.config.experiment import Experiment
from cooperation.config.interventions import Interventions
from cooperation.io.files import InputError, file_errors


def check_expected(path: str, interventions: Interventions, experiment: Experiment) -> None:
    """Raise `InputError` that names the line where an expectation is of a game that no world plays.

    So it does where a world's condition has the name of another intervention.
    """
    interventions.check_names(experiment.world_conditions, "controls.conditions")
    played: dict[str, set[Condition]] = {"scripted": set(ORACLE_CONDITIONS.values())}
    for world in experiment.worlds:
        named = experiment.conditions_of(world)
        played[world] = {named[game.model][game.condition] for game in experiment.games(world)}
    with file_errors(path), Path(path).open(encoding="utf-8", errors="replace") as file:
        lines = csv.DictReader(file)
        for column in {"world", "conditions"} - set(lines.fieldnames or ()):
            raise InputError(f"{path}: no column {column!r}; the first line names them")
        for line in lines:
            world, place = str(line.get("world")), f"{path}, line {lines.line_num}"
            if world not in played:
                choices = ", ".join(played)
                raise InputError(f"{place}: no world {world!r}; take the line out, or choose from {choices}")
            for label in sorted(set((line.get("conditions") or "").split())):
                if interventions.of(label, place) not in played[world]:
                    able = sorted(other for other, one in interventions.conditions.items() if one in played[world])
                    raise InputError(f"{place}: {world!r} does not play {label!r}; choose from {', '.join(able)}")
