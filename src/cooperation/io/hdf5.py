"""HDF5 files that are written atomically, and whose checksums are verified when they are read.

HDF5's own checksums cover its structure (since version 1.10) and compressed arrays, but would miss an array that became
zeros, or text. So the files of this program hold the SHA-256 of every array, with its name, type and shape, and of the
attributes, in the attribute `sha256`. Files of other programs have none and are read as they are.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from io import FileIO, RawIOBase
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from cooperation.io.files import BROKEN, DAMAGE, InputError, check_readable, file_errors, parse_errors
from cooperation.io.writing import written_whole

Array = npt.NDArray[Any]
SUMS = "sha256"
FILTERS = {
    307: "bzip2",
    32000: "LZF",
    32001: "Blosc",
    32004: "LZ4",
    32008: "bitshuffle",
    32015: "Zstandard",
    32026: "Blosc2",
}
"""Names of HDF5's registered filters by number, for messages."""
# An array is no larger than its file by more than this: deflate compresses 1032 times at most.
LARGEST_RATIO = 1100


class Checksum:
    """SHA-256 of an array's name, type, shape and content; the content may come in blocks."""

    def __init__(self, name: str, kind: "np.dtype[Any]", shape: tuple[int, ...]) -> None:
        self._sum = hashlib.sha256(f"{name} {kind.str} {tuple(map(int, shape))}".encode())

    def add(self, block: Array) -> None:
        """Add the next block of the content."""
        self._sum.update(block.tobytes())

    def text(self) -> str:
        """The checksum in hexadecimal digits."""
        return self._sum.hexdigest()


def _sum_of(attributes: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(attributes, sort_keys=True).encode()).hexdigest()


class DeferredErrorFile(RawIOBase):
    """A file that keeps the first error of writing for later: HDF5 itself crashes where writing fails.

    error: why something could not be written, such as a full disk; what is written after that is dropped.
    """

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self.error: OSError | None = None

    def seek(self, offset: int, whence: int = 0) -> int:
        """Move to an offset in the file."""
        return self._file.seek(offset, whence)

    def readinto(self, buffer: Any) -> int | None:
        """Read into a buffer."""
        return self._file.readinto(buffer)

    def write(self, block: Any) -> int:
        """Write a block, or keep the error."""
        rest = memoryview(block).cast("B")
        try:
            while len(rest) and not self.error:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self.error = error
        return memoryview(block).nbytes

    def truncate(self, size: int | None = None) -> int:
        """Set the file's size, or keep the error."""
        try:
            return self._file.truncate(size)
        except OSError as error:
            self.error = error
            return size or 0


class Writer:
    """Writes arrays and their checksums to an HDF5 file; `attributes` are written at the end."""

    def __init__(self, file: h5py.File, raw: DeferredErrorFile) -> None:
        self._file, self._raw = file, raw
        self.attributes: dict[str, Any] = {}
        self._sums: dict[str, str] = {}

    def add(self, name: str, array: Array) -> None:
        """Write an array, compressed."""
        packed: dict[str, Any] = {"compression": "gzip", "compression_opts": 1, "shuffle": True}
        self._file.create_dataset(name, data=array, **(packed if array.size else {}))
        total = Checksum(name, array.dtype, array.shape)
        total.add(array)
        self._sums[name] = total.text()

    def add_texts(self, name: str, texts: Iterable[str]) -> None:
        """Write texts, padded to one length in UTF-8: HDF5 stores texts of several lengths where no checksum is."""
        raw = np.array([text.encode() for text in texts])
        self.add(name, raw.astype(h5py.string_dtype("utf-8", max(raw.dtype.itemsize, 1))))

    def add_blocks(self, name: str, rows: int, blocks: Iterable[npt.NDArray[np.float32]]) -> None:
        """Write vectors [rows, numbers] in blocks [≤ rows, numbers], as float32; they would hardly compress.

        Raises `ValueError` where the blocks have another number of rows, `OSError` where the disk is full.
        """
        done, array, total = 0, None, None
        for block in blocks:
            if array is None or total is None:
                shape = (rows, block.shape[1])
                # Chunks of whole rows, as they are read.
                array = self._file.create_dataset(name, shape, "f4", chunks=(min(64, rows), block.shape[1]))
                total = Checksum(name, array.dtype, shape)
            array[done : done + len(block)] = block
            total.add(np.asarray(block, np.float32))
            done += len(block)
            self.check()
        if done != rows or total is None:
            raise ValueError(f"{done} vectors for {rows} rows of {name}")
        self._sums[name] = total.text()

    def check(self) -> None:
        """Raise the error that kept the file from being written, if there was one."""
        if self._raw.error:
            raise self._raw.error

    def close(self) -> None:
        """Write the attributes and all checksums."""
        values = {name: _plain(value) for name, value in self.attributes.items()}
        for name, value in (*values.items(), (SUMS, json.dumps({**self._sums, "": _sum_of(values)}))):
            if isinstance(value, str):
                raw = value.encode()
                self._file.attrs.create(name, np.bytes_(raw), dtype=h5py.string_dtype("utf-8", max(len(raw), 1)))
            else:
                self._file.attrs[name] = value


