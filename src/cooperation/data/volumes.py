"""What a path holds, whatever its shape: a zip archive, a folder or one bare file, told apart by content.

So a link may have any name, and whoever has unpacked an archive need not pack it again. Members are named as in the
archive or by their paths in the folder; of a bare file there is one, itself.
"""

import os
import re
import struct
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from lzma import LZMAError
from pathlib import Path, PurePath
from typing import IO
from zipfile import BadZipFile, ZipFile, ZipInfo, is_zipfile

from cooperation.data.foreign import LONGEST, check_packing, what_is_foreign
from cooperation.io.files import DAMAGE, Errors, InputError, check_readable, parse_errors

# VisDial's JSON is compressed to a third, zip bombs to a thousandth.
LARGEST_RATIO, SMALL = 200, 1 << 20
# How zip archives begin, those without members and those cut short included.
ZIP = (b"PK\3\4", b"PK\5\6")

# How JSON objects, JPEG and PNG files begin.
LOOSE = (b"{", b"\xff\xd8\xff", b"\x89PNG")

# By zipfile for archives that are cut short, overwritten, encrypted or compressed in an unknown way.
RAISED: Errors = (BadZipFile, zlib.error, LZMAError, EOFError, struct.error, *DAMAGE)

# Absolute names and names with `..`, in Unix's and in Windows' spelling.
OUTSIDE = re.compile(r"^[/\\]|^[A-Za-z]:|(^|[/\\])\.\.($|[/\\])")

# What systems and programs put beside files: hidden ones, macOS' second halves of files, previews, snapshots, trash.
CLUTTER = re.compile(
    r"(^|[/\\])(\.[^/\\]|__MACOSX[/\\]|@eaDir|#recycle|#snapshot|\$RECYCLE\.BIN|System Volume Information|lost\+found"
    r"|Thumbs\.db$|desktop\.ini$)",
    re.IGNORECASE,
)

# A piece of a text that is scanned, and the longest match in it.
PIECE, LONGEST_MATCH = 1 << 22, 200


def is_archive(path: Path) -> bool:
    """Whether a path is a zip archive by its content; raises as `names`, and for what this program does not read."""
    with _readable(path):
        if path.is_dir():
            return False
        with path.open("rb") as file:
            begins = file.read(LONGEST)
            if not begins:
                raise ValueError("the file is empty")
            if foreign := what_is_foreign(begins):
                raise InputError(f"{path}: is {'; '.join(foreign)}")
            return begins.startswith(ZIP) or is_zipfile(file)


def is_bare(path: Path) -> bool:
    """Whether a path is a file of its own, neither a folder nor an archive; raises as `names`."""
    return not path.is_dir() and not is_archive(path)


def shape(path: Path) -> str:
    """The shape of a path in a word: folder, archive or file; raises as `names`."""
    return "folder" if path.is_dir() else "archive" if is_archive(path) else "file"


def names(path: Path) -> list[str]:
    """Names of all members but `CLUTTER`; folders may be nested, and linked to.

    Raises `InputError` where the path is missing, damaged or can't be read, or a name points outside.
    """
    if path.is_dir():
        with _readable(path):
            return sorted(name for name in _walk(path) if not CLUTTER.search(name))
    if is_archive(path):
        with _readable(path), ZipFile(path) as archive:
            return [name for name in _inside(path, archive) if not CLUTTER.search(name)]
    # What a link leads to may have the name that the content asks for, or the link itself.
    return [path.resolve().name if path.suffix in ("", ".zip") else path.name]


def only(path: Path, *endings: str) -> str:
    """The name of the only member that ends so; of a bare file itself, however it is named.

    Raises `InputError` as `names`, and where there are none or several.
    """
    if is_bare(path):
        return names(path)[0]
    found = [name for name in names(path) if name.lower().endswith(endings)]
    if len(found) != 1:
        listed = f" ({', '.join(found[:4])}{', …' if found[4:] else ''})" if found else ""
        raise InputError(
            f"{path}: holds {len(found)} {' or '.join(endings)} files instead of one{listed}; choose another, or name "
            "the file itself"
        )
    return found[0]


def read(path: Path, name: str) -> bytes:
    """Read a member; an archive stays open for the next one. Raises `InputError` where it is missing or damaged."""
    pieces = []
    with opened(path, name) as file:
        # In pieces: asked for all at once, zipfile would unpack a bomb that says it is small.
        while piece := file.read(PIECE):
            pieces.append(piece)
    return b"".join(pieces)


