"""What a builder's bots are made of, by content: an edit of any of it makes other bots of them."""

import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from cooperation.config.training import file_and_name, files_of
from cooperation.io.files import digest
from cooperation.io.provenance import PACKAGE

LIBRARIES = "site-packages"


def made_of(load: str, options: Mapping[str, Any]) -> list[Any]:
    """The name behind the colon, hashes of their files of Python, and the options, with hashes of files that they name.

    load: FILE.py:NAME, which has been loaded. Files of Python are that one, and all in its folder, or below it, that
    have been imported. What else they read is what `describe` says, such as a revision of weights.
    """
    file, name = file_and_name(load)
    main = Path(file).resolve()
    folder, apart = main.parent, (PACKAGE, Path(sys.prefix).resolve())
    imported = (vars(module).get("__file__") for module in list(sys.modules.values()))
    paths = {main, *(Path(one).resolve() for one in imported if isinstance(one, str))}
    own = [path for path in paths if path.is_relative_to(folder) and path.is_file()]
    theirs = [
        path for path in own if not any(path.is_relative_to(one) for one in apart) and LIBRARIES not in path.parts
    ]
    hashes = sorted(digest(path) for path in theirs)
    return [name, hashes, dict(options), [_digest(path, path.stat().st_mtime_ns) for path in files_of(options)]]


@cache
def _digest(path: Path, changed: int) -> str:  # noqa: ARG001
    """The hash of a file, which may be large; changed: when it was."""
    return digest(path)
