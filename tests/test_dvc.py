"""The workflow under DVC: what either of them made the other leaves alone; versions go to a remote and come back."""

import getpass
import hashlib
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import documented
import pandas as pd
import pytest
import yaml
from project import lacking
from reduced import CONFIG
from uninterrupted import digests, lend_data, uninterrupted  # noqa: F401
from versioned import Versioned

from cooperation.io.files import digest

NOTHING = "Nothing to be done"
SKIPPED = "Stage 'everything' didn't change, skipping"
PROGRESS = "checkpoints/small/round-seed1.progress.safetensors"


@pytest.fixture(scope="module")
def project(uninterrupted, tmp_path_factory):  # noqa: F811
    """Version v1, made by snakemake alone and recorded by DVC; it has a remote in a folder."""
    folder = tmp_path_factory.mktemp("versions")
    made = Versioned(folder / "mine", CONFIG)
    lend_data(uninterrupted, made)
    done = made.run("snakemake")
    assert done.returncode == 0, done.stdout[-5000:]
    assert NOTHING in made.dvc("repro")
    made.dvc("remote", "add", "--default", "folder", str(folder / "remote"))
    made.commit("v1")
    made.dvc("push")
    return made


@pytest.fixture(scope="module")
def second(project):
    """Version v2, whose second model learns longer: made by `dvc repro`, killed while it trains and started again."""
    with config_of(project) as config:
        config["datasets"]["small"]["training"]["round"]["epochs"] = 15
    process = project.dvc_in_background("repro")
    while not (project.folder / PROGRESS).exists():
        assert process.poll() is None
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert (project.folder / PROGRESS).exists()
    assert "--unlock" in project.run("snakemake").stdout
    project.run("snakemake", "--unlock")
    project.said = project.dvc("repro")
    project.commit("v2")
    project.dvc("push")
    return project


@contextmanager
def config_of(project):
    """The project's configuration, to be changed."""
    path = project.folder / "config.yaml"
    config = yaml.safe_load(path.read_text())
    yield config
    project.configure(config)


def scramble_times(folder):
    """As a checkout leaves them: in no order that says anything."""
    moment = random.Random(1)
    for path in folder.rglob("*"):
        if path.is_file() and ".git" not in path.parts:
            os.utime(path, (moment.uniform(1e9, 1.7e9),) * 2)


def restored(project, folder, *words):
    """A colleague's clone, with all that `dvc pull` brings."""
    clone = project.clone(folder)
    clone.dvc("pull", *words)
    scramble_times(folder)
    return clone


def test_dvc_has_nothing_to_do_after_snakemake(project):
    assert SKIPPED in project.dvc("repro")
    assert project.git("status", "--porcelain") == ""


def test_what_dvc_made_snakemake_leaves_alone(second):
    assert "1 of 1 steps" not in second.said
    assert NOTHING in second.run("snakemake").stdout
    assert SKIPPED in second.dvc("repro")


def test_a_file_that_lies_elsewhere_is_asked_for(project, tmp_path):
    """Another file of the same name and size is seen, another time is not."""
    given = tmp_path / "given/dialogs.json"
    given.parent.mkdir()
    given.write_text("[1]")
    clone = project.clone(tmp_path / "theirs")
    with config_of(clone) as config:
        config["datasets"]["small"] |= {"source": "genuine", "dialogs": {"dialogs": str(given)}, "raw": {"train": 9}}

    def asked():
        clone.dvc("repro", "given")
        return (clone.folder / ".snakemake/given.txt").read_text().partition(":\n")[2]

    assert (before := asked()) == f"{digest(given)}  {given}\n"
    os.utime(given, (1, 1))
    assert asked() == before
    given.write_text("[2]")
    assert asked() == f"{digest(given)}  {given}\n" != before
    given.unlink()
    assert asked() == f"missing  {given}\n"


def test_a_killed_training_goes_on_after_its_last_epoch(second):
    log = (second.folder / "logs/small/train_round-seed1.log").read_text()
    assert int(re.search(r"continuing after epoch (\d+)", log)[1]) > 0
    assert re.findall(r"localrule (train|encode|extract|play\w*):", second.said) == ["train", "play_round"]


