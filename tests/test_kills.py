"""Whatever is killed, and whenever: the same command goes on, and ends with what a run without a stop makes."""

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from killing import end, jobs_of, running, start_snakemake
from project import ROOT, Project
from uninterrupted import CONFIG, beside, digests, temporary, uninterrupted  # noqa: F401

KILLS = 20
# Of what kinds the jobs are that are waited for in turn, as patterns.
KINDS = (r"\w+", "train", "play")
TARGETS = [f"reports/small/{name}" for name in ("metrics.json", "table_1.csv", "figure_1a.svg", "claims.csv")]


def until(ready, seconds=120):
    begun = time.monotonic()
    while not ready():
        assert time.monotonic() - begun < seconds
        time.sleep(0.02)


@pytest.fixture(scope="module")
def killed(uninterrupted, tmp_path_factory):  # noqa: F811
    """Made by a run of which job or master are killed again and again; kills: the jobs that ran when it was done."""
    project = beside(uninterrupted, tmp_path_factory.mktemp("killed") / "a project")
    project.kills, project.whole = [], digests(uninterrupted)
    moment = random.Random(11)
    victims = moment.sample(["job", "master"], KILLS, counts=[KILLS // 2] * 2)
    for _ in range(3 * KILLS):
        master = start_snakemake(project, *TARGETS)
        if len(project.kills) < KILLS:
            number = len(project.kills)
            kill_once(project, master, victims[number], KINDS[number % len(KINDS)], moment)
        ended = end(master)
        if ended == 0 and len(project.kills) < KILLS:
            # All was made, but there is more to kill.
            project.run("rm", "-r", "results", "checkpoints", "reports")
        elif ended == 0:
            return project
        if ended == -signal.SIGKILL:
            until(lambda: not running(project.folder), 20)
            assert end(start_snakemake(project, "--unlock")) == 0
        look(project)
    pytest.fail((project.folder / "said").read_text()[-5000:])


def kill_once(project, master, who, kind, moment):
    """Kill a job of a kind, or who runs it, when the first of them or one of the next has begun and a moment passed."""
    seen, wait = set(), moment.randint(1, 2)
    while master.is_alive() and len(seen) < wait:
        seen |= set(of_kind(project, kind))
        time.sleep(0.05)
    time.sleep(moment.uniform(0, 1.5))
    jobs = of_kind(project, kind)
    if not jobs or not master.is_alive():
        return
    victim = moment.choice(sorted(jobs))
    os.kill({"job": victim, "master": master.pid}[who], signal.SIGKILL)
    project.kills.append((who, jobs[victim]))


def of_kind(project, kind):
    """Process → command of the jobs of a kind that run; a shell may have several commands one after another."""
    found = {job: re.search(rf"-m cooperation ({kind})\b", words) for job, words in jobs_of(project.folder).items()}
    return {job: command[1] for job, command in found.items() if command}


def look(project):
    """Whatever has a result's name is that result, whole."""
    found = digests(project)
    assert found == {name: project.whole[name] for name in found}


def test_what_is_killed_twenty_times_ends_as_what_is_not(killed):
    found = digests(killed)
    assert len(killed.kills) == KILLS
    assert {*TARGETS, "data/small/features.h5", "results/small/dialog-seed1/written/none.h5"} <= set(found)
    assert found == {name: killed.whole[name] for name in found}


def test_jobs_of_all_kinds_and_their_master_were_killed(killed):
    assert Counter(who for who, _ in killed.kills) == {"job": 10, "master": 10}
    assert {"train", "play"} <= {job for _, job in killed.kills}


def test_nothing_is_left_behind(killed):
    left = [path for path in killed.folder.rglob("*") if temporary(path)]
    assert left == []
    assert running(killed.folder) == {}
    assert "Nothing to be done" in killed.snakemake(*TARGETS).stdout


@pytest.mark.parametrize("whom", ["all", "master"])
def test_control_c_leaves_no_lock_and_no_process(whom, tmp_path):
    """A terminal interrupts all of its processes; `kill -INT` the one that is named."""
    project = Project(tmp_path / "mine", CONFIG)
    # Tests that run in the background were told to ignore it.
    listening = ["env", "--default-signal=INT"]
    command = [*listening, sys.executable, "-m", "snakemake", "--cores", "2", "data/small/dialogs.h5"]
    with subprocess.Popen(
        command,
        cwd=project.folder,
        env=project.environment(),
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as master:
        until(lambda: any("cooperation miniature" in job for job in jobs_of(project.folder).values()))
        (os.killpg if whom == "all" else os.kill)(master.pid, signal.SIGINT)
        master.communicate()
    assert master.returncode != 0
    assert [*project.folder.glob(".snakemake/locks/*")] == []
    until(lambda: not running(project.folder), 20)
    if whom == "all":
        assert [path for path in project.folder.rglob("*") if temporary(path)] == []
    assert project.jobs(*command[-1:])["encode"] == 1


def test_the_documents_say_what_to_type():
    for name in ("README.md", "docs/cluster.md", "docs/sharing.md"):
        assert "snakemake --unlock" in (ROOT / name).read_text(encoding="utf-8")
