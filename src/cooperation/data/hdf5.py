"""HDF5 files that are written whole, or not at all, and read only as they were written.

HDF5 has checksums of its own for its structure (since version 1.10) and for packed arrays, but none that would notice
an array of zeros, or text. So our files carry the SHA-256 of every array, with its name, type and shape, and of their
attributes, in an attribute of that name. Files of others have none and are read as they are.
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

from cooperation.files import BROKEN, DAMAGE, InputError, reachable, sound, written_whole

Array = npt.NDArray[Any]
SUMS = "sha256"
# No packing makes an array smaller than a file by more than this: deflate's limit is 1032.
MOST_PACKED = 1100


class Sum:
    """SHA-256 of an array's name, type, shape and content, which may come in blocks."""

    def __init__(self, name: str, kind: "np.dtype[Any]", shape: tuple[int, ...]) -> None:
        self._sum = hashlib.sha256(f"{name} {kind.str} {tuple(map(int, shape))}".encode())

    def add(self, block: Array) -> None:
        """Take in the next part of the content."""
        self._sum.update(block.tobytes())

    def text(self) -> str:
        """The sum in hexadecimal digits."""
        return self._sum.hexdigest()


def _sum_of(attributes: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(attributes, sort_keys=True).encode()).hexdigest()


class Sink(RawIOBase):
    """A file for HDF5 to write to that bears a full disk: HDF5 itself crashes where writing fails.

    What can't be written is dropped, and `error` says why.
    """

    def __init__(self, file: FileIO) -> None:
        self._file = file
        self.error: OSError | None = None

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go to a place in the file."""
        return self._file.seek(offset, whence)

    def readinto(self, buffer: Any) -> int | None:
        """Read into a buffer."""
        return self._file.readinto(buffer)

    def write(self, block: Any) -> int:
        """Write a block, or remember why not."""
        rest = memoryview(block).cast("B")
        try:
            while len(rest) and not self.error:
                rest = rest[self._file.write(rest) :]
        except OSError as error:
            self.error = error
        return memoryview(block).nbytes

    def truncate(self, size: int | None = None) -> int:
        """Set the file's size."""
        try:
            return self._file.truncate(size)
        except OSError as error:
            self.error = error
            return size or 0


class Writing:
    """A file that is being written; `attributes` may be filled until the end."""

    def __init__(self, file: h5py.File, sink: Sink) -> None:
        self._file, self._sink = file, sink
        self.attributes: dict[str, Any] = {}
        self._sums: dict[str, str] = {}

    def add(self, name: str, array: Array) -> None:
        """Write an array, compressed."""
        packed: dict[str, Any] = {"compression": "gzip", "compression_opts": 1, "shuffle": True}
        self._file.create_dataset(name, data=array, **(packed if array.size else {}))
        total = Sum(name, array.dtype, array.shape)
        total.add(array)
        self._sums[name] = total.text()

    def add_texts(self, name: str, texts: Iterable[str]) -> None:
        """Write texts: as UTF-8 of one length, since nothing would check those of several."""
        raw = np.array([text.encode() for text in texts])
        self.add(name, raw.astype(h5py.string_dtype("utf-8", max(raw.dtype.itemsize, 1))))

    def add_blocks(self, name: str, rows: int, blocks: Iterable[npt.NDArray[np.float32]]) -> None:
        """Write vectors [rows, numbers] a block at a time; float32, uncompressed (noise to a compressor)."""
        done, array, total = 0, None, None
        for block in blocks:
            if array is None or total is None:
                shape = (rows, block.shape[1])
                # Whole rows: what is read are always blocks of them.
                array = self._file.create_dataset(name, shape, "f4", chunks=(min(64, rows), block.shape[1]))
                total = Sum(name, array.dtype, shape)
            array[done : done + len(block)] = block
            total.add(np.asarray(block, np.float32))
            done += len(block)
            self.check()
        if done != rows or total is None:
            raise ValueError(f"{done} vectors for {rows} rows of {name}")
        self._sums[name] = total.text()

    def check(self) -> None:
        """Raise what kept the file from being written."""
        if self._sink.error:
            raise self._sink.error

    def close(self) -> None:
        """Write the attributes and all sums."""
        values = {name: _plain(value) for name, value in self.attributes.items()}
        for name, value in (*values.items(), (SUMS, json.dumps({**self._sums, "": _sum_of(values)}))):
            if isinstance(value, str):
                raw = value.encode()
                self._file.attrs.create(name, np.bytes_(raw), dtype=h5py.string_dtype("utf-8", max(len(raw), 1)))
            else:
                self._file.attrs[name] = value


