"""Play the game under one condition and rank every guess."""

import argparse
import json
from pathlib import Path

from cooperation.checkpoint import load_checkpoint
from cooperation.conditions import Condition, Playing
from cooperation.devices import device
from cooperation.files import InputError
from cooperation.playing import as_result, check_control, control_script, human_script, play_condition
from cooperation.provenance import software
from cooperation.readings import READINGS
from cooperation.results import read_result, write_result
from cooperation.settings import add_flags, from_flags
from cooperation.store import read_dialogs, read_features


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--checkpoint", type=Path, required=True, help="trained bots")
    parser.add_argument("--dialogs", type=Path, required=True, help="HDF5 file of dialogs; the val split is played")
    parser.add_argument("--features", type=Path, required=True, help="HDF5 file of normalised image features")
    parser.add_argument(
        "--control",
        type=Path,
        help="result without tampering: the rounds before --start are taken from it, and what a swap puts in place",
    )
    parser.add_argument("--out", type=Path, required=True, help="result (HDF5) to write")
    parser.add_argument("--reading", choices=READINGS, default="written", help="of the paper (default: written)")
    parser.add_argument("--name", default="unnamed", help="the condition's name (default: unnamed)")
    parser.add_argument("--dataset", default="unnamed", help="the data set's name (default: unnamed)")
    add_flags(parser, Playing)
    add_flags(parser, Condition)


def run(arguments: argparse.Namespace) -> None:
    condition = from_flags(Condition, arguments)
    checkpoint = load_checkpoint(arguments.checkpoint, device())
    dialogs = read_dialogs(arguments.dialogs, "val")
    features = read_features(arguments.features, "val", dialogs.image_ids)
    control = read_result(arguments.control) if arguments.control else None
    if condition.needs_control != bool(control):
        raise InputError("--control: " + ("give it for this condition" if condition.needs_control else "leave it out"))
    if control:
        check_control(control, checkpoint, dialogs, arguments.reading, arguments.control)
        script = control_script(control, condition.start)
    else:
        script = human_script(dialogs, checkpoint.vocabulary, condition.script)
    game = play_condition(
        checkpoint,
        dialogs,
        features.vectors,
        condition,
        READINGS[arguments.reading],
        script,
        from_flags(Playing, arguments),
        control,
    )
    attributes = {
        "dataset": arguments.dataset,
        "model": checkpoint.training["regime"],
        "seed": checkpoint.training["seed"],
        "training": json.dumps(dict(checkpoint.training)),
        "reading": arguments.reading,
        "condition": arguments.name,
        "candidates": min(len(dialogs), arguments.candidates),
        "device": checkpoint.device.type,
        **software(),
        "features": json.dumps({key: str(value) for key, value in features.attributes.items()}),
    }
    write_result(arguments.out, as_result(game, dialogs, condition, attributes))
