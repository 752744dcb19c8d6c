"""A workflow that its user stops says so, and shows no errors of jobs that ended because of that."""

import logging
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from copy import deepcopy

import psutil
from project import Project
from reduced import CONFIG

from cooperation.io.stopping import STOPS, Stopped


def record(text, level=logging.INFO):
    return logging.LogRecord("x", level, "x", 1, text, (), None)


def test_errors_are_left_out_after_a_stop_only():
    stopped = Stopped()
    assert stopped.filter(record("an error", logging.ERROR))
    assert stopped.filter(record(f"{STOPS}, this might take some time."))
    assert not stopped.filter(record("an error", logging.ERROR))
    assert stopped.filter(record("Elapsed time"))


def works(job):
    """Whether the workflow's job runs."""
    with suppress(psutil.Error):
        return any("miniature" in child.cmdline() for child in psutil.Process(job.pid).children(recursive=True))
    return False


def test_a_stopped_workflow(tmp_path):
    config = deepcopy(CONFIG)
    # Long enough to be stopped.
    config["datasets"]["small"]["raw"]["train"] = 100_000
    project = Project(tmp_path, config)
    command = [sys.executable, "-m", "snakemake", "--cores", "1", "data/small/raw/val2014.zip"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    # What runs in the background of a script ignores the signal, and so do its children.
    heed = {"start_new_session": True, "preexec_fn": lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)}
    job = subprocess.Popen(command, cwd=tmp_path, env=project.environment(), **heed, **pipes)
    for line in job.stdout:
        if line.startswith("Shell command"):
            break
    # Before the job runs, Snakemake itself may be stopped while it starts a process, and then it says other things.
    while not works(job):
        time.sleep(0.1)
    time.sleep(1)
    os.killpg(job.pid, signal.SIGINT)
    rest = job.stdout.read()
    assert job.wait() != 0
    assert "stopped; the same command goes on" in rest
    assert "rror" not in rest
    assert "Exception" not in rest
