"""A disk that is full, read-only or forbidden: a line names file and remedy, nothing is half-written, all goes on."""

import errno
import hashlib
import os
import platform
import re
import subprocess
import sys
import time

import numpy as np
import pytest
import torch
from fakes import made_result, write_results
from http_host import Host, serving
from in_process import code_of
from project import lacking

from cooperation.bots.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork
from cooperation.bots.training import Trainer
from cooperation.commands.settings import read_settings
from cooperation.config.preparation import World
from cooperation.config.training import Sizes, Training
from cooperation.data.archives import picture_names
from cooperation.data.miniature.writing import write_world
from cooperation.data.store import write_feature_blocks
from cooperation.data.vgg import trained
from cooperation.evaluation.manual import read_manual
from cooperation.evaluation.results import read_result, write_result
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.files import InputError
from cooperation.io.hdf5 import created
from cooperation.io.writing import write_text, written_whole
from cooperation.reports.controls import read_expected
from cooperation.reports.drawing import save

VOCABULARY = Vocabulary.of(["a", "UNK"])
SIZES = Sizes(embedding=30, hidden=60, layers=1)


def mount(place, *options):
    place.mkdir(exist_ok=True)
    if subprocess.run(["mount", *options, place], check=False, capture_output=True).returncode:
        lacking("a small file system of its own needs the right to mount")


@pytest.fixture
def small(tmp_path):
    """A file system of one megabyte, of which all but a few bytes are taken; `free` gives them back."""
    place = tmp_path / "small"
    mount(place, "-t", "tmpfs", "-o", "size=1m", "tmpfs")
    try:
        yield place
    finally:
        # Lazily: what failed may still hold a file open.
        subprocess.run(["umount", "-l", place], check=True)


def fill(place, leave):
    """Take all room but so many bytes."""
    with (place / "ballast").open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                pass
        file.truncate(max(file.tell() - leave, 0))


def bots():
    torch.manual_seed(1)
    return QuestionerNetwork(VOCABULARY.size, 50, SIZES), AnswererNetwork(VOCABULARY.size, 50, SIZES)


def checkpoint(path):
    about = {"regime": "dialog", "seed": 1}, {}, {}
    save_checkpoint(path, Checkpoint(*bots(), VOCABULARY, np.arange(3), SIZES, *about))


def result(path):
    ranks = np.random.default_rng(1).random((3000, 11))
    write_result(path, made_result(ranks))


def vectors(path):
    blocks = (np.random.default_rng(n).random((64, 400), np.float32) for n in range(8))
    write_feature_blocks(path, {"val": (np.arange(512), blocks)}, {"layer": "fc7"})


def picture(path):
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot(np.random.default_rng(1).random((3000, 9)))
    save(figure, path)


WRITERS = {
    "result.h5": result,
    "features.h5": vectors,
    "bots.safetensors": checkpoint,
    "bots.progress.safetensors": lambda path: Trainer(*bots(), Training(), "subject").save(path),
    "mpr.csv": lambda path: write_text(path, "x" * 300_000),
    "figure.svg": picture,
    "figure.pdf": picture,
    "train2014.zip": lambda path: write_world(World(train=30, val=5, pixels=96), path.parent),
}


@pytest.mark.parametrize("leave", [0, 20_000])
@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_is_named_and_the_old_file_stays(small, name, leave):
    write, path = WRITERS[name], small / name
    path.write_text("old")
    fill(small, leave)
    before = sorted(file.name for file in small.iterdir())
    with pytest.raises(InputError) as error:
        write(path)
    said = str(error.value)
    assert said.endswith(": no space left on device; make room there, then run the same command again")
    assert said.startswith(str(small))
    assert sorted(file.name for file in small.iterdir()) == before
    assert path.read_text() == "old"
    (small / "ballast").unlink()
    write(path)
    assert path.stat().st_size > 20_000
    assert not list(small.glob(".*"))


def test_a_disk_that_fills_within_one_file(small):
    path = small / "features.h5"
    with pytest.raises(InputError, match="no space left on device"), created(path) as file:
        for number in range(40):
            file.add(f"a{number}", np.random.default_rng(number).random(9_000))
    assert not list(small.iterdir())


def run(monkeypatch, capsys, *words):
    """Exit code and the lines on standard error of a command."""
    code = code_of(monkeypatch, *words)
    said = capsys.readouterr().err.splitlines()
    return code, said if code else []


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return write_results(tmp_path_factory.mktemp("results"), dialogs=5, readings=("written",))


def test_a_command_on_a_full_disk_then_again(small, results, monkeypatch, capsys):
    fill(small, 0)
    words = ["summarise", *results, "--resamples", 10, "--out", small / "reports" / "mpr.csv"]
    place = f"{small}/reports/mpr.csv"
    assert run(monkeypatch, capsys, *words) == (
        2,
        [f"cooperation summarise: {place}: no space left on device; make room there, then run the same command again"],
    )
    (small / "ballast").unlink()
    assert run(monkeypatch, capsys, *words) == (0, [])
    assert [file.name for file in (small / "reports").iterdir()] == ["mpr.csv"]


