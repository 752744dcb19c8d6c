"""What an experiment plays of what the paper shows. Needs the standard library alone, since the Snakefile asks it."""

from cooperation.config.conditions import Condition
from cooperation.config.experiment import INTERVENTIONS, Experiment
from cooperation.config.interventions import read_interventions
from cooperation.io.plain_csv import read_rows


def played_rows(experiment: Experiment, path: str, key: str) -> list[dict[str, str]]:
    """The rows of a table of `paper/` that show an intervention played by a model that stands for the paper's.

    key: a column that must not be empty, besides `model` and `condition`. Raises `InputError` where the table cannot be
    read, or names an intervention that is none of the paper's.
    """
    interventions = read_interventions(INTERVENTIONS)
    return [
        row
        for number, row in enumerate(read_rows(path, (key, "model", "condition")), 1)
        if is_played(experiment, row["model"], interventions.of(row["condition"], f"{path}: row {number}"))
    ]


def is_played(experiment: Experiment, model: str, condition: Condition) -> bool:
    """Whether any model that stands for the paper's plays the condition, by whatever name."""
    return any(condition in experiment.conditions.get(own, {}).values() for own in experiment.stands_for.get(model, ()))


def plays_unperturbed(experiment: Experiment) -> bool:
    """Whether any model plays a game in which nothing is perturbed, whoever talks: what diagnostics begin with."""
    played = [one for conditions in experiment.conditions.values() for one in conditions.values()]
    return any(one == Condition(script=one.script) for one in played)
