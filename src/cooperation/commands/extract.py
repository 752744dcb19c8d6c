"""Run VGG-16 over the pictures of a zip archive; write fc7 after ReLU with image ids to one HDF5 file."""

import argparse
from pathlib import Path

import numpy as np

from cooperation.data.archives import picture_names
from cooperation.data.store import Features, write_features
from cooperation.data.vgg import extract, trained, untrained
from cooperation.files import InputError
from cooperation.preparation import Extraction
from cooperation.settings import add_flags, from_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--images",
        type=Path,
        required=True,
        metavar="ZIP",
        help="JPEG files under COCO's names, zipped, or their folder",
    )
    parser.add_argument(
        "--split", choices=("train", "val"), required=True, help="name of the split in the file written"
    )
    parser.add_argument("--out", type=Path, required=True, help="HDF5 file of features to write")
    parser.add_argument("--weights", type=Path, help="torchvision's vgg16-397923af.pth (default: untrained weights)")
    parser.add_argument(
        "--shard", type=_shard, default=(1, 1), metavar="I/N", help="the I-th of N parts (default: 1/1)"
    )
    add_flags(parser, Extraction)


def run(arguments: argparse.Namespace) -> None:
    settings = from_flags(Extraction, arguments)
    part, parts = arguments.shard
    images = list(picture_names(arguments.images).items())[part - 1 :: parts]
    if not images:
        raise InputError(f"{arguments.images}: has fewer pictures than {parts} shards; take fewer shards")
    network, weights = trained(arguments.weights) if arguments.weights else untrained(settings.seed)
    vectors = extract(arguments.images, [name for _, name in images], network, settings)
    features = Features(np.array([image for image, _ in images], np.int64), vectors, {})
    write_features(
        arguments.out,
        {arguments.split: features},
        {
            "extractor": "VGG-16 (torchvision)",
            "layer": "fc7 after ReLU",
            "weights": weights,
            "preprocessing": settings.preprocessing,
            f"archive_{arguments.split}": arguments.images.name,
        },
    )
    print(f"{arguments.split}: {len(images):,} pictures, VGG-16 {weights}")


def _shard(text: str) -> tuple[int, int]:
    part, _, parts = text.partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N with 1 ≤ I ≤ N, such as 2/8")
    return int(part), int(parts)
