"""HDF5 files of dialogs and of image features; those of the authors' features are read as they are.

Arrays of dialogs have the names of the authors' `visdial_data.h5` (`cap_train`, `ques_length_val`, …), beside
`image_id_SPLIT` and `words`; those of features have the names of `data_img.h5` (`images_train`), beside
`image_id_SPLIT`. All readers raise `InputError` for a file that is missing, damaged or foreign.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from cooperation.data.archives import MADE_UP
from cooperation.game.messages import Floats, Messages, Rows
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.files import InputError
from cooperation.io.hdf5 import SUMS, Verified, created, opened, read_attributes, read_blocks, shape_of
from cooperation.io.memory import require

Ids = npt.NDArray[np.int64]
PARTS = {"captions": "cap", "questions": "ques", "answers": "ans"}
# The authors' files know an image by its row; its id is a number that neither COCO nor the other split has.
FIRST_ROW = {"train": 1_000_000_000, "val": 2_000_000_000}
DAMAGED = "damaged_"
"""Begins the attributes of features, by split, that list the images of pictures that could not be decoded."""
# Attributes that say how features were made, which must be the same wherever features are joined.
MADE_BY = ("extractor", "layer", "weights", "preprocessing", "width")


@dataclass(frozen=True)
class Dialogs:
    """The dialogs of one split, as token ids without START and EOS.

    image_ids: [dialogs]; captions: [dialogs, ≤40]; questions, answers: [dialogs, 10, ≤20].
    """

    image_ids: Ids
    captions: Messages
    questions: Messages
    answers: Messages

    def __len__(self) -> int:
        return len(self.image_ids)

    def __getitem__(self, rows: "slice | Rows") -> "Dialogs":
        """The dialogs at some rows [chosen]."""
        return Dialogs(self.image_ids[rows], self.captions[rows], self.questions[rows], self.answers[rows])


DialogData = tuple[Vocabulary, Mapping[str, Dialogs], Mapping[str, Any]]
"""What a file of dialogs holds: the vocabulary, split → dialogs, and counts, whose names begin with the split's."""


@dataclass(frozen=True)
class Features:
    """Image features of one split: image_ids [images], vectors [images, features]; attributes: how they were made."""

    image_ids: Ids
    vectors: Floats
    attributes: Mapping[str, Any]


def rows_of(image_ids: Ids, among: Ids, place: Path, asked_by: Path | None = None) -> Rows:
    """Rows [images] of some images, by their ids [images], among those of a file [file's images].

    place: the file, and asked_by: the file of the dialogs about the images, for the message. Raises `InputError` where
    the file lacks an image.
    """
    order = np.argsort(among)
    rows: Rows = order[np.searchsorted(among, image_ids, sorter=order).clip(max=len(order) - 1)]
    missing = image_ids[among[rows] != image_ids]
    if len(missing):
        whose = f", which {asked_by} has a dialog about" if asked_by else ""
        raise InputError(
            f"{place}: no features of image {missing[0]}{whose} ({len(missing)} images missing); "
            "extract the features of the archive that these dialogs belong to"
        )
    return rows


def write_dialogs(
    path: Path, vocabulary: Vocabulary, splits: Mapping[str, Dialogs], attributes: Mapping[str, Any]
) -> None:
    """Write the dialogs of all splits (`train`, `val`), the vocabulary and the counts to one file."""
    with created(path) as file:
        file.attributes.update(attributes)
        file.add_texts("words", vocabulary.words)
        for split, dialogs in splits.items():
            file.add(f"image_id_{split}", dialogs.image_ids)
            for field, name in PARTS.items():
                messages = getattr(dialogs, field)
                file.add(f"{name}_{split}", messages.tokens)
                file.add(f"{name}_length_{split}", messages.lengths)


def read_dialogs(path: Path, split: str, features: Path | None = None) -> Dialogs:
    """Read the dialogs of a split (`train` or `val`).

    features: the file of those of their pictures; dialogs about pictures that it says were damaged are left out.
    """
    left_out = damaged_pictures(features).get(split, []) if features else []
    dialogs = _read_all(path, split)
    return dialogs[np.flatnonzero(~np.isin(dialogs.image_ids, left_out))] if left_out else dialogs


def _read_all(path: Path, split: str) -> Dialogs:
    with opened(path) as file:
        _check_split(file, split, path)
        arrays = Verified(file)
        parts = {
            field: Messages(
                arrays[f"{name}_{split}"].astype(np.int32), arrays[f"{name}_length_{split}"].astype(np.int32)
            )
            for field, name in PARTS.items()
        }
        return Dialogs(arrays[f"image_id_{split}"].astype(np.int64), **parts)


