"""What `make` installs with: its environment, another `make` beside it, settings of pip, paths and locales."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from project import ROOT

sys.path.insert(0, str(ROOT / "workflow/envs"))

import install

PIP = """#!{python}
import json, os, sys, time
with open("calls", "a") as file:
    kept = {{name: os.environ.get(name) for name in ("PIP_USER", "PIP_TARGET", "PYTHONPATH", "LC_ALL")}}
    file.write(json.dumps([sys.argv[1:], kept]) + "\\n")
time.sleep(0.2)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A project whose environment's Python writes down what it is called with, and takes its time."""
    for name in ("requirements.txt", "requirements-extras.txt", "pyproject.toml"):
        (tmp_path / name).touch()
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(PIP.format(python=sys.executable))
    python.chmod(0o755)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "executable", str(python))
    return tmp_path


def calls(place):
    return (place / "calls").read_text().splitlines()


def test_pip_installs_into_the_environment_whatever_the_users_settings(place, monkeypatch):
    for name in ("PIP_USER", "PIP_TARGET", "PYTHONPATH", "LC_ALL"):
        monkeypatch.setenv(name, "1")
    install.install("installed")
    assert len(calls(place)) == 3
    kept = '{"PIP_USER": "0", "PIP_TARGET": null, "PYTHONPATH": null, "LC_ALL": "C.UTF-8"}'
    assert all(kept in call for call in calls(place))
    assert (place / ".venv/installed").exists()


def test_two_at_once_install_once_and_the_second_says_that_it_waits(place, capfd):
    threads = [threading.Thread(target=install.install, args=["installed"]) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(calls(place)) == 3
    assert capfd.readouterr().err.count("Another make installs into .venv: waiting for it") == 1


def test_the_way_to_the_sources_has_no_letters_of_the_folders_name(place):
    site = place / ".venv/lib/python3.11/site-packages"
    site.mkdir(parents=True)
    (site / "__editable__.cooperation.pth").write_text(f"{place}/é/src\n")
    install.install("installed")
    said = (site / "__editable__.cooperation.pth").read_text()
    assert said.isascii()
    assert (site / said.strip()).resolve() == place / "src"


def test_it_is_installed_again_after_a_change_only(place):
    for _ in range(2):
        install.install("extras")
    assert len(calls(place)) == 1
    stamp = (place / ".venv/extras").stat().st_mtime
    os.utime(place / "requirements-extras.txt", (stamp + 9, stamp + 9))
    install.install("extras")
    assert len(calls(place)) == 2


@pytest.mark.parametrize("letter", ['"', "$", "`", ":", "{", "}", "\\"])
def test_paths_that_environments_do_not_bear_are_one_line(tmp_path, letter):
    place = tmp_path / f"a{letter}b"
    place.mkdir()
    command = [sys.executable, ROOT / "workflow/envs/install.py", "installed"]
    done = subprocess.run(command, cwd=place, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert (
        done.stderr == f"{place}: its path has {letter!r}, which Python's environments or Snakemake misread; move it\n"
    )
    assert not list(place.iterdir())


@pytest.mark.parametrize("name", ["a b", "é", "a'b", "a-b.c"])
def test_paths_that_they_bear(name):
    assert not install.problem(Path("/x") / name)


def test_make_says_what_comes_and_where_the_page_is():
    done = subprocess.run(["make", "-n", "all"], cwd=ROOT, check=True, capture_output=True, text=True)
    assert "about five minutes" in done.stdout
    words = next(line for line in done.stdout.splitlines() if "Done" in line)
    said = subprocess.run(["sh", "-c", words], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert said == "Done: open reports/miniature/index.html\n"
