"""What the workflow and the start of a command cost, before any work is done."""

import os
import pkgutil
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

import timing

ROOT = Path(__file__).parent.parent
COMMANDS = ("play", "encode", "summarise", "table")


def measure(turns: int) -> list[dict[str, object]]:
    """Seconds of each, on a copy of the project in which all that the workflow makes is there."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in ("src", "workflow", "profiles", "paper"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("Snakefile", "config.yaml"):
            shutil.copy(ROOT / name, folder)
        snakemake = [sys.executable, "-m", "snakemake", "--cores", "1"]
        runs = {
            "snakemake -n, nothing made yet": lambda: _run(folder, *snakemake, "-n"),
            **{
                f"start of cooperation {name}": lambda name=name: _run(
                    folder, sys.executable, "-m", "cooperation", name, "--help"
                )
                for name in COMMANDS
            },
        }
        seconds = timing.take_turns(runs, turns)
        _pretend(folder, snakemake)
        made = {
            "snakemake -n, all made": lambda: _run(folder, *snakemake, "-n"),
            "snakemake, all made": lambda: _run(folder, *snakemake),
        }
        seconds |= timing.take_turns(made, turns)
    return [{"what": name, "seconds": median(taken)} for name, taken in seconds.items()]


def plugins() -> str:
    """Names of the plugins by which Snakemake runs jobs elsewhere, or none."""
    return ", ".join(found.name for found in pkgutil.iter_modules() if "_executor_plugin_" in found.name) or "none"


def _run(folder: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": "src"}
    done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def _pretend(folder: Path, snakemake: list[str]) -> None:
    """Make every file that the workflow makes, empty, and have Snakemake take it for made."""
    for line in _run(folder, *snakemake, "--summary").splitlines()[1:]:
        path = folder / line.split("\t")[0]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    _run(folder, *snakemake, "--touch")
    if "Nothing to be done" not in _run(folder, *snakemake, "-n"):
        raise RuntimeError("snakemake would still do something after --touch")
