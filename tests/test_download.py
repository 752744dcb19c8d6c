import hashlib
import shutil
import subprocess
import sys
import threading
import time
from collections import namedtuple
from contextlib import suppress

import numpy as np
import pytest
from http_host import Host, cut, hold, lie, serving, status
from in_process import run

from cooperation.config.preparation import Download, Retries
from cooperation.data.download import BLOCK, obtain
from cooperation.io.files import InputError

CONTENT = np.random.default_rng(1).bytes(5 * BLOCK + 123)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
HASTY = Retries(tries=3, pause=0.0, timeout=10.0)


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def host():
    return Host(CONTENT)


@pytest.fixture
def address(host):
    with serving(host) as found:
        yield f"{found}/v0.9/file.zip"


@pytest.fixture
def path(tmp_path):
    return tmp_path / "raw" / "file.zip"


def fetch(path, *addresses, size=0, sha256="", **options):
    return obtain(path, Download(addresses, size, sha256), HASTY, **options)


def beside(path):
    """Everything in the folder but the file and its record."""
    return sorted(file.name for file in path.parent.iterdir() if file not in (path, record(path)))


def record(path):
    return path.with_name(path.name + ".sha256")


def refused(path, *addresses, words, **options):
    """The download fails in one line, and nothing stands under the final name."""
    with pytest.raises(InputError, match=words) as caught:
        fetch(path, *addresses, **options)
    assert "\n" not in str(caught.value)
    assert str(caught.value).startswith(f"{path}: not downloaded (")
    assert not path.exists()
    assert not record(path).exists()


@pytest.mark.parametrize("known", [{}, {"size": len(CONTENT)}, {"sha256": SHA256}, {"sha256": SHA256[:8]}])
def test_a_file_is_fetched_checked_and_recorded(host, address, path, known):
    assert fetch(path, address, **known) == (SHA256, address)
    assert path.read_bytes() == CONTENT
    assert record(path).read_text() == f"{SHA256}  file.zip\n"
    assert beside(path) == []
    assert host.asked == [None]


def test_the_record_can_be_checked_by_sha256sum(address, path):
    fetch(path, address)
    if not shutil.which("sha256sum"):
        pytest.skip("sha256sum is not installed")
    subprocess.run(["sha256sum", "--check", "--quiet", record(path).name], cwd=path.parent, check=True)


@pytest.mark.parametrize("known", [{}, {"sha256": SHA256}])
def test_a_broken_transfer_goes_on_where_it_ended(host, address, path, known):
    host.script = [cut(2 * BLOCK), cut(BLOCK)]
    fetch(path, address, **known)
    assert path.read_bytes() == CONTENT
    assert host.asked == [None, f"bytes={2 * BLOCK}-", f"bytes={3 * BLOCK}-"]


def test_tries_count_only_while_nothing_comes(host, address, path):
    host.script = [cut(BLOCK) for _ in range(5)]
    fetch(path, address)
    assert path.read_bytes() == CONTENT
    assert len(host.requests) == 6 > HASTY.tries


def test_a_server_without_ranges_starts_again(host, address, path):
    host.ranges = False
    host.script = [cut(2 * BLOCK)]
    fetch(path, address)
    assert path.read_bytes() == CONTENT
    assert len(host.requests) == 2


def test_a_server_that_always_breaks_off_is_given_up(host, address, path):
    host.ranges = False
    host.script = [cut(2 * BLOCK)] * 99
    refused(path, address, words=r"broke off after 131,072 bytes, 3 times in a row")
    assert len(host.requests) == 4


def test_the_next_call_goes_on(host, address, path):
    host.script = [cut(3 * BLOCK)] + [cut(0)] * 3
    refused(path, address, words="3 times in a row", sha256=SHA256)
    host.script = []
    fetch(path, address, sha256=SHA256)
    assert path.read_bytes() == CONTENT
    assert host.asked[-1] == f"bytes={3 * BLOCK}-"


