"""The whole chain on a real SLURM, from `dvc repro`: a cancelled training goes on, tables are the local ones.

What the cluster refuses is said before any work, and failures say why.
"""

import copy
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
import slurm_cluster
import yaml
from project import lacking
from reduced import CONFIG
from slurm_cluster import ask, cluster, until
from uninterrupted import beside, uninterrupted  # noqa: F401
from versioned import Versioned

PROGRESS = "checkpoints/small/round-seed1.progress.safetensors"
TRAINING = "rule_train_wildcards_small_round_1"
LONGER = copy.deepcopy(CONFIG)
LONGER["datasets"]["small"]["training"]["round"]["epochs"] = 25
# A job for each condition: the cluster plays them side by side.
APART = copy.deepcopy(LONGER)
APART["datasets"]["small"]["jobs"] = "condition"


class Clustered(Versioned):
    """The project on a cluster whose queue is asked every second."""

    def environment(self):
        """Its GPUs are pretended, so that a job that is given one must be told not to use it."""
        return super().environment() | {"SNAKEMAKE_PROFILE": "profiles/slurm", "COOPERATION_DEVICE": "cpu"}

    def ask_often(self, **other):
        """other: what else the profile says then."""
        path = self.folder / "profiles/slurm/config.yaml"
        often = {"slurm-init-seconds-before-status-checks": 1, "seconds-between-status-checks": 1}
        path.write_text(yaml.safe_dump(yaml.safe_load(path.read_text()) | often | other))


@pytest.fixture(scope="module")
def local(uninterrupted, tmp_path_factory):  # noqa: F811
    folder = tmp_path_factory.mktemp("local") / "mine"
    made = beside(uninterrupted, folder, "data", ".snakemake", config=LONGER)
    done = made.snakemake()
    assert done.returncode == 0, done.stdout[-5000:]
    return made


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """A cluster that runs."""
    reason = slurm_cluster.missing()
    if reason:
        lacking(f"no SLURM: {reason}")
    with cluster(tmp_path_factory.mktemp("slurm") / "slurm"):
        yield


@pytest.fixture(scope="module")
def clustered(slurm, tmp_path_factory):  # noqa: ARG001
    """Made on the cluster; one training was cancelled after its first epochs. queue: what ran, second by second."""
    folder = tmp_path_factory.mktemp("cluster")
    made = Clustered(folder / "mine", APART)
    made.ask_often()
    made.queue = []
    with (folder / "said").open("wb") as said:
        command = [sys.executable, "-m", "dvc", "repro"]
        process = subprocess.Popen(command, cwd=made.folder, env=made.environment(), stdout=said, stderr=said)
        try:
            until(lambda: (made.folder / PROGRESS).exists() or process.poll() is not None, "training", 900)
            made.queue += queue()
            [cancelled] = [job["id"] for job in made.queue if job["comment"] == TRAINING]
            ask("scancel", cancelled)
            while process.poll() is None:
                made.queue += queue()
                with suppress(subprocess.TimeoutExpired):
                    process.wait(1)
        finally:
            process.terminate()
    made.said = Path(said.name).read_text()
    assert process.returncode == 0, made.said[-5000:]
    return made


KEYS = {"id": "JobID", "partition": "Partition", "comment": "Comment", "granted": "tres-alloc", "gpus": "tres-per-job"}


def queue():
    """The jobs that run now."""
    form = ",".join(f"{key}:|" for key in KEYS.values())
    moment = time.monotonic()
    found = []
    for line in ask("squeue", "--noheader", "--states=RUNNING", f"--Format={form}").splitlines():
        job = dict(zip(KEYS, line.split("|"), strict=False)) | {"at": moment}
        # As rule_train_wildcards_round_1.
        job["rule"] = job["comment"].removeprefix("rule_").split("_wildcards_")[0]
        job["granted"] = dict(pair.split("=") for pair in job["granted"].split(","))
        found.append(job)
    return found


def test_the_tables_are_the_local_ones_cell_for_cell(local, clustered):
    names = [path.name for path in (local.folder / "reports/small").glob("*.csv")]
    assert {"table_1.csv", "table_2.csv", "mpr.csv", "claims.csv"} <= set(names)
    for name in names:
        mine, theirs = (made.folder / "reports/small" / name for made in (local, clustered))
        assert mine.read_text() == theirs.read_text(), name


def test_a_cancelled_training_is_tried_again_and_goes_on(clustered):
    assert clustered.said.count("SLURM status is: 'CANCELLED'") == 1
    assert clustered.said.count("Trying to restart job") == 1
    log = (clustered.folder / "logs/small/train_round-seed1.log").read_text()
    assert int(re.search(r"continuing after epoch (\d+)", log)[1]) > 0


