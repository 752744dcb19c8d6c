"""Play the game under each of some conditions and rank every guess."""

import argparse
import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path

from cooperation.commands.loaded import TextPlayers, add_loaded, naming, read_loaded
from cooperation.commands.outs import add_out_folder, check_files
from cooperation.commands.players import Players, add_dialogs, read_players
from cooperation.commands.settings import add_config, read_settings
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
from cooperation.evaluation.results import IDLE, Result, write_result
from cooperation.game.match import Game
from cooperation.game.readings import READINGS
from cooperation.io.files import InputError, at
from cooperation.io.plain_yaml import read_yaml
from cooperation.io.provenance import inputs
from cooperation.io.settings import add_flags, from_flags, known


def add_arguments(parser: argparse.ArgumentParser) -> None:
    bots = parser.add_mutually_exclusive_group(required=True)
    bots.add_argument("--checkpoint", type=Path, help="trained bots")
    add_loaded(parser, bots)
    parser.add_argument("--features", type=Path, help="HDF5 file of normalised image features")
    add_dialogs(parser)
    parser.add_argument(
        "--baseline",
        type=Path,
        nargs="+",
        default=[],
        help="result of `none`, one for each reading, if it is not played here: rounds before a late start are taken "
        "from it, and what bots say in other dialogs",
    )
    add_out_folder(parser, "folder of the results READING/CONDITION.h5")
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
    players = _read(arguments)
    conditions = read_chosen(arguments, players)
    if arguments.baseline and len(arguments.baseline) != len(arguments.reading):
        given, wanted = len(arguments.baseline), len(arguments.reading)
        raise InputError(f"--baseline: {given} for {wanted} readings; give one for each, in their order")
    plans = [_plan(arguments, players, conditions, reading) for reading in arguments.reading]
    players.announce()
    games = players.games(arguments.seed, batch)
    played: dict[Condition, Game] = {}
    for plan in plans:
        same = {name: played[condition] for name, condition in plan.conditions.items() if condition in played}
        rest = {name: condition for name, condition in plan.conditions.items() if name not in same}
        # The others' results state the hash of the baseline's.
        first = sorted(same.items(), key=lambda one: one[0] != BASELINE)
        for name, game in chain(first, replace(plan, conditions=rest).play(games)):
            result = plan.write(name, game)
            if plan.conditions[name].idle(result.perturbed_messages):
                print(f"warning: {plan.reading}/{name} {IDLE}; it is left out of the report", file=sys.stderr)
            if players.same_in_all_readings(plan.conditions[name]):
                played[plan.conditions[name]] = game


def _read(arguments: argparse.Namespace) -> Players | TextPlayers:
    """Who plays; raises `InputError` where a file is missing or can't be used."""
    if arguments.load:
        return read_loaded(arguments)
    if not arguments.features:
        raise InputError("--features: give it, trained bots see features")
    for name in ("options", "pictures", "queries"):
        if getattr(arguments, name):
            raise InputError(f"--{name}: is for bots of your own (--load); leave it out")
    return read_players(arguments)


@dataclass(frozen=True)
class Plan:
    """What is played under a reading. folder: of the results; baseline: file of the unperturbed game's result."""

    reading: str
    conditions: dict[str, Condition]
    folder: Path
    baseline: Path
    players: Players | TextPlayers

    @cached_property
    def _of_baseline(self) -> dict[str, str]:
        """The hash of the baseline's file, once that is there."""
        return inputs(baseline=self.baseline)

    def play(self, games: Games) -> Iterator[tuple[str, Game]]:
        """Yield name and game of each condition; late starts branch off from the baseline where that is played here."""
        reading, rest = READINGS[self.reading], dict(self.conditions)
        if BASELINE in rest:
            branches = [name for name, condition in rest.items() if condition.branches]
            with naming(", ".join([BASELINE, *branches]), self.reading):
                together = games.play_branching([rest[name] for name in branches], reading)
            yield from zip([BASELINE, *branches], together, strict=True)
            for name in (BASELINE, *branches):
                del rest[name]
        baseline = None
        if any(condition.needs_baseline for condition in rest.values()):
            baseline = self.players.read_baseline(self.baseline, self.reading)
        for name, condition in rest.items():
            with naming(name, self.reading):
                game = games.play(condition, reading, baseline if condition.needs_baseline else None)
            yield name, game

    def write(self, name: str, game: Game) -> Result:
        """Write a condition's result, and return it."""
        condition = self.conditions[name]
        needed = self._of_baseline if condition.needs_baseline else {}
        read = json.dumps(self.players.inputs | needed)
        attributes = self.players.named(reading=self.reading, condition=name, inputs=read)
        result = as_result(game, self.players.dialogs, condition, attributes)
        result = replace(result, vocabulary=self.players.vocabulary)
        write_result(self.folder / f"{name}.h5", result)
        return result


def _plan(
    arguments: argparse.Namespace, players: Players | TextPlayers, conditions: dict[str, Condition], reading: str
) -> Plan:
    """What is played under a reading; raises `InputError` where the baseline is missing, or not needed."""
    played = {name: one for name, one in conditions.items() if played_under(one, reading, arguments.reading)}
    for name, condition in played.items():
        with at(f"condition {name}"):
            condition.check_reading(reading)
            players.check_condition(condition)
    needing = [name for name, condition in played.items() if condition.needs_baseline]
    elsewhere = bool(needing) and BASELINE not in played
    if elsewhere != bool(arguments.baseline):
        raise InputError("--baseline: " + (f"give it, {needing[0]} needs it" if elsewhere else "leave it out"))
    folder = arguments.out / reading
    check_files(folder, (f"{name}.h5" for name in played))
    given = dict(zip(arguments.reading, arguments.baseline, strict=False))
    path = given.get(reading, folder / f"{BASELINE}.h5")
    return Plan(reading, played, folder, path, players)


def read_chosen(arguments: argparse.Namespace, players: Players | TextPlayers) -> dict[str, Condition]:
    """Conditions by name: words like `caption-p0.2`, from the settings, or `x={channel: image, kind: noise}`.

    No words stand for all that the model plays on the data set. Raises `InputError` for what is neither.
    """
    found: dict[str, Condition] = {}
    own = bool(arguments.condition) and all("=" in word for word in arguments.condition)
    stated = {} if own else _stated(arguments, players)
    for word in arguments.condition:
        name, equals, settings = word.partition("=")
        if name in found:
            raise InputError(f"--condition: {name!r} is there twice; give the second another name")
        place = f"--condition {name}"
        if equals:
            found[name] = read_condition(read_yaml(settings, place), place)
        else:
            known(name, stated, place)
            found[name] = stated[name]
    check_names(found, "--condition")
    return found or dict(stated)


def _stated(arguments: argparse.Namespace, players: Players | TextPlayers) -> Mapping[str, Condition]:
    """What the settings say that a model plays on the data set."""
    if isinstance(players, TextPlayers):
        return players.conditions
    experiment, model = read_settings(arguments.config), players.attributes["model"]
    conditions = experiment.conditions_of(arguments.dataset)
    known(model, conditions, f"{arguments.config}: conditions")
    return conditions[model]