@contextmanager
def created(path: Path) -> Iterator[Writer]:
    """Write a file atomically. Raises `InputError` where the disk is full, read-only or forbidden."""
    with written_whole(path) as temporary, FileIO(temporary, "w+") as opened_file:
        raw = DeferredErrorFile(opened_file)
        try:
            with h5py.File(raw, "w", libver=("v110", "v110"), track_order=True) as file:
                writer = Writer(file, raw)
                yield writer
                writer.close()
        finally:
            if raw.error:
                raise raw.error


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """Open an HDF5 file to read. Raises `InputError` where it is missing, damaged or foreign.

    A `TypeError` or an `AttributeError` in the block stays one: this module's functions raise none, so it is a bug.
    """
    what, remedy = (
        "damaged or not of this kind",
        "give the right one; if this was made by snakemake, delete it and run that again",
    )
    with file_errors(path):
        if not path.exists():
            raise InputError(f"{path}: no such file; make it with snakemake")
        check_readable(path)
    with parse_errors(path, what, remedy, DAMAGE):
        # Files appear whole (`written_whole`), so nobody needs a lock; file systems of networks may have none.
        file = h5py.File(path, "r", locking=False)
    with parse_errors(path, what, remedy, BROKEN), file:
        # Links to other files would be followed without a word.
        links = [name for name in file if not isinstance(file.get(name, getlink=True), h5py.HardLink)]
        if links:
            raise ValueError(f"{links[0]} is a link to another place")
        yield file


@contextmanager
def _content() -> Iterator[None]:
    """Make errors of odd content `ValueError`s."""
    try:
        yield
    except (TypeError, AttributeError) as error:
        raise ValueError(f"{error}") from error


@_content()
def content(file: h5py.File) -> dict[str, str]:
    """Shape and type of every array, by name."""
    return {name: f"{tuple(map(int, each.shape))} {each.dtype}" for name, each in file.items()}


@_content()
def read_array(file: h5py.File, name: str) -> Array:
    """Read an array. Raises `ValueError` where it claims to be larger than the file can hold."""
    return np.asarray(_dataset(file, name)[()])


@_content()
def shape_of(file: h5py.File, name: str) -> tuple[int, ...]:
    """The shape of an array. Raises `ValueError` where it claims to be larger than the file can hold."""
    return tuple(map(int, _dataset(file, name).shape))


def read_blocks(file: h5py.File, name: str, rows: int) -> Iterator[Array]:
    """Yield an array in blocks of at most `rows` rows. Raises `ValueError` as `read_array` does."""
    found = _dataset(file, name)
    for start in range(0, len(found), rows):
        with _content():
            block = found[start : start + rows]
        yield block


@_content()
def _dataset(file: h5py.File, name: str) -> h5py.Dataset:
    found = file[name]
    if found.external or found.is_virtual:
        raise ValueError(f"the content of {name} is in other files")
    size = int(np.prod(found.shape, dtype=object)) * int(found.dtype.itemsize)
    if size > LARGEST_RATIO * file.id.get_filesize():
        raise ValueError(f"{name} claims to have {size:,} bytes")
    _check_filters(found, name, file.filename)
    return found


def _check_filters(found: h5py.Dataset, name: str, place: str) -> None:
    """Raise `InputError` where an array is packed by a filter that isn't installed: it is whole, but can't be read."""
    plist = found.id.get_create_plist()
    for number in range(plist.get_nfilters()):
        code, _, _, words = plist.get_filter(number)
        if not h5py.h5z.filter_avail(code):
            known = FILTERS.get(code, words.decode(errors="replace").strip() or f"filter {code}")
            raise InputError(
                f"{place}: {name} is packed with {known}, which is not read here; pack it again without "
                "(h5repack -f NONE where that filter is installed)"
            )


class Verified:
    """Reads an open HDF5 file of this program: its attributes, and its arrays when their checksums are verified.

    A damaged or foreign file raises `ValueError` or another of `BROKEN`, which `opened` turns into an `InputError`.
    """

    @_content()
    def __init__(self, file: h5py.File) -> None:
        self._file = file
        attributes = {name: _plain(value) for name, value in file.attrs.items()}
        if SUMS not in attributes:
            raise ValueError("it has no checksums, so another program or version made it")
        self._sums: dict[str, str] = json.loads(attributes.pop(SUMS))
        self.attributes: dict[str, Any] = attributes
        self._compare("", _sum_of(attributes))

    @property
    def sums(self) -> dict[str, str]:
        """Checksums of the arrays, by name, as they were written."""
        return {name: total for name, total in self._sums.items() if name}

    def __getitem__(self, name: str) -> Array:
        """A whole array. Raises `ValueError` where its checksum is wrong."""
        array = read_array(self._file, name)
        total = Checksum(name, array.dtype, array.shape)
        total.add(array)
        self._compare(name, total.text())
        return array

    def texts(self, name: str) -> list[str]:
        """Texts that `Writer.add_texts` wrote."""
        with _content():
            return [text.decode() for text in self[name].tolist()]

    def blocks(self, name: str, rows: int) -> Iterator[Array]:
        """Yield an array in blocks of at most `rows` rows; its checksum is compared after the last.

        Raises `ValueError` where it is wrong.
        """
        found = _dataset(self._file, name)
        total = Checksum(name, found.dtype, found.shape)
        for block in read_blocks(self._file, name, rows):
            total.add(block)
            yield block
        self._compare(name, total.text())

    def _compare(self, name: str, found: str) -> None:
        if self._sums.get(name) != found:
            raise ValueError(f"{name or 'the list of attributes'} is not what was written")


def _plain(value: Any) -> Any:
    """An attribute as a `str` that UTF-8 can hold, without zero bytes at its end, or a number of Python's own."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, str):
        value = value.encode(errors="backslashreplace").rstrip(b"\0")
    return value.decode() if isinstance(value, bytes) else value


def read_attributes(path: Path) -> dict[str, Any]:
    """All attributes of a file of this program. Raises `InputError` where it is missing, damaged or foreign."""
    with opened(path) as file:
        return Verified(file).attributes
