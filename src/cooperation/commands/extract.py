"""Run VGG-16 over the pictures of each split; write fc7 after ReLU with image ids to one HDF5 file."""

import argparse
import sys
from pathlib import Path

import numpy as np
from tqdm import tqdm

from cooperation.commands.outs import add_out_file
from cooperation.config.preparation import HASH, Extraction, check_preprocessing
from cooperation.config.sources import SPLITS
from cooperation.data.archives import Picture, find_pictures, made_up
from cooperation.data.pictures import DamagedError, decode
from cooperation.data.store import DAMAGED, read_dialogs, write_feature_blocks
from cooperation.data.vgg import extract, trained, untrained
from cooperation.io.devices import device, say_device
from cooperation.io.files import InputError
from cooperation.io.settings import add_flags, from_flags
from cooperation.io.writing import check_file


def add_arguments(parser: argparse.ArgumentParser) -> None:
    for split in SPLITS:
        parser.add_argument(
            f"--{split}",
            type=Path,
            nargs="+",
            default=[],
            metavar="ZIP",
            help=f"pictures of the {split} split: JPEG files under COCO's names in zip archives or folders",
        )
    add_out_file(parser, "HDF5 file of features to write")
    parser.add_argument("--weights", type=Path, help="torchvision's vgg16-397923af.pth (default: untrained weights)")
    parser.add_argument(
        "--shard", type=_shard, default=(1, 1), metavar="I/N", help="the I-th of N parts of each split (default: 1/1)"
    )
    parser.add_argument("--dialogs", type=Path, help="a file of dialogs, of whose pictures alone features are wanted")
    add_flags(parser, Extraction)


def run(arguments: argparse.Namespace) -> None:
    settings = from_flags(Extraction, arguments)
    # The smaller split first: its mistakes show before the other's hours.
    archives = {split: getattr(arguments, split) for split in reversed(SPLITS) if getattr(arguments, split)}
    if not archives:
        raise InputError("no pictures; give --train, --val or both")
    device()
    made_with = made_up([path for paths in archives.values() for path in paths])
    pictures = {split: find_pictures(paths) for split, paths in archives.items()}
    if arguments.dialogs:
        pictures = {split: _of_dialogs(found, arguments.dialogs, split) for split, found in pictures.items()}
    pictures = {split: _share(found, *arguments.shard) for split, found in pictures.items()}
    damaged: dict[str, list[int]] = {}
    if settings.damaged == "skip":
        damaged = {split: _damaged(found) for split, found in pictures.items()}
        pictures = {split: _without(found, damaged[split]) for split, found in pictures.items()}
    network, weights = trained(arguments.weights) if arguments.weights else untrained(settings.seed)
    if arguments.weights:
        check_preprocessing(settings.preprocessing, weights.rpartition(HASH)[2], f"{arguments.weights}")
    # Pictures of folders are known only now, none of which may be overwritten.
    check_file(arguments.out)
    say_device()
    write_feature_blocks(
        arguments.out,
        {
            split: (np.array(list(found), np.int64), extract(list(found.values()), network, settings))
            for split, found in pictures.items()
        },
        {
            "extractor": "VGG-16 (torchvision)",
            "layer": "fc7 after ReLU",
            "weights": weights,
            "preprocessing": settings.preprocessing,
            **{f"archive_{split}": ", ".join(path.name for path in paths) for split, paths in archives.items()},
            **({"made_up": made_with} if made_with else {}),
            **{f"{DAMAGED}{split}": " ".join(map(str, images)) for split, images in damaged.items() if images},
        },
    )
    for split, found in pictures.items():
        left_out = f", {len(damaged[split]):,} damaged ones left out" if damaged.get(split) else ""
        print(f"{split}: {len(found):,} pictures{left_out}, VGG-16 {weights}")


def _of_dialogs(pictures: dict[int, Picture], dialogs: Path, split: str) -> dict[int, Picture]:
    """Image id → picture, of those that a dialog of the split is about; raises `InputError` where one is missing."""
    image_ids = read_dialogs(dialogs, split).image_ids.tolist()
    for image in image_ids:
        if image not in pictures:
            raise InputError(f"{dialogs}: no {split} picture has the id {image}; give the pictures of these dialogs")
    return {image: pictures[image] for image in image_ids}


def _share(pictures: dict[int, Picture], part: int, parts: int) -> dict[int, Picture]:
    """Image id → picture, of every `parts`-th picture from the `part`-th on."""
    share = dict(list(pictures.items())[part - 1 :: parts])
    if not share:
        archive = next(iter(pictures.values())).archive
        raise InputError(f"{archive}: has fewer pictures than {parts} shards; take fewer shards")
    return share


def _damaged(pictures: dict[int, Picture]) -> list[int]:
    """Ids of those that can't be decoded, each named on standard error. A file that can't be read stays an error."""
    found = []
    for image, picture in tqdm(pictures.items(), "decode", unit=" pictures", disable=None):
        try:
            decode(picture.read(), str(picture))
        except DamagedError as error:
            print(f"left out: {str(error).partition(';')[0]}", file=sys.stderr)
            found.append(image)
    return found


def _without(pictures: dict[int, Picture], damaged: list[int]) -> dict[int, Picture]:
    kept = {image: picture for image, picture in pictures.items() if image not in damaged}
    if not kept:
        raise InputError(f"{next(iter(pictures.values())).archive}: none of its pictures can be decoded; give others")
    return kept


def _shard(text: str) -> tuple[int, int]:
    part, _, parts = text.partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise argparse.ArgumentTypeError(f"{text!r} is not I/N with 1 ≤ I ≤ N, such as 2/8")
    return int(part), int(parts)
