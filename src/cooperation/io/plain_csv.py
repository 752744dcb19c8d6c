"""CSV read with the standard library alone, for the Snakefile."""

import csv
from collections.abc import Sequence
from pathlib import Path

from cooperation.io.files import DAMAGE, InputError, parse_errors


def read_rows(path: str, columns: Sequence[str]) -> list[dict[str, str]]:
    """Read a table of the project, a mapping a row; what is no part of a row is "".

    columns: those that must be there, without an empty cell. Raises `InputError` for a missing file, one without these
    columns, an empty cell of theirs, and a row that has more cells than there are columns.
    """
    with parse_errors(path, "not a table of this kind", "make it again or correct it", (csv.Error, *DAMAGE)):
        if not Path(path).is_file():
            raise InputError(f"{path}: no such file; run this in the project's folder")
        with Path(path).open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file, restkey="", restval="")
            rows = list(reader)
        missing = [name for name in columns if name not in (reader.fieldnames or ())]
        if missing:
            raise InputError(f"{path}: no column {missing[0]!r}; expected {', '.join(columns)}")
        for number, row in enumerate(rows, 1):
            if "" in row:
                raise InputError(f"{path}: row {number}: more cells than columns; make it again or correct it")
            for name in columns:
                if not row[name]:
                    raise InputError(f"{path}: row {number}: {name} is empty; make it again or correct it")
        return rows
