"""Download a file and check it before it gets its name, or accept the one that is there already."""

import functools
import hashlib
import os
import re
import shutil
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path, PurePath
from typing import IO, NoReturn

import requests
from requests.adapters import HTTPAdapter
from tqdm import tqdm
from urllib3 import BaseHTTPResponse
from urllib3.exceptions import HTTPError
from urllib3.util import Retry

from cooperation.config.preparation import Download, Retries
from cooperation.data.archives import content_in_words
from cooperation.data.foreign import LONGEST, what_is_foreign
from cooperation.data.volumes import as_published, beside, only, opened
from cooperation.io.files import InputError, digest, file_errors, recorded_digest, size_of
from cooperation.io.writing import link_or_copy, write_text

# A transfer that breaks off loses the block that it was in.
BLOCK = 1 << 16
LONGEST_PAUSE = 60.0
# Seconds between two notes of a progress in a log.
LOGGED = 10.0
# How addresses are asked before anything is fetched.
ONCE = Retries(tries=1, pause=0, timeout=10)
HASH = re.compile("[0-9a-f]{64}")
# What requests passes on of answers that make no sense, such as a length that no number of the machine can hold.
ODD = (requests.RequestException, HTTPError, OverflowError)
BUSY = (429, 500, 502, 503, 504)


class _TransferError(Exception):
    """The transfer ended early; it goes on at the next try."""


def obtain(path: Path, download: Download, retries: Retries, have: Path | None = None) -> tuple[str, str]:
    """Make sure that what is to be at `path` is there and right; its SHA-256, or what it holds, and where it came from.

    What is there is accepted, or what is at `have`, unpacked beside the path, or in torch's cache, linked to: a file if
    size and hash are right, an archive's content in another shape if it holds what it must. Else it is downloaded
    beside its place, resuming a broken transfer, and renamed when it is right. The hash is recorded in `PATH.sha256`;
    where none is published, later downloads are compared with that.

    Raises `InputError` where something is wrong with it, no address has the file, or there is no room for it.
    """
    record = record_of(path)
    if not download.sha256 and (recorded := recorded_digest(path)):
        stated = f"recorded in {record} (delete that if another version is wanted)"
        download = replace(download, sha256=recorded, stated=stated)
    path.parent.mkdir(parents=True, exist_ok=True)
    origin = "there already"
    if not path.exists() and (copy := have or beside(path) or cached(path.name, download.sha256)):
        _check(copy, path.name, download, f"{copy}", "give another copy")
        path.unlink(missing_ok=True)  # a link to what is no longer there
        origin = f"{link_or_copy(copy, path)} {copy}"
    if path.exists():
        found = _check(path, path.name, download, f"{path}", "delete it or move it away")
    else:
        found, origin = _from_any(path, download, retries)
    if HASH.fullmatch(found) and as_published(path, path.name):
        write_text(record, f"{found}  {path.name}\n")
    return found, origin


def _from_any(path: Path, download: Download, retries: Retries) -> tuple[str, str]:
    partial = path.with_name(f".{path.name}.part")
    for leftover in (partial, _tag(partial)):
        # Nothing is written through a link, nor to a pipe or a device.
        if leftover.is_symlink() or (leftover.exists() and not leftover.is_file()):
            with file_errors(leftover):
                leftover.unlink()
    reasons = []
    for address in download.addresses:
        try:
            _fetch(address, partial, download, retries)
            found = _checked_or_deleted(partial, path.name, download, address)
        except InputError as error:
            reasons.append(str(error))
            continue
        partial.replace(path)
        _tag(partial).unlink(missing_ok=True)
        return found, address
    raise InputError(f"{path}: not downloaded ({' | '.join(reasons)}); get the file elsewhere and put it there")


def _checked_or_deleted(partial: Path, name: str, download: Download, address: str) -> str:
    try:
        _refuse_page(partial, address)
        return _check(partial, name, download, address, "")
    except InputError:
        partial.unlink(missing_ok=True)
        raise


def _refuse_page(partial: Path, address: str) -> None:
    """Refuse a page of a web site, or another file that isn't read here, before anything of it is recorded."""
    with partial.open("rb") as file:
        found = what_is_foreign(file.read(LONGEST))
    if found:
        raise InputError(f"{address}: sent {found[0]}, which is not the file")


