"""What a builder's bots are made of, by content: an edit of any of it makes other bots of them."""

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cooperation.config.training import file_and_name
from cooperation.io.files import digest
from cooperation.io.provenance import PACKAGE

LIBRARIES = "site-packages"


def files_of(load: str, options: Mapping[str, Any]) -> dict[str, Path]:
    """The files that a builder's bots name: FILE.py:NAME's, as "", and those of the options, by their names."""
    named = {key: Path(one) for key, one in options.items() if isinstance(one, str)}
    return {"": Path(file_and_name(load)[0]), **{key: path for key, path in named.items() if path.is_file()}}


def made_of(load: str, options: Mapping[str, Any]) -> list[Any]:
    """The name behind the colon, hashes of their files of Python, and the options, with hashes of files that they name.

    load: FILE.py:NAME, which has been loaded. Files of Python are that one, and all in its folder, or below it, that
    have been imported. What else they read is what `describe` says, such as a revision of weights.
    """
    files = files_of(load, options)
    main = files.pop("").resolve()
    folder, apart = main.parent, (PACKAGE, Path(sys.prefix).resolve())
    imported = (vars(module).get("__file__") for module in list(sys.modules.values()))
    paths = {main, *(Path(one).resolve() for one in imported if isinstance(one, str))}
    own = [path for path in paths if path.is_relative_to(folder) and path.is_file()]
    theirs = [
        path for path in own if not any(path.is_relative_to(one) for one in apart) and LIBRARIES not in path.parts
    ]
    hashes = sorted(digest(path) for path in theirs)
    return [file_and_name(load)[1], hashes, dict(options), {key: digest(path) for key, path in files.items()}]
