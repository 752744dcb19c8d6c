"""What the commands that play share: who plays, on what, and what the result says of it."""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cooperation.bots.checkpoint import Checkpoint, load_checkpoint
from cooperation.data.store import Dialogs, Features, read_dialogs, read_features
from cooperation.devices import device, name_of
from cooperation.games.playing import odd_images, refuse_trained_on, trained_on
from cooperation.method.readings import READINGS
from cooperation.provenance import inputs, software


def add_players(parser: argparse.ArgumentParser) -> None:
    """The files of a game, and what it is called; `--candidates` is the command's own."""
    parser.add_argument("--checkpoint", type=Path, required=True, help="trained bots")
    parser.add_argument("--dialogs", type=Path, required=True, help="HDF5 file of dialogs; the val split is played")
    parser.add_argument("--features", type=Path, required=True, help="HDF5 file of normalised image features")
    parser.add_argument("--reading", choices=READINGS, default="written", help="of the paper (default: written)")
    parser.add_argument("--dataset", default="unnamed", help="the data set's name (default: unnamed)")
    parser.add_argument(
        "--allow-trained-on",
        action="store_true",
        help="play images that the bots were trained on, too; the result says so",
    )


@dataclass(frozen=True)
class Players:
    """Trained bots, the dialogs about the candidates, their features, and what every result says of these.

    inputs: what a file is to the command → its SHA-256.
    """

    checkpoint: Checkpoint
    dialogs: Dialogs
    features: Features
    attributes: dict[str, Any]
    inputs: dict[str, str]


def read_players(arguments: argparse.Namespace) -> Players:
    """Read them; say what is odd about the images, and refuse those of the training unless they are allowed."""
    checkpoint = load_checkpoint(arguments.checkpoint, device())
    dialogs = read_dialogs(arguments.dialogs, "val")[: arguments.candidates]
    features = read_features(arguments.features, "val", dialogs.image_ids)
    overlap = trained_on(checkpoint, dialogs)
    if not arguments.allow_trained_on:
        refuse_trained_on(overlap)
    for line in odd_images(features.attributes, len(overlap)):
        print(f"{arguments.features}: {line}", file=sys.stderr)
    read = inputs(checkpoint=arguments.checkpoint, dialogs=arguments.dialogs, features=arguments.features)
    learnt = checkpoint.provenance.get("inputs", {}).get("features", read["features"])
    if read["features"] != learnt:
        warning = "not the file that the bots learnt from; normalised in another way it misleads them"
        print(f"{arguments.features}: {warning}", file=sys.stderr)
    attributes = {
        "dataset": arguments.dataset,
        "reading": arguments.reading,
        "candidates": len(dialogs),
        "device": name_of(checkpoint.device),
        **software(),
        "trained_on": len(overlap),
        "features": json.dumps({key: str(value) for key, value in features.attributes.items()}),
    }
    return Players(checkpoint, dialogs, features, attributes, read)