def test_a_colleague_pulls_and_has_nothing_to_do(second, tmp_path):
    clone = restored(second, tmp_path / "theirs")
    assert NOTHING in clone.run("snakemake").stdout
    assert SKIPPED in clone.dvc("repro")
    # Nor has a part of it more to do than at home.
    edited = clone.folder / "src/cooperation/reports/tables.py"
    edited.write_text(edited.read_text() + "\n# An edit.\n")
    jobs = set(clone.jobs())
    assert jobs == {"report"}


def test_an_old_version_comes_back_with_nothing_to_do(second, tmp_path):
    clone = restored(second, tmp_path / "theirs", "--all-tags")
    clone.git("checkout", "--quiet", "v1")
    clone.dvc("checkout")
    assert NOTHING in clone.run("snakemake").stdout
    assert SKIPPED in clone.dvc("repro")


def test_metrics_are_mpr_by_condition_and_round(second):
    [found] = json.loads(second.dvc("metrics", "show", "--json"))[""]["data"].values()
    summary = pd.read_csv(second.folder / "reports/small/mpr.csv")
    shown = summary[summary["round"].isin([0, 1, 10])]
    # Seven conditions.
    assert len(shown) == 7 * 3
    for row in shown.itertuples():
        assert found["data"][row.model][row.reading][row.condition][f"round {row.round}"] == row.mpr


def test_metrics_and_plots_compare_versions(second):
    [changed] = json.loads(second.dvc("metrics", "diff", "v1", "--json")).values()
    assert {name.split(".")[0] for name in changed} == {"round"}
    folder = second.folder / "dvc_plots"
    second.dvc("plots", "diff", "v1", "--out", str(folder))
    page = (folder / "index.html").read_text()
    assert "mean percentile rank" in page
    for name in ("answered", "v1", "workspace"):
        assert f'"{name}"' in page


def test_an_experiment_with_a_changed_setting(second):
    said = second.dvc("exp", "run", "--name", "later", "--set-param", "config.yaml:conditions.dialog.answered.start=9")
    assert re.findall(r"localrule (train|encode|extract|play\w*):", said) == ["play_dialog"]
    [changed] = json.loads(second.dvc("exp", "diff", "v2", "later", "--json"))["metrics"].values()
    assert all(name.startswith("dialog.written.answered.") for name in changed)
    second.git("checkout", "--quiet", "--force", "v2")
    second.dvc("checkout", "--force")


PARTS = {
    # Snakemake would train them anew, in their place.
    "only bots": ["checkpoints"],
    "only reports": ["reports"],
    "all but results": [".snakemake/metadata", "data", "checkpoints", "reports"],
}


@pytest.mark.parametrize("pulled", PARTS.values(), ids=PARTS)
def test_a_part_that_was_pulled_is_not_recorded_as_all(second, pulled, tmp_path):
    clone = restored(second, tmp_path / "theirs", *pulled)
    before = {name: (clone.folder / name).read_text() for name in ("dvc.lock", "dvc.yaml")}
    refused = clone.run(sys.executable, "-m", "dvc", "repro", "--force")
    assert refused.returncode != 0
    assert "localrule" not in refused.stdout
    assert {name: (clone.folder / name).read_text() for name in before} == before
    command = re.search("They come with: dvc (.*)", refused.stdout)[1]
    clone.dvc(*command.split())
    assert clone.jobs() == {}
    clone.dvc("repro", "--force")
    assert recorded(clone) == recorded(second)


def recorded(project):
    """Folder → number of files in dvc.lock."""
    lock = yaml.safe_load((project.folder / "dvc.lock").read_text())
    return {out["path"]: out["nfiles"] for out in lock["stages"]["everything"]["outs"]}


def test_what_is_no_longer_wanted_leaves_the_record_when_that_is_said(second, tmp_path):
    clone = restored(second, tmp_path / "theirs")
    (clone.folder / "data/small/fc7_1of1.h5").unlink()
    refused = clone.run(sys.executable, "-m", "dvc", "repro", "--force")
    assert "1 files that are not here and that snakemake would not make: data/small/fc7_1of1.h5" in refused.stdout
    clone.dvc(*re.search("records what is here: dvc (.*)", refused.stdout)[1].split())
    assert recorded(clone) == recorded(second) | {"data": recorded(second)["data"] - 1}


