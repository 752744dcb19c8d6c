"""Join the extracted features of both splits, all their shards, into one file of normalised features."""

import argparse
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from cooperation.data.normalisation import l2, standardise
from cooperation.data.store import FeatureParts, agreed, write_feature_blocks
from cooperation.files import InputError
from cooperation.messages import Floats
from cooperation.preparation import Normalisation
from cooperation.settings import add_flags, from_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for split in ("train", "val"):
        parser.add_argument(
            f"--{split}", type=Path, nargs="+", required=True, metavar="HDF5", help=f"features of {split}, all shards"
        )
    parser.add_argument("--out", type=Path, required=True, help="HDF5 file of features to write")
    add_flags(parser, Normalisation)


def run(arguments: argparse.Namespace) -> None:
    parts = {split: FeatureParts.of(getattr(arguments, split), split) for split in ("train", "val")}
    settings = from_flags(Normalisation, arguments)
    attributes = agreed({found.paths[0]: found.attributes for found in parts.values()})
    if settings.normalisation == "l2":
        normalise = l2(settings.length)
    else:
        normalise = standardise(_shown(parts["train"]), settings.length)
    write_feature_blocks(
        arguments.out,
        {split: (found.image_ids, _differing(map(normalise, _shown(found)), found)) for split, found in parts.items()},
        {**attributes, **asdict(settings)},
    )
    for split, found in parts.items():
        print(f"{split}: {len(found.image_ids):,} images, {settings.normalisation}, length {settings.length:g}")


def _differing(blocks: Iterable[Floats], parts: FeatureParts) -> Iterator[Floats]:
    """The blocks of a whole split; where all its images have the same features, no picture can be guessed."""
    first, same = None, True
    for block in blocks:
        first = block[0] if first is None else first
        same = same and bool((block == first).all())
        yield block
    if same and len(parts.image_ids) > 1:
        raise InputError(
            f"{parts.paths[0]}: all {len(parts.image_ids):,} images of {parts.split} have the same features; "
            "extract them anew"
        )


def _shown(parts: FeatureParts) -> Iterator[Floats]:
    """The blocks, with a progress bar."""
    with tqdm(total=len(parts.image_ids), desc=parts.split, unit=" images", disable=None) as progress:
        for block in parts.blocks():
            yield block
            progress.update(len(block))
