"""Train the questioner and the answerer on human dialogs."""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from cooperation.bots.building import build_untrained, layers
from cooperation.bots.checkpoint import TRAINING_FORMAT, Checkpoint, save_checkpoint
from cooperation.bots.training import AnotherTrainingError, ProgressFile, Trainer
from cooperation.bots.training_data import training_data
from cooperation.commands.outs import add_out_file
from cooperation.config.training import Sizes, Training
from cooperation.data.agreements import check_together
from cooperation.data.identities import identity_of_dialogs, identity_of_features
from cooperation.data.store import read_dialogs, read_features, read_vocabulary
from cooperation.game.facts import FORMATS
from cooperation.io.devices import device, keep_freed_memory, name_of, say_device
from cooperation.io.products import use_faster_products
from cooperation.io.provenance import code, inputs
from cooperation.io.settings import add_flags, from_flags
from cooperation.io.writing import is_null


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dialogs", type=Path, required=True, help="HDF5 file of dialogs; the train split is used")
    parser.add_argument("--features", type=Path, required=True, help="HDF5 file of normalised image features")
    add_out_file(parser, "checkpoint (safetensors) to write")
    parser.add_argument(
        "--save-every",
        type=_minutes,
        default=10,
        metavar="MINUTES",
        help="save progress within an epoch so often, and after each anyway; a killed run goes on from there "
        "(default: %(default)s)",
    )
    add_flags(parser, Sizes)
    add_flags(parser, Training)


def run(arguments: argparse.Namespace) -> None:
    keep_freed_memory()
    sizes, training = from_flags(Sizes, arguments), from_flags(Training, arguments)
    where = device()
    of_dialogs, of_features = identity_of_dialogs(arguments.dialogs), identity_of_features(arguments.features)
    check_together("dialogs", of_dialogs, "features", of_features)
    vocabulary = read_vocabulary(arguments.dialogs)
    dialogs = read_dialogs(arguments.dialogs, "train", arguments.features)
    images = read_features(arguments.features, "train", dialogs.image_ids, arguments.dialogs).vectors
    data = training_data(dialogs, images, vocabulary, FORMATS[TRAINING_FORMAT[training.regime]](vocabulary), where)
    use_faster_products(layers(vocabulary.size, sizes))
    say_device()

    questioner, answerer = build_untrained(vocabulary.size, images.shape[1], sizes, training)
    made_of = inputs(dialogs=arguments.dialogs, features=arguments.features)
    fingerprint = f"{sizes}, {made_of}, {code('train')}"
    trainer = Trainer(questioner.to(where), answerer.to(where), training, fingerprint)
    # Beside the checkpoint, and no declared output, since Snakemake deletes those of a job that failed.
    progress = arguments.out.with_suffix(".progress.safetensors")
    if progress.exists():
        continue_from(progress, trainer)
    saving = None if is_null(arguments.out) else ProgressFile(progress, arguments.save_every)
    epochs = trainer.fit(data, dialogs.image_ids, saving)
    for epoch in tqdm(epochs, total=training.epochs, initial=len(trainer.history), unit="epoch", disable=None):
        losses = ", ".join(f"{name} {loss:.3f}" for name, loss in epoch.losses.items())
        print(f"epoch {epoch.number}: {losses}", file=sys.stderr)
    provenance = {
        "device": name_of(where),
        "inputs": made_of,
        "epochs": [asdict(epoch) for epoch in trainer.history],
    }
    learnt = of_dialogs.only("vocabulary", "train dialogs") | of_features.only("features", "train images")
    ids = dialogs.image_ids
    trained = Checkpoint(questioner, answerer, vocabulary, ids, sizes, asdict(training), learnt, provenance)
    save_checkpoint(arguments.out, trained)
    progress.unlink(missing_ok=True)


def continue_from(progress: Path, trainer: Trainer) -> None:
    """Go on from a training's last save; one of other settings, inputs or code is deleted."""
    try:
        trainer.load(progress)
    except AnotherTrainingError:
        print(f"{progress} is of other settings, data or code: training begins afresh", file=sys.stderr)
        progress.unlink()
    else:
        within = f", batch {len(trainer.losses)}" if trainer.losses else ""
        print(f"continuing after epoch {len(trainer.history)}{within} ({progress})", file=sys.stderr)


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = -1
    if not minutes >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of minutes from 0 on, such as 10")
    return minutes
