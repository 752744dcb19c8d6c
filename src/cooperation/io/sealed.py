"""JSON files that carry a hash of all that stands in them, so that an edit is noticed."""

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from cooperation.io.files import parse_errors
from cooperation.io.writing import write_text

OWN = "sha256"
"""Key of the hash of all else in the file."""


def write_sealed(path: Path, content: Mapping[str, Any]) -> None:
    """Write what JSON can hold, and its hash; raises `InputError` where the file system refuses."""
    write_text(path, json.dumps({**content, OWN: _hash(content)}, indent=1) + "\n")


def read_sealed(path: Path, what: str, remedy: str) -> tuple[dict[str, Any], bool]:
    """What a file holds, without its hash, and whether it is as it was written.

    Raises `InputError`, with what is wrong and the remedy, for a file that is no such thing.
    """
    with parse_errors(path, what, remedy):
        found = json.loads(path.read_text(encoding="utf-8"))
        own = found.pop(OWN)
        return found, own == _hash(found)


def _hash(content: Mapping[str, Any]) -> str:
    return sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
