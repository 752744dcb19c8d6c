"""The results that a report needs: where they are, what else is there, and whether they are what was asked for."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cooperation.config.conditions import Condition
from cooperation.config.experiment import Game, ManualGame
from cooperation.io.files import InputError
from cooperation.reports.scores import Scores

NAMED = 3
"""Files of several that a message names."""


def path_of(game: Game | ManualGame, folder: Path) -> Path:
    """Where a game's result is. folder: of the data set's results."""
    return folder / Path(game.path).relative_to("results", game.dataset)


def check_there(paths: Sequence[Path]) -> None:
    """Raise `InputError` where a result is missing, or there is nothing to report."""
    if not paths:
        raise InputError("the settings ask for no games; write conditions under a model")
    missing = [path for path in paths if not path.is_file()]
    if missing:
        raise InputError(
            f"{missing[0]}: no such file; {len(missing)} of the {len(paths)} results that the settings ask for are "
            "missing; play them with `cooperation play`, or run snakemake"
        )


def others(paths: Iterable[Path], folder: Path) -> str:
    """The results in a folder that are none of these, in words; "" where there are none."""
    found = [path for path in sorted(folder.rglob("*.h5")) if path.name[0] != "."]
    left = [str(path.relative_to(folder)) for path in found if path not in set(paths)]
    more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
    return ", ".join(left[:NAMED]) + more


def check_names(path: Path, attributes: Mapping[str, Any], game: Game | ManualGame, game_seed: int) -> None:
    """Raise `InputError` where a result is another game's than the settings ask for. attributes: the result's."""
    wanted = {
        "dataset": game.dataset,
        "model": game.model,
        "seed": game.seed,
        "game_seed": game_seed,
        "reading": game.reading,
        "condition": game.condition if isinstance(game, Game) else f"figure_{game.figure}",
    }
    for name, value in wanted.items():
        if attributes.get(name) != value:
            raise InputError(
                f"{path}: its {name.replace('_', ' ')} is {attributes.get(name, 'missing')}, but the settings ask for "
                f"{value}; play it again"
            )


def check_condition(score: Scores, condition: Condition) -> None:
    """Raise `InputError` where a result was played under another condition than the one of its name in the settings."""
    if score.played != condition:
        raise InputError(
            f"{score.path}: was played with {score.played.settings}, but the settings ask for {condition.settings}; "
            "play it again"
        )