def _fetch(address: str, partial: Path, download: Download, retries: Retries) -> None:
    with _session(retries) as session:
        failures = 0
        while True:
            before = size_of(partial)
            try:
                return _transfer(session, address, partial, download, retries.timeout)
            except _TransferError as error:
                failures = 0 if size_of(partial) > before else failures + 1
                if failures >= retries.tries:
                    raise InputError(f"{address}: {error}, {failures} times in a row") from error
                time.sleep(min(retries.pause * 2 ** (failures - 1), LONGEST_PAUSE))
            except (*ODD, OSError) as error:
                response = getattr(error, "response", None)
                reason = error if response is None else f"{response.status_code} {response.reason}"
                raise InputError(f"{address}: {' '.join(str(reason).split())}{_set_by(error, address)}") from error


def _set_by(error: Exception, address: str) -> str:
    """The variables that chose the proxy or the certificates that a request failed by, in words; "" where none did."""
    names: tuple[str, ...] = ()
    if isinstance(error, requests.exceptions.ProxyError):
        names = f"{address.partition(':')[0]}_proxy", "all_proxy"
    elif isinstance(error, requests.exceptions.SSLError) or "CA certificate bundle" in str(error):
        names = "requests_ca_bundle", "curl_ca_bundle"
    found = [name for each in names for name in (each, each.upper()) if os.environ.get(name)]
    return f"; see the variable {' or '.join(found)}" if found else ""


class PatientRetry(Retry):
    """Tries again as servers ask, but waits no longer than `LONGEST_PAUSE`, and says that it waits."""

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        """Seconds that a server asks to wait, at most `LONGEST_PAUSE`; None where it doesn't ask."""
        asked = super().get_retry_after(response)
        if asked is None:
            return None
        wait = min(asked, LONGEST_PAUSE)
        print(f"the server is busy and asks for {asked:g} s; trying again in {wait:g} s", file=sys.stderr)
        return wait


def _session(retries: Retries) -> requests.Session:
    """A session that tries again where a connection fails or the server is busy."""
    retry = PatientRetry(
        total=retries.tries - 1,
        backoff_factor=retries.pause,
        backoff_max=LONGEST_PAUSE,
        status_forcelist=BUSY,
        raise_on_status=False,
    )
    session = requests.Session()
    # Whoever has a password for a host in ~/.netrc need not tell it where public files are.
    session.auth = lambda request: request
    for scheme in ("http://", "https://"):
        session.mount(scheme, HTTPAdapter(max_retries=retry))
    return session


def _transfer(session: requests.Session, address: str, partial: Path, download: Download, timeout: float) -> None:
    start = size_of(partial)
    if download.size and start == download.size:
        return  # stopped between the last byte and the check
    headers = _headers(partial, start, download)
    with session.get(address, headers=headers, stream=True, timeout=timeout) as response:
        if response.status_code == 416:
            if response.headers.get("Content-Range") == f"bytes */{start}":
                return
            partial.unlink(missing_ok=True)
            raise _TransferError("has nothing where the transfer ended")
        response.raise_for_status()
        if response.status_code not in (200, 206) or (response.status_code == 206 and not start):
            raise InputError(f"{address}: answers {response.status_code} {response.reason}, not with the whole file")
        if response.status_code != 206:
            start = 0
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {start}-"):
            partial.unlink(missing_ok=True)
            raise _TransferError("resumed at another place than where the transfer ended")
        length = response.headers.get("Content-Length", "")
        # What is no number says nothing.
        total = start + int(length) if length.isdecimal() else download.size
        _check_offer(address, partial, start, total, download)
        _tag(partial).write_text(response.headers.get("ETag", response.headers.get("Last-Modified", "")))
        _save(response, partial, start, total)


def _headers(partial: Path, start: int, download: Download) -> dict[str, str]:
    headers = {"Accept-Encoding": "identity"}
    if start and download.sha256:
        headers["Range"] = f"bytes={start}-"
    elif start and _tag(partial).exists() and (tag := _tag(partial).read_text(errors="replace")):
        # Without a hash, nothing else would show that the rest belongs to another version of the file.
        headers |= {"Range": f"bytes={start}-", "If-Range": tag}
    return headers


def _check_offer(address: str, partial: Path, start: int, total: int, download: Download) -> None:
    if download.size and total != download.size:
        raise InputError(f"{address}: offers {total:,} bytes instead of {download.size:,}")
    free = shutil.disk_usage(partial.parent).free
    if total - start > free:
        raise InputError(
            f"{address}: {total - start:,} bytes to come, but {partial.parent} has {free:,} free; make room"
        )


