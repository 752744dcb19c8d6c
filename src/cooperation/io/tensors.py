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
        if size > path.stat().st_size:
            raise ValueError("it has no header")
        return header_of(begin + file.read(size))


def header_of(raw: bytes) -> dict[str, Any]:
    """The header of a file's bytes, as `read_header` gives it."""
    found: dict[str, Any] = json.loads(raw[LENGTH : LENGTH + int.from_bytes(raw[:LENGTH], "little")])
    return found
