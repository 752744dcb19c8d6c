"""Play the game under each of some conditions and rank every guess."""

import argparse
import json
from pathlib import Path

from cooperation.commands.players import add_players, read_players
from cooperation.conditions import CONTROL, Condition, Playing, check_apart, check_control_settings, check_name
from cooperation.files import InputError
from cooperation.games.playing import Games, as_result, check_control
from cooperation.games.results import read_result, write_result
from cooperation.method.game import Game
from cooperation.method.readings import READINGS
from cooperation.plain_yaml import read_yaml
from cooperation.provenance import inputs
from cooperation.settings import add_flags, checked, described, from_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_players(parser)
    parser.add_argument(
        "--control",
        type=Path,
        help="result without tampering, if `none` is no condition here: rounds before a late start are taken from it, "
        "and what a swap puts in place",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the results, one NAME.h5 a condition")
    add_flags(parser, Playing)
    group = parser.add_argument_group("what is done to the game", described(Condition))
    group.add_argument(
        "--condition",
        action="append",
        metavar="NAME={KEY: VALUE, …}",
        help="as in config.yaml, such as 'caption-p0.2={channel: caption, p: 0.2}'; once for each (default: none={})",
    )


def run(arguments: argparse.Namespace) -> None:
    conditions = read_conditions(arguments.condition or ["none={}"])
    batch = from_flags(Playing, arguments).batch
    players = read_players(arguments)
    checkpoint, dialogs = players.checkpoint, players.dialogs
    needing = [name for name, condition in conditions.items() if condition.needs_control]
    elsewhere = bool(needing) and CONTROL not in conditions
    if elsewhere != bool(arguments.control):
        raise InputError("--control: " + (f"give it, {needing[0]} needs it" if elsewhere else "leave it out"))

    control_path = arguments.control or arguments.out / f"{CONTROL}.h5"
    bots = {name: checkpoint.training[key] for name, key in (("model", "regime"), ("seed", "seed"))}
    attributes = players.attributes | bots | {"training": json.dumps(dict(checkpoint.training))}

    def write(name: str, game: Game) -> None:
        needed = inputs(control=control_path) if conditions[name].needs_control else {}
        made_of = {"condition": name, "inputs": json.dumps(players.inputs | needed)}
        write_result(
            arguments.out / f"{name}.h5", as_result(game, dialogs, conditions[name], {**attributes, **made_of})
        )

    games = Games(checkpoint, dialogs, players.features.vectors, READINGS[arguments.reading], batch)
    branches = [name for name, condition in conditions.items() if condition.branches and CONTROL in conditions]
    if CONTROL in conditions:
        together = games.play_branching([conditions[name] for name in branches])
        for name, game in zip([CONTROL, *branches], together, strict=True):
            write(name, game)
    others = {name: conditions[name] for name in conditions if name not in (CONTROL, *branches)}
    control = None
    if any(condition.needs_control for condition in others.values()):
        control = read_result(control_path)
        check_control(control, checkpoint, dialogs, arguments.reading, control_path)
    for name, condition in others.items():
        write(name, games.play(condition, control if condition.needs_control else None))


def read_conditions(given: list[str]) -> dict[str, Condition]:
    """Conditions by name, of words like `caption-p0.2={channel: caption, p: 0.2}`."""
    found: dict[str, Condition] = {}
    for word in given:
        name, _, settings = word.partition("=")
        check_name(name, "--condition")
        if name in found:
            raise InputError(f"--condition: {name!r} is there twice; give the second another name")
        place = f"--condition {name}"
        found[name] = checked(Condition, read_yaml(settings, place), place)
        check_control_settings(name, found[name], place)
    check_apart(found, "--condition")
    return found
