"""Dialogs' JSON and pictures in volumes: zip archives, which are not unpacked, folders or bare files."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from cooperation.data import volumes
from cooperation.data.volumes import read as read_member
from cooperation.io.files import InputError, digest
from cooperation.io.identity import Agreement, Identity, require_same
from cooperation.io.writing import keep

# COCO_train2014_000000123456.jpg, VisualDialog_val2018_000000123456.jpg
PICTURE = re.compile(r"(\d+)\.\w+$")
PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".bmp", ".gif", ".tif", ".tiff", ".avif", ".heic", ".jxl", ".jp2")
"""How names of pictures end; those that can't be decoded are named when they are."""
# How programs name a second copy: `7 copy 2.jpg`, `7 - Copy (2).jpg`, `7 (1).jpg`, `Copy of 7.jpg`.
COPY = re.compile(
    r"((^|[/\\\W\d_])(copy|kopie|copie|copia)[ _]*(\(?\d+\)?)?|\d ?\(\d+\)|~\d*)\.\w+$"
    r"|(^|[/\\])(copy|kopie|copie|copia)( \(\d+\))? (of|von|de|di) [^/\\]*$",
    re.IGNORECASE,
)
# One that is a copy where the first is there too: `7 2.jpg` beside `7.jpg`.
SECOND = re.compile(r"(.*\d) \d+(\.\w+)")
LARGEST = np.iinfo(np.int64).max
"""The largest image id that can be stored."""
LISTED = re.compile(rb"(?:COCO|VisualDialog)_([a-z]+)\d{4}_(\d{12})\.jpe?g", re.IGNORECASE)
"""The name of a picture in COCO's annotations, with its split and id."""

IMAGE_ID = re.compile(rb'"image_id"\s*:\s*(\d+)')
"""Where VisDial's JSON says which picture a dialog is about."""
SPLIT = re.compile(r"(train|val|test)(\d{4})")

MADE_UP = "made-up files"
"""What archives of made-up dialogs and pictures say in their comments, in an `Identity`."""
MARK = "made up by cooperation, "


class Picture(NamedTuple):
    """A picture file in an archive, in a folder or by itself."""

    archive: Path
    name: str

    def read(self) -> bytes:
        """Its bytes. Raises `InputError` where the archive or this file in it is missing or damaged."""
        return read_member(self.archive, self.name)

    def checksum(self) -> int:
        """The CRC-32 of its bytes, which an archive's directory says; raises as `read`."""
        return volumes.checksum(self.archive, self.name)

    def __str__(self) -> str:
        return f"{self.archive}, {self.name}"


def comment_of(settings: str) -> bytes:
    """The comment of an archive whose content was made up; settings: what it was made with, in words."""
    return f"{MARK}{settings}".encode()


def made_up(paths: Sequence[Path]) -> str:
    """What archives say that their content was made up with; "" where none was, or nothing is said of it.

    Files that are no zip archives say nothing. Raises `InputError` where two archives were made with different
    settings, or one is missing or damaged.
    """
    said = [Identity(path, {MADE_UP: settings}) for path in paths if (settings := _comment(path))]
    for one in said[1:]:
        require_same(said[0], one, Agreement((MADE_UP,)), "give archives that were made together")
    return said[0].of(MADE_UP) if said else ""


def _comment(path: Path) -> str:
    text = volumes.comment(path)
    return text.removeprefix(MARK) if text.startswith(MARK) else ""


def json_member(path: Path) -> str:
    """The name of the JSON that a path holds. Raises `InputError` where it is missing, damaged or holds several."""
    return volumes.only(path, ".json")


def json_digest(path: Path) -> str:
    """SHA-256 of the file that holds a JSON: of the archive or file itself, or of the only JSON in a folder."""
    return digest(path / json_member(path) if path.is_dir() else path)


def dialog_ids(path: Path) -> list[int]:
    """The image ids of the dialogs in VisDial's JSON, in its order: in seconds and little memory, not checked further.

    Raises `InputError` for a file that cannot be read, or has no dialogs.
    """
    found = [image_id(match[1].decode(), path) for match in volumes.scan(path, json_member(path), IMAGE_ID)]
    if not found:
        raise InputError(f"{path}: damaged or cut short (no dialogs of VisDial's); delete it and download it again")
    return found


def image_id(digits: str, place: Path | str) -> int:
    """The number that digits write. Raises `InputError` that names `place` where it is too large to be stored."""
    shortened = digits.lstrip("0") or "0"
    if len(shortened) > len(str(LARGEST)) or int(shortened) > LARGEST:
        raise InputError(f"{place}: image id {shortened[:24]}{'…' if len(shortened) > 24 else ''} is above {LARGEST}")
    return int(shortened)


def is_picture(name: str) -> bool:
    """Whether a file is a picture by its name, and no second copy of one."""
    return name.lower().endswith(PICTURES) and not COPY.search(name)


