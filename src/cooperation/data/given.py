"""Image features that others made, of any network: [images, width] in HDF5 or .npy, with the ids of their images."""

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from cooperation.data.archives import image_id
from cooperation.data.store import Ids
from cooperation.game.messages import Floats
from cooperation.io.files import InputError, check_readable, file_errors, parse_errors
from cooperation.io.hdf5 import opened, read_array, shape_of

NPY = b"\x93NUMPY"
HDF5 = b"\x89HDF\r\n\x1a\n"
FEATURES = ("features", "images", "fc7", "feats", "image_features")
IDS = ("image_ids", "image_id", "ids", "img_ids", "coco_ids")
"""Names of arrays in the HDF5 files of others, such as those of the starter code of VisDial's challenge."""
ROWS = 4096


@dataclass(frozen=True)
class GivenParts:
    """The features of a split's images in others' files; vectors are read in blocks on demand.

    chosen: path and name of the array of each file, and which of its rows [rows] are the split's; image_ids: [images].
    """

    split: str
    chosen: tuple[tuple[Path, str, npt.NDArray[np.bool_]], ...]
    image_ids: Ids
    attributes: dict[str, Any]

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files."""
        return tuple(path for path, _, _ in self.chosen)

    def blocks(self, rows: int = ROWS) -> Iterator[Floats]:
        """Yield the vectors in the order of `image_ids`: [≤ rows, features], as float32.

        Raises `InputError` where a file is damaged, or a number is NaN or infinite.
        """
        done = 0
        for path, name, mine in self.chosen:
            with _array(path, name) as (_, found):
                for start in range(0, len(mine), rows):
                    block = np.asarray(found[start : start + rows])[mine[start : start + rows]].astype(np.float32)
                    for row in np.flatnonzero(~np.isfinite(block).all(1))[:1]:
                        image = self.image_ids[done + row]
                        raise InputError(f"{path}: NaN or infinity in the features of image {image}; make it again")
                    if len(block):
                        yield block
                    done += len(block)


def given_parts(
    files: Sequence[Path], lists: Sequence[Path], names: tuple[str, str], split: str, ids: Ids
) -> GivenParts:
    """The features of a split in files that others made.

    lists: files of the ids of each file's rows, none where the files say them; names: of the arrays of features and of
    ids, "" for the usual ones; ids: [images] of the split's dialogs. Raises `InputError` where an image is missing or
    there twice, or files do not fit.
    """
    if lists and len(lists) != len(files):
        raise InputError(f"{lists[0]}: {len(lists)} lists of ids for {len(files)} files of features; give one for each")
    chosen, own, widths = [], [], set()
    for path, where in zip(files, lists or files, strict=True):
        array, (rows, width) = described(path, names[0])
        found = read_ids(where, names[1], split)
        if len(found) != rows:
            raise InputError(f"{where}: {len(found):,} ids for the {rows:,} rows of {path}; give the list made with it")
        mine = np.isin(found, ids)
        chosen.append((path, array, mine))
        own.append(found[mine])
        widths.add(width)
    if len(widths) > 1:
        raise InputError(
            f"{files[1]}: its features are of another width than those of {files[0]}; give files made alike"
        )
    image_ids = np.concatenate(own)
    distinct, times = np.unique(image_ids, return_counts=True)
    for image in distinct[times > 1][:1]:
        raise InputError(f"{files[0]}: image {image} is there twice; give each image once")
    missing = np.setdiff1d(ids, distinct)
    for image in missing[:1]:
        raise InputError(
            f"{files[0]}: no features of image {image} of {split}, which has a dialog ({len(missing):,} images "
            "missing); give those too, or another list of ids"
        )
    return GivenParts(split, tuple(chosen), image_ids, {"extractor": "not stated", "width": widths.pop()})


def described(path: Path, name: str = "") -> tuple[str, tuple[int, int]]:
    """Name of the array of features in a file, and its shape. Raises `InputError` where there is none."""
    with _array(path, name) as (array, found):
        shape = tuple(map(int, found.shape))
        if len(shape) != 2 or 0 in shape or found.dtype.kind not in "fiu":
            raise InputError(
                f"{path}: {array or 'its array'} is {found.dtype} {shape}, not numbers [images, features]; "
                "write one vector an image"
            )
        return array, (shape[0], shape[1])


def read_ids(path: Path, name: str = "", split: str = "") -> Ids:
    """The ids [rows] of images in a list: JSON, text of one a line, .npy or HDF5; of a name, the number at its end.

    JSON may be a list, or hold `unique_img_SPLIT`, as the authors' visdial_params.json. Raises `InputError` for others.
    """
    begins = _begins(path)
    if begins.startswith(HDF5):
        with opened(path) as file:
            found = read_array(file, _named(file, name, IDS, path)).tolist()
    elif begins.startswith(NPY):
        with parse_errors(path, "not a list of ids", "give .npy of whole numbers"):
            found = np.load(path, allow_pickle=False).tolist()
    else:
        with parse_errors(path, "not a list of ids", "give JSON, .npy, HDF5, or one id a line"):
            text = path.read_text(encoding="utf-8-sig")
            found = json.loads(text) if text.lstrip().startswith(("[", "{")) else text.split()
            if isinstance(found, dict):
                found = found[f"unique_img_{split}"]
    return np.array([_number(one, path) for one in found], np.int64)


def unique_images(path: Path, split: str) -> Ids | None:
    """The ids [rows] of the images of a split in the authors' visdial_params.json; None where it does not list them."""
    with parse_errors(path, "not JSON", "give visdial_params.json"):
        listed = f"unique_img_{split}" in json.loads(path.read_text(encoding="utf-8-sig"))
    return read_ids(path, split=split) if listed else None


def _number(one: Any, path: Path) -> int:
    text = one.decode(errors="replace") if isinstance(one, bytes) else str(one)
    digits = re.fullmatch(r"(?:.*\D)?(\d+)(?:\.[A-Za-z]+)?", text)
    if not digits or isinstance(one, float | bool | list):
        raise InputError(f"{path}: {text[:60]!r} is no id of an image; give whole numbers or COCO's names")
    return image_id(digits[1], path)


def _begins(path: Path) -> bytes:
    with file_errors(path):
        if not path.is_file():
            raise InputError(f"{path}: no such file; give the path of the features or of their list of ids")
        check_readable(path)
        with path.open("rb") as file:
            return file.read(8)


@contextmanager
def _array(path: Path, name: str) -> Iterator[tuple[str, Any]]:
    """The name of the array of features, and the array, not yet read."""
    begins = _begins(path)
    if begins.startswith(NPY):
        with parse_errors(path, "damaged or cut short", "get it again"):
            yield "", np.load(path, mmap_mode="r", allow_pickle=False)
    elif begins.startswith(HDF5):
        with opened(path) as file:
            array = _named(file, name, FEATURES, path)
            shape_of(file, array)
            yield array, file[array]
    else:
        raise InputError(f"{path}: neither HDF5 nor .npy; write the features as one of these")


def _named(file: h5py.File, name: str, usual: Sequence[str], path: Path) -> str:
    found = next((one for one in ([name] if name else usual) if one in file), None)
    if found is None:
        raise InputError(
            f"{path}: has no array {name or ' or '.join(usual)}, but {', '.join(sorted(file)[:6])}; name it: "
            "`features: {array: …, ids_array: …}`"
        )
    return found
