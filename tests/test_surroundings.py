"""Processes without a home, without streams, with limits of their own, and with settings of a user's other tools."""

import os
import resource
import subprocess
import sys

import pytest
from project import ROOT, lacking
from test_full_disk import WRITERS

from cooperation.io import provenance
from cooperation.io.files import InputError

NOBODY = """
import os, pwd, sys
def unknown(_):
    raise KeyError("no entry")
pwd.getpwuid = unknown
os.environ.pop("HOME", None)
sys.argv = ["cooperation", "encode", "--help"]
from cooperation.cli import main
try:
    main()
except SystemExit:
    import nltk, matplotlib.font_manager
    print(matplotlib.get_backend(), matplotlib.get_configdir() and os.path.isdir(os.environ["HOME"]))
"""


def test_a_user_without_a_home_in_a_notebooks_environment():
    environment = os.environ | {"MPLBACKEND": "nonsense"}
    done = subprocess.run(
        [sys.executable, "-c", NOBODY], env=environment, check=False, capture_output=True, text=True, cwd="/"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "agg False"


@pytest.mark.parametrize(("closed", "code"), [("2>&-", 0), ("<&-", 0), ("<&- >&- 2>&-", 0)])
def test_closed_streams_change_no_file(tmp_path, closed, code):
    world = f"{sys.executable} -m cooperation miniature --train 1 --val 1 --pixels 48 --out {tmp_path}"
    assert subprocess.run(["sh", "-c", f"exec {world}/a"], check=True, capture_output=True).returncode == 0
    assert subprocess.run(["sh", "-c", f"exec {world}/b {closed}"], check=False).returncode == code
    one, other = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in "ab")
    assert one == other


def test_bad_input_with_stderr_closed_has_its_code(tmp_path):
    words = f"exec {sys.executable} -m cooperation provenance {tmp_path}/nowhere 2>&-"
    done = subprocess.run(["sh", "-c", words], check=False, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (2, "")


@pytest.mark.parametrize("name", WRITERS)
def test_files_that_may_not_be_so_large(tmp_path, name):
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, limits[1]))
    try:
        with pytest.raises(InputError, match="file too large; allow larger files"):
            WRITERS[name](tmp_path / name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert not list(tmp_path.iterdir())


def git(folder, *words):
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    own |= {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    done = subprocess.run(["git", "-C", folder, *words], env=own, check=True, capture_output=True, text=True)
    return done.stdout.strip()


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """A repository with one commit, whose file the package's own is said to be; its commit."""
    (tmp_path / "own").mkdir()
    (tmp_path / "own/file").touch()
    git(tmp_path / "own", "init", "-q")
    git(tmp_path / "own", "add", "file")
    git(tmp_path / "own", "commit", "-qm", "x")
    monkeypatch.setattr(provenance, "PACKAGE", tmp_path / "own")
    return git(tmp_path / "own", "rev-parse", "HEAD")


def test_the_commit_is_that_of_the_package_whatever_git_is_told(tmp_path, checkout, monkeypatch):
    git(tmp_path, "init", "-q", "other")
    for name, value in {"GIT_DIR": "other/.git", "GIT_WORK_TREE": "other", "GIT_INDEX_FILE": "nowhere"}.items():
        monkeypatch.setenv(name, str(tmp_path / value))
    assert provenance.commit() == checkout


def test_a_commit_that_git_does_not_tell_has_a_reason(tmp_path, checkout, monkeypatch):
    if os.geteuid():
        lacking("files of another owner need root")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert provenance.commit() == checkout
    for path in [tmp_path / "own", *(tmp_path / "own").rglob("*")]:
        os.chown(path, 65534, 65534)
    found = provenance.commit()
    assert found.startswith("unknown (")
    assert "dubious ownership" in found
    assert "\n" not in found


def test_outside_of_git_the_commit_is_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr(provenance, "PACKAGE", tmp_path)
    assert provenance.commit() == "unknown"


def test_a_package_that_is_installed_in_another_repository_has_none_of_its_commits(tmp_path, checkout, monkeypatch):
    (tmp_path / "own/installed").mkdir()
    monkeypatch.setattr(provenance, "PACKAGE", tmp_path / "own/installed")
    assert checkout
    assert provenance.commit() == "unknown"


def test_checkouts_have_unix_line_ends():
    assert "* text=auto eol=lf" in (ROOT / ".gitattributes").read_text()
