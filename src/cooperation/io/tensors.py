"""Safetensors files: written piece by piece, and what they say of themselves read plainly.

The library makes two copies of all tensors before it writes them, and maps files into memory, as not all systems can.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

# Bytes of the number with which a file begins: the length of the JSON after it, which is filled up with blanks.
LENGTH = 8
TYPES = {"float16": "F16", "float32": "F32", "float64": "F64", "int64": "I64", "int32": "I32", "bool": "BOOL"}
"""NumPy's names of types → the format's."""


def bytes_of(array: npt.NDArray[Any]) -> memoryview:
    """The bytes of an array in C's order, without a copy where they lie so."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


def write_tensors(file: IO[bytes], arrays: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]) -> None:
    """Write named arrays of the types in `TYPES`, and texts, in the format's layout, without a copy of any array."""
    header: dict[str, Any] = {"__metadata__": dict(metadata)}
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        kind = TYPES[array.dtype.name]
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % LENGTH)
    file.write(len(text).to_bytes(LENGTH, "little") + text)
    for array in arrays.values():
        file.write(bytes_of(array))


def read_header(path: Path) -> dict[str, Any]:
    """The tensors' types and shapes by name, and texts as `__metadata__`. Raises `ValueError` for another file."""
    with path.open("rb") as file:
        begin = file.read(LENGTH)
        size = int.from_bytes(begin, "little")
        room = path.stat().st_size - LENGTH - size
        if room < 0:
            raise ValueError("it has no header")
        header = header_of(begin + file.read(size))
    ends = [tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"]
    if max(ends, default=0) != room:
        raise ValueError(f"it has {room:,} bytes of tensors instead of {max(ends, default=0):,}")
    return header


def header_of(raw: bytes) -> dict[str, Any]:
    """The header of a file's bytes, as `read_header` gives it."""
    found: dict[str, Any] = json.loads(raw[LENGTH : LENGTH + int.from_bytes(raw[:LENGTH], "little")])
    return found
