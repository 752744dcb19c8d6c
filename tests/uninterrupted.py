"""The reduced miniature, made once without a stop, for the tests that compare with it; processes of tests share it."""

import copy
import fcntl
import os
import shutil

import pytest
from project import Project
from reduced import CONFIG as REDUCED
from reduced import RATE

from cooperation.io.files import digest

CONFIG = copy.deepcopy(REDUCED)
# Several steps in a job: both readings, and a condition of one of them alone.
CONFIG["readings"] = ["written", "released"]
kept = {name: REDUCED["conditions"]["dialog"][name] for name in ("none", "image-from5", "answered")}
CONFIG["conditions"]["dialog"] = kept | {"none-bare": {"facts": "bare"}}
CONFIG["datasets"]["small"]["manual"] = {"dialog": ["paper/manual/miniature/figure_4.yaml"]}
# Its training stops in the middle of an epoch, too, when it is killed.
CONFIG["datasets"]["small"]["training"] = {
    "dialog": {"epochs": 2, "batch": 4},
    "round": {"epochs": 1, "batch": 8, "rate": RATE},
}
MADE = ("data", "checkpoints", "results", "reports")


@pytest.fixture(scope="session")
def uninterrupted(tmp_path_factory):
    """A project, all of it made by two jobs at a time."""
    base = tmp_path_factory.getbasetemp()
    # One more level where tests run side by side.
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    project = object.__new__(Project)
    project.folder = base / "uninterrupted"
    with (base / "uninterrupted.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not project.folder.exists():
            done = Project(project.folder, CONFIG).snakemake()
            assert done.returncode == 0, done.stdout[-5000:]
    return project


def lend_data(project, other):
    """Give another project of the same data set its data, and what Snakemake remembers of them."""
    for name in ("data", ".snakemake"):
        shutil.copytree(project.folder / name, other.folder / name)


def beside(project, folder, *kept, config=CONFIG):
    """Another folder of the same sources, whatever is edited meanwhile, with what is kept of the things made."""
    made = object.__new__(Project)
    made.folder = folder
    left = {*MADE, ".snakemake", "logs"} - set(kept)
    shutil.copytree(project.folder, folder, ignore=lambda at, _: left if at == str(project.folder) else ())
    made.configure(config)
    return made


def digests(project):
    """File → hash of all that was made, without what is there for a while only."""
    return {
        str(path.relative_to(project.folder)): digest(path)
        for folder in MADE
        for path in (project.folder / folder).rglob("*")
        if path.is_file() and not temporary(path)
    }


def temporary(path):
    """Whether it is not a result, and its name says so."""
    return ".partial" in path.name or path.name.endswith(".progress.safetensors")
