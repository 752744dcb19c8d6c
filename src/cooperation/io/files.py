"""Errors of input and files in one line, and files that are written atomically."""

import errno
import hashlib
import os
import platform
import re
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
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
    errno.EMFILE: f"allow more open files (ulimit -n), {AGAIN}",
    errno.ENFILE: f"close other programs, {AGAIN}",
    errno.ESTALE: f"check the disk or the network, {AGAIN}",
    errno.EAGAIN: f"wait until the program that writes it has ended, {AGAIN}",
}
"""What helps where the file system refuses something, by errno."""
Errors = tuple[type[Exception], ...]
BROKEN: Errors = (OSError, LookupError, ValueError, RuntimeError, ArithmeticError)
DAMAGE: Errors = (*BROKEN, TypeError, AttributeError)
"""What libraries raise for damaged or foreign files; of `OSError`s, `parse_errors` says which mean that."""
DAY = 24 * 3600


class InputError(ValueError):
    """Bad input: the message names file, place and remedy in one line.

    The command line prints it without a traceback and exits with 2. Any other exception is a bug.
    """


def refusal(error: OSError, path: Path | str) -> InputError | None:
    """The error of a file system that refused something, and what helps; None for an error of another kind."""
    if error.errno not in REMEDIES:
        return None
    return InputError(f"{path}: {os.strerror(error.errno).lower()}; {REMEDIES[error.errno]}")


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
def parse_errors(path: Path | str, what: str, remedy: str, raised: Errors = DAMAGE) -> Iterator[None]:
    """Turn what libraries raise for a damaged file into an `InputError`: the path, what is wrong (and why); the remedy.

    raised: errors that mean that the content is damaged. Errors of the file system say nothing of the content: they are
    turned into an `InputError` by `file_errors`, or stay as they are.
    """
    with file_errors(path):
        try:
            yield
        except InputError:
            raise
        except raised as error:
            # A damaged file may hold an offset that no file has, which is an invalid argument.
            if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
                raise
            reason = " ".join(f"{error}".split()) or type(error).__name__
            raise InputError(f"{path}: {what} ({reason}); {remedy}") from error


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Write a file atomically: yield a temporary path beside it, which is renamed if the block succeeds, else deleted.

    Processes that write the same file, on this machine or another, have temporary paths of their own; the last wins.
    Raises `InputError` where the file system refuses.
    """
    if not path.name:
        raise InputError(f"{path}: a folder, not a file; give a name in it")
    host = re.sub(r"[^A-Za-z0-9]", "-", platform.node())
    # The extension stays last: matplotlib and others take the format from it.
    temporary = path.with_name(f".{path.stem}.{host}-{os.getpid()}-{secrets.token_hex(4)}.partial{path.suffix}")
    with file_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        _delete_leftovers(path, host)
        try:
            yield temporary
            _sync(temporary)
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


def _delete_leftovers(path: Path, host: str) -> None:
    """Delete temporary files of killed processes: those of this machine that are gone, others' after a day."""
    name = re.compile(rf"\.{re.escape(path.stem)}\.([A-Za-z0-9-]+)-(\d+)-[0-9a-f]+\.partial{re.escape(path.suffix)}")
    for partial in path.parent.glob(f".{escape(path.stem)}.*.partial{escape(path.suffix)}"):
        # Whether a process of another machine is alive cannot be found out.
        with suppress(FileNotFoundError):
            made_by = name.fullmatch(partial.name)
            gone = made_by is not None and made_by[1] == host and not _runs(int(made_by[2]))
            if gone or time.time() - partial.stat().st_mtime > DAY:
                partial.unlink()


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _sync(path: Path) -> None:
    """Wait until a file is on the disk: a file system of a network says only then that there was no room."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8, atomically. Raises `InputError` where the file system refuses."""
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def size_of(path: Path) -> int:
    """Bytes of a file; 0 where there is none."""
    with suppress(FileNotFoundError):
        return path.stat().st_size
    return 0
