"""HDF5 files of dialogs and image features: ours are written whole, theirs are read as they are.

Dialogs keep the names of the authors' `visdial_data.h5` (`cap_train`, `ques_length_val`, …) and add
`image_id_SPLIT` and `words`; features keep those of `data_img.h5` (`images_train`) and add `image_id_SPLIT`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from cooperation.files import InputError, written_whole
from cooperation.messages import Floats, Messages, Rows
from cooperation.text import Vocabulary

Ids = npt.NDArray[np.int64]
PARTS = {"captions": "cap", "questions": "ques", "answers": "ans"}
# The authors' files know an image by its row; as an id it gets a number that COCO and the other split don't have.
FIRST_ROW = {"train": 1_000_000_000, "val": 2_000_000_000}
# Attributes of image features that must agree wherever features are joined.
MADE_BY = ("extractor", "layer", "weights", "preprocessing", "width")


@dataclass(frozen=True)
class Dialogs:
    """The dialogs of one split, as ids without START and EOS.

    image_ids: [dialogs]; captions: [dialogs, ≤40]; questions, answers: [dialogs, 10, ≤20].
    """

    image_ids: Ids
    captions: Messages
    questions: Messages
    answers: Messages

    def __len__(self) -> int:
        return len(self.image_ids)

    def __getitem__(self, rows: "slice | Rows") -> "Dialogs":
        """Some of the dialogs."""
        return Dialogs(self.image_ids[rows], self.captions[rows], self.questions[rows], self.answers[rows])


@dataclass(frozen=True)
class Features:
    """Image features of one split: image_ids [images], vectors [images, features], how they were made."""

    image_ids: Ids
    vectors: Floats
    attributes: Mapping[str, Any]


def rows_of(image_ids: Ids, among: Ids, place: Path) -> Rows:
    """Where each image stands among others, by its id; `place` is named if one is missing."""
    order = np.argsort(among)
    rows: Rows = order[np.searchsorted(among, image_ids, sorter=order).clip(max=len(order) - 1)]
    missing = image_ids[among[rows] != image_ids]
    if len(missing):
        raise InputError(
            f"{place}: no features of image {missing[0]} ({len(missing)} images missing); "
            "extract the features of the archive that these dialogs belong to"
        )
    return rows


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """Open an HDF5 file to read; a missing, damaged or foreign file is an `InputError`."""
    if not path.exists():
        raise InputError(f"{path}: no such file; make it with snakemake")
    try:
        with h5py.File(path, "r") as file:
            yield file
    except (OSError, KeyError) as error:
        raise InputError(f"{path}: damaged or not of this kind ({error}); delete it and make it again") from error


def read_attributes(file: h5py.File) -> dict[str, Any]:
    """All attributes of an open file, numbers as Python's own."""
    return {name: value.item() if hasattr(value, "item") else value for name, value in file.attrs.items()}


def write_arrays(path: Path, arrays: Mapping[str, npt.NDArray[Any]], attributes: Mapping[str, Any]) -> None:
    """Write arrays, compressed and checksummed (Fletcher-32), and attributes to one HDF5 file, whole or not."""
    with written_whole(path) as temporary, h5py.File(temporary, "w", track_order=True) as file:
        for name, array in arrays.items():
            if array.dtype == object:
                file.create_dataset(name, data=array, dtype=h5py.string_dtype())
            else:
                packed: dict[str, Any] = {"compression": "gzip", "compression_opts": 1, "shuffle": True}
                file.create_dataset(name, data=array, fletcher32=True, **(packed if array.size else {}))
        file.attrs.update(attributes)


def write_dialogs(
    path: Path, vocabulary: Vocabulary, splits: Mapping[str, Dialogs], attributes: Mapping[str, Any]
) -> None:
    """Write the dialogs of all splits (`train`, `val`) and the vocabulary to one file."""
    arrays: dict[str, npt.NDArray[Any]] = {"words": np.array(vocabulary.words, object)}
    for split, dialogs in splits.items():
        arrays[f"image_id_{split}"] = dialogs.image_ids
        for field, name in PARTS.items():
            messages = getattr(dialogs, field)
            arrays[f"{name}_{split}"] = messages.tokens
            arrays[f"{name}_length_{split}"] = messages.lengths
    write_arrays(path, arrays, attributes)


def read_dialogs(path: Path, split: str) -> Dialogs:
    """Read the dialogs of a split (`train` or `val`)."""
    with opened(path) as file:
        parts = {
            field: Messages(
                file[f"{name}_{split}"][:].astype(np.int32), file[f"{name}_length_{split}"][:].astype(np.int32)
            )
            for field, name in PARTS.items()
        }
        return Dialogs(file[f"image_id_{split}"][:].astype(np.int64), **parts)


def read_vocabulary(path: Path) -> Vocabulary:
    """Read the vocabulary of a file of dialogs."""
    with opened(path) as file:
        return Vocabulary.of(file["words"].asstr()[:])


