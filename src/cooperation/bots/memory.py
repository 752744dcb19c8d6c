"""What a builder's bots said and ranked before, on disk, so that only what is new is asked for."""

import hashlib
import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from cooperation.io.files import InputError, digest, file_errors
from cooperation.io.writing import check_file, check_folder, written_whole

FILE = "calls.sqlite"
VERSION = 1
# Keys in a query, fewer than SQLite allows; seconds that another process may write.
AT_ONCE, PATIENCE = 500, 60


class Memory:
    """Outcomes of calls, by a hash of who was called (`about`), which function, and its input for one dialog.

    folder: of the file, which may hold other bots' outcomes, too; each call's are there as soon as it has returned,
    and a process that is killed damages nothing. Texts and ranks are kept, no scores: those of 200 dialogs and 40,000
    candidates would be 350 MB a game. An index (`array`) is a file beside it. Close it by `close`.

    Raises `InputError`, in all methods, where the file can't be used.
    """

    def __init__(self, folder: Path, about: str) -> None:
        self.folder, self.about, self.path = folder, about, folder / FILE
        check_folder(folder)
        with file_errors(folder):
            folder.mkdir(parents=True, exist_ok=True)
        check_file(self.path)
        with self._errors():
            # Each statement is a transaction of its own.
            self._file = sqlite3.connect(self.path, PATIENCE, isolation_level=None)
            # What a killed process had written is there; of a machine that fails, the last moments may be lost.
            self._file.execute("PRAGMA journal_mode = WAL")
            self._file.execute("PRAGMA synchronous = NORMAL")
            self._file.execute("CREATE TABLE IF NOT EXISTS outcome (key BLOB PRIMARY KEY, value TEXT) WITHOUT ROWID")
            found = self._file.execute("PRAGMA user_version").fetchone()[0]
            if found not in (0, VERSION):
                raise InputError(f"{self.path}: of another version of this program; delete it, or give another --cache")
            self._file.execute(f"PRAGMA user_version = {VERSION}")

    def close(self) -> None:
        """Close the file."""
        with self._errors():
            self._file.close()

    def recall(
        self, name: str, inputs: Sequence[Any], call: Callable[[list[int]], Sequence[Any]]
    ) -> tuple[list[Any], int]:
        """The outcome for each input, and how many were known; inputs and outcomes: what JSON can hold.

        call: the rows of inputs whose outcomes are not known, each once → their outcomes.
        """
        keys = [self._key(name, given) for given in inputs]
        known = self._read(keys)
        first = {key: row for row, key in reversed(list(enumerate(keys))) if key not in known}
        if first:
            rows = sorted(first.values())
            found = {keys[row]: json.dumps(outcome) for row, outcome in zip(rows, call(rows), strict=True)}
            self._write(found)
            known |= found
        return [json.loads(known[key]) for key in keys], len(keys) - len(first)

    def array(self, name: str, given: Any, make: Callable[[], Any]) -> tuple[Any, bool]:
        """What `make` returns, and whether it was known; only arrays are kept."""
        key = self._key(name, given)
        path = self.folder / f"{name}-{key.hex()}.npy"
        sha256 = self._read([key]).get(key)
        if sha256 and path.is_file() and digest(path) == sha256:
            return np.load(path, allow_pickle=False), True
        made = make()
        if isinstance(made, np.ndarray) and not made.dtype.hasobject:
            with written_whole(path) as temporary, temporary.open("wb") as file:
                np.save(file, made, allow_pickle=False)
            self._write({key: digest(path)})
        return made, False

    def _key(self, name: str, given: Any) -> bytes:
        return hashlib.sha256(json.dumps([self.about, name, given]).encode()).digest()[:16]

    def _read(self, keys: Sequence[bytes]) -> dict[bytes, str]:
        found: dict[bytes, str] = {}
        with self._errors():
            for start in range(0, len(keys), AT_ONCE):
                some = keys[start : start + AT_ONCE]
                places = ", ".join("?" * len(some))
                found |= self._file.execute(f"SELECT key, value FROM outcome WHERE key IN ({places})", some).fetchall()
        return found

    def _write(self, outcomes: Mapping[bytes, str]) -> None:
        with self._errors(), self._file:
            self._file.execute("BEGIN")
            self._file.executemany("INSERT OR REPLACE INTO outcome VALUES (?, ?)", outcomes.items())

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.OperationalError as error:
            raise InputError(f"{self.path}: {error}; mend that or give another --cache, then run it again") from error
        except sqlite3.DatabaseError as error:
            raise InputError(f"{self.path}: damaged or no cache ({error}); delete it, or name another place") from error