def test_a_download_goes_on_when_there_is_room_again(small, monkeypatch, capsys):
    host = Host(bytes(range(256)) * 2000)
    host.lengths = False
    fill(small, 200_000)
    known = hashlib.sha256(host.content).hexdigest()
    with serving(host) as address:
        words = ["download", "--url", f"{address}/x.zip", "--out", small / "x.zip", "--sha256", known]
        code, (line,) = run(monkeypatch, capsys, *words)
        assert code == 2
        assert "no space left on device; make room there" in line
        assert not (small / "x.zip").exists()
        (small / "ballast").unlink()
        assert run(monkeypatch, capsys, *words) == (0, [])
    assert host.asked[0] is None
    assert host.asked[1].startswith("bytes=")
    assert (small / "x.zip").read_bytes() == host.content
    assert sorted(file.name for file in small.iterdir()) == ["x.zip", "x.zip.sha256"]


@pytest.mark.parametrize("name", WRITERS)
def test_a_place_that_is_read_only(tmp_path, name):
    mount(tmp_path / "small", "-t", "tmpfs", "-o", "ro,size=1m", "tmpfs")
    try:
        with pytest.raises(InputError, match=r"small.*: read-only file system; choose a place that can be written to"):
            WRITERS[name](tmp_path / "small" / "deep" / name)
    finally:
        subprocess.run(["umount", "-l", tmp_path / "small"], check=True)


@pytest.fixture
def forbidden(tmp_path):
    """A folder that one may not write in, with files that one may not read. Root may do all, so it is nobody then."""
    place = tmp_path / "forbidden"
    place.mkdir()
    for name in READERS:
        (place / name).write_bytes(b"x")
        (place / name).chmod(0)
    place.chmod(0o555)
    shut = [folder for folder in tmp_path.parents if not folder.stat().st_mode & 0o001]
    modes = {folder: folder.stat().st_mode for folder in (tmp_path, *shut)}
    root = os.geteuid() == 0
    if root:
        for folder, mode in modes.items():
            folder.chmod(mode | 0o011)
        os.seteuid(65534)
    try:
        yield place
    finally:
        if root:
            os.seteuid(0)
            for folder, mode in modes.items():
                folder.chmod(mode)
        place.chmod(0o755)


@pytest.mark.parametrize("name", ["result.h5", "bots.safetensors", "mpr.csv"])
def test_a_place_that_one_may_not_write_to(forbidden, name):
    with pytest.raises(InputError, match=rf"{name}: permission denied; ask for the permission \(chmod, chown\)"):
        WRITERS[name](forbidden / name)


READERS = {
    "result.h5": read_result,
    "bots.safetensors": lambda path: load_checkpoint(path, torch.device("cpu")),
    "controls.csv": read_expected,
    "train.zip": picture_names,
    "mine.pth": trained,
    "figure_x.yaml": read_manual,
    "settings.yaml": read_settings,
}


@pytest.mark.parametrize("name", READERS)
def test_a_file_that_one_may_not_read(forbidden, name):
    with pytest.raises(InputError, match=rf"{name}: permission denied; ask for the permission \(chmod, chown\)"):
        READERS[name](forbidden / name)


def test_a_full_quota_says_so_when_the_file_is_closed(tmp_path, monkeypatch):
    def fsync(_):
        raise OSError(errno.EDQUOT, "Disk quota exceeded")

    monkeypatch.setattr(os, "fsync", fsync)
    with pytest.raises(InputError, match=r"x\.md: disk quota exceeded; delete files of yours there or ask for more"):
        write_text(tmp_path / "x.md", "x")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("file/x.md", r"file/x\.md: .*; a file stands where a folder should"),
        ("folder", r"folder: a folder, not a file; give a name in it"),
        ("x" * 300 + ".md", r"x\.md: file name too long; choose a shorter name"),
    ],
)
def test_places_that_are_taken_or_impossible(tmp_path, place, said):
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=said):
        write_text(tmp_path / place, "x")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["file", "folder"]


def left_behind(path, host, process, age=0.0):
    """A temporary of a process that writes `path`, or was killed while it did, last written so many seconds ago."""
    partial = path.with_name(f".{path.stem}.{host}-{process}-0a1b2c3d.partial{path.suffix}")
    partial.touch()
    os.utime(partial, (time.time() - age,) * 2)
    return partial


def test_what_killed_runs_left_goes_and_what_is_being_written_stays(tmp_path):
    path, here = tmp_path / "caption-p0.h5", re.sub(r"[^A-Za-z0-9]", "-", platform.node())
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    swept = [left_behind(path, here, gone.pid), left_behind(path, "node-7", 1, 2 * 24 * 3600)]
    kept = [
        left_behind(path, here, os.getppid()),
        # The same number of a process on another machine of a cluster, and another file's.
        left_behind(path, "node-7", gone.pid),
        left_behind(tmp_path / "caption-p0.2.h5", here, gone.pid),
        left_behind(tmp_path / "caption-p0.csv", here, gone.pid),
    ]
    write_text(path, "x")
    assert not [partial for partial in swept if partial.exists()]
    assert all(partial.exists() for partial in kept)
    assert len(list(tmp_path.iterdir())) == len(kept) + 1


def test_two_that_write_one_file_at_once_do_not_meet(tmp_path):
    path = tmp_path / "x.md"
    with written_whole(path) as one:
        one.write_text("one")
        with written_whole(path) as other:
            assert other != one
            other.write_text("other")
        assert path.read_text() == "other"
    assert path.read_text() == "one"
    assert list(tmp_path.iterdir()) == [path]
