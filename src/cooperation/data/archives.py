"""JSON and pictures read out of zip archives, without unpacking them, or from an unpacked folder."""

import os
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from lzma import LZMAError
from pathlib import Path
from zipfile import BadZipFile, ZipFile

from cooperation.files import DAMAGE, Errors, InputError, sound

# COCO_train2014_000000123456.jpg, VisualDialog_val2018_000000123456.jpg
PICTURE = re.compile(r"(\d+)\.jpe?g$", re.IGNORECASE)

# VisDial's JSON is packed to a third, bombs to a thousandth.
MOST_PACKED, SMALL = 200, 1 << 20

# By zipfile for cut, overwritten, encrypted and exotically packed archives.
RAISED: Errors = (BadZipFile, zlib.error, LZMAError, EOFError, struct.error, *DAMAGE)

# Absolute names and names that climb, in Unix's and in Windows' spelling.
OUTSIDE = re.compile(r"^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.($|[/\\])")


def read_json_text(path: Path) -> str:
    """The text of a bare .json file or of the only one in a zip archive; not UTF-8 is an `InputError`."""
    with _readable(path):
        raw = _zipped_json(path) if path.suffix == ".zip" else path.read_bytes()
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: byte {error.start} is not UTF-8 ({error.reason}); download it again or convert it"
        ) from error


def picture_names(path: Path) -> dict[int, str]:
    """Image id → name of every JPEG in an archive or folder, in order of the ids; the id is the number in its name."""
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
    """The bytes of one member of an archive, which stays open for the next one, or of one file of a folder."""
    with _readable(path, f", {name}"):
        if path.is_dir():
            return (path / name).read_bytes()
        return _unpacked(_kept_open(path, os.getpid()), name)


# Processes that share an open file share its position, so each opens its own.
@lru_cache(maxsize=2)
def _kept_open(path: Path, _process: int) -> ZipFile:
    return ZipFile(path)


@contextmanager
def _readable(path: Path, member: str = "") -> Iterator[None]:
    with sound(f"{path}{member}", "damaged or cut short", "delete it and download it again", RAISED):
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
    """A member's bytes: never more than its directory says, nor than an honest archive packs."""
    found = archive.getinfo(name)
    if found.file_size > max(SMALL, MOST_PACKED * found.compress_size):
        raise ValueError(f"{found.file_size:,} bytes, packed into {found.compress_size:,}: a bomb")
    with archive.open(found) as member:
        # One more than there should be, so that the end is met and the checksum compared.
        return member.read(found.file_size + 1)
