"""Play the game under each of some conditions and rank every guess."""

import argparse
import json
from pathlib import Path

from cooperation.commands.players import add_players, read_players
from cooperation.conditions import CONTROL, Condition, Playing, check_name
from cooperation.files import InputError
from cooperation.plain_yaml import read_yaml
from cooperation.playing import as_result, check_control, control_script, human_script, play_condition
from cooperation.provenance import inputs
from cooperation.readings import READINGS
from cooperation.results import Result, read_result, write_result
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
    players = read_players(arguments)
    checkpoint, dialogs = players.checkpoint, players.dialogs
    needing = [name for name, condition in conditions.items() if condition.needs_control]
    elsewhere = bool(needing) and CONTROL not in conditions
    if elsewhere != bool(arguments.control):
        raise InputError("--control: " + (f"give it, {needing[0]} needs it" if elsewhere else "leave it out"))

    def read_control(path: Path) -> Result:
        found = read_result(path)
        check_control(found, checkpoint, dialogs, arguments.reading, path)
        return found

    control_path = arguments.control or arguments.out / f"{CONTROL}.h5"
    control = read_control(control_path) if elsewhere else None
    bots = {name: checkpoint.training[key] for name, key in (("model", "regime"), ("seed", "seed"))}
    attributes = players.attributes | bots | {"training": json.dumps(dict(checkpoint.training))}
    # First the control, which others may need.
    for name, condition in sorted(conditions.items(), key=lambda named: named[0] != CONTROL):
        if condition.needs_control:
            control = control or read_control(control_path)
            script = control_script(control, condition.start)
        else:
            script = human_script(dialogs, checkpoint.vocabulary, condition.script)
        game = play_condition(
            checkpoint,
            dialogs,
            players.features.vectors,
            condition,
            READINGS[arguments.reading],
            script,
            from_flags(Playing, arguments),
            control if condition.needs_control else None,
        )
        made_of = json.dumps(players.inputs | (inputs(control=control_path) if condition.needs_control else {}))
        result = as_result(game, dialogs, condition, {**attributes, "condition": name, "inputs": made_of})
        write_result(arguments.out / f"{name}.h5", result)


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
    return found
