"""What the commands that play share: bots, dialogs and features, and the attributes of results."""

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np

from cooperation.bots.building import layers
from cooperation.bots.checkpoint import Checkpoint, load_checkpoint
from cooperation.bots.pair import TrainedBots
from cooperation.commands.settings import check_dialogs, check_features, check_training, read_settings
from cooperation.config.conditions import Condition
from cooperation.config.experiment import GAME_SEED
from cooperation.data.agreements import MUST_AGREE, OTHER_DIALOGS, OTHER_FEATURES, check_together
from cooperation.data.archives import MADE_UP
from cooperation.data.identities import identity_of_dialogs, identity_of_features, settings_of_dialogs
from cooperation.data.store import (
    Dialogs,
    FeatureParts,
    Features,
    Ids,
    read_dialogs,
    read_features,
    said_of_damaged,
)
from cooperation.evaluation.checks import check_baseline, check_width, notes_on_images, refuse_trained_on, trained_on
from cooperation.evaluation.playing import Games
from cooperation.evaluation.ranking import Ranker
from cooperation.evaluation.results import Result, read_result
from cooperation.game.readings import READINGS
from cooperation.io.devices import device, name_of, say_device
from cooperation.io.files import InputError
from cooperation.io.identity import ATTRIBUTE, Identity, differences
from cooperation.io.products import use_faster_products
from cooperation.io.provenance import inputs
from cooperation.io.settings import check_seed

UNNAMED = "unnamed"
"""The data set's name where none is given."""


def add_players(parser: argparse.ArgumentParser) -> None:
    """Flags for the files and names of a game; `--candidates` is added by each command."""
    parser.add_argument("--checkpoint", type=Path, required=True, help="trained bots")
    parser.add_argument("--features", type=Path, required=True, help="HDF5 file of normalised image features")
    add_dialogs(parser)


def add_dialogs(parser: argparse.ArgumentParser) -> None:
    """Flags of a game, whoever plays it."""
    add_game(parser)
    parser.add_argument(
        "--reading", choices=READINGS, nargs="+", default=["written"], help="of the paper (default: written)"
    )
    parser.add_argument(
        "--training-seed", type=int, help="seed that the bots must have been trained with (default: any)"
    )
    parser.add_argument(
        "--allow-other-features",
        action="store_true",
        help="also play with other features than those of the training; the result states it",
    )
    parser.add_argument(
        "--allow-other-dialogs",
        action="store_true",
        help="also let bots play that were trained on other dialogs, of the same vocabulary; the result states it",
    )


def add_game(parser: argparse.ArgumentParser) -> None:
    """Those that all bots and readings have in common."""
    parser.add_argument("--dialogs", type=Path, required=True, help="HDF5 file of dialogs; the val split is played")
    parser.add_argument("--dataset", default=UNNAMED, help="the data set's name (default: %(default)s)")
    parser.add_argument("--model", help="the model's name (default: the regime of its training, or as it says)")
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


@dataclass(frozen=True)
class Players:
    """Trained bots, dialogs, and the candidates' features: those of the dialogs' pictures first, in their order.

    attributes: those that all results have in common (see `Result`), but for what they are made of. inputs: role of a
    file → its SHA-256; identities: role → what it is made of. made_of: what results are made of, by name;
    notes: warnings about the images.
    """

    checkpoint: Checkpoint
    dialogs: Dialogs
    features: Features
    attributes: dict[str, Any]
    inputs: dict[str, str]
    identities: dict[str, Identity]
    made_of: dict[str, str]
    notes: list[str]

    def named(self, made_of: Mapping[str, str] = MappingProxyType({}), **attributes: Any) -> dict[str, Any]:
        """The attributes of a result: these beside those of all; made_of: what it alone is made of."""
        return {**self.attributes, **attributes, ATTRIBUTE: json.dumps({**self.made_of, **made_of})}

    vocabulary: ClassVar[None] = None

    def check_condition(self, condition: Condition) -> None:
        """Trained bots can play all conditions."""

    def same_in_all_readings(self, condition: Condition) -> bool:  # noqa: ARG002
        """Whether a condition gives the same game under all readings: trained bots read facts as these say."""
        return False

    def read_baseline(self, place: Path, reading: str) -> Result:
        """The baseline in the file `place`; raises `InputError` as `check_baseline`, and where it is no result."""
        baseline = read_result(place)
        self.check_baseline(place, baseline, reading)
        return baseline

    def check_baseline(self, place: Path, baseline: Result, reading: str) -> None:
        """Raise `InputError` where the file `place` is not the condition none of these bots, games and a reading."""
        for role, identity in self.identities.items():
            check_together("baseline", baseline.identity(place), role, identity)
        check_baseline(baseline, {**self.attributes, "reading": reading}, self.dialogs.image_ids, place)

    def announce(self) -> None:
        """Print the device, and to standard error warnings about the images, before anything is played."""
        say_device()
        for line in self.notes:
            print(line, file=sys.stderr)

    def games(self, seed: int, batch: int = 1) -> Games:
        """Games of these bots and dialogs; batch: dialogs played at a time."""
        basis = self.checkpoint.questioner.guess_basis().cpu().numpy()
        ranker = Ranker(self.features.vectors, self.checkpoint.device, basis)
        bots, vocabulary = TrainedBots(self.checkpoint), self.checkpoint.vocabulary
        images = self.features.vectors[: len(self.dialogs)]
        return Games(bots, vocabulary, self.dialogs, images, ranker, seed, batch)


