"""What libraries take for granted around a process, where it is missing: a home, open streams."""

import os
import sys
from pathlib import Path

NO_HOME = os.devnull
"""The home of users who have none: no folder, nor can anybody make it one."""
STDERR = 2


def provide() -> None:
    """Give the process what it lacks."""
    _home()
    _streams()


def _home() -> None:
    """Containers run with users that no file knows; NLTK can't even be imported then."""
    try:
        Path.home()
    except RuntimeError:
        os.environ["HOME"] = NO_HOME


def _streams() -> None:
    """Keep the numbers of closed streams from the next files that are opened, into which libraries would write.

    What goes to standard error is dropped; what goes to the others is an error, as it is where they are closed.
    """
    for number in range(STDERR + 1):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_WRONLY if number != 1 else os.O_RDONLY)
    if sys.stderr is None:
        sys.stderr = open(STDERR, "w", encoding="utf-8", errors="backslashreplace")  # noqa: SIM115