def test_all_is_made_anew_where_nothing_was_pulled(second, tmp_path):
    clone = second.clone(tmp_path / "theirs")
    clone.dvc("repro")
    # What was remembered of things that are no longer made is forgotten.
    memory = ".snakemake/metadata"
    assert recorded(clone) == recorded(second) | {memory: recorded(clone)[memory]}


# The commands of docs/sharing.md, where they are typed otherwise here, or another test does.
FILE = "results/small/round-seed1/written/none.h5"
TYPED = {
    'git add dvc.lock config.yaml && git commit -m "Longer training" && git tag longer': "git commit --allow-empty"
    " -m longer && git tag longer",
    "git checkout longer && dvc checkout": "git checkout --force longer && dvc checkout",
    "dvc exp run -S config.yaml:datasets.miniature.training.dialog.epochs=20": "dvc exp run"
    " -S config.yaml:datasets.small.training.dialog.epochs=3",
    "snakemake results/…/CONDITION.h5": f"snakemake {FILE}",
    "snakemake -n FILE": f"snakemake -n {FILE}",
    "cooperation provenance FILE": f"python -m cooperation provenance {FILE}",
    "cooperation play": "python -m cooperation play --help",
    "dvc gc --workspace": "dvc gc --workspace --force",
    "dvc gc --all-branches --all-tags": "dvc gc --all-branches --all-tags --force",
    "dvc commit": "dvc commit --force",
    "dvc remote add --default ours ssh://user@host/srv/cooperation": "dvc remote add --force --default ours"
    " ssh://user@host/srv/cooperation",
    "dvc remote add --default ours s3://bucket/cooperation": "rm -f .dvc/config.local &&"
    " dvc remote add --force --default ours s3://bucket/cooperation",
}
ELSEWHERE = ("pip install dvc-s3",)


def test_documented_commands_do_something(second, tmp_path):
    clone = second.clone(tmp_path / "theirs")
    clone.with_make()
    clone.dvc("pull")
    environment = clone.environment()
    environment["PYTHONPATH"] = "src"
    for command in documented.commands("sharing.md"):
        if command not in ELSEWHERE:
            done = clone.run("bash", "-c", TYPED.get(command, command), environment=environment)
            assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}"


def test_another_condition_adds_one_file_whatever_was_committed_meanwhile(second, tmp_path):
    """Commits of code that games don't use change no byte of them; beside the file stands which commit made it."""
    clone = restored(second, tmp_path / "theirs")
    before = {path: hashed for path, hashed in digests(clone).items() if not path.startswith("reports")}
    edited = clone.folder / "src/cooperation/reports/tables.py"
    edited.write_text(edited.read_text() + "\n# An edit.\n")
    with config_of(clone) as config:
        config["conditions"]["round"]["later"] = {"channel": "answer", "kind": "negate", "start": 2}
    clone.commit("v3")
    done = clone.snakemake()
    assert done.returncode == 0, done.stdout[-3000:]
    assert re.findall(r"localrule (play\w*):", done.stdout) == ["play_round"]
    after = {path: hashed for path, hashed in digests(clone).items() if not path.startswith("reports")}
    made = "results/small/round-seed1/written/later.h5"
    assert {path for path in after if after[path] != before.get(path)} == {made, f"{made}.origin.json"}
    origin = json.loads((clone.folder / f"{made}.origin.json").read_text())
    assert origin["commit"] == clone.git("rev-parse", "HEAD").strip()


@pytest.mark.parametrize("kind", ["hardlink", "symlink"])
def test_a_cache_with_links_is_not_written_through(second, kind, tmp_path):
    clone = second.clone(tmp_path / "theirs")
    clone.dvc("config", "--local", "cache.type", kind)
    clone.dvc("pull")
    memory = next(path for path in (clone.folder / ".snakemake/metadata").rglob("*") if path.is_file())
    assert memory.is_symlink() or memory.stat().st_nlink > 1
    edited = clone.folder / "src/cooperation/evaluation/ranking.py"
    edited.write_text(edited.read_text() + "\n# An edit.\n")
    done = clone.snakemake()
    assert done.returncode == 0, done.stdout[-3000:]
    cache = clone.folder / ".dvc/cache/files/md5"
    kept = [path for path in cache.rglob("*") if path.is_file()]
    assert len(kept) > 50
    for path in kept:
        assert hashlib.md5(path.read_bytes()).hexdigest() == (path.parent.name + path.name).removesuffix(".dir")