def read_players(arguments: argparse.Namespace) -> Players:
    """Read the files.

    Raises `InputError` for a file that can't be used, and for images of the training unless these are allowed.
    """
    check_seed(arguments.seed, "--seed")
    checkpoint = load_checkpoint(arguments.checkpoint, device())
    use_faster_products(layers(checkpoint.vocabulary.size, checkpoint.sizes))
    if arguments.training_seed not in (None, checkpoint.training["seed"]):
        raise InputError(
            f"{arguments.checkpoint}: trained with seed {checkpoint.training['seed']}, not {arguments.training_seed}; "
            "give the bots of that seed, or another --training-seed"
        )
    _check_settings(arguments, checkpoint)
    identities, others = _identities(arguments, checkpoint)
    everything = read_dialogs(arguments.dialogs, "val", arguments.features)
    dialogs = everything[: arguments.candidates]
    features = read_features(arguments.features, "val", _candidates(arguments, dialogs), arguments.dialogs)
    check_width(features.vectors.shape[1], checkpoint.answerer.features, arguments.features)
    overlap = trained_on(checkpoint.image_ids, dialogs)
    if not arguments.allow_trained_on:
        refuse_trained_on(overlap)
    notes = [f"{arguments.features}: {line}" for line in notes_on_images(features.attributes, len(overlap))]
    read = inputs(checkpoint=arguments.checkpoint, dialogs=arguments.dialogs, features=arguments.features)
    attributes = {
        "dataset": arguments.dataset,
        "model": arguments.model or checkpoint.training["regime"],
        "seed": checkpoint.training["seed"],
        "game_seed": arguments.seed,
        "training": json.dumps(dict(checkpoint.training)),
        "sizes": json.dumps(asdict(checkpoint.sizes)),
        "candidates": len(features.image_ids),
        "among": arguments.among,
        "val_dialogs": len(everything),
        **said_of_damaged(arguments.features),
        "device": name_of(checkpoint.device),
        "trained_on": len(overlap),
        "dialogs": json.dumps(settings_of_dialogs(arguments.dialogs)),
        "features": json.dumps({key: str(value) for key, value in features.attributes.items()}),
        **others,
    }
    return Players(checkpoint, dialogs, features, attributes, read, identities, _made_of(identities, others), notes)


def _candidates(arguments: argparse.Namespace, dialogs: Dialogs) -> Ids:
    """Ids of the pictures among which guesses are ranked: the dialogs', then others if there are to be others."""
    if arguments.among == "dialogs":
        return dialogs.image_ids
    others = FeatureParts.of([arguments.features], "val").image_ids
    return np.concatenate([dialogs.image_ids, np.setdiff1d(others, dialogs.image_ids)])


def _check_settings(arguments: argparse.Namespace, checkpoint: Checkpoint) -> None:
    """Raise `InputError` where files are not what the settings say of the data set and model that results will name."""
    if arguments.dataset in (None, UNNAMED) or not arguments.config.is_file():
        return
    experiment = read_settings(arguments.config)
    check_dialogs(arguments.dialogs, experiment, arguments.dataset)
    check_features(arguments.features, experiment, arguments.dataset)
    model = arguments.model or checkpoint.training["regime"]
    if model in experiment.models:
        check_training(checkpoint, arguments.checkpoint, experiment, arguments.dataset, model)


def _identities(arguments: argparse.Namespace, checkpoint: Checkpoint) -> tuple[dict[str, Identity], dict[str, str]]:
    """What each file is made of, by its role, and in which ways, that are allowed, they do not belong together.

    Raises `InputError` where they must.
    """
    bots = checkpoint.identity(arguments.checkpoint)
    dialogs, features = identity_of_dialogs(arguments.dialogs), identity_of_features(arguments.features)
    check_together("dialogs", dialogs, "features", features)
    allowed = {OTHER_DIALOGS: arguments.allow_other_dialogs, OTHER_FEATURES: arguments.allow_other_features}
    others = {}
    for role, name, identity in (("dialogs", OTHER_DIALOGS, dialogs), ("features", OTHER_FEATURES, features)):
        found = differences(bots, identity, MUST_AGREE["checkpoint", role])
        # Words that the bots do not know are no experiment.
        if not allowed[name] or "vocabulary" in found:
            check_together("checkpoint", bots, role, identity)
        elif found:
            others[name] = "; ".join(f"{thing}: {what}" for thing, what in found.items())
    return {"checkpoint": bots, "dialogs": dialogs, "features": features}, others


def _made_of(identities: Mapping[str, Identity], others: Mapping[str, str]) -> dict[str, str]:
    """What results are made of; others: see `_identities`."""
    learnt = ("train images",) if OTHER_DIALOGS in others else ("train dialogs", "train images")
    return {
        **identities["checkpoint"].only("bots", "training"),
        **identities["checkpoint"].said(*learnt),
        **identities["dialogs"].only("vocabulary", "val dialogs"),
        **identities["features"].only("features", "val images"),
        **identities["features"].said(MADE_UP),
    }
