"""Play one dialog without and with a manual intervention, and print both games; several files: one after another."""

import argparse
import json
from pathlib import Path
from typing import Any

from cooperation.commands.outs import add_out_folder, check_files
from cooperation.commands.players import add_players, read_players
from cooperation.commands.settings import add_config, read_settings
from cooperation.config.conditions import Playing
from cooperation.data.agreements import identity_of_intervention
from cooperation.data.captions import read_captions
from cooperation.evaluation.manual import RULES, Manual, parse_manual, read_manual
from cooperation.evaluation.manual_games import play_manual
from cooperation.evaluation.results import Result, read_ranks, write_result
from cooperation.evaluation.transcripts import as_text
from cooperation.game.readings import READINGS
from cooperation.io.files import InputError, at
from cooperation.io.provenance import inputs
from cooperation.io.writing import keep


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_players(parser)
    parser.add_argument("--baseline", type=Path, help="result of the condition none, by which a rule chooses a dialog")
    text = "folder of the results READING/NAME.h5, named after the files: row 0 without, row 1 with the intervention"
    add_out_folder(parser, text, required=False)
    parser.add_argument(
        "--among",
        choices=("dialogs", "pictures"),
        help="what a guess is ranked among: see `cooperation play --help` (default: the settings', else dialogs)",
    )
    parser.add_argument(
        "--candidates",
        type=int,
        help=f"the first so many validation images are ranked (default: the settings', else {Playing().candidates})",
    )
    parser.add_argument(
        "--manual", type=Path, nargs="+", default=[], help="files of interventions (YAML), instead of the flags below"
    )
    parser.add_argument(
        "--all", action="store_true", help="all files that the settings list for the data set and model, instead"
    )
    parser.add_argument(
        "--captions", type=Path, help="COCO's captions of the val pictures, for texts with {other_caption}"
    )
    add_config(parser)
    group = parser.add_argument_group("the intervention")
    group.add_argument("--image-id", type=int, help="image of the dialog")
    group.add_argument("--rule", choices=RULES, help="choose the dialog by its rank in --baseline instead")
    group.add_argument("--caption", metavar="TEXT", help="both bots read this caption")
    group.add_argument(
        "--question", action="append", default=[], metavar="ROUND=TEXT", help="the answerer hears this question"
    )
    group.add_argument(
        "--answer", action="append", default=[], metavar="ROUND=TEXT", help="the questioner hears this answer"
    )
    group.add_argument("--noise-image", action="store_true", help="the answerer sees noise")


def run(arguments: argparse.Namespace) -> None:
    if arguments.all:
        _take_settings(arguments)
    if arguments.candidates is None:
        arguments.candidates = Playing().candidates
    arguments.among = arguments.among or Playing().among
    # It checks what it is made of.
    Playing(candidates=arguments.candidates)
    manuals = _manuals(arguments)
    names = _names(arguments, list(manuals))
    keep(arguments.manual)
    if arguments.out:
        check_files(arguments.out, (f"{reading}/{name}.h5" for reading in arguments.reading for name in names.values()))
    captions = read_captions(arguments.captions) if arguments.captions else None
    players = read_players(arguments)
    baseline = read_ranks(arguments.baseline) if arguments.baseline else None
    if baseline is not None:
        players.check_baseline(arguments.baseline, baseline, arguments.reading[0])
    players.announce()
    games = players.games(arguments.seed)
    read = json.dumps(players.inputs | inputs(baseline=arguments.baseline, captions=arguments.captions))
    for reading in arguments.reading:
        for place, manual in manuals.items():
            made_of = _made_of(arguments, place, manual, baseline)
            named = players.named(made_of, reading=reading, condition=names[place], inputs=read)
            with at(place):
                result = play_manual(games, manual, READINGS[reading], baseline, named, captions)
            if arguments.out:
                write_result(arguments.out / reading / f"{names[place]}.h5", result)
            print(as_text(result, players.checkpoint.vocabulary))


def _made_of(arguments: argparse.Namespace, place: str, manual: Manual, baseline: Result | None) -> dict[str, str]:
    """What a result is made of beside the players: the file of the intervention, and the game that a rule looked at."""
    made_of = identity_of_intervention(Path(place)).only("intervention") if arguments.manual else {}
    if baseline is not None and isinstance(manual.dialog, str):
        made_of["baseline"] = baseline.identity(arguments.baseline).of("game")
    return made_of


def _take_settings(arguments: argparse.Namespace) -> None:
    """Fill in the files of interventions and the number of candidates that the settings state."""
    experiment = read_settings(arguments.config, arguments.dataset)
    files = [game.file for game in experiment.manual_games() if game.model == arguments.model]
    if not files:
        raise InputError(
            f"{arguments.config}: no manual interventions of the model {arguments.model!r} on this data set"
        )
    arguments.manual = [*arguments.manual, *map(Path, dict.fromkeys(files))]
    if arguments.candidates is None:
        arguments.candidates = experiment.data.playing.candidates
    arguments.among = arguments.among or experiment.data.playing.among


def _names(arguments: argparse.Namespace, places: list[str]) -> dict[str, str]:
    """Where each intervention is described → the name of its result."""
    names = {place: Path(place).stem if arguments.manual else "manual" for place in places}
    if len(set(names.values())) < len(names):
        raise InputError("--manual: two files of one name, so of one result; rename one of them")
    return names


def _manuals(arguments: argparse.Namespace) -> dict[str, Manual]:
    """The interventions of the files, or that of the flags, by where they are described."""
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
            raise InputError(f"{arguments.manual[0]}: the file describes the whole intervention; leave out its flags")
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
            raise InputError(f"{flag}: {word!r} is not like 3=text, a round and the text that is delivered")
        if int(number) in found:
            raise InputError(f"{flag}: round {int(number)} is there twice; give it once")
        found[int(number)] = text
    return found
