"""JSON and pictures in zip archives, read without unpacking them, or in folders."""

import os
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from lzma import LZMAError
from pathlib import Path
from typing import NamedTuple
from zipfile import BadZipFile, ZipFile

from cooperation.io.files import DAMAGE, Errors, InputError, check_readable, parse_errors
from cooperation.io.identity import Agreement, Identity, require_same
from cooperation.io.writing import keep

# COCO_train2014_000000123456.jpg, VisualDialog_val2018_000000123456.jpg
PICTURE = re.compile(r"(\d+)\.jpe?g$", re.IGNORECASE)

# VisDial's JSON is compressed to a third, zip bombs to a thousandth.
LARGEST_RATIO, SMALL = 200, 1 << 20

# By zipfile for archives that are cut short, overwritten, encrypted or compressed in an unknown way.
RAISED: Errors = (BadZipFile, zlib.error, LZMAError, EOFError, struct.error, *DAMAGE)

# Absolute names and names with `..`, in Unix's and in Windows' spelling.
OUTSIDE = re.compile(r"^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.($|[/\\])")

MADE_UP = "made-up files"
"""What archives of made-up dialogs and pictures say in their comments, in an `Identity`."""
MARK = "made up by cooperation, "


class Picture(NamedTuple):
    """A JPEG file in an archive or a folder."""

    archive: Path
    name: str

    def read(self) -> bytes:
        """Its bytes. Raises `InputError` where the archive or this file in it is missing or damaged."""
        return read_member(self.archive, self.name)

    def checksum(self) -> int:
        """The CRC-32 of its bytes, which an archive's directory says; raises as `read`."""
        if self.archive.is_dir():
            return zlib.crc32(self.read())
        with _readable(self.archive, f", {self.name}"):
            return _open_archive(self.archive, os.getpid()).getinfo(self.name).CRC

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
    if path.suffix != ".zip" or path.is_dir():
        return ""
    with _readable(path), ZipFile(path) as archive:
        text = archive.comment.decode(errors="replace")
    return text.removeprefix(MARK) if text.startswith(MARK) else ""


def read_json_text(path: Path) -> str:
    """Read the text of a bare .json file, or of the only one in a zip archive.

    Raises `InputError` where it is missing, damaged, or not UTF-8.
    """
    with _readable(path):
        raw = _zipped_json(path) if path.suffix == ".zip" else path.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: byte {error.start} is not UTF-8 ({error.reason}); download it again or convert it"
        ) from error


def find_pictures(paths: Sequence[Path]) -> dict[int, Picture]:
    """Image id → picture, of all archives and folders one after another, each in the order of its ids.

    Nothing is written to pictures in folders from then on. Raises `InputError` as `picture_names` does, and where two
    archives have a picture of one image.
    """
    found: dict[int, Picture] = {}
    for path in paths:
        names = picture_names(path)
        for image in found.keys() & names.keys():
            raise InputError(f"{path}: image {image} is in {found[image].archive} already; give each picture once")
        found |= {image: Picture(path, name) for image, name in names.items()}
        if path.is_dir():
            keep(path / name for name in names.values())
    return found


def picture_names(path: Path) -> dict[int, str]:
    """Image id → name of every JPEG file in an archive or folder, in the order of the ids.

    The id is the number at the end of a name. Raises `InputError` where there are no JPEG files, or one has no id or
    another's.
    """
    found: dict[int, str] = {}
    for name in _names(path):
        if not name.lower().endswith((".jpg", ".jpeg")):
            continue
        number = PICTURE.search(name)
        if number is None:
            raise InputError(f"{path}: {name} carries no image id; name it as COCO does, …_000000123456.jpg")
        if int(number[1]) in found:
            raise InputError(f"{path}: image {int(number[1])} is there twice, {found[int(number[1])]} and {name}")
        found[int(number[1])] = name
    if not found:
        raise InputError(f"{path}: holds no JPEG files; choose the archive of pictures")
    return dict(sorted(found.items()))


def read_member(path: Path, name: str) -> bytes:
    """Read one member of an archive, which stays open for the next one, or one file of a folder.

    Raises `InputError` where it is missing or damaged.
    """
    with _readable(path, f", {name}"):
        if path.is_dir():
            return (path / name).read_bytes()
        return _unpacked(_open_archive(path, os.getpid()), name)


# Processes that share an open file share its position, so each opens its own.
@lru_cache(maxsize=2)
def _open_archive(path: Path, _process: int) -> ZipFile:
    return ZipFile(path)


@contextmanager
def _readable(path: Path, member: str = "") -> Iterator[None]:
    with parse_errors(f"{path}{member}", "damaged or cut short", "delete it and download it again", RAISED):
        check_readable(path)
        try:
            yield
        except FileNotFoundError as error:
            raise InputError(f"{path}: no such file; download it or put it there") from error


def _names(path: Path) -> list[str]:
    if path.is_dir():
        return sorted(str(file.relative_to(path)) for file in path.rglob("*") if file.is_file())
    with _readable(path), ZipFile(path) as archive:
        return _inside(path, archive)


def _inside(path: Path, archive: ZipFile) -> list[str]:
    for name in archive.namelist():
        if OUTSIDE.search(name):
            raise InputError(f"{path}: its member {name!r} points outside the archive; get the archive from elsewhere")
    return archive.namelist()


def _zipped_json(path: Path) -> bytes:
    with ZipFile(path) as archive:
        found = [name for name in _inside(path, archive) if name.endswith(".json") and "__MACOSX" not in name]
        if len(found) != 1:
            raise InputError(f"{path}: holds {len(found)} .json files instead of one; choose another archive")
        return _unpacked(archive, found[0])


def _unpacked(archive: ZipFile, name: str) -> bytes:
    """Read a member: no more bytes than the archive's directory says, and no zip bomb."""
    found = archive.getinfo(name)
    if found.file_size > max(SMALL, LARGEST_RATIO * found.compress_size):
        raise ValueError(f"{found.file_size:,} bytes, packed into {found.compress_size:,}: a zip bomb")
    with archive.open(found) as member:
        # One byte more than there should be: zipfile compares the checksum at the end of the member.
        return member.read(found.file_size + 1)
