"""The profile for SLURM: what it sets for a kind of rule is what every job of the kind gets."""

import re

import pytest
import yaml
from project import Project
from uninterrupted import CONFIG

WORLDS = {"worlds": ["blank", "blank_two"], "conditions": {"none": {}, "caption": {"channel": "caption"}}}
SMALL = CONFIG["datasets"]["small"]
CONFIG = CONFIG | {
    "weights": [0.5],
    "controls": WORLDS,
    "datasets": CONFIG["datasets"] | dict.fromkeys(WORLDS["worlds"], SMALL),
}
OWN = {"extract": {"gpu_model": "a100"}, "play_round": {"runtime": 9}, "play": {"runtime": 8}}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    made = Project(tmp_path_factory.mktemp("profiles"), CONFIG)
    (made.folder / "workflow/controls.csv").write_text("world,conditions\nblank,none caption\nblank_two,none\n")
    return made


def planned(project, profile, *targets):
    """What a dry run would ask for: rule → resources of one of its jobs."""
    done = project.snakemake("-n", "--profile", profile, *targets)
    assert done.returncode == 0, done.stdout
    found = re.findall(r"^(?:local)?rule (\w+):.*?^    resources: (.*?)$", done.stdout, re.MULTILINE | re.DOTALL)
    return {rule: dict(pair.split("=", 1) for pair in words.split(", ")) for rule, words in found}


def test_jobs_get_what_the_profile_sets_for_their_kind(project):
    profile = yaml.safe_load((project.folder / "profiles/slurm/config.yaml").read_text())
    jobs = planned(project, "profiles/slurm", "all", "controls", "weights")
    kinds = {
        "play_dialog": "play",
        "play_round": "play",
        "play_weighted": "play",
        "train_weighted": "train",
        "train": "train",
        "encode": "encode",
        "summarise": "summarise",
        "blank_extract": "extract",
        "blank_train": "train",
        "blank_two_train": "train",
        "blank_play_dialog": "play",
        "blank_two_play_dialog": "play",
        "blank_two_normalise": "normalise",
        "corpus": "",
        "diagnose": "",
        "scripted": "",
    }
    for rule, kind in kinds.items():
        wanted = profile["default-resources"] | profile["set-resources"].get(kind, {})
        wanted["mem_mb"] = eval(wanted["mem_mb"], {"attempt": 1})
        assert {key: jobs[rule].get(key) for key in wanted} == {key: str(value) for key, value in wanted.items()}, rule
        assert ("gpu" in jobs[rule]) == ("gpu" in wanted)


def test_what_is_set_for_one_rule_alone_goes_before_its_kind(project):
    folder = project.folder / "profiles/ours"
    folder.mkdir()
    (folder / "config.yaml").write_text(yaml.safe_dump({"set-resources": OWN}))
    jobs = planned(project, "profiles/ours", "all", "results/blank/dialog-seed1/written/caption.h5")
    assert jobs["play_round"]["runtime"] == "9"
    assert jobs["play_dialog"]["runtime"] == "8"
    assert jobs["blank_extract"]["gpu_model"] == "a100"
    assert "runtime" not in jobs["encode"]
