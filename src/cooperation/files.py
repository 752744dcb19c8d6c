"""Bad input in one line, and files that appear whole or not at all."""

import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from glob import escape
from pathlib import Path


class InputError(ValueError):
    """Something the user gave is unusable; the message names file, place and remedy in one line.

    The command line prints it without a traceback and exits with 2. Anything else is a bug.
    """


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield a temporary name beside `path`; it is moved to `path` if the block ends well, else deleted."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # What a killed run left behind.
    for stale in path.parent.glob(f".{escape(path.stem)}.*.partial{escape(path.suffix)}"):
        stale.unlink(missing_ok=True)
    # The extension stays last: matplotlib and others read the format from it.
    temporary = path.with_name(f".{path.stem}.{os.getpid()}.partial{path.suffix}")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_text(path: Path, text: str) -> None:
    """Write `text` as UTF-8, whole or not at all."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")
