"""Files that are written atomically, and which files a command may write."""

import errno
import os
import platform
import re
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from glob import escape
from pathlib import Path
from tempfile import TemporaryDirectory

from cooperation.io.files import InputError, file_errors

DAY = 24 * 3600
STREAMS = ("/dev/fd", "/proc/self/fd")
"""Folders of the streams that a process has open, by number."""
STDOUT = 1
LINKS = 40
"""A file system follows no more symbolic links, one after another."""
NOT_SUPPORTED = (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP, errno.ENOTSUP, errno.EBADF, errno.ENOTTY)
"""What file systems say that can't do something, such as those of networks and of other operating systems."""
_INPUTS: ContextVar[dict[tuple[int, int], Path]] = ContextVar("inputs")
"""The files that the running command reads, by device and inode, which links and spellings of a path have in common."""


@contextmanager
def inputs_kept(paths: Iterable[Path]) -> Iterator[None]:
    """Within the block nothing is written to these files, nor to those that `keep` adds; folders keep nothing."""
    token = _INPUTS.set({})
    try:
        keep(paths)
        yield
    finally:
        _INPUTS.reset(token)


def keep(paths: Iterable[Path]) -> None:
    """Add files that are read, such as those in a folder, to those that nothing is written to."""
    kept = _INPUTS.get({})
    for path in paths:
        with suppress(OSError):
            found = path.stat()
            kept[found.st_dev, found.st_ino] = path


def check_file(path: Path) -> Path:
    """The file that is replaced when `path` is written: `path`, or where its symbolic links lead.

    Raises `InputError` where none may be: see `check_kind`; and where it is an input of the running command, or a
    write-protected file behind a link, such as one in a cache. The null device is as good as a file.
    """
    with file_errors(path):
        if is_null(path):
            return path
        check_kind(path)
        target = Path(os.path.realpath(path)) if path.is_symlink() else path
        if not target.exists():
            if target != path and not target.parent.exists():
                raise InputError(f"{path}: leads to {target}, whose folder is not there; make it or delete the link")
            return target
        found = target.stat()
        if read := _INPUTS.get({}).get((found.st_dev, found.st_ino)):
            also = "" if read == path else f" as {read}"
            raise InputError(f"{path}: this command reads it{also}; choose another place to write to")
        if target != path and not found.st_mode & 0o222:
            raise InputError(f"{path}: leads to {target}, which is write-protected; delete the link first")
        return target


def check_kind(path: Path) -> None:
    """Raise `InputError` where a path is no file: a folder, a device, a pipe or an open stream."""
    with file_errors(path):
        if is_stream(path):
            raise InputError(f"{path}: a pipe or an open stream, not a file; give the name of a file")
        try:
            mode = path.stat().st_mode
        except FileNotFoundError:
            _check_above(path)
            return
        if stat.S_ISDIR(mode):
            raise InputError(f"{path}: a folder, not a file; give a name in it")
        if not stat.S_ISREG(mode):
            raise InputError(f"{path}: a device or socket, not a file; give the name of a file")


def check_text(path: Path) -> None:
    """Raise `InputError` where no text may be written: see `check_file`. Streams and pipes take text."""
    with file_errors(path):
        if not is_stream(path):
            check_file(path)
        elif (number := _descriptor(path)) is not None:
            try:
                # Nothing is written, but a stream that can't be written to says so.
                os.write(number, b"")
            except OSError as error:
                if error.errno != errno.EBADF:
                    raise
                raise InputError(f"{path}: not open to be written to; choose another place") from error


def check_folder(path: Path) -> None:
    """Raise `InputError` where a path is no folder and none can be made, since a file is there or above it."""
    with file_errors(path):
        if os.path.lexists(path) and not path.is_dir():
            raise InputError(f"{path}: not a folder; give the name of a folder, which may be new")
        _check_above(path)


def _check_above(path: Path) -> None:
    above = next((folder for folder in path.absolute().parents if os.path.lexists(folder)), Path("/"))
    if not above.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))


def is_null(path: Path) -> bool:
    """Whether a path is the null device, where what is written is thrown away."""
    return path.is_char_device() and path.stat().st_rdev == Path(os.devnull).stat().st_rdev


def is_stream(path: Path) -> bool:
    """Whether a path is a stream that the process has open, such as /dev/stdout, or a named pipe."""
    return _descriptor(path) is not None or path.is_fifo()


def _descriptor(path: Path) -> int | None:
    """The number of the open stream that a path stands for, as /dev/stdout and /dev/fd/1 do; None for others."""
    for _ in range(LINKS):
        if path.name.isdecimal() and os.path.realpath(path.parent) in map(os.path.realpath, STREAMS):
            return int(path.name)
        if not path.is_symlink():
            break
        path = path.parent / path.readlink()
    return None


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Write a file atomically: yield a temporary path beside it, which is renamed if the block succeeds, else deleted.

    A symbolic link stays, and the file that it leads to is replaced. Processes that write the same file, on this
    machine or another, have temporary paths of their own; the last wins.
    Raises `InputError` where the file system refuses, or `check_file` does.
    """
    with file_errors(path):
        if is_null(path):
            with TemporaryDirectory() as scratch:
                yield Path(scratch, path.name)
            return
        target = check_file(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        host = re.sub(r"[^A-Za-z0-9]", "-", platform.node())
        # The extension stays last, as the path has it: matplotlib and others take the format from it.
        name = f".{path.stem}.{host}-{os.getpid()}-{secrets.token_hex(4)}.partial{path.suffix}"
        _delete_leftovers(target.with_name(path.name), host)
        temporary = target.with_name(name)
        try:
            yield temporary
            _sync(temporary)
            temporary.replace(target)
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
    """Wait until a file is on the disk: a file system of a network says only then that there was no room.

    One that can't wait is believed.
    """
    # Some wait only for what is open to be written.
    descriptor = os.open(path, os.O_RDWR)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in NOT_SUPPORTED:
            raise
    finally:
        os.close(descriptor)


def link_or_copy(source: Path, path: Path) -> str:
    """Make `path` a symbolic link to a file, or a copy where the file system has no links; which of them it is now."""
    try:
        path.symlink_to(source.resolve())
    except OSError as error:
        if error.errno not in (*NOT_SUPPORTED, errno.EPERM, errno.EACCES):
            raise
        with written_whole(path) as temporary:
            shutil.copyfile(source, temporary)
        return "copied from"
    return "linked to"


def write_text(path: Path, text: str) -> None:
    """Write a text as UTF-8: to a file atomically, to a stream or a pipe (`is_stream`) as it stands.

    Raises `InputError` where the file system refuses, or nobody reads the pipe.
    """
    with file_errors(path):
        if is_stream(path):
            _send(path, text.encode())
            return
    with written_whole(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _send(path: Path, content: bytes) -> None:
    """Write to a stream, after what was printed before, or to a named pipe."""
    number = _descriptor(path)
    try:
        if number is None:
            # Who opens a pipe waits until somebody reads it, which may be never; so it is opened without waiting.
            stream = os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            os.set_blocking(stream, True)
        else:
            sys.stdout.flush()
            stream = os.dup(number)
        with os.fdopen(stream, "wb") as file:
            file.write(content)
    except OSError as error:
        # What is printed to a reader that has ended is the command line's concern.
        if number == STDOUT or error.errno not in (errno.ENXIO, errno.EPIPE):
            raise
        raise InputError(f"{path}: nobody reads this pipe, or no more; start what reads it first") from error