@contextmanager
def created(path: Path) -> Iterator[Writing]:
    """Write a file, whole or not at all."""
    with written_whole(path) as temporary, FileIO(temporary, "w+") as raw:
        sink = Sink(raw)
        try:
            with h5py.File(sink, "w", libver=("v110", "v110"), track_order=True) as file:
                writing = Writing(file, sink)
                yield writing
                writing.close()
        finally:
            if sink.error:
                raise sink.error


@contextmanager
def opened(path: Path) -> Iterator[h5py.File]:
    """Open an HDF5 file to read; a missing, damaged or foreign file is an `InputError`.

    A `TypeError` or an `AttributeError` of the block stays one, for this module's readers raise none: it is a bug.
    """
    what, remedy = (
        "damaged or not of this kind",
        "give the right one; if this was made by snakemake, delete it and run that again",
    )
    with reachable(path):
        if not path.exists():
            raise InputError(f"{path}: no such file; make it with snakemake")
    with sound(path, what, remedy, DAMAGE):
        file = h5py.File(path, "r")
    with sound(path, what, remedy, BROKEN), file:
        yield file


@contextmanager
def _content() -> Iterator[None]:
    """Make what odd content of a file raises a `ValueError`, whatever it is."""
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
    """An array as it is, unless it claims to be larger than the file can hold."""
    return np.asarray(_dataset(file, name)[()])


@_content()
def shape_of(file: h5py.File, name: str) -> tuple[int, ...]:
    """The shape of an array that the file can hold."""
    return tuple(map(int, _dataset(file, name).shape))


def read_blocks(file: h5py.File, name: str, rows: int) -> Iterator[Array]:
    """An array, at most so many rows at a time."""
    found = _dataset(file, name)
    for start in range(0, len(found), rows):
        with _content():
            block = found[start : start + rows]
        yield block


@_content()
def _dataset(file: h5py.File, name: str) -> h5py.Dataset:
    found = file[name]
    if found.external or found.is_virtual:
        raise ValueError(f"the content of {name} is said to be in other files")
    size = int(np.prod(found.shape, dtype=object)) * int(found.dtype.itemsize)
    if size > MOST_PACKED * file.id.get_filesize():
        raise ValueError(f"{name} claims to have {size:,} bytes")
    return found


class Ours:
    """A file of ours that is open: its attributes, and its arrays once their sums are right.

    Another file, or a damaged one, raises a `ValueError` or another of `BROKEN`, which `opened` makes an `InputError`.
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

    def __getitem__(self, name: str) -> Array:
        """A whole array."""
        array = read_array(self._file, name)
        total = Sum(name, array.dtype, array.shape)
        total.add(array)
        self._compare(name, total.text())
        return array

    def texts(self, name: str) -> list[str]:
        """Texts that `Writing.add_texts` wrote."""
        with _content():
            return [text.decode() for text in self[name].tolist()]

    def blocks(self, name: str, rows: int) -> Iterator[Array]:
        """An array, at most so many rows at a time; whether it is as it was written is known after the last."""
        found = _dataset(self._file, name)
        total = Sum(name, found.dtype, found.shape)
        for block in read_blocks(self._file, name, rows):
            total.add(block)
            yield block
        self._compare(name, total.text())

    def _compare(self, name: str, found: str) -> None:
        if self._sums.get(name) != found:
            raise ValueError(f"{name or 'what it says of itself'} is not what was written")


def _plain(value: Any) -> Any:
    """An attribute as a text, which UTF-8 can say and no zero byte ends, or a number of Python's own."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, str):
        value = value.encode(errors="backslashreplace").rstrip(b"\0")
    return value.decode() if isinstance(value, bytes) else value


def read_attributes(path: Path) -> dict[str, Any]:
    """All attributes of a file of ours."""
    with opened(path) as file:
        return Ours(file).attributes
