"""The results that a report needs: where they are, what else is there, and whether they are what was asked for."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from cooperation.config.conditions import BASELINE, Condition, Playing
from cooperation.config.experiment import Experiment, Game, ManualGame
from cooperation.config.made import check_said, said_by_bots, said_by_dialogs, said_by_features
from cooperation.data.agreements import check_comparable, check_together, identity_of_intervention
from cooperation.io.files import InputError
from cooperation.io.identity import Identity
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


def check_asked(path: Path, attributes: Mapping[str, Any], game: Game | ManualGame, experiment: Experiment) -> None:
    """Raise `InputError` where a result is not what the settings ask for, but for the condition.

    attributes: the result's.
    """
    names = {
        "dataset": game.dataset,
        "model": game.model,
        "seed": game.seed,
        "game_seed": experiment.game_seed,
        "reading": game.reading,
        "condition": game.condition if isinstance(game, Game) else f"figure_{game.figure}",
    }
    for name, value in names.items():
        if attributes.get(name) != value:
            raise InputError(
                f"{path}: its {name.replace('_', ' ')} is {attributes.get(name, 'missing')}, but the settings ask for "
                f"{value}; play it again"
            )
    if game.model in experiment.loaded:
        # How such bots came about, and what they see, is their builder's.
        dialogs = said_by_dialogs(experiment.datasets[game.dataset])
        check_said(path, _said(attributes, "dialogs"), dialogs, "make the dialogs again, and play")
        return
    data, training = experiment.datasets[game.dataset], {**_said(attributes, "training"), **_said(attributes, "sizes")}
    bots = said_by_bots(experiment, game.dataset, game.model, game.seed)
    check_said(path, training, bots, f"train {game.model!r} again, and play")
    for name, said in (("dialogs", said_by_dialogs(data)), ("features", said_by_features(data))):
        check_said(path, _said(attributes, name), said, f"make the {name} again, train and play")
    _check_candidates(path, attributes, data.playing)


def _check_candidates(path: Path, attributes: Mapping[str, Any], playing: Playing) -> None:
    """playing: which pictures are guessed and among which, by the settings."""
    there, most = int(attributes.get("val_dialogs", 0)), playing.candidates
    among = attributes.get("among", "dialogs")
    if among != playing.among:
        raise InputError(f"{path}: ranks are among {among}, but the settings say {playing.among}; play it again")
    if among == "dialogs" and attributes.get("candidates") != min(most, there):
        raise InputError(
            f"{path}: has {attributes.get('candidates')} candidates of {there} validation images, but the settings say "
            f"{most} at most; play it again"
        )


def _said(attributes: Mapping[str, Any], name: str) -> dict[str, Any]:
    """What a result says of some settings; nothing where it is of an earlier version."""
    try:
        return dict(json.loads(attributes[name]))
    except (KeyError, TypeError, ValueError):
        return {}


def check_condition(score: Scores, condition: Condition) -> None:
    """Raise `InputError` where a result was played under another condition than the one of its name in the settings."""
    if score.played != condition:
        raise InputError(
            f"{score.path}: was played with {score.played.settings}, but the settings ask for {condition.settings}; "
            "play it again"
        )


def check_belonging(scores: Sequence[Scores], manual: Mapping[ManualGame, Identity], reading: str) -> None:
    """Compare all results with each other, and manual interventions with their files and their baselines.

    manual: what the results of manual interventions are made of. reading: that of the games by whose ranks rules chose
    dialogs. Raises `InputError` that names both files where they do not belong together.
    """
    of_manual = [(game.model, game.seed, identity) for game, identity in manual.items()]
    check_comparable([*((score.model, score.seed, score.identity) for score in scores), *of_manual])
    baselines = {score.bots: score.identity for score in scores if score.condition == BASELINE}
    for game, identity in manual.items():
        check_together("manual result", identity, "intervention", identity_of_intervention(Path(game.file)))
        chosen_by = baselines[game.model, game.seed, reading]
        baseline = Identity(chosen_by.place, {"baseline": chosen_by.of("game")})
        check_together("manual result", identity, "baseline", baseline)
