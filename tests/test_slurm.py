"""The whole chain on a real SLURM, from `dvc repro`: a cancelled training goes on, tables are the local ones.

What the cluster refuses is said before any work, and failures say why.
"""

import copy
import re
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import documented
import pytest
import slurm_cluster
import yaml
from project import ROOT, lacking
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
        # As rule_train_wildcards_round_1, or rule_play_play of the group play.
        job["rule"] = re.sub(r"^(\w+)_\1$", r"\1", job["comment"].removeprefix("rule_").split("_wildcards_")[0])
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


def test_games_are_one_large_job(clustered):
    [playing] = {job["id"] for job in clustered.queue if job["rule"] == "play"}
    assert clustered.said.count("rule play:") == len(list((clustered.folder / "results").rglob("*.h5"))) == 7
    job = ask("scontrol", "show", "job", playing)
    # Five minutes a game, and the memory of one.
    assert "TimeLimit=00:35:00" in job
    assert "mem=4000M" in job
    assert "TresPerJob=gres:gpu:1" in job


def test_nothing_is_left_to_do_without_the_cluster(clustered):
    done = clustered.run("env", "--unset=SNAKEMAKE_PROFILE", "snakemake")
    assert "Nothing to be done" in done.stdout


# The commands of docs/cluster.md, where they are typed otherwise here, or another file of tests does.
TYPED = {
    # 21 GB are not downloaded.
    "snakemake --cores 1 --config dataset=visdial_0.9 --until download": f"env --unset=SNAKEMAKE_PROFILE snakemake -n"
    f" --configfile {ROOT}/config.yaml --cores 1 --config dataset=visdial_0.9 --until download",
    "cooperation check": "PYTHONPATH=src python -m cooperation check --dataset small",
    "sbatch --test-only": "sbatch --test-only --wrap true",
    "scancel --name ID": "scancel --name preflight",
}
# Command → file of tests, and what it says there.
ELSEWHERE = {
    "snakemake --cores 8 --use-conda": ("test_conda.py", '"--use-conda"'),
    "SNAKEMAKE_PROFILE=profiles/conda dvc repro": ("test_conda.py", '"--profile", "profiles/conda"'),
    "cooperation train --save-every": ("test_resume.py", '"--save-every"'),
    "kill -INT PID": ("test_slurm.py", "send_signal(signal.SIGINT)"),
    "make lock": ("test_conda.py", "requirements.txt"),
}


@pytest.mark.parametrize("command", documented.commands("cluster.md"))
def test_documented_commands_do_something(clustered, command):
    if command in ELSEWHERE:
        file, words = ELSEWHERE[command]
        assert words in (ROOT / "tests" / file).read_text()
        return
    if not (clustered.folder / "Makefile").exists():
        clustered.with_make()
    done = clustered.run("bash", "-c", TYPED.get(command, command))
    assert done.returncode == 0, done.stdout


# A list of jobs, as accounting would give it: there is none here.
SACCT = """#!/bin/sh
squeue --noheader --states=all --format='%A|%T'
"""


def test_documented_settings_are_taken_and_get_to_the_job(fresh):
    """All at once: by Snakemake, its plug-in and the cluster. Values with other choices are those of the last."""
    found = [yaml.safe_load(line) for line in documented.settings("cluster.md")]
    said = {key: value for one in found for key, value in one.items()}
    for name in ("jobs", "device", "container", "extraction", "software-deployment-method"):
        del said[name]
    assert said.keys() >= {"constraint", "slurm_extra", "gpu_model", "slurm_account", "slurm-qos"}
    resources = {key: value for key, value in said.items() if "-" not in key}
    profile = {key: value for key, value in said.items() if "-" in key}
    common = {"slurm_partition": "gpu", "mem_mb": 1000, "runtime": 60}
    fresh.ask_often(**profile, **{"default-resources": common | resources, "set-resources": {"encode": {"runtime": 9}}})
    programs = fresh.folder / "bin"
    programs.mkdir()
    (programs / "sacct").write_text(SACCT)
    (programs / "sacct").chmod(0o755)
    environment = fresh.environment()
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    done = fresh.run("snakemake", "--until", "miniature", environment=environment)
    assert done.returncode == 0, done.stdout
    number = re.search(r"SLURM jobid (\d+)", done.stdout)[1]
    job = ask("scontrol", "show", "job", number)
    for words in ("Features=ib", "OverSubscribe=NO", "Account=name", "Partition=gpu", "gpu:a100", "TimeLimit=01:00:00"):
        assert words in job
    # The plug-in passes it on; a cluster without accounting doesn't keep it.
    assert profile["slurm-qos"] == "name"


def test_the_documented_container_is_planned(fresh):
    """Apptainer itself is needed to go on."""
    [line] = [line for line in documented.settings("cluster.md") if line.startswith("container")]
    path = fresh.folder / "Snakefile"
    path.write_text(f"{path.read_text()}\n\n{line.replace('…', 'python:3.11')}\n")
    fresh.ask_often(**{"software-deployment-method": "apptainer"})
    assert fresh.run("snakemake", "-n").returncode == 0


# A shell has its background jobs ignore SIGINT, and so all that they start.
HEEDING = {"preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}


def test_a_run_whose_jobs_nobody_knows_any_more_ends_by_sigint_and_goes_on(fresh):
    """A controller that forgot them: the queue is empty for the process that submitted."""
    programs = fresh.folder / "bin"
    programs.mkdir()
    (programs / "squeue").write_text("#!/bin/sh\n")
    (programs / "squeue").chmod(0o755)
    environment = fresh.environment()
    environment["PATH"] = f"{programs}:{environment['PATH']}"
    command = ["snakemake", "--until", "encode"]
    process = subprocess.Popen(command, cwd=fresh.folder, env=environment, stdout=subprocess.DEVNULL, **HEEDING)
    until((fresh.folder / "data/small/raw/val2014.zip").exists, "the first job")
    until(lambda: ask("squeue", "--me", "--noheader") == "", "its end")
    process.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(5)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 1
    done = fresh.run(*command)
    assert done.returncode == 0, done.stdout
    assert (fresh.folder / "data/small/dialogs.h5").exists()


def test_the_report_for_the_authors_of_the_plug_in_shows_what_it_says(slurm, tmp_path):  # noqa: ARG001
    [block], _ = documented.parts("upstream/slurm_lost_jobs.md")
    often = "--slurm-init-seconds-before-status-checks 1 --seconds-between-status-checks 1"
    with (tmp_path / "said").open("wb") as said:
        words = ["bash", "-c", f"{block.rstrip()} {often}"]
        process = subprocess.Popen(words, cwd=tmp_path, stdout=said, stderr=said, **HEEDING)
    until((tmp_path / "one").exists, "the file")
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(8)
    process.send_signal(signal.SIGINT)
    process.wait(60)
    assert "1 of 1 steps" not in (tmp_path / "said").read_text()


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
