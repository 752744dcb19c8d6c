"""Play the game under each of some conditions and rank every guess."""

import argparse
import json
import sys
from pathlib import Path

import yaml

from cooperation.checkpoint import load_checkpoint
from cooperation.conditions import CONTROL, Condition, Playing, check_name
from cooperation.devices import device, name_of
from cooperation.files import InputError
from cooperation.playing import (
    as_result,
    check_control,
    control_script,
    forgetting,
    human_script,
    odd_images,
    play_condition,
    refuse_trained_on,
    trained_on,
)
from cooperation.provenance import inputs, software
from cooperation.readings import READINGS
from cooperation.results import Result, read_result, write_result
from cooperation.settings import add_flags, checked, described, from_flags
from cooperation.store import read_dialogs, read_features


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--checkpoint", type=Path, required=True, help="trained bots")
    parser.add_argument("--dialogs", type=Path, required=True, help="HDF5 file of dialogs; the val split is played")
    parser.add_argument("--features", type=Path, required=True, help="HDF5 file of normalised image features")
    parser.add_argument(
        "--control",
        type=Path,
        help="result without tampering, if `none` is no condition here: rounds before a late start are taken from it, "
        "and what a swap puts in place",
    )
    parser.add_argument("--out", type=Path, required=True, help="folder of the results, one NAME.h5 a condition")
    parser.add_argument("--reading", choices=READINGS, default="written", help="of the paper (default: written)")
    parser.add_argument("--dataset", default="unnamed", help="the data set's name (default: unnamed)")
    parser.add_argument(
        "--allow-trained-on",
        action="store_true",
        help="play images that the bots were trained on, too; the result says so",
    )
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
    checkpoint = load_checkpoint(arguments.checkpoint, device())
    dialogs = read_dialogs(arguments.dialogs, "val")
    features = read_features(arguments.features, "val", dialogs.image_ids)
    overlap = len(trained_on(checkpoint, dialogs))
    if arguments.allow_trained_on:
        checkpoint = forgetting(checkpoint)
    refuse_trained_on(checkpoint, dialogs)
    for line in odd_images(features.attributes, overlap):
        print(f"{arguments.features}: {line}", file=sys.stderr)
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
    attributes = {
        "dataset": arguments.dataset,
        "model": checkpoint.training["regime"],
        "seed": checkpoint.training["seed"],
        "training": json.dumps(dict(checkpoint.training)),
        "reading": arguments.reading,
        "candidates": min(len(dialogs), arguments.candidates),
        "device": name_of(checkpoint.device),
        **software(),
        "trained_on": overlap,
        "features": json.dumps({key: str(value) for key, value in features.attributes.items()}),
    }
    files = inputs(checkpoint=arguments.checkpoint, dialogs=arguments.dialogs, features=arguments.features)
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
            features.vectors,
            condition,
            READINGS[arguments.reading],
            script,
            from_flags(Playing, arguments),
            control if condition.needs_control else None,
        )
        made_of = json.dumps(files | (inputs(control=control_path) if condition.needs_control else {}))
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
        try:
            found[name] = checked(Condition, yaml.safe_load(settings), f"--condition {name}")
        except yaml.YAMLError as error:
            raise InputError(f"--condition {name}: {settings!r} is not like {{channel: caption, p: 0.2}}") from error
    return found
