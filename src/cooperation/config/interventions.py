"""The interventions that tables, figures, claims and expectations are about: the condition behind each of their labels.

A label such as caption-p1 stands in the tables of `paper/` and `workflow/`, and a file beside them says what it means.
What is looked for among the results is that condition, whatever config.yaml calls it.

Needs nothing but the standard library, since the Snakefile reads it.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from cooperation.config.conditions import Condition, read_condition
from cooperation.config.experiment import INTERVENTIONS, Conditions, Experiment
from cooperation.io.files import InputError
from cooperation.io.plain_csv import read_rows
from cooperation.io.settings import typed

LABEL = "intervention"
"""The column of the labels; the others are the keys of a condition in config.yaml, empty where the default holds."""


@dataclass(frozen=True)
class Interventions:
    """Label → the condition that it stands for; path: the file that says so."""

    path: str
    conditions: Mapping[str, Condition]

    def of(self, label: str, place: str) -> Condition:
        """The condition of a label; raises `InputError`, which begins with `place`, for an unknown one."""
        if label not in self.conditions:
            listed = ", ".join(self.conditions)
            raise InputError(
                f"{place}: no intervention {label!r} in {self.path}; write it there, or choose from {listed}"
            )
        return self.conditions[label]

    def check_names(self, conditions: Conditions, place: str) -> None:
        """Raise `InputError` for a condition that has a label for its name, but is another than the label's.

        conditions: by model and name; place: their key in config.yaml.
        """
        for model, named in conditions.items():
            for name, condition in named.items():
                meant = self.conditions.get(name, condition)
                if meant != condition:
                    raise InputError(
                        f"{place}.{model}.{name}: is {condition.text}, but {self.path} means {meant.text} by {name!r}; "
                        "give it another name"
                    )


def read_interventions(path: str) -> Interventions:
    """Read a table such as `paper/interventions.csv`.

    Raises `InputError` for another table, what is no condition, and a label or condition that is there twice.
    """
    found: dict[str, Condition] = {}
    labels: dict[Condition, str] = {}
    for row in read_rows(path, (LABEL,)):
        label = row[LABEL]
        if label in found:
            raise InputError(f"{path}: {label!r} is there twice; take one out")
        given = {key: typed(cell) for key, cell in row.items() if key != LABEL and cell}
        found[label] = read_condition(given, f"{path}: {label}")
        other = labels.setdefault(found[label], label)
        if other != label:
            raise InputError(f"{path}: {other!r} and {label!r} are the same, {found[label].text}; take one out")
    return Interventions(path, found)


def check_conditions(experiment: Experiment) -> None:
    """Raise `InputError` where a condition has a name that the paper's tables use for another intervention."""
    read_interventions(INTERVENTIONS).check_names(experiment.conditions, "conditions")