@contextmanager
def opened(path: Path, name: str) -> Iterator[IO[bytes]]:
    """Open a member to read. Raises `InputError` where it is missing or damaged, in the block as well."""
    kind = shape(path)
    with _readable(path, "" if kind == "file" else f", {name}"):
        if kind == "archive":
            archive = _open_archive(path, _version(path))
            found = _unbombed(archive.getinfo(name))
            check_packing(found, f"{path}, {name}")
            with archive.open(found) as member:
                yield member
        else:
            with (path / name if kind == "folder" else path).open("rb") as file:
                yield file


def as_published(path: Path, name: str) -> bool:
    """Whether a path has the form of the download of a name, so that the size and hash of that are its own.

    That of `x.zip` is an archive, or what is left of one, but neither JSON nor a picture; that of `x.pth` is one file,
    which may have the form of an archive itself. Raises as `names`.
    """
    kind, suffix = shape(path), PurePath(name).suffix
    if kind == "archive":
        return suffix == ".zip" or not any(one.lower().endswith(suffix) for one in names(path))
    return kind == "file" and not (suffix == ".zip" and _is_loose(path))


def _is_loose(path: Path) -> bool:
    """Whether a file begins like JSON or a picture, so that nothing is packed in it."""
    with _readable(path), path.open("rb") as file:
        return file.read(64).lstrip(b"\xef\xbb\xbf \t\r\n").startswith(LOOSE)


def beside(path: Path) -> Path | None:
    """What stands beside the place of a download, unpacked or packed: `x`, `x.json` or `x.zip` beside `x.zip`."""
    stem = path.name.removesuffix(path.suffix)
    others = (path.with_name(f"{name}{suffix}") for name in (stem, path.name) for suffix in ("", ".json", ".zip"))
    return next((other for other in others if other != path and other.exists()), None)


def checksum(path: Path, name: str) -> int:
    """The CRC-32 of a member, which an archive's directory says; raises as `read`."""
    if not is_archive(path):
        return zlib.crc32(read(path, name))
    with _readable(path, f", {name}"):
        return _open_archive(path, _version(path)).getinfo(name).CRC


def comment(path: Path) -> str:
    """The comment of an archive; "" where there is none, as in all else. Raises as `names`."""
    if not is_archive(path):
        return ""
    with _readable(path), ZipFile(path) as archive:
        return archive.comment.decode(errors="replace")


def scan(path: Path, name: str, pattern: re.Pattern[bytes]) -> Iterator[re.Match[bytes]]:
    """Yield what a pattern finds in a member, piece by piece: gigabytes take seconds and no memory.

    A match has at most `LONGEST_MATCH` bytes. Raises as `read`.
    """
    with opened(path, name) as file:
        rest = b""
        while piece := file.read(PIECE):
            text, done = rest + piece, 0
            for match in pattern.finditer(text):
                # One at the end may go on in the next piece.
                if match.end() > len(text) - LONGEST_MATCH and len(piece) == PIECE:
                    break
                yield match
                done = match.end()
            rest = text[max(done, len(text) - 2 * LONGEST_MATCH) :] if len(piece) == PIECE else text[done:]
        yield from pattern.finditer(rest)


# Processes that share an open file share its position, so each opens its own; a path may come to be another file's.
@lru_cache(maxsize=2)
def _open_archive(path: Path, _version: tuple[int, ...]) -> ZipFile:
    return ZipFile(path)


def _version(path: Path) -> tuple[int, ...]:
    found = path.stat()
    return os.getpid(), found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


@contextmanager
def _readable(path: Path, member: str = "") -> Iterator[None]:
    with parse_errors(f"{path}{member}", "damaged or cut short", "delete it and download it again", RAISED):
        check_readable(path)
        try:
            yield
        except FileNotFoundError as error:
            raise InputError(f"{path}: no such file; download it or put it there") from error


def _walk(path: Path) -> Iterator[str]:
    """Paths of all files in a folder, relative to it. Links are followed, but not in circles."""
    seen: set[Path] = set()
    for folder, inner, files in os.walk(path, followlinks=True, onerror=_raise):
        place = Path(folder).resolve()
        if place in seen:
            inner.clear()
            continue
        seen.add(place)
        start = os.path.relpath(folder, path)
        yield from (name if start == "." else f"{start}/{name}" for name in files)


def _raise(error: OSError) -> None:
    raise error


def _inside(path: Path, archive: ZipFile) -> list[str]:
    for name in archive.namelist():
        if OUTSIDE.search(name):
            raise InputError(f"{path}: its member {name!r} points outside the archive; get the archive from elsewhere")
    return archive.namelist()


def _unbombed(found: ZipInfo) -> ZipInfo:
    """Refuse a zip bomb; of others, zipfile reads no more bytes than the archive's directory says."""
    if found.file_size > max(SMALL, LARGEST_RATIO * found.compress_size):
        raise ValueError(f"{found.file_size:,} bytes, packed into {found.compress_size:,}: a zip bomb")
    return found