def content_in_words(path: Path, name: str, holds: int) -> str:
    """What a path holds that stands for the download of a name, in whatever shape: `82,783 pictures`, `9 dialogs`.

    holds: how many it must hold, 0 where that isn't known. Raises `InputError` where it holds another number, or
    pictures that are of another split than the name says; it is "" for what is neither.
    """
    inside = volumes.names(path)
    if any(map(is_picture, inside)):
        found, what = picture_names(path), "pictures"
        wanted = SPLIT.search(name)
        for image, own in found.items():
            other = SPLIT.search(Path(own).name)
            if wanted and other and wanted[0] != other[0]:
                raise InputError(f"{path}: image {image} is of {other[0]}, not of {wanted[0]}; give another")
        count = len(found)
    elif any(one.lower().endswith(".json") for one in inside) or volumes.is_bare(path):
        count, what = len(dialog_ids(path)), "dialogs"
    else:
        return ""
    if holds and count != holds:
        raise InputError(f"{path}: holds {count:,} {what} instead of {holds:,}; give a whole one")
    return f"{count:,} {what}"


def read_json_text(path: Path) -> str:
    """Read the text of a bare JSON file, or of the only one in an archive or a folder.

    Raises `InputError` where it is missing, damaged, or not UTF-8.
    """
    raw = read_member(path, json_member(path))
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: byte {error.start} is not UTF-8 ({error.reason}); download it again or convert it"
        ) from error


def find_pictures(paths: Sequence[Path]) -> dict[int, Picture]:
    """Image id → picture, of all archives, folders and files one after another, each in the order of its ids.

    Nothing is written to pictures in folders from then on. Raises `InputError` as `picture_names` does, and where two
    archives have a picture of one image.
    """
    found: dict[int, Picture] = {}
    for path in paths:
        names = picture_names(path)
        for image in found.keys() & names.keys():
            raise InputError(f"{path}: image {image} is in {found[image].archive} already; give each picture once")
        found |= {image: Picture(path, name) for image, name in names.items()}
        if volumes.shape(path) == "folder":
            keep(path / name for name in names.values())
    return found


def picture_names(path: Path) -> dict[int, str]:
    """Image id → name of every picture in an archive or folder, or of one that is a file, in the order of the ids.

    The id is the number at the end of a name. Raises `InputError` where there are no pictures, or one has no id or
    another's.
    """
    found: dict[int, str] = {}
    inside = volumes.names(path)
    there = set(inside)
    for name in inside:
        second = SECOND.fullmatch(name)
        if not is_picture(name) or (second and second[1] + second[2] in there):
            continue
        number = PICTURE.search(name)
        if number is None:
            raise InputError(f"{path}: {name} carries no image id; name it as COCO does, …_000000123456.jpg")
        image = image_id(number[1], f"{path}, {name}")
        if image in found:
            raise InputError(f"{path}: image {image} is there twice, {found[image]} and {name}; give each once")
        found[image] = name
    if not found and volumes.is_bare(path):
        raise InputError(
            f"{path}: damaged or cut short (neither a zip archive, a folder nor a picture); delete it and download it "
            "again, or give another"
        )
    if not found:
        raise InputError(f"{path}: holds no pictures; choose the archive, folder or file of pictures")
    return dict(sorted(found.items()))


def listed(paths: Sequence[Path], split: str) -> dict[int, str]:
    """Image id → split that COCO names, of the pictures in archives, folders and files or in COCO's annotations.

    Of an archive or folder of annotations, those that have `split` in their names are read. Raises `InputError` as
    `find_pictures`, and where a path holds neither.
    """
    found: dict[int, str] = {}
    for path in paths:
        inside = volumes.names(path)
        if any(map(is_picture, inside)):
            named = {image: split_of(name) for image, name in picture_names(path).items()}
        else:
            lists = inside if volumes.is_bare(path) else [name for name in inside if split in Path(name).name]
            matches = (match for name in lists for match in volumes.scan(path, name, LISTED))
            named = {image_id(match[2].decode(), path): match[1].decode().lower() for match in matches}
        if not named:
            raise InputError(
                f"{path}: neither holds pictures nor lists them, as COCO's annotations; give one that does"
            )
        found |= named
    return found


def listed_ids(paths: Sequence[Path], split: str) -> npt.NDArray[np.int64]:
    """Ids [pictures] of a split of COCO's, see `listed`; raises as that, and where a name is of another split."""
    found = listed(paths, split)
    for line in foreign(found, paths, split):
        raise InputError(line)
    return np.unique(np.array(list(found), np.int64))


def foreign(found: Mapping[int, str], paths: Sequence[Path], split: str) -> Iterator[str]:
    """What is wrong with pictures that are to be a split's of COCO's and have another one's name: a line at most."""
    for image, other in found.items():
        if other not in ("", split):
            yield f"{paths[0]}: image {image} is in COCO's {other} split, not in {split}; exchange the paths"
            return


def split_of(name: str) -> str:
    """The split that COCO names in a picture's name: train, val or test; "" where it names none."""
    found = re.search(rf"_{SPLIT.pattern}_\d+\.[A-Za-z]+$", name)
    return found[1] if found else ""
