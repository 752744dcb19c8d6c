"""HDF5 files of dialogs and image features: ours are written whole, theirs are read as they are.

Dialogs keep the names of the authors' `visdial_data.h5` (`cap_train`, `ques_length_val`, …) and add
`image_id_SPLIT` and `words`; features keep those of `data_img.h5` (`images_train`) and add `image_id_SPLIT`.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from cooperation.data.hdf5 import SUMS, Ours, created, opened, read_blocks, shape_of
from cooperation.files import InputError
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


def write_dialogs(
    path: Path, vocabulary: Vocabulary, splits: Mapping[str, Dialogs], attributes: Mapping[str, Any]
) -> None:
    """Write the dialogs of all splits (`train`, `val`) and the vocabulary to one file."""
    with created(path) as file:
        file.attributes.update(attributes)
        file.add_texts("words", vocabulary.words)
        for split, dialogs in splits.items():
            file.add(f"image_id_{split}", dialogs.image_ids)
            for field, name in PARTS.items():
                messages = getattr(dialogs, field)
                file.add(f"{name}_{split}", messages.tokens)
                file.add(f"{name}_length_{split}", messages.lengths)


def read_dialogs(path: Path, split: str) -> Dialogs:
    """Read the dialogs of a split (`train` or `val`)."""
    with opened(path) as file:
        _check_split(file, split, path)
        ours = Ours(file)
        parts = {
            field: Messages(ours[f"{name}_{split}"].astype(np.int32), ours[f"{name}_length_{split}"].astype(np.int32))
            for field, name in PARTS.items()
        }
        return Dialogs(ours[f"image_id_{split}"].astype(np.int64), **parts)


def read_vocabulary(path: Path) -> Vocabulary:
    """Read the vocabulary of a file of dialogs."""
    with opened(path) as file:
        return Vocabulary.of(Ours(file).texts("words"))


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
                _check_split(file, split, path)
                ours = _ours(file, split)
                shape = _shape(file, split, path)
                ids.append(
                    np.arange(shape[0]) + FIRST_ROW[split] if ours is None else _image_ids(ours, split, shape[0], path)
                )
                made = {} if ours is None else ours.attributes
                attributes[path] = {"extractor": "not stated"} | made | {"width": shape[1]}
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
        """The vectors in the order of `image_ids`, at most `rows` at a time: [≤ rows, features].

        Use none of them before the last is there: only then is known that a file is as it was written.
        """
        done, name = 0, f"images_{self.split}"
        for path in self.paths:
            with opened(path) as file:
                ours = _ours(file, self.split)
                for block in read_blocks(file, name, rows) if ours is None else ours.blocks(name, rows):
                    if block.dtype.kind not in "fiu":
                        raise ValueError(f"{name} is {block.dtype}")
                    for row in np.flatnonzero(~np.isfinite(block).all(1))[:1]:
                        image = self.image_ids[done + row]
                        raise InputError(f"{path}: NaN or infinity in the features of image {image}; extract it again")
                    yield block
                    done += len(block)


def _check_split(file: h5py.File, split: str, path: Path) -> None:
    """A file that has another split is as good as it was made."""
    there = {name.rpartition("_")[2] for name in file} & FIRST_ROW.keys()
    if there and split not in there:
        raise InputError(f"{path}: has no {split} split but {' and '.join(sorted(there))}; give the file of {split}")


def _ours(file: h5py.File, split: str) -> Ours | None:
    """None of the authors' `data_img.h5`, which has neither sums nor ids."""
    return Ours(file) if SUMS in file.attrs or f"image_id_{split}" in file else None


def _shape(file: h5py.File, split: str, path: Path) -> tuple[int, int]:
    shape = shape_of(file, f"images_{split}")
    if len(shape) != 2 or 0 in shape:
        raise InputError(f"{path}: images_{split} is {shape}, not [images, features]; extract fc7, one row an image")
    return shape[0], shape[1]


def _image_ids(ours: Ours, split: str, rows: int, path: Path) -> Ids:
    ids: Ids = ours[f"image_id_{split}"].astype(np.int64)
    if len(ids) != rows:
        raise InputError(f"{path}: {len(ids)} image ids for {rows} rows of images_{split}; extract it again")
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
    """Write image features: ids and blocks of vectors of each split.

    How many images have the very vector of another is counted in the attribute `duplicates_SPLIT`: they share their
    ranks.
    """
    with created(path) as file:
        file.attributes.update(attributes)
        for split, (image_ids, blocks) in splits.items():
            seen: set[int] = set()
            file.add(f"image_id_{split}", image_ids)
            file.add_blocks(f"images_{split}", len(image_ids), _watched(blocks, seen))
            file.attributes[f"duplicates_{split}"] = len(image_ids) - len(seen)


def _watched(blocks: Iterable[Floats], seen: set[int]) -> Iterator[Floats]:
    for block in blocks:
        seen.update(hash(row.tobytes()) for row in block)
        yield block


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
