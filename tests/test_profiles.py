"""The profile for SLURM: what it sets for a rule is what the rule's jobs get."""

import re

import pytest
import yaml
from project import Project
from uninterrupted import CONFIG

WORLDS = {
    "worlds": ["blank", "blank_two"],
    "conditions": {"dialog": {"none": {}, "caption": {"channel": "caption", "kind": "replace"}}},
}
SMALL = CONFIG["datasets"]["small"]
CONFIG = CONFIG | {
    "controls": WORLDS,
    "datasets": CONFIG["datasets"] | dict.fromkeys(WORLDS["worlds"], SMALL),
}
OWN = {"extract": {"gpu_model": "a100"}, "play_round": {"runtime": 9}}

HEAD = "world,conditions,at_least,at_most\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    made = Project(tmp_path_factory.mktemp("profiles"), CONFIG)
    (made.folder / "workflow/controls.csv").write_text(HEAD + "blank,none caption,0,1\nblank_two,none,0,1\n")
    return made


def planned(project, profile, *targets):
    """What a dry run would ask for: rule → resources of one of its jobs."""
    done = project.snakemake("-n", "--verbose", "--profile", profile, *targets)
    assert done.returncode == 0, done.stdout
    # Those of a group are indented.
    found = re.findall(r"^ *(?:local)?rule (\w+):.*?^ +resources: (.*?)$", done.stdout, re.MULTILINE | re.DOTALL)
    return {rule: dict(pair.split("=", 1) for pair in words.split(", ")) for rule, words in found}


def test_jobs_get_what_the_profile_sets(project):
    profile = yaml.safe_load((project.folder / "profiles/slurm/config.yaml").read_text())
    jobs = planned(project, "profiles/slurm", "all", "controls")
    set_for = {"extract", "train", "play_dialog", "play_round", "encode", "normalise", "report", "intervene_dialog"}
    for rule in {*set_for, "play_worlds_dialog", "scripted"}:
        assert (rule in profile["set-resources"]) == (rule in set_for)
        wanted = profile["default-resources"] | profile["set-resources"].get(rule, {})
        for key in ("mem_mb", "runtime"):
            wanted[key] = eval(wanted[key], {"attempt": 1}) if isinstance(wanted[key], str) else wanted[key]
        assert {key: jobs[rule].get(key) for key in wanted} == {key: str(value) for key, value in wanted.items()}, rule
        assert ("gpu" in jobs[rule]) == ("gpu" in wanted)


def test_another_profile_sets_what_it_says(project):
    folder = project.folder / "profiles/ours"
    folder.mkdir()
    (folder / "config.yaml").write_text(yaml.safe_dump({"set-resources": OWN}))
    jobs = planned(project, "profiles/ours", "all", "results/blank/dialog-seed1/written/caption.h5")
    assert jobs["play_round"]["runtime"] == "9"
    assert jobs["extract"]["gpu_model"] == "a100"
    assert "runtime" not in jobs["encode"]
