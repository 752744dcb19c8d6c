"""Train the questioner and the answerer on human dialogs."""

import argparse
import sys
from dataclasses import asdict
from pathlib import Path

import torch
from tqdm import tqdm

from cooperation.checkpoint import TRAINING_FORMAT, Checkpoint, build, save_checkpoint
from cooperation.devices import device
from cooperation.facts import FORMATS
from cooperation.files import digest
from cooperation.lessons import lessons
from cooperation.models import Sizes, Training
from cooperation.provenance import software
from cooperation.settings import add_flags, from_flags
from cooperation.store import read_dialogs, read_features, read_vocabulary
from cooperation.training import School


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dialogs", type=Path, required=True, help="HDF5 file of dialogs; the train split is learnt")
    parser.add_argument("--features", type=Path, required=True, help="HDF5 file of normalised image features")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint (safetensors) to write")
    add_flags(parser, Sizes)
    add_flags(parser, Training)


def run(arguments: argparse.Namespace) -> None:
    sizes, training = from_flags(Sizes, arguments), from_flags(Training, arguments)
    vocabulary = read_vocabulary(arguments.dialogs)
    dialogs = read_dialogs(arguments.dialogs, "train")
    images = read_features(arguments.features, "train", dialogs.image_ids).vectors
    taught = lessons(dialogs, images, vocabulary, FORMATS[TRAINING_FORMAT[training.regime]](vocabulary), device())

    torch.manual_seed(training.seed)
    questioner, answerer = build(vocabulary.size, images.shape[1], sizes)
    files = {path.name: digest(path) for path in (arguments.dialogs, arguments.features)}
    school = School(questioner.to(device()), answerer.to(device()), training, f"{sizes}, {files}")
    # Beside the checkpoint, and no declared output: a killed run continues from its last whole epoch.
    progress = arguments.out.with_suffix(".progress.safetensors")
    if progress.exists():
        school.load(progress)
        print(f"continuing after epoch {len(school.history)} ({progress})", file=sys.stderr)
    for epoch in tqdm(
        school.fit(taught), total=training.epochs, initial=len(school.history), unit="epoch", disable=None
    ):
        losses = ", ".join(f"{name} {loss:.3f}" for name, loss in epoch.losses.items())
        print(f"epoch {epoch.number}: {losses}", file=sys.stderr)
        school.save(progress)
    provenance = {**software(), "device": device().type, "epochs": [asdict(epoch) for epoch in school.history]}
    ids = dialogs.image_ids
    trained = Checkpoint(questioner, answerer, vocabulary, ids, sizes, asdict(training), provenance)
    save_checkpoint(arguments.out, trained)
    progress.unlink(missing_ok=True)