def test_a_killed_download_goes_on(host, address, path):
    released = threading.Event()
    host.script = [hold(released)]
    command = [sys.executable, "-m", "cooperation", "download", "--url", address, "--out", str(path)]
    process = subprocess.Popen(command)
    partial = path.with_name(".file.zip.part")
    deadline = time.monotonic() + 30
    while not (partial.exists() and partial.stat().st_size >= 2 * BLOCK) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.kill()
    process.wait()
    released.set()
    assert not path.exists()
    fetched = partial.stat().st_size
    assert fetched >= 2 * BLOCK
    fetch(path, address)
    assert path.read_bytes() == CONTENT
    assert host.asked == [None, f"bytes={fetched}-"]


def test_a_download_killed_before_its_check_is_not_fetched_again(host, address, path):
    path.parent.mkdir()
    path.with_name(".file.zip.part").write_bytes(CONTENT)
    fetch(path, address, size=len(CONTENT), sha256=SHA256)
    assert path.read_bytes() == CONTENT
    assert host.requests == []


def test_a_whole_part_of_unknown_size_is_recognised(address, path):
    path.parent.mkdir()
    path.with_name(".file.zip.part").write_bytes(CONTENT)
    fetch(path, address, sha256=SHA256)
    assert path.read_bytes() == CONTENT


def test_a_part_that_is_too_long_starts_again(address, path):
    path.parent.mkdir()
    path.with_name(".file.zip.part").write_bytes(CONTENT + b"more")
    fetch(path, address, sha256=SHA256)
    assert path.read_bytes() == CONTENT


def test_parts_of_two_versions_are_not_joined(host, address, path):
    host.script = [cut(2 * BLOCK)] + [cut(0)] * 3
    refused(path, address, words="times in a row")
    host.content, host.etag = CONTENT[::-1], '"two"'
    fetch(path, address)
    assert path.read_bytes() == CONTENT[::-1]


def test_without_any_mark_of_the_version_nothing_is_joined(host, address, path):
    host.etag = ""
    host.script = [cut(2 * BLOCK)]
    fetch(path, address)
    assert host.asked == [None, None]
    assert path.read_bytes() == CONTENT


def test_a_wrong_part_is_noticed_and_gone(address, path):
    path.parent.mkdir()
    path.with_name(".file.zip.part").write_bytes(b"x" * BLOCK)
    refused(path, address, words="its sha256 is .* published is", sha256=SHA256)
    fetch(path, address, sha256=SHA256)
    assert path.read_bytes() == CONTENT


def test_a_wrong_checksum(address, path):
    refused(path, address, words=f"its sha256 is {SHA256}, published is {'0' * 64}", sha256="0" * 64)
    assert beside(path) == [".file.zip.part.tag"]


def test_a_wrong_size_is_noticed_before_the_transfer(address, path):
    refused(path, address, words="offers 327,803 bytes instead of 5", size=5)


def test_a_wrong_size_is_noticed_after_a_transfer_of_unknown_length(host, address, path):
    host.lengths = False
    refused(path, address, words="sends more than 5 bytes", size=5)
    assert ".file.zip.part" not in beside(path)
    fetch(path, address, size=len(CONTENT))
    assert path.read_bytes() == CONTENT


@pytest.mark.parametrize("code", [403, 404, 410])
def test_a_dead_link(host, address, path, code):
    host.script = [status(code)]
    refused(path, address, words=rf"{address}: {code} .*; get the file elsewhere and put it there")
    assert len(host.requests) == 1


@pytest.mark.parametrize("code", [429, 500, 503])
def test_a_busy_server_is_asked_again(host, address, path, code):
    host.script = [status(code), status(code, Retry_After="0")]
    fetch(path, address, sha256=SHA256)
    assert len(host.requests) == 3


def test_a_server_that_stays_busy_is_given_up(host, address, path):
    host.script = [status(503)] * 9
    refused(path, address, words="503 Service Unavailable")
    assert len(host.requests) == HASTY.tries


