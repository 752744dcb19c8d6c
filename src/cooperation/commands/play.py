"""Play the game under each of some conditions and rank every guess."""

import argparse
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cooperation.commands.players import Players, add_players, read_players
from cooperation.commands.settings import add_config, check_training, read_settings
from cooperation.config.conditions import (
    BASELINE,
    Condition,
    Playing,
    check_names,
    conditions_help,
    played_under,
    read_condition,
)
from cooperation.evaluation.playing import Games, as_result
from cooperation.evaluation.results import read_result, write_result
from cooperation.game.match import Game
from cooperation.game.readings import READINGS
from cooperation.io.files import InputError
from cooperation.io.plain_yaml import read_yaml
from cooperation.io.provenance import inputs
from cooperation.io.settings import add_flags, from_flags, known


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_players(parser)
    parser.add_argument(
        "--baseline",
        type=Path,
        help="result of `none`, if it is not played here: rounds before a late start are taken from it, and what bots "
        "say in other dialogs",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the results READING/CONDITION.h5")
    add_flags(parser, Playing)
    group = parser.add_argument_group("what is done to the game", conditions_help())
    add_config(group)
    group.add_argument(
        "--condition",
        action="append",
        default=[],
        metavar="NAME",
        help="one of the model's conditions in the settings, or one of your own, as in config.yaml: "
        "'typos={channel: question, kind: typos, p: 0.2}'; once for each (default: all of the model's)",
    )


def run(arguments: argparse.Namespace) -> None:
    batch = from_flags(Playing, arguments).batch
    players = read_players(arguments)
    conditions = read_chosen(arguments, players)
    if arguments.baseline and len(arguments.reading) > 1:
        raise InputError("--baseline: is of one reading; give one --reading")
    plans = [_plan(arguments, players, conditions, reading) for reading in arguments.reading]
    games = players.games(arguments.seed, batch)
    for plan in plans:
        for name, game in plan.play(games):
            plan.write(name, game)


@dataclass(frozen=True)
class Plan:
    """What is played under a reading. folder: of the results; baseline: file of the unperturbed game's result.

    attributes: those that all results have in common (see `Result`).
    """

    reading: str
    conditions: dict[str, Condition]
    folder: Path
    baseline: Path
    players: Players
    attributes: dict[str, Any]

    def play(self, games: Games) -> Iterator[tuple[str, Game]]:
        """Yield name and game of each condition; late starts branch off from the baseline where that is played here."""
        reading, rest = READINGS[self.reading], dict(self.conditions)
        if BASELINE in rest:
            branches = [name for name, condition in rest.items() if condition.branches]
            together = games.play_branching([rest[name] for name in branches], reading)
            yield from zip([BASELINE, *branches], together, strict=True)
            for name in (BASELINE, *branches):
                del rest[name]
        baseline = None
        if any(condition.needs_baseline for condition in rest.values()):
            baseline = read_result(self.baseline)
            self.players.check_baseline(self.baseline, baseline, self.reading)
        for name, condition in rest.items():
            yield name, games.play(condition, reading, baseline if condition.needs_baseline else None)

    def write(self, name: str, game: Game) -> None:
        """Write a condition's result."""
        condition = self.conditions[name]
        needed = inputs(baseline=self.baseline) if condition.needs_baseline else {}
        made_of = {"condition": name, "inputs": json.dumps(self.players.inputs | needed)}
        result = as_result(game, self.players.dialogs, condition, {**self.attributes, **made_of})
        write_result(self.folder / f"{name}.h5", result)


def _plan(arguments: argparse.Namespace, players: Players, conditions: dict[str, Condition], reading: str) -> Plan:
    """What is played under a reading; raises `InputError` where the baseline is missing, or not needed."""
    played = {name: one for name, one in conditions.items() if played_under(one, reading, arguments.reading)}
    for name, condition in played.items():
        try:
            condition.check_reading(reading)
        except InputError as error:
            raise InputError(f"condition {name}: {error}") from error
    needing = [name for name, condition in played.items() if condition.needs_baseline]
    elsewhere = bool(needing) and BASELINE not in played
    if elsewhere != bool(arguments.baseline):
        raise InputError("--baseline: " + (f"give it, {needing[0]} needs it" if elsewhere else "leave it out"))
    folder = arguments.out / reading
    attributes = {**players.attributes, "reading": reading}
    path = arguments.baseline or folder / f"{BASELINE}.h5"
    return Plan(reading, played, folder, path, players, attributes)


def read_chosen(arguments: argparse.Namespace, players: Players) -> dict[str, Condition]:
    """Conditions by name: words like `caption-p0.2`, from the settings, or `x={channel: image, kind: noise}`.

    No words stand for all that the model plays on the data set. Raises `InputError` for what is neither.
    """
    found: dict[str, Condition] = {}
    for word in arguments.condition:
        name, equals, settings = word.partition("=")
        if name in found:
            raise InputError(f"--condition: {name!r} is there twice; give the second another name")
        place = f"--condition {name}"
        if equals:
            found[name] = read_condition(read_yaml(settings, place), place)
        else:
            stated = _stated(arguments, players)
            known(name, stated, place)
            found[name] = stated[name]
    check_names(found, "--condition")
    return found or dict(_stated(arguments, players))


def _stated(arguments: argparse.Namespace, players: Players) -> Mapping[str, Condition]:
    """What the settings say that a model plays on the data set, if its bots were trained as they say."""
    experiment, model = read_settings(arguments.config), players.attributes["model"]
    conditions = experiment.conditions_of(arguments.dataset)
    known(model, conditions, f"{arguments.config}: conditions")
    check_training(players.checkpoint, arguments.checkpoint, experiment, arguments.dataset, model)
    return conditions[model]
