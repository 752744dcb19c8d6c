"""What the commands that play share: bots, dialogs and features, and the attributes of results."""

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cooperation.bots.checkpoint import Checkpoint, load_checkpoint
from cooperation.bots.pair import TrainedBots
from cooperation.config.experiment import GAME_SEED
from cooperation.data.store import (
    Dialogs,
    Features,
    identity_of_dialogs,
    identity_of_features,
    read_dialogs,
    read_features,
)
from cooperation.evaluation.checks import check_baseline, check_width, notes_on_images, refuse_trained_on, trained_on
from cooperation.evaluation.identities import check_together
from cooperation.evaluation.playing import Games
from cooperation.evaluation.ranking import Ranker
from cooperation.evaluation.results import Result
from cooperation.game.readings import READINGS
from cooperation.io.devices import device, name_of
from cooperation.io.identity import ATTRIBUTE, Identity
from cooperation.io.provenance import inputs, software
from cooperation.io.settings import check_seed


def add_players(parser: argparse.ArgumentParser) -> None:
    """Flags for the files and names of a game; `--candidates` is added by each command."""
    parser.add_argument("--checkpoint", type=Path, required=True, help="trained bots")
    parser.add_argument("--dialogs", type=Path, required=True, help="HDF5 file of dialogs; the val split is played")
    parser.add_argument("--features", type=Path, required=True, help="HDF5 file of normalised image features")
    parser.add_argument(
        "--reading", choices=READINGS, nargs="+", default=["written"], help="of the paper (default: written)"
    )
    parser.add_argument("--dataset", default="unnamed", help="the data set's name (default: unnamed)")
    parser.add_argument("--model", help="the model's name (default: the regime of its training)")
    parser.add_argument(
        "--seed",
        type=int,
        default=GAME_SEED,
        help="of the games: perturbations and swap partners (default: %(default)s)",
    )
    parser.add_argument(
        "--allow-trained-on",
        action="store_true",
        help="also play images that the bots were trained on; the result states their number",
    )
    parser.add_argument(
        "--allow-other-features",
        action="store_true",
        help="also play with features of another kind than those of the training; the result states it",
    )


@dataclass(frozen=True)
class Players:
    """Trained bots, dialogs about the candidates, and the candidates' features.

    attributes: those that all results have in common (see `Result`). inputs: role of a file → its SHA-256; identities:
    role → what it is made of.
    """

    checkpoint: Checkpoint
    dialogs: Dialogs
    features: Features
    attributes: dict[str, Any]
    inputs: dict[str, str]
    identities: dict[str, Identity]

    def check_baseline(self, place: Path, baseline: Result, reading: str) -> None:
        """Raise `InputError` where the file `place` is not the condition none of these bots, games and a reading."""
        check_baseline(baseline, {**self.attributes, "reading": reading}, self.dialogs.image_ids, place)
        for role, identity in self.identities.items():
            check_together("baseline", baseline.identity(place), role, identity)

    def games(self, seed: int, batch: int = 1) -> Games:
        """Games of these bots and dialogs; batch: dialogs played at a time."""
        basis = self.checkpoint.questioner.guess_basis().cpu().numpy()
        ranker = Ranker(self.features.vectors, self.checkpoint.device, basis)
        bots, vocabulary = TrainedBots(self.checkpoint), self.checkpoint.vocabulary
        return Games(bots, vocabulary, self.dialogs, self.features.vectors, ranker, seed, batch)


def read_players(arguments: argparse.Namespace) -> Players:
    """Read the files; print warnings about the images to standard error.

    Raises `InputError` for a file that can't be used, and for images of the training unless these are allowed.
    """
    check_seed(arguments.seed, "--seed")
    checkpoint = load_checkpoint(arguments.checkpoint, device())
    identities = _identities(arguments, checkpoint)
    made_of = {
        **identities["checkpoint"].only("bots"),
        **identities["dialogs"].only("vocabulary", "val dialogs"),
        **identities["features"].only("features", "val images"),
    }
    dialogs = read_dialogs(arguments.dialogs, "val")[: arguments.candidates]
    features = read_features(arguments.features, "val", dialogs.image_ids)
    check_width(features.vectors.shape[1], checkpoint.answerer.features, arguments.features)
    overlap = trained_on(checkpoint.image_ids, dialogs)
    if not arguments.allow_trained_on:
        refuse_trained_on(overlap)
    for line in notes_on_images(features.attributes, len(overlap)):
        print(f"{arguments.features}: {line}", file=sys.stderr)
    read = inputs(checkpoint=arguments.checkpoint, dialogs=arguments.dialogs, features=arguments.features)
    attributes = {
        "dataset": arguments.dataset,
        "model": arguments.model or checkpoint.training["regime"],
        "seed": checkpoint.training["seed"],
        "game_seed": arguments.seed,
        "training": json.dumps(dict(checkpoint.training)),
        "candidates": len(dialogs),
        "device": name_of(checkpoint.device),
        **software(),
        "trained_on": len(overlap),
        "features": json.dumps({key: str(value) for key, value in features.attributes.items()}),
        **({"other_features": "not those that the bots were trained with"} if arguments.allow_other_features else {}),
        ATTRIBUTE: json.dumps(made_of),
    }
    return Players(checkpoint, dialogs, features, attributes, read, identities)


def _identities(arguments: argparse.Namespace, checkpoint: Checkpoint) -> dict[str, Identity]:
    """What each file is made of, by its role. Raises `InputError` where they do not belong together."""
    bots = checkpoint.identity(arguments.checkpoint)
    dialogs, features = identity_of_dialogs(arguments.dialogs), identity_of_features(arguments.features)
    check_together("checkpoint", bots, "dialogs", dialogs)
    if not arguments.allow_other_features:
        check_together("checkpoint", bots, "features", features)
    return {"checkpoint": bots, "dialogs": dialogs, "features": features}