@pytest.mark.parametrize("known", [{}, {"size": len(CONTENT)}, {"sha256": SHA256}])
@pytest.mark.parametrize("ranges", [True, False])
def test_a_server_that_promises_more_than_it_has(host, address, path, known, ranges):
    host.ranges = ranges
    host.script = [lie(len(CONTENT) + 9)] * 9
    refused(path, address, words=r"offers|broke off|ended after", **known)


def test_a_server_that_promises_less_than_it_has(host, address, path):
    host.script = [lie(len(CONTENT) - 9)]
    refused(path, address, words="its sha256 is", sha256=SHA256)


def test_a_server_that_goes_on_elsewhere(host, address, path):
    host.script = [cut(BLOCK), status(206, Content_Range="bytes 0-9/327803")]
    fetch(path, address)
    assert path.read_bytes() == CONTENT


def test_a_redirect_is_followed_with_its_range(host, address, path):
    host.script = [cut(BLOCK), status(302, Location="/elsewhere")]
    fetch(path, address)
    assert path.read_bytes() == CONTENT
    assert [where for _, where, _ in host.requests] == ["/v0.9/file.zip", "/v0.9/file.zip", "/elsewhere"]
    assert host.asked[-1] == f"bytes={BLOCK}-"


def test_a_circle_of_redirects(host, address, path):
    host.script = [status(302, Location="/again")] * 99
    refused(path, address, words="redirects")


def test_mirrors_in_order(address, path):
    with serving(Host(b"another file")) as wrong:
        digest, origin = fetch(path, f"{wrong}/a", "http://127.0.0.1:9/none", address, sha256=SHA256)
    assert (digest, origin) == (SHA256, address)
    assert path.read_bytes() == CONTENT


def test_all_mirrors_are_named_when_none_helps(host, address, path):
    host.script = [status(404), status(403)]
    refused(path, address, f"{address}2", words=rf"{address}: 404 Not Found \| {address}2: 403 Forbidden")


def test_a_redirect_that_makes_no_sense(host, address, path):
    """Its content can't be unpacked, and has a length that no number of the machine holds."""

    def behave(handler):
        handler.close_connection = True
        headers = f"Location: /y\r\nContent-Length: {'9' * 40}\r\nContent-Encoding: deflate"
        handler.wfile.write(f"HTTP/1.1 302 x\r\n{headers}\r\n\r\nnonsense".encode())

    host.script = [behave] * 9
    refused(path, address, words="cannot fit 'int'")


@pytest.mark.parametrize("where", ["nonsense", "ftp://127.0.0.1/x", "http://", "file:///etc/passwd"])
def test_impossible_addresses(path, where):
    refused(path, where, words="not downloaded")


def test_a_file_that_is_there_is_kept_and_recorded(host, address, path):
    path.parent.mkdir()
    path.write_bytes(CONTENT)
    changed = path.stat().st_mtime_ns
    assert fetch(path, address, size=len(CONTENT), sha256=SHA256[:12]) == (SHA256, "there already")
    assert path.stat().st_mtime_ns == changed
    assert record(path).read_text() == f"{SHA256}  file.zip\n"
    assert host.requests == []


@pytest.mark.parametrize("known", [{"sha256": SHA256}, {"size": 3}])
def test_a_file_that_is_there_but_wrong_is_never_touched(address, path, known):
    path.parent.mkdir()
    path.write_bytes(b"mine")
    with pytest.raises(InputError, match=rf"{path}: .* delete it or move it away"):
        fetch(path, address, **known)
    assert path.read_bytes() == b"mine"
    assert not record(path).exists()


def test_a_copy_elsewhere_is_checked_and_linked(host, address, path, tmp_path):
    copy = tmp_path / "mine.zip"
    copy.write_bytes(CONTENT)
    assert fetch(path, address, sha256=SHA256, have=copy) == (SHA256, f"linked to {copy}")
    assert path.is_symlink()
    assert path.read_bytes() == CONTENT
    assert host.requests == []
    moved = copy.rename(tmp_path / "moved.zip")
    fetch(path, address, sha256=SHA256, have=moved)
    assert path.resolve() == moved


