"""Mistakes that people make at first: each leads to one line that says what to do."""

import os
import subprocess
import sys

import pytest
from project import ROOT, Project
from reduced import CONFIG

from cooperation.cli import main


@pytest.fixture
def project(tmp_path):
    return Project(tmp_path, CONFIG)


def test_the_wrong_python(tmp_path):
    """An old Python, which a script plays that believes to be one."""
    old = tmp_path / "python3.9"
    runs = 'import runpy, sys; sys.version_info = (3, 9, 2); runpy.run_path(sys.argv[1], run_name="__main__")'
    old.write_text(f"#!/bin/sh\nexec {sys.executable} -c '{runs}' \"$@\"\n")
    old.chmod(0o755)
    (tmp_path / "workflow/envs").mkdir(parents=True)
    for name in ("Makefile", "requirements.txt", "pyproject.toml", "workflow/envs/install.py"):
        (tmp_path / name).write_bytes((ROOT / name).read_bytes())
    done = subprocess.run(
        ["make", f"PYTHON={old}"],
        cwd=tmp_path,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode != 0
    assert "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11" in done.stdout
    assert not (tmp_path / ".venv").exists()


def test_no_environment():
    """A Python that has none of the packages."""
    command = [sys.executable, "-S", "-m", "cooperation", "train", "--help"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 2
    assert "lacks the package" in done.stderr
    assert ". .venv/bin/activate" in done.stderr
    assert done.stderr.count("\n") == 1


def test_cores_forgotten(project):
    """The profile says how many."""
    done = project.run(sys.executable, "-m", "snakemake", "-n")
    assert done.returncode == 0, done.stdout
    assert "The plan:" in done.stdout


def test_half_a_download(tmp_path, monkeypatch, capsys):
    """Somebody's own copy that ends too early stays as it is."""
    half = tmp_path / "train2014.zip"
    half.write_bytes(b"half of it")
    words = ["--out", tmp_path / "raw/train2014.zip", "--url", "http://127.0.0.1:9/x", "--size", "20", "--have", half]
    monkeypatch.setattr(sys, "argv", ["cooperation", "download", *map(str, words)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert f"{half}: " in said
    assert "10 bytes" in said
    assert half.read_bytes() == b"half of it"


def test_the_wrong_path_to_the_authors_features(project):
    config = {
        **CONFIG,
        "dataset": "theirs",
        "datasets": {
            "theirs": {
                "source": "authors",
                "dialogs": {"data": "./Snakefile", "params": "./Snakefile", "images": "nowhere/data_img.h5"},
                "training": {"dialog": {}, "round": {}},
            }
        },
    }
    project.configure(config)
    done = project.snakemake("-n")
    assert done.returncode != 0
    wanted = "nowhere/data_img.h5: no such file; put it there or give its path as datasets.theirs.dialogs.images"
    assert wanted in done.stdout
    assert "Traceback" not in done.stdout


def test_snakemake_without_its_environment_entered(project):
    """Jobs find the Python that Snakemake runs with."""
    environment = {"HOME": "/root", "PATH": "/usr/bin:/bin"}
    words = [sys.executable, "-m", "snakemake", "--cores", "1", "data/small/raw/val2014.zip"]
    done = project.run(*words, environment=environment)
    assert done.returncode == 0, done.stdout


def test_braces_in_the_projects_path(tmp_path):
    (tmp_path / "a{b}").mkdir()
    done = Project(tmp_path / "a{b}", CONFIG).snakemake("-n")
    assert done.returncode == 1
    assert "a{b}: Snakemake reads braces in a path as something else; move the project" in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize("jobs", ["model", "condition"])
@pytest.mark.parametrize("target", ["results/small/dialog-seed1/written/nope.h5", "reports/small/nope.csv", "nope"])
def test_a_mistyped_target(project, jobs, target):
    done = project.snakemake("-n", target, "--config", f"datasets={{small: {{jobs: {jobs}}}}}")
    assert done.returncode == 1
    assert "No rule to produce" in done.stdout
    assert "Traceback" not in done.stdout
