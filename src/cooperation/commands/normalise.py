"""Join files of features, such as all shards of both splits, into one file of normalised features."""

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from tqdm import tqdm

from cooperation.commands.outs import add_out_file
from cooperation.config.preparation import Normalisation
from cooperation.config.sources import SPLITS
from cooperation.data.given import GivenParts, given_parts, unique_images
from cooperation.data.normalisation import l2, standardise
from cooperation.data.store import FeatureParts, agreed, feature_splits, read_dialogs, write_feature_blocks
from cooperation.game.messages import Floats
from cooperation.io.files import InputError, digest
from cooperation.io.hdf5 import SUMS, opened
from cooperation.io.settings import add_flags, from_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "features", type=Path, nargs="+", metavar="HDF5", help="features of one or both splits, all shards"
    )
    add_out_file(parser, "HDF5 file of features to write")
    parser.add_argument(
        "--splits", nargs="+", choices=SPLITS, default=SPLITS, help="splits that must be there (default: both)"
    )
    others = parser.add_argument_group("features that others made, [images, width] in HDF5 or .npy")
    others.add_argument("--dialogs", type=Path, help="file of dialogs, which says whose split each image is")
    others.add_argument(
        "--ids",
        type=Path,
        nargs="+",
        default=[],
        metavar="FILE",
        help="ids of the images of each file, in its order; without --dialogs the authors' visdial_params.json",
    )
    others.add_argument("--array", default="", metavar="NAME", help="the array of features (default: usual names)")
    others.add_argument("--ids-array", default="", metavar="NAME", help="the array of ids (default: usual names)")
    add_flags(parser, Normalisation)


def run(arguments: argparse.Namespace) -> None:
    # What others wrote is known by the hash of the file alone.
    foreign = arguments.features if arguments.dialogs else _foreign(arguments.features)
    origin = {"files": json.dumps([digest(path) for path in (*foreign, *arguments.ids)])} if foreign else {}
    parts = {split: _given(arguments, split) or _parts(arguments, split) for split in arguments.splits}
    settings = from_flags(Normalisation, arguments)
    attributes = agreed([(found.paths[0], found.attributes) for found in parts.values()])
    if settings.normalisation == "l2":
        normalise = l2(settings.length)
    elif "train" not in parts:
        raise InputError("--splits: standardising needs the train images; give both, or --normalisation l2")
    else:
        normalise = standardise(_with_progress(parts["train"]), settings.length)
    write_feature_blocks(
        arguments.out,
        {
            split: (found.image_ids, _differing(map(normalise, _with_progress(found)), found))
            for split, found in parts.items()
        },
        {**attributes, **origin, **asdict(settings)},
    )
    for split, found in parts.items():
        print(f"{split}: {len(found.image_ids):,} images, {settings.normalisation}, length {settings.length:g}")


Parts = FeatureParts | GivenParts


def _given(arguments: argparse.Namespace, split: str) -> GivenParts | None:
    """Others' features of a split, where they are; None where they are this program's or the authors'."""
    if not arguments.dialogs:
        return None
    names = (arguments.array, arguments.ids_array)
    ids = read_dialogs(arguments.dialogs, split).image_ids
    return given_parts(arguments.features, arguments.ids, names, split, ids)


def _parts(arguments: argparse.Namespace, split: str) -> FeatureParts:
    """The files that have features of a split, ordered by their smallest image id, in whatever order they are given.

    Raises `InputError` where none has.
    """
    found = [path for path in arguments.features if split in feature_splits(path)]
    if not found:
        raise InputError(
            f"{arguments.features[0]}: has no features of the {split} split, nor has another file; add one that has"
        )
    if arguments.ids:
        return FeatureParts.of(found, split, unique_images(arguments.ids[0], split))
    return FeatureParts.of(sorted(found, key=lambda path: FeatureParts.of([path], split).image_ids.min()), split)


def _foreign(paths: list[Path]) -> list[Path]:
    """The files of other programs, such as the authors', which say nothing of themselves.

    Raises `InputError` where features are normalised already.
    """
    found = []
    for path in paths:
        with opened(path) as file:
            if "normalisation" in file.attrs:
                raise InputError(f"{path}: is normalised already; give the features that it was made of")
            if SUMS not in file.attrs:
                found.append(path)
    return found


def _differing(blocks: Iterable[Floats], parts: Parts) -> Iterator[Floats]:
    """The blocks of a whole split. Raises `InputError` where all images are the same, so that none could be guessed."""
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


def _with_progress(parts: Parts) -> Iterator[Floats]:
    """The blocks, with a progress bar."""
    with tqdm(total=len(parts.image_ids), desc=parts.split, unit=" images", disable=None) as progress:
        for block in parts.blocks():
            yield block
            progress.update(len(block))