def _save(response: requests.Response, partial: Path, start: int, total: int) -> None:
    with (
        file_errors(partial),
        partial.open("ab" if start else "wb") as file,
        _bar(partial.name[1:], total, start) as bar,
    ):
        try:
            for block in response.iter_content(BLOCK):
                file.write(block)
                bar.update(len(block))
                if total and file.tell() > total:
                    partial.unlink(missing_ok=True)
                    raise InputError(f"{response.url}: sends more than {total:,} bytes")
        except requests.RequestException as error:
            raise _TransferError(f"broke off after {file.tell():,} bytes") from error
        if file.tell() < total:
            raise _TransferError(f"ended after {file.tell():,} of {total:,} bytes")


def _bar(what: str, total: int, start: int = 0) -> "tqdm[NoReturn]":
    """Bytes, rate and time left; in a log, of what takes long, and now and then."""
    pause = 0.1 if sys.stderr.isatty() else LOGGED
    return tqdm(
        desc=what, total=total or None, initial=start, unit="B", unit_scale=True, mininterval=pause, delay=pause
    )


def _check(path: Path, name: str, download: Download, place: str, remedy: str) -> str:
    """The SHA-256 of what stands for the download of a name, or what it holds, where it is unpacked.

    Raises `InputError`, which names `place` and `remedy`, where size, hash or content is wrong.
    """
    remedy = remedy and f"; {remedy}"
    if not path.exists():
        raise InputError(f"{place}: no such file{remedy}")
    if not as_published(path, name):
        return _check_unpacked(path, name, download, remedy)
    with file_errors(path), path.open("rb") as file:
        found = _check_bytes(file, size_of(path), download, place, remedy)
    if download.holds:
        content_in_words(path, name, download.holds)
    return found


def _check_unpacked(path: Path, name: str, download: Download, remedy: str) -> str:
    """What an archive's content holds in words, or the SHA-256 of a file that stands in a folder or an archive."""
    suffix = PurePath(name).suffix
    if suffix == ".zip":
        if held := content_in_words(path, name, download.holds):
            return held
        raise InputError(f"{path}: holds neither pictures nor dialogs{remedy}")
    member = only(path, suffix)
    with opened(path, member) as file:
        return _check_bytes(file, download.size, download, f"{path}, {member}", remedy)


def _check_bytes(file: IO[bytes], size: int, download: Download, place: str, remedy: str) -> str:
    """The SHA-256 of a file of `size` bytes; raises as `_check`."""
    if download.size and size != download.size:
        raise InputError(f"{place}: {size:,} bytes instead of {download.size:,}{remedy}")
    total = hashlib.sha256()
    with _bar("check", size) as bar:
        while block := file.read(BLOCK):
            total.update(block)
            bar.update(len(block))
    found = total.hexdigest()
    if not found.startswith(download.sha256):
        raise InputError(f"{place}: its sha256 is {found}, {download.stated} is {download.sha256}{remedy}")
    return found


def answers(download: Download) -> dict[str, str]:
    """Address → what its server says of the file when asked for its header, in words."""
    ask = functools.partial(_answer, size=download.size)
    with ThreadPoolExecutor(max(len(download.addresses), 1)) as pool:
        return dict(zip(download.addresses, pool.map(ask, download.addresses), strict=True))


def _answer(address: str, size: int) -> str:
    headers = {"Accept-Encoding": "identity"}
    try:
        with _session(ONCE) as session:
            found = session.head(address, headers=headers, allow_redirects=True, timeout=ONCE.timeout)
    except (requests.RequestException, OSError, ValueError) as error:
        return f"no answer ({type(error).__name__})"
    length, kind = found.headers.get("Content-Length", ""), found.headers.get("Content-Type", "")
    if found.status_code != 200:
        return f"{found.status_code} {found.reason}"
    if "html" in kind:
        return "a page of a web site, not the file"
    if not length.isdecimal():
        return "has it, of unknown size"
    return f"has {int(length):,} bytes" + (f" instead of {size:,}" if size not in (0, int(length)) else "")


def cached(name: str, sha256: str) -> Path | None:
    """Weights of a name in torch's cache, if their hash is the published one; sha256: it, or its beginning."""
    home = os.environ.get("TORCH_HOME") or Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache", "torch")
    path = Path(home, "hub", "checkpoints", name).expanduser()
    try:
        fits = name.endswith(".pth") and sha256 and path.is_file() and digest(path).startswith(sha256)
    except OSError:  # of no use, then
        return None
    return path if fits else None


def record_of(path: Path) -> Path:
    """Where the hash of a download is recorded."""
    return path.with_name(path.name + ".sha256")


def _tag(partial: Path) -> Path:
    return partial.with_name(partial.name + ".tag")
