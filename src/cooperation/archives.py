"""JSON and pictures read out of zip archives, without unpacking them."""

import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from zipfile import BadZipFile, ZipFile

from cooperation.files import InputError

# COCO_train2014_000000123456.jpg, VisualDialog_val2018_000000123456.jpg
PICTURE = re.compile(r"(\d+)\.jpe?g$", re.IGNORECASE)


@contextmanager
def opened_archive(path: Path) -> Iterator[ZipFile]:
    """Open a zip archive to read; a missing, damaged or suspicious one, or a damaged member, is an `InputError`."""
    if not path.exists():
        raise InputError(f"{path}: no such file; download it or put it there")
    try:
        with ZipFile(path) as archive:
            _refuse_escapes(path, archive.namelist())
            yield archive
    # What zipfile raises for cut, overwritten, encrypted and exotically packed archives.
    except (BadZipFile, zlib.error, EOFError, OSError, RuntimeError) as error:
        raise InputError(f"{path}: damaged or cut short ({error}); delete it and download it again") from error


def _refuse_escapes(path: Path, names: list[str]) -> None:
    for name in names:
        parts = PurePosixPath(name.replace("\\", "/"))
        if parts.is_absolute() or ".." in parts.parts or re.match(r"[A-Za-z]:", name):
            raise InputError(f"{path}: its member {name!r} points outside the archive; get the archive from elsewhere")


def read_json_text(path: Path) -> str:
    """The text of a bare .json file or of the only one in a zip archive; not UTF-8 is an `InputError`."""
    raw = _zipped_json(path) if path.suffix == ".zip" else _bare(path)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{path}: byte {error.start} is not UTF-8 ({error.reason}); download it again or convert it"
        ) from error


def _bare(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); download it or put it there") from error


def _zipped_json(path: Path) -> bytes:
    with opened_archive(path) as archive:
        names = [name for name in archive.namelist() if name.endswith(".json") and not name.startswith("__MACOSX/")]
        if len(names) != 1:
            raise InputError(f"{path}: holds {len(names)} .json files instead of one; choose another archive")
        return archive.read(names[0])


def picture_names(path: Path) -> dict[int, str]:
    """Image id → member name of every JPEG in an archive, in order of the ids; the id is the number in its name."""
    with opened_archive(path) as archive:
        names = [name for name in archive.namelist() if name.lower().endswith((".jpg", ".jpeg"))]
    found: dict[int, str] = {}
    for name in names:
        number = PICTURE.search(name)
        if number is None:
            raise InputError(f"{path}: {name} carries no image id; name it as COCO does, …_000000123456.jpg")
        if int(number[1]) in found:
            raise InputError(f"{path}: image {int(number[1])} is there twice, {found[int(number[1])]} and {name}")
        found[int(number[1])] = name
    if not found:
        raise InputError(f"{path}: holds no JPEG files; choose the archive of pictures")
    return dict(sorted(found.items()))
