"""One file from the network, checked before it gets its name, or accepted where it is already."""

import hashlib
import shutil
import time
from dataclasses import replace
from pathlib import Path

import requests
from requests.adapters import HTTPAdapter
from tqdm import tqdm
from urllib3.util import Retry

from cooperation.files import InputError, reachable, size_of, write_text
from cooperation.preparation import Patience, Source

# A transfer that breaks off loses the block that it was in.
BLOCK = 1 << 16
LONGEST_PAUSE = 60.0
BUSY = (429, 500, 502, 503, 504)


class _TransferError(Exception):
    """The transfer ended early; it goes on at the next try."""


def obtain(path: Path, source: Source, patience: Patience, have: Path | None = None) -> tuple[str, str]:
    """Make sure that `path` is there and what it should be; its sha256 and where it came from.

    A file that is there, or the copy at `have` (which is linked to), is accepted if size and hash are right. Else it
    is downloaded beside its place, going on where a broken transfer ended, and gets its name when it is right. The
    hash is recorded in `PATH.sha256`; where none is published, later downloads are compared with that.
    """
    record = path.with_name(path.name + ".sha256")
    if not source.sha256 and record.exists():
        recorded = "".join(record.read_text(errors="replace").split()[:1])
        source = replace(source, sha256=recorded, stated=f"recorded in {record}")
    path.parent.mkdir(parents=True, exist_ok=True)
    origin = "there already"
    if have is not None and not path.exists():
        _check(have, source, f"{have}", "give another copy")
        path.unlink(missing_ok=True)  # a link to what is no longer there
        path.symlink_to(have.resolve())
        origin = f"linked to {have}"
    if path.exists():
        digest = _check(path, source, f"{path}", "delete it or move it away")
    else:
        digest, origin = _from_any(path, source, patience)
    write_text(record, f"{digest}  {path.name}\n")
    return digest, origin


def _from_any(path: Path, source: Source, patience: Patience) -> tuple[str, str]:
    partial = path.with_name(f".{path.name}.part")
    reasons = []
    for address in source.addresses:
        try:
            _fetch(address, partial, source, patience)
            digest = _checked_or_deleted(partial, source, address)
        except InputError as error:
            reasons.append(str(error))
            continue
        partial.replace(path)
        _tag(partial).unlink(missing_ok=True)
        return digest, address
    raise InputError(f"{path}: not downloaded ({' | '.join(reasons)}); get the file elsewhere and put it there")


def _checked_or_deleted(partial: Path, source: Source, address: str) -> str:
    try:
        return _check(partial, source, address, "")
    except InputError:
        partial.unlink()
        raise


def _fetch(address: str, partial: Path, source: Source, patience: Patience) -> None:
    with _session(patience) as session:
        failures = 0
        while True:
            before = size_of(partial)
            try:
                return _transfer(session, address, partial, source, patience.timeout)
            except _TransferError as error:
                failures = 0 if size_of(partial) > before else failures + 1
                if failures >= patience.tries:
                    raise InputError(f"{address}: {error}, {failures} times in a row") from error
                time.sleep(min(patience.pause * 2 ** (failures - 1), LONGEST_PAUSE))
            except requests.RequestException as error:
                reason = (
                    f"{error.response.status_code} {error.response.reason}" if error.response is not None else error
                )
                raise InputError(f"{address}: {' '.join(str(reason).split())}") from error


def _session(patience: Patience) -> requests.Session:
    """Connections that are tried again while they fail or the server says that it is busy."""
    retry = Retry(
        total=patience.tries - 1,
        backoff_factor=patience.pause,
        backoff_max=LONGEST_PAUSE,
        status_forcelist=BUSY,
        raise_on_status=False,
    )
    session = requests.Session()
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=retry))
    return session


def _transfer(session: requests.Session, address: str, partial: Path, source: Source, timeout: float) -> None:
    start = size_of(partial)
    if source.size and start == source.size:
        return  # stopped between the last byte and the check
    headers = _headers(partial, start, source)
    with session.get(address, headers=headers, stream=True, timeout=timeout) as response:
        if response.status_code == 416:
            if response.headers.get("Content-Range") == f"bytes */{start}":
                return
            partial.unlink()
            raise _TransferError("has nothing where the transfer ended")
        response.raise_for_status()
        if response.status_code != 206:
            start = 0
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            partial.unlink()
            raise _TransferError("went on at another place than where the transfer ended")
        length = response.headers.get("Content-Length")
        total = start + int(length) if length else source.size
        _check_offer(address, partial, start, total, source)
        _tag(partial).write_text(response.headers.get("ETag", response.headers.get("Last-Modified", "")))
        _save(response, partial, start, total)


def _headers(partial: Path, start: int, source: Source) -> dict[str, str]:
    headers = {"Accept-Encoding": "identity"}
    if start and source.sha256:
        headers["Range"] = f"bytes={start}-"
    elif start and _tag(partial).exists() and (tag := _tag(partial).read_text(errors="replace")):
        # No hash would tell that the rest belongs to another version of the file.
        headers |= {"Range": f"bytes={start}-", "If-Range": tag}
    return headers


def _check_offer(address: str, partial: Path, start: int, total: int, source: Source) -> None:
    if source.size and total != source.size:
        raise InputError(f"{address}: offers {total:,} bytes instead of {source.size:,}")
    free = shutil.disk_usage(partial.parent).free
    if total - start > free:
        raise InputError(
            f"{address}: {total - start:,} bytes to come, but {partial.parent} has {free:,} free; make room"
        )


def _save(response: requests.Response, partial: Path, start: int, total: int) -> None:
    with (
        reachable(partial),
        partial.open("ab" if start else "wb") as file,
        tqdm(desc=partial.name[1:], total=total or None, initial=start, unit="B", unit_scale=True, disable=None) as bar,
    ):
        try:
            for block in response.iter_content(BLOCK):
                file.write(block)
                bar.update(len(block))
        except requests.RequestException as error:
            raise _TransferError(f"broke off after {file.tell():,} bytes") from error
        if file.tell() < total:
            raise _TransferError(f"ended after {file.tell():,} of {total:,} bytes")


def _check(path: Path, source: Source, place: str, remedy: str) -> str:
    """The sha256 of a file whose size and hash are right; `place` and `remedy` are for the message if they aren't."""
    remedy = remedy and f"; {remedy}"
    if not path.is_file():
        raise InputError(f"{place}: no such file{remedy}")
    size = size_of(path)
    if source.size and size != source.size:
        raise InputError(f"{place}: {size:,} bytes instead of {source.size:,}{remedy}")
    digest = hashlib.sha256()
    with path.open("rb") as file, tqdm(desc="check", total=size, unit="B", unit_scale=True, disable=None) as bar:
        while block := file.read(BLOCK):
            digest.update(block)
            bar.update(len(block))
    found = digest.hexdigest()
    if not found.startswith(source.sha256):
        raise InputError(f"{place}: its sha256 is {found}, {source.stated} is {source.sha256}{remedy}")
    return found


def _tag(partial: Path) -> Path:
    return partial.with_name(partial.name + ".tag")