def test_jobs_get_what_the_profile_says(clustered):
    profile = yaml.safe_load((clustered.folder / "profiles/slurm/config.yaml").read_text())
    assert {"train", "play", "report"} <= {job["rule"] for job in clustered.queue}
    for job in clustered.queue:
        wanted = profile["default-resources"] | profile["set-resources"].get(job["rule"], {})
        assert job["partition"] == wanted["slurm_partition"]
        assert job["gpus"] == (f"gres:gpu:{wanted['gpu']}" if "gpu" in wanted else "N/A")
        assert job["granted"]["cpu"] == str(wanted["cpus_per_task"])


def test_memory_grows_with_every_try(clustered):
    trained = {job["id"]: job["granted"]["mem"] for job in clustered.queue if job["comment"] == TRAINING}
    assert [trained[job] for job in sorted(trained, key=int)] == ["16000M", "32000M"]


def test_conditions_are_played_side_by_side(clustered):
    playing = [job["at"] for job in clustered.queue if job["rule"] == "play"]
    assert max(playing.count(moment) for moment in playing) > 2


def test_nothing_is_left_to_do_without_the_cluster(clustered):
    done = clustered.run("env", "--unset=SNAKEMAKE_PROFILE", "snakemake")
    assert "Nothing to be done" in done.stdout


@pytest.fixture
def fresh(slurm, tmp_path):  # noqa: ARG001
    """A project of which nothing is made yet, and no job is tried again."""
    made = Clustered(tmp_path / "mine", APART)
    made.ask_often(retries=0)
    return made


REFUSED = {
    "extract": ({"mem_mb": 10**9}, "Memory specification can not be satisfied"),
    "train": ({"slurm_partition": "nowhere"}, "invalid partition specified: nowhere"),
    "encode": ({"slurm_extra": "'--constraint=ib'"}, "not allowed in the 'slurm_extra' parameter"),
    "normalise": ({"constraint": "copper"}, "Invalid feature specification"),
    "play": ({"gpu_model": "abacus"}, "Requested node configuration is not available"),
    "report": ({"slurm_extra": "'--dependency=afterok:1x'"}, "Job dependency problem"),
}


def test_what_the_cluster_refuses_is_said_before_any_work(fresh):
    resources = yaml.safe_load((fresh.folder / "profiles/slurm/config.yaml").read_text())["set-resources"]
    for rule, (wrong, _) in REFUSED.items():
        resources[rule] = resources.get(rule, {}) | wrong
    fresh.ask_often(**{"set-resources": resources})
    done = fresh.run("snakemake")
    assert done.returncode == 1
    said = done.stdout.partition("SLURM refuses these jobs, so nothing was begun:\n")[2]
    found = dict(line.split(": ", 1) for line in said.splitlines() if not line.startswith(" "))
    for rule, (_, words) in REFUSED.items():
        assert words in found[rule], said
    assert found.keys() == REFUSED.keys()
    assert found["train"].endswith("this cluster has the partitions cpu, gpu")
    assert not (fresh.folder / "data").exists()
    assert ask("squeue", "--noheader") == ""


def test_nodes_that_are_down_for_a_while_are_no_refusal(fresh):
    ask("scontrol", "update", "NodeName=n1,n2", "State=DOWN", "Reason=test")
    log = fresh.folder / "said"
    try:
        with log.open("wb") as said:
            command = ["snakemake", "--until", "miniature"]
            process = subprocess.Popen(command, cwd=fresh.folder, env=fresh.environment(), stdout=said, stderr=said)
        until(lambda: "rule_miniature" in ask("squeue", "--noheader", "--format=%k"), "the job")
    finally:
        ask("scontrol", "update", "NodeName=n1,n2", "State=RESUME")
    assert process.wait(300) == 0
    assert re.search("can't start them on the nodes that are up:\nminiature: ", log.read_text())
    assert (fresh.folder / "data/small/raw/val2014.zip").exists()


def test_a_job_that_needs_more_memory_says_so(fresh):
    fresh.ask_often(**{"set-resources": {"miniature": {"mem_mb": 40}}})
    done = fresh.run("snakemake", "--until", "miniature")
    assert done.returncode == 1
    assert "reason: it needed more memory: raise mem_mb of miniature in set-resources of your profile\n" in done.stdout
    assert re.search(r"^ +slurmstepd\S* error: .*memory limit", done.stdout, re.MULTILINE)