@pytest.mark.parametrize("content", [None, b"wrong"])
def test_a_copy_elsewhere_that_is_wrong(address, path, tmp_path, content):
    copy = tmp_path / "mine.zip"
    if content:
        copy.write_bytes(content)
    with pytest.raises(InputError, match=rf"{copy}: .*; give another copy"):
        fetch(path, address, sha256=SHA256, have=copy)
    assert not path.exists()


def test_without_a_published_hash_the_first_is_compared_later(host, address, path):
    fetch(path, address)
    path.unlink()
    host.content = CONTENT[::-1]
    with pytest.raises(
        InputError,
        match=rf"its sha256 is .*, recorded in {record(path)} \(delete that if another version is wanted\) is {SHA256}",
    ):
        fetch(path, address)
    assert not path.exists()
    path.write_bytes(b"damaged")
    with pytest.raises(InputError, match=f"recorded in .*delete that.* is {SHA256}; delete it"):
        fetch(path, address)
    path.unlink()
    host.content = CONTENT
    fetch(path, address)


def test_the_disk_is_measured_first(address, path, monkeypatch):
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10, 9, len(CONTENT) - 1))
    refused(path, address, words=r"327,803 bytes to come, but .*raw has 327,802 free; make room")
    assert not path.with_name(".file.zip.part").exists()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(10, 9, len(CONTENT)))
    fetch(path, address)


