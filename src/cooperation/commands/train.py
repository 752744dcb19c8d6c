"""Train the questioner and the answerer on human dialogs."""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

import torch
from tqdm import tqdm

from cooperation.bots.checkpoint import TRAINING_FORMAT, Checkpoint, build, save_checkpoint
from cooperation.bots.lessons import lessons
from cooperation.bots.training import AnotherTrainingError, Keeping, School
from cooperation.data.store import read_dialogs, read_features, read_vocabulary
from cooperation.devices import device, keep_freed_memory, name_of
from cooperation.method.facts import FORMATS
from cooperation.models import Sizes, Training
from cooperation.provenance import code, inputs, software
from cooperation.settings import add_flags, from_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dialogs", type=Path, required=True, help="HDF5 file of dialogs; the train split is learnt")
    parser.add_argument("--features", type=Path, required=True, help="HDF5 file of normalised image features")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint (safetensors) to write")
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
    vocabulary = read_vocabulary(arguments.dialogs)
    dialogs = read_dialogs(arguments.dialogs, "train")
    images = read_features(arguments.features, "train", dialogs.image_ids).vectors
    taught = lessons(dialogs, images, vocabulary, FORMATS[TRAINING_FORMAT[training.regime]](vocabulary), device())

    torch.manual_seed(training.seed)
    questioner, answerer = build(vocabulary.size, images.shape[1], sizes)
    made_of = inputs(dialogs=arguments.dialogs, features=arguments.features)
    subject = f"{sizes}, {made_of}, {code('train')}"
    school = School(questioner.to(device()), answerer.to(device()), training, subject)
    # Beside the checkpoint, and no declared output, since Snakemake deletes those of a job that failed.
    progress = arguments.out.with_suffix(".progress.safetensors")
    if progress.exists():
        continue_from(progress, school)
    keeping = Keeping(progress, arguments.save_every)
    epochs = school.fit(taught, dialogs.image_ids, keeping)
    for epoch in tqdm(epochs, total=training.epochs, initial=len(school.history), unit="epoch", disable=None):
        losses = ", ".join(f"{name} {loss:.3f}" for name, loss in epoch.losses.items())
        print(f"epoch {epoch.number}: {losses}", file=sys.stderr)
    provenance = {
        **software(),
        "device": name_of(device()),
        "inputs": made_of,
        "epochs": [asdict(epoch) for epoch in school.history],
    }
    ids = dialogs.image_ids
    trained = Checkpoint(questioner, answerer, vocabulary, ids, sizes, asdict(training), provenance)
    save_checkpoint(arguments.out, trained)
    progress.unlink(missing_ok=True)


def continue_from(progress: Path, school: School) -> None:
    """Take up a training where it was stopped; one of other settings, inputs or code is forgotten."""
    try:
        school.load(progress)
    except AnotherTrainingError:
        print(f"{progress} is of other settings, data or code: training begins afresh", file=sys.stderr)
        progress.unlink()
    else:
        within = f", batch {len(school.losses)}" if school.losses else ""
        print(f"continuing after epoch {len(school.history)}{within} ({progress})", file=sys.stderr)


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = -1
    if not minutes >= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of minutes from 0 on, such as 10")
    return minutes
