"""What a reader is: one file of `data/readers/`, chosen by the `source` of a data set.

Its file holds the constant `SOURCE` (see `config.sources.Source`) and the functions of `Reader`.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

from cooperation.config.preparation import Encoding
from cooperation.data.store import DialogData

Files = Mapping[str, Sequence[Path]]
"""Role → paths of one or several files."""


class Reader(Protocol):
    """The functions of a reader's file; all raise `InputError` for a file that is missing, damaged or foreign."""

    def read(self, files: Files, *settings: Encoding) -> DialogData:
        """Read the dialogs of both splits; settings: one argument if `SOURCE` declares texts, none if it does not."""

    def describe(self, role: str, path: Path) -> str:
        """Describe the content of a file in words, within seconds; optional."""

    def dialog_ids(self, path: Path) -> list[int]:
        """The image ids of a file's dialogs, within seconds, to compare them with the pictures; optional."""


def reader_of(source: str) -> Reader:
    """Import the reader of a source."""
    return cast("Reader", import_module(f"cooperation.data.readers.{source}"))