def test_http_proxy_is_honoured(host, address, path, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", address.removesuffix("/v0.9/file.zip"))
    fetch(path, "http://images.invalid/train2014.zip", sha256=SHA256)
    assert host.requests[0][:2] == ("GET", "http://images.invalid/train2014.zip")


def test_https_proxy_is_honoured(host, address, path, monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", address.removesuffix("/v0.9/file.zip"))
    host.script = [status(403)] * 9
    refused(path, "https://images.invalid/train2014.zip", words="403")
    assert host.requests[0][:2] == ("CONNECT", "images.invalid:443")


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"])
def test_a_proxy_that_does_not_answer_is_named_by_its_variable(address, path, monkeypatch, name):
    """And the next address is asked."""
    monkeypatch.setenv(name, "http://127.0.0.1:9")
    refused(path, "https://images.invalid/train2014.zip", words=f"see the variable {name}")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    fetch(path, "https://images.invalid/train2014.zip", address)


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_certificates_that_are_not_there_are_named_by_their_variable(address, path, monkeypatch, tmp_path, name):
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    monkeypatch.setenv(name, str(tmp_path / "none.pem"))
    refused(path, "https://images.invalid/train2014.zip", words=f"none.pem; see the variable {name}")
    fetch(path, "https://images.invalid/train2014.zip", address)


def test_what_takes_long_is_seen_in_a_log(address, path, monkeypatch, capsys):
    fetch(path, address)
    assert capsys.readouterr().err == ""
    path.unlink()
    monkeypatch.setattr("cooperation.data.download.LOGGED", 0.0)
    fetch(path, address)
    said = capsys.readouterr().err
    assert "file.zip.part" in said
    assert "328k/328k" in said
    assert "B/s" in said


def test_command(address, path, monkeypatch, capsys):
    known = "--sha256", SHA256.upper(), "--size", len(CONTENT)
    run(monkeypatch, "download", "--url", f"{address}x", address, "--out", path, *known)
    assert f"{path}: {address}x, 327,803 bytes, sha256 {SHA256}" in capsys.readouterr().out


def test_command_fails_in_one_line(host, address, path, monkeypatch, capsys):
    host.script = [status(404)]
    with pytest.raises(SystemExit) as caught:
        run(monkeypatch, "download", "--url", address, "--out", path)
    assert caught.value.code == 2
    assert capsys.readouterr().err == (
        f"cooperation download: {path}: not downloaded ({address}: 404 Not Found); "
        "get the file elsewhere and put it there\n"
    )


@pytest.mark.parametrize("text", ["xyz", "397923a", "g" * 64, "0" * 65])
def test_an_impossible_hash_is_refused_by_the_command(monkeypatch, capsys, text):
    with pytest.raises(SystemExit):
        run(monkeypatch, "download", "--url", "http://a.invalid", "--out", "x", "--sha256", text)
    assert "is not 8 to 64 hexadecimal digits" in capsys.readouterr().err


@pytest.mark.parametrize("variable", ["TORCH_HOME", "XDG_CACHE_HOME", "HOME"])
def test_weights_in_torchs_cache_are_used_if_the_hash_fits(host, address, tmp_path, monkeypatch, variable):
    for name in ("TORCH_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    below = {"TORCH_HOME": "", "XDG_CACHE_HOME": "torch", "HOME": ".cache/torch"}[variable]
    hub = tmp_path / below / "hub/checkpoints"
    hub.mkdir(parents=True)
    (hub / "vgg.pth").write_bytes(CONTENT)
    wanted = tmp_path / "raw/vgg.pth"
    assert fetch(wanted, address, sha256=SHA256[:8]) == (SHA256, f"linked to {hub / 'vgg.pth'}")
    assert host.requests == []
    wanted.unlink()
    record(wanted).unlink()
    # What is something else stays unused, and what no hash is known of.
    (hub / "vgg.pth").write_bytes(b"something else")
    assert fetch(wanted, address, sha256=SHA256[:8]) == (SHA256, address)
    wanted.unlink()
    record(wanted).unlink()
    assert fetch(wanted, address) == (SHA256, address)


@pytest.mark.parametrize(
    "page", [b"<!DOCTYPE html><p>Sign in", b"\n<html>no such file</html>", b"<?xml version='1.0'?>"]
)
def test_a_page_in_place_of_a_file_is_refused_before_it_is_recorded(host, address, path, page):
    host.content = page
    refused(path, address, words=f"{address}: sent HTML or XML, which is not the file")
    assert ".file.zip.part" not in beside(path)
    host.content = CONTENT
    fetch(path, address)


def test_a_page_is_no_obstacle_for_the_next_mirror(address, path):
    with serving(Host(b"<html>moved</html>")) as wrong:
        assert fetch(path, f"{wrong}/a", address) == (SHA256, address)


def test_passwords_of_netrc_are_not_sent(host, address, path, tmp_path, monkeypatch):
    (tmp_path / "netrc").write_text("machine 127.0.0.1 login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    fetch(path, address)
    [(_, _, headers)] = host.requests
    assert "Authorization" not in headers


def test_a_long_wait_that_a_server_asks_for_is_capped_and_shown(host, address, path, monkeypatch, capsys):
    waited = []
    monkeypatch.setattr("urllib3.util.retry.time.sleep", waited.append)
    host.script = [status(503, Retry_After="7200")]
    fetch(path, address)
    assert waited == [60.0]
    assert "asks for 7200 s; trying again in 60 s" in capsys.readouterr().err


@pytest.mark.parametrize("code", [204, 206])
def test_answers_that_are_no_file_are_one_line(host, address, path, code):
    host.script = [status(code)]
    refused(path, address, words=f"{address}: answers {code} ")


@pytest.mark.parametrize("length", ["-5", "many", "1e9"])
def test_a_length_that_is_no_number_says_nothing(host, address, path, length):
    host.script = [status(200, Content_Length=length)]
    with suppress(InputError):
        fetch(path, address, sha256=SHA256)
    assert not path.exists() or path.read_bytes() == CONTENT


def test_what_never_ends_is_bounded_by_the_expected_size(host, address, path):
    host.lengths = False
    refused(path, address, words="sends more than 100 bytes", size=100)