def damaged_pictures(features: Path) -> dict[str, list[int]]:
    """Split → ids of the pictures that were left out of a file of features, since they could not be decoded."""
    said = read_attributes(features)
    found = {split: [int(image) for image in said.get(f"{DAMAGED}{split}", "").split()] for split in FIRST_ROW}
    return {split: images for split, images in found.items() if images}


def said_of_damaged(features: Path) -> dict[str, str]:
    """An attribute of results, which pages show: how many dialogs are left out for damaged pictures, if any are."""
    counts = [f"{len(images):,} of {split}" for split, images in damaged_pictures(features).items()]
    return {"damaged_pictures": f"{', '.join(counts)}; their dialogs are left out"} if counts else {}


def count_dialogs(path: Path, split: str) -> int:
    """How many dialogs a split (`train` or `val`) has."""
    with opened(path) as file:
        _check_split(file, split, path)
        return shape_of(file, f"image_id_{split}")[0]


def read_vocabulary(path: Path) -> Vocabulary:
    """Read the vocabulary of a file of dialogs."""
    with opened(path) as file:
        return Vocabulary.of(Verified(file).texts("words"))


@dataclass(frozen=True)
class FeatureParts:
    """The features of one split, in one file or several shards; vectors are read in blocks on demand.

    image_ids: [images]. A file without ids is the authors' `data_img.h5`: the id of a row is its number plus
    `FIRST_ROW`, as for `img_pos`, unless a list says it.
    """

    paths: tuple[Path, ...]
    split: str
    image_ids: Ids
    attributes: Mapping[str, Any]

    @classmethod
    def of(cls, paths: Sequence[Path], split: str, listed: Ids | None = None) -> "FeatureParts":
        """Look into the files of a split; listed: ids [images] for the authors' `data_img.h5`, where they are known.

        Raises `InputError` where they were made in different ways, or an image is in two of them.
        """
        ids, attributes = [], []
        for path in paths:
            with opened(path) as file:
                _check_split(file, split, path)
                rows, width = _shape(file, split, path)
                verified = _verified(file, split)
                own = _numbered(rows, split) if listed is None else _listed(listed, rows, path)
                ids.append(own if verified is None else _image_ids(verified, split, rows, path))
                made = {} if verified is None else verified.attributes
                attributes.append((path, {"extractor": "not stated"} | made | {"width": width}))
        image_ids = np.concatenate(ids)
        distinct, times = np.unique(image_ids, return_counts=True)
        if len(distinct) < len(image_ids):
            raise InputError(f"{paths[0]}: image {distinct[times > 1][0]} is there twice; give each shard once")
        return cls(tuple(paths), split, image_ids, agreed(attributes))

    @property
    def width(self) -> int:
        """How many features an image has."""
        return int(self.attributes["width"])

    def blocks(self, rows: int = 4096) -> Iterator[Floats]:
        """Yield the vectors in the order of `image_ids`, at most `rows` at a time: [≤ rows, features], as float32.

        Publish nothing made of them before the last: a file's checksum is compared at its end. Raises `InputError`
        where a file is damaged, or a number is NaN or infinite.
        """
        done, name = 0, f"images_{self.split}"
        for path in self.paths:
            with opened(path) as file:
                verified = _verified(file, self.split)
                for raw in read_blocks(file, name, rows) if verified is None else verified.blocks(name, rows):
                    if raw.dtype.kind not in "fiu":
                        raise ValueError(f"{name} is {raw.dtype}")
                    # Whatever others wrote: in half precision, squares are soon infinite or zero.
                    block = raw.astype(np.float32, copy=False)
                    for row in np.flatnonzero(~np.isfinite(block).all(1))[:1]:
                        image = self.image_ids[done + row]
                        raise InputError(f"{path}: NaN or infinity in the features of image {image}; extract it again")
                    yield block
                    done += len(block)


def feature_splits(path: Path) -> list[str]:
    """The splits whose features are in a file. Raises `InputError` where it has none."""
    with opened(path) as file:
        return splits_of_features(file)


def splits_of_features(file: h5py.File) -> list[str]:
    """The splits whose features are in an open file. Raises `ValueError` where it has none."""
    found = [split for split in FIRST_ROW if f"images_{split}" in file]
    if not found:
        raise ValueError(f"it has no images_{' or images_'.join(FIRST_ROW)}")
    return found


def _check_split(file: h5py.File, split: str, path: Path) -> None:
    """Refuse a file that has another split only; one without any is damaged or foreign, as its arrays will show."""
    there = {name.rpartition("_")[2] for name in file} & FIRST_ROW.keys()
    if there and split not in there:
        raise InputError(f"{path}: has no {split} split but {' and '.join(sorted(there))}; give the file of {split}")