def test_a_conflict_of_records_is_solved_as_documented(second, tmp_path):
    clone = restored(second, tmp_path / "theirs")
    for name, start in (("mine", 3), ("yours", 4)):
        clone.git("checkout", "--quiet", "-B", name, "v2")
        clone.dvc("checkout", "--force")
        with config_of(clone) as config:
            config["conditions"]["round"][name] = {"channel": "answer", "kind": "negate", "start": start}
        clone.dvc("repro")
        clone.commit(name)
    assert clone.run("git", "merge", "mine").returncode != 0
    assert clone.run(sys.executable, "-m", "dvc", "status").returncode != 0
    clone.git("checkout", "--ours", "config.yaml")
    with config_of(clone) as config:
        config["conditions"]["round"]["mine"] = {"channel": "answer", "kind": "negate", "start": 3}
    block = next(block for block in documented.parts("sharing.md")[0] if "--ours" in block)
    done = clone.run("bash", "-ec", block)
    assert done.returncode == 0, done.stdout
    clone.commit("both")
    results = clone.folder / "results/small/round-seed1/written"
    assert {"mine.h5", "yours.h5"} <= {path.name for path in results.iterdir()}
    assert SKIPPED in clone.dvc("repro")


@pytest.fixture
def made(second, tmp_path):
    """A colleague's clone, with make's targets."""
    clone = second.clone(tmp_path / "theirs")
    clone.with_make()
    return clone


def test_reports_alone_are_pulled(made):
    assert made.run("make", "pull-reports").returncode == 0
    assert (made.folder / "reports/small/index.html").exists()
    assert not any((made.folder / name).exists() for name in ("data", "checkpoints", "results"))


def test_trained_bots_are_pulled_and_play_without_training(made):
    assert made.run("make", "pull-bots").returncode == 0
    scramble_times(made.folder)
    assert not (made.folder / "data/small/raw").exists()
    target = "results/small/round-seed1/written/none.h5"
    assert made.jobs(target) == {"play_round": 1}
    done = made.snakemake(target)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.fixture
def ssh_server(tmp_path):
    """An sshd on a free port of the loopback interface that knows one key."""
    program = shutil.which("sshd", path=f"{os.environ['PATH']}:/usr/sbin")
    if program is None:
        lacking("sshd is not installed (Debian: openssh-server)")
    for name in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / name], check=True)
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = {
        "ListenAddress": f"127.0.0.1:{port}",
        "HostKey": tmp_path / "host",
        "AuthorizedKeysFile": tmp_path / "user.pub",
        "PidFile": tmp_path / "pid",
        "StrictModes": "no",
        "PermitRootLogin": "yes",
        "UsePAM": "no",
        "Subsystem": "sftp internal-sftp",
    }
    (tmp_path / "settings").write_text("".join(f"{key} {value}\n" for key, value in settings.items()))
    with subprocess.Popen([program, "-D", "-e", "-f", tmp_path / "settings"], stderr=subprocess.PIPE) as process:
        for line in process.stderr:
            if b"listening" in line:
                break
        yield port, tmp_path / "user"
        process.terminate()


def test_a_remote_over_ssh(second, ssh_server, tmp_path):
    port, key = ssh_server
    second.dvc("remote", "add", "--local", "ssh", f"ssh://127.0.0.1:{port}{tmp_path}/far")
    for name, value in {"user": getpass.getuser(), "keyfile": str(key)}.items():
        second.dvc("remote", "modify", "--local", "ssh", name, value)
    second.dvc("push", "--remote", "ssh")
    assert any((tmp_path / "far/files/md5").iterdir())
    clone = second.clone(tmp_path / "theirs")
    shutil.copy(second.folder / ".dvc/config.local", clone.folder / ".dvc")
    clone.dvc("pull", "--remote", "ssh")
    scramble_times(clone.folder)
    assert NOTHING in clone.run("snakemake").stdout
