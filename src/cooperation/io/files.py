"""Errors of input and files in one line."""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

AGAIN = "then run the same command again"
NO_PERMISSION = "ask for the permission (chmod, chown) or choose another place"
REMEDIES = {
    errno.ENOSPC: f"make room there, {AGAIN}",
    errno.EDQUOT: f"delete files of yours there or ask for more, {AGAIN}",
    errno.EROFS: "choose a place that can be written to",
    errno.EACCES: NO_PERMISSION,
    errno.EPERM: NO_PERMISSION,
    errno.EIO: f"check the disk or the network, {AGAIN}",
    errno.ENOTDIR: "a file stands where a folder should; choose another place",
    errno.EEXIST: "a file stands where a folder should; choose another place",
    errno.EISDIR: "a folder stands where the file should; choose another name",
    errno.ENAMETOOLONG: "choose a shorter name",
    errno.ELOOP: "its symbolic links lead in a circle; choose another name",
    errno.EMFILE: f"allow more open files (ulimit -n), {AGAIN}",
    errno.ENFILE: f"close other programs, {AGAIN}",
    errno.ESTALE: f"check the disk or the network, {AGAIN}",
    errno.EAGAIN: f"wait until the program that writes it has ended, {AGAIN}",
    errno.EFBIG: f"allow larger files (ulimit -f) or choose another file system, {AGAIN}",
    errno.ENOMEM: f"close other programs or take a machine with more memory, {AGAIN}",
}
"""What helps where the file system refuses something, by errno."""
OTHERWISE = f"the file system refuses it; choose another place or copy the file to another disk, {AGAIN}"
NOT_REFUSED = (None, errno.ENOENT, errno.EPIPE, errno.ECHILD)
"""Errors that are no refusal of a file system."""
NO_MEMORY = re.compile("allocate memory|out of memory|not enough memory|memory allocation failed", re.IGNORECASE)
"""What libraries say that have no error of their own for it."""
Errors = tuple[type[Exception], ...]
BROKEN: Errors = (OSError, LookupError, ValueError, RuntimeError, ArithmeticError)
DAMAGE: Errors = (*BROKEN, TypeError, AttributeError)
"""What libraries raise for damaged or foreign files; of `OSError`s, `parse_errors` says which mean that."""


class InputError(ValueError):
    """Bad input: the message names file, place and remedy in one line.

    The command line prints it without a traceback and exits with 2. Any other exception is a bug.
    """


def refusal(error: OSError, path: Path | str) -> InputError | None:
    """The error of a file system that refused something, and what helps; None for an error of another kind."""
    if error.errno is None or error.errno in NOT_REFUSED:
        return None
    return InputError(f"{path}: {os.strerror(error.errno).lower()}; {REMEDIES.get(error.errno, OTHERWISE)}")


def out_of_memory(error: BaseException) -> bool:
    """Whether an error means that memory did not suffice, whichever library raised it."""
    return isinstance(error, MemoryError) or (
        isinstance(error, OSError | RuntimeError) and bool(NO_MEMORY.search(f"{error}"))
    )


@contextmanager
def file_errors(path: Path | str) -> Iterator[None]:
    """Turn errors of the file system (full, forbidden, read-only) into an `InputError` that names `path`."""
    try:
        yield
    except OSError as error:
        known = refusal(error, path)
        if known is None:
            raise
        raise known from error


@contextmanager
def at(place: Path | str) -> Iterator[None]:
    """Put the place of a mistake, such as a file or a key, in front of what an `InputError` says."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{place}: {error}") from error


@contextmanager
def parse_errors(path: Path | str, what: str, remedy: str, raised: Errors = DAMAGE) -> Iterator[None]:
    """Turn what libraries raise for a damaged file into an `InputError`: the path, what is wrong (and why); the remedy.

    raised: errors that mean that the content is damaged. Errors of the file system and of memory say nothing of the
    content: they are an `InputError` with a remedy of their own.
    """
    with file_errors(path):
        try:
            yield
        except InputError:
            raise
        except Exception as error:
            if not isinstance(error, (MemoryError, *raised)):
                raise
            if out_of_memory(error):
                raise InputError(f"{path}: not enough memory to read it; {REMEDIES[errno.ENOMEM]}") from error
            # A damaged file may hold an offset that no file has, which is an invalid argument.
            if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
                raise
            if isinstance(path, Path):
                _read_plainly(path)
            reason = " ".join(f"{error}".split()) or type(error).__name__
            raise InputError(f"{path}: {what} ({reason}); {remedy}") from error


def _read_plainly(path: Path) -> None:
    """Raise the `OSError` that keeps a file from being read, if one does: libraries pass on the text of it at most."""
    if path.is_file():
        with path.open("rb") as file:
            while file.read(1 << 20):
                pass


def check_readable(path: Path) -> None:
    """Raise `InputError` for a pipe or a device, which may never begin or end; a path where nothing is passes."""
    with file_errors(path), suppress(FileNotFoundError):
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise InputError(f"{path}: a pipe or a device, not a file; write what it holds to a file and give that")


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def recorded_digest(path: Path) -> str:
    """The SHA-256 that was recorded in `PATH.sha256` when a file was downloaded or checked; "" where none was."""
    record = path.with_name(path.name + ".sha256")
    return "".join(record.read_text(errors="replace").split()[:1]) if record.exists() else ""


def size_of(path: Path) -> int:
    """Bytes of a file; 0 where there is none."""
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0
