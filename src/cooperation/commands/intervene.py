"""Play one dialog without and with a manual intervention, and print both; or one for each of several files."""

import argparse
import json
from pathlib import Path
from typing import Any

from cooperation.commands.players import add_players, read_players
from cooperation.conditions import Playing
from cooperation.files import InputError
from cooperation.games.manual_games import play_manual
from cooperation.games.results import read_ranks, write_result
from cooperation.games.transcripts import as_text
from cooperation.method.manual import RULES, Manual, parse_manual, read_manual
from cooperation.method.readings import READINGS
from cooperation.provenance import inputs


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_players(parser)
    parser.add_argument("--control", type=Path, help="result of the condition none, by which a rule chooses a dialog")
    parser.add_argument(
        "--out",
        type=Path,
        nargs="+",
        default=[],
        help="results (HDF5) to write, named after their interventions: row 0 without, row 1 with it",
    )
    parser.add_argument(
        "--candidates",
        type=int,
        default=Playing().candidates,
        help="the first so many validation images are ranked (default: %(default)s)",
    )
    parser.add_argument(
        "--manual", type=Path, nargs="+", default=[], help="files of interventions (YAML), instead of the flags below"
    )
    group = parser.add_argument_group("the intervention")
    group.add_argument("--image-id", type=int, help="image of the dialog")
    group.add_argument("--rule", choices=RULES, help="choose the dialog by its rank in --control instead")
    group.add_argument("--caption", metavar="TEXT", help="both bots read this caption")
    group.add_argument(
        "--question", action="append", default=[], metavar="ROUND=TEXT", help="the answerer hears this question"
    )
    group.add_argument(
        "--answer", action="append", default=[], metavar="ROUND=TEXT", help="the questioner hears this answer"
    )
    group.add_argument("--noise-image", action="store_true", help="the answerer sees noise")


def run(arguments: argparse.Namespace) -> None:
    # It checks what it is made of.
    Playing(candidates=arguments.candidates)
    manuals = _manuals(arguments)
    if arguments.out and len(arguments.out) != len(manuals):
        raise InputError(f"--out: {len(arguments.out)} files for {len(manuals)} interventions; give one for each")
    players = read_players(arguments)
    control = read_ranks(arguments.control) if arguments.control else None
    attributes = players.attributes | {"inputs": json.dumps(players.inputs | inputs(control=arguments.control))}
    reading = READINGS[arguments.reading]
    for number, (place, manual) in enumerate(manuals.items()):
        out = arguments.out[number] if arguments.out else None
        named = {**attributes, "condition": out.stem if out else "manual"}
        try:
            result = play_manual(
                players.checkpoint, players.dialogs, players.features.vectors, control, manual, reading, named
            )
        except InputError as error:
            raise InputError(f"{place}: {error}") from error
        if out:
            write_result(out, result)
        print(as_text(result, players.checkpoint.vocabulary))


def _manuals(arguments: argparse.Namespace) -> dict[str, Manual]:
    """The interventions of the files, or the one of the flags, checked alike, by where they are written."""
    flags = {
        "dialog": arguments.rule if arguments.image_id is None else arguments.image_id,
        "caption": arguments.caption,
        "questions": _by_round(arguments.question, "--question"),
        "answers": _by_round(arguments.answer, "--answer"),
        "image": "noise" if arguments.noise_image else None,
    }
    given = {name: value for name, value in flags.items() if value not in (None, {})}
    if arguments.manual:
        if given:
            raise InputError(
                f"{arguments.manual[0]}: the file says all of the intervention; leave out the flags for it"
            )
        return {str(path): read_manual(path) for path in arguments.manual}
    if arguments.rule and arguments.image_id is not None:
        raise InputError("--image-id and --rule both choose a dialog; give one of them")
    if "dialog" not in given:
        raise InputError("no dialog is chosen; give --image-id, --rule or --manual")
    return {"the flags": parse_manual(given, "the flags")}


def _by_round(given: list[str], flag: str) -> dict[int, Any]:
    found: dict[int, Any] = {}
    for word in given:
        number, equals, text = word.partition("=")
        if not equals or not number.strip().isdecimal():
            raise InputError(f"{flag}: {word!r} is not like 3=text, a round and what is put in place")
        if int(number) in found:
            raise InputError(f"{flag}: round {int(number)} is there twice; give it once")
        found[int(number)] = text
    return found