def _verified(file: h5py.File, split: str) -> Verified | None:
    """None for the authors' `data_img.h5`, which has neither checksums nor ids."""
    return Verified(file) if SUMS in file.attrs or f"image_id_{split}" in file else None


def _shape(file: h5py.File, split: str, path: Path) -> tuple[int, int]:
    shape = shape_of(file, f"images_{split}")
    if len(shape) != 2 or 0 in shape:
        raise InputError(f"{path}: images_{split} is {shape}, not [images, features]; extract fc7, one row an image")
    return shape[0], shape[1]


def _numbered(rows: int, split: str) -> Ids:
    return np.arange(rows) + FIRST_ROW[split]


def _listed(ids: Ids, rows: int, path: Path) -> Ids:
    if len(ids) != rows:
        raise InputError(f"{path}: {rows:,} images, but {len(ids):,} are listed; give the visdial_params.json of these")
    return ids


def _image_ids(verified: Verified, split: str, rows: int, path: Path) -> Ids:
    ids: Ids = verified[f"image_id_{split}"].astype(np.int64)
    if len(ids) != rows:
        raise InputError(f"{path}: {len(ids)} image ids for {rows} rows of images_{split}; extract it again")
    return ids


def agreed(files: Sequence[tuple[Path, Mapping[str, Any]]]) -> dict[str, Any]:
    """Join the attributes of feature files.

    Raises `InputError` where they were made in different ways (`MADE_BY`), or of pictures made up in different ways.
    """
    (first, one), *others = files
    for path, other in others:
        for name in (*MADE_BY, "made_up"):
            mine, its = one.get(name), other.get(name)
            if mine != its:
                what = MADE_UP if name == "made_up" else name
                raise InputError(f"{path}: {what} is {its!r}, but {mine!r} in {first}; extract both the same way")
    joined = {name: value for _, attributes in files for name, value in attributes.items()}
    for name in [name for name in joined if name.startswith(DAMAGED)]:
        images = {image for _, attributes in files for image in str(attributes.get(name, "")).split()}
        joined[name] = " ".join(sorted(images, key=int))
    return joined


def write_features(path: Path, splits: Mapping[str, Features], attributes: Mapping[str, Any]) -> None:
    """Write the image features of some splits, vectors [images, features], to one file."""
    write_feature_blocks(
        path, {split: (features.image_ids, [features.vectors]) for split, features in splits.items()}, attributes
    )


def write_feature_blocks(
    path: Path,
    splits: Mapping[str, tuple[Ids, Iterable[Floats]]],
    attributes: Mapping[str, Any],
) -> None:
    """Write image features: ids [images] and blocks of vectors [≤ images, features] of each split.

    The attribute `duplicates_SPLIT` counts images whose vector is equal to another's: such images share their ranks.
    """
    with created(path) as file:
        file.attributes.update(attributes)
        for split, (image_ids, blocks) in splits.items():
            seen: set[int] = set()
            file.add(f"image_id_{split}", image_ids)
            file.add_blocks(f"images_{split}", len(image_ids), _hashed(blocks, seen))
            file.attributes[f"duplicates_{split}"] = len(image_ids) - len(seen)


def _hashed(blocks: Iterable[Floats], seen: set[int]) -> Iterator[Floats]:
    """The blocks; the hash of every vector is added to `seen`."""
    for block in blocks:
        seen.update(hash(row.tobytes()) for row in block)
        yield block


def read_features(path: Path, split: str, image_ids: Ids | None = None, asked_by: Path | None = None) -> Features:
    """Read the image features of a split: all, or those of some images [images] in their order.

    They are read block by block into place, so VisDial's 1.4 GB are never in memory twice. asked_by: the file of the
    dialogs about the images, for the message. Raises `InputError` where the file lacks an image or is damaged.
    """
    parts = FeatureParts.of([path], split)
    chosen = parts.image_ids if image_ids is None else image_ids
    rows = rows_of(chosen, parts.image_ids, path, asked_by)
    needed = len(chosen) * parts.width * np.dtype(np.float32).itemsize
    require(
        needed, f"{path}: {len(chosen):,} images of the {split} split", "free some, or use fewer images or features"
    )
    vectors = np.empty((len(chosen), parts.width), np.float32)
    start = 0
    for block in parts.blocks():
        here = (rows >= start) & (rows < start + len(block))
        vectors[here] = block[rows[here] - start]
        start += len(block)
    return Features(chosen, vectors, parts.attributes)
