"""Commands and workflows in processes of their own that are killed, without waiting each time for their imports."""

import multiprocessing
import os
import random
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

from cooperation import cli

_SERVER = multiprocessing.get_context("forkserver")
_SERVER.set_forkserver_preload(
    [f"cooperation.commands.{name}" for name in ("train", "play", "extract")] + ["snakemake.cli", "snakemake.workflow"]
)


def start(words, spoil=None):
    """Start `cooperation WORDS`; `spoil` is called first, in its process."""
    process = _SERVER.Process(target=_run, args=([str(word) for word in words], spoil))
    process.start()
    return process


def _run(words, spoil):
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    sys.argv = ["cooperation", *words]
    # A commit in the meantime is none of the test's.
    os.environ["GIT_DIR"] = os.devnull
    if spoil:
        spoil()
    cli.main()


def start_snakemake(project, *words):
    """Start `snakemake WORDS` in a project's folder, where what it says goes to `said`."""
    process = _SERVER.Process(target=_run_snakemake, args=(str(project.folder), project.environment(), words))
    process.start()
    return process


def _run_snakemake(folder, environment, words):
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    said = os.open("said", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    for stream in (1, 2):
        os.dup2(said, stream)
    # The project's own, not those of the tests.
    for name in [name for name in sys.modules if name.split(".")[0] == "cooperation"]:
        del sys.modules[name]
    sys.argv = ["snakemake", "--cores", "2", *words]
    from snakemake.cli import main

    main()


def running(folder):
    """The processes that work in a folder: id → command line."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (process / "cwd").readlink() == Path(folder):
                found[int(process.name)] = (process / "cmdline").read_bytes().replace(b"\0", b" ").decode().strip()
    return found


def jobs_of(folder):
    """The commands among them."""
    return {process: words for process, words in running(folder).items() if "python -m cooperation" in words[:40]}


def end(process):
    """Wait for it; its exit code (−9 if it was killed)."""
    process.join()
    return process.exitcode


def kill_itself():
    os.kill(os.getpid(), signal.SIGKILL)


def killed_again_and_again(words, done, kills, steps, seed):
    """Start a command until it ends by itself, killing it so many times at random moments; how often it was killed.

    done: says how far it is, with something else each time that it got further. It is killed when it got further so
    many times, `steps` at most, and a random moment later.
    """
    moment, killed = random.Random(seed), 0
    while True:
        process = start(words)
        left, before = moment.randint(1, steps), done()
        while killed < kills and process.is_alive() and left:
            now = done()
            if now != before:
                left, before = left - 1, now
            time.sleep(0.0005)
        if killed < kills and process.is_alive():
            time.sleep(moment.uniform(0, 0.05))
            process.kill()
        code = end(process)
        if code == 0:
            return killed
        assert code == -signal.SIGKILL
        killed += 1
