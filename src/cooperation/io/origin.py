"""Which program made a file, in a file beside it, so that the same content is the same bytes.

The commit and the versions of packages are others tomorrow, where neither weights nor ranks are.
"""

import json
from pathlib import Path

from cooperation.io.files import digest
from cooperation.io.provenance import software
from cooperation.io.writing import is_null, write_text

ENDING = ".origin.json"


def origin_of(path: Path) -> Path:
    """The file that says which program made the file `path`."""
    return path.with_name(path.name + ENDING)


def write_origin(path: Path) -> None:
    """Say of a file that was just written which program made it; of one that another had made the same, that one.

    Raises `InputError` where the file system refuses.
    """
    if is_null(path):
        return
    if not read_origin(path):
        write_text(origin_of(path), json.dumps({"sha256": digest(path), **software()}, indent=1) + "\n")


def read_origin(path: Path) -> dict[str, str]:
    """The commit and versions by which the content of a file was first made; {} where that isn't said."""
    try:
        said = json.loads(origin_of(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return said if isinstance(said, dict) and said.pop("sha256", None) == digest(path) else {}
