"""What a safetensors file says of itself, read plainly: the library maps files into memory, as not all systems can."""

import json
from pathlib import Path
from typing import Any

# Bytes of the number with which a file begins: the length of the JSON after it.
LENGTH = 8


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