@dataclass(frozen=True)
class FeatureParts:
    """The features of one split, in the files of one or several shards; vectors are read in blocks when asked for.

    A file without ids is the authors' `data_img.h5`: its rows are numbered from `FIRST_ROW`, as `img_pos` does.
    """

    paths: tuple[Path, ...]
    split: str
    image_ids: Ids
    attributes: Mapping[str, Any]

    @classmethod
    def of(cls, paths: Sequence[Path], split: str) -> "FeatureParts":
        """Look into the files: how they were made must agree, and no image may be in two of them."""
        ids, attributes = [], {}
        for path in paths:
            with opened(path) as file:
                ids.append(_image_ids(file, split, path))
                found = {"width": file[f"images_{split}"].shape[1]}
                attributes[path] = {"extractor": "not stated"} | read_attributes(file) | found
        image_ids = np.concatenate(ids)
        distinct, times = np.unique(image_ids, return_counts=True)
        if len(distinct) < len(image_ids):
            raise InputError(f"{paths[0]}: image {distinct[times > 1][0]} is there twice; give each shard once")
        return cls(tuple(paths), split, image_ids, agreed(attributes))

    @property
    def width(self) -> int:
        """Numbers in a vector."""
        return int(self.attributes["width"])

    def blocks(self, rows: int = 4096) -> Iterator[Floats]:
        """The vectors in the order of `image_ids`, at most `rows` at a time: [≤ rows, features]."""
        for path in self.paths:
            with opened(path) as file:
                images = file[f"images_{self.split}"]
                for start in range(0, len(images), rows):
                    yield images[start : start + rows]


def _image_ids(file: h5py.File, split: str, path: Path) -> Ids:
    images = file[f"images_{split}"]
    if images.ndim != 2 or not len(images):
        raise InputError(
            f"{path}: images_{split} is {images.shape}, not [images, features]; extract fc7, one row an image"
        )
    if f"image_id_{split}" not in file:
        return np.arange(len(images)) + FIRST_ROW[split]
    ids: Ids = file[f"image_id_{split}"][:].astype(np.int64)
    if len(ids) != len(images):
        raise InputError(f"{path}: {len(ids)} image ids for {len(images)} rows of images_{split}; extract it again")
    return ids


def agreed(attributes: Mapping[Path, Mapping[str, Any]]) -> dict[str, Any]:
    """All attributes of feature files; how they were made (`MADE_BY`) must be the same in all."""
    first, *others = attributes
    for other in others:
        for name in MADE_BY:
            mine, its = attributes[first].get(name), attributes[other].get(name)
            if mine != its:
                raise InputError(f"{other}: {name} is {its!r}, but {mine!r} in {first}; extract both the same way")
    return {name: value for found in attributes.values() for name, value in found.items()}


def write_features(path: Path, splits: Mapping[str, Features], attributes: Mapping[str, Any]) -> None:
    """Write image features to one file."""
    write_feature_blocks(
        path, {split: (features.image_ids, [features.vectors]) for split, features in splits.items()}, attributes
    )


def write_feature_blocks(
    path: Path,
    splits: Mapping[str, tuple[Ids, Iterable[Floats]]],
    attributes: Mapping[str, Any],
) -> None:
    """Write image features, ids and blocks of vectors of each split; float32, uncompressed (noise to a compressor)."""
    with written_whole(path) as temporary, h5py.File(temporary, "w") as file:
        for split, (image_ids, blocks) in splits.items():
            file.create_dataset(f"image_id_{split}", data=image_ids, fletcher32=True, chunks=True)
            done, images = 0, None
            for block in blocks:
                if images is None:
                    shape = (len(image_ids), block.shape[1])
                    # Whole rows: what is read are always blocks of them.
                    chunks = (min(64, len(image_ids)), block.shape[1])
                    images = file.create_dataset(f"images_{split}", shape, "f4", fletcher32=True, chunks=chunks)
                images[done : done + len(block)] = block
                done += len(block)
            if done != len(image_ids):
                raise ValueError(f"{done} vectors for {len(image_ids)} images of {split}")
        file.attrs.update(attributes)


def read_features(path: Path, split: str, image_ids: Ids | None = None) -> Features:
    """Read the image features of a split: all, or those of the given images in their order.

    They are read block by block to where they go: VisDial's 1.4 GB are never in memory twice.
    """
    parts = FeatureParts.of([path], split)
    chosen = parts.image_ids if image_ids is None else image_ids
    rows = rows_of(chosen, parts.image_ids, path)
    vectors = np.empty((len(chosen), parts.width), np.float32)
    start = 0
    for block in parts.blocks():
        here = (rows >= start) & (rows < start + len(block))
        vectors[here] = block[rows[here] - start]
        start += len(block)
    return Features(chosen, vectors, parts.attributes)
