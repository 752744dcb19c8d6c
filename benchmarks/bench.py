"""How fast the package is, against plain references, and what the workflow costs by itself."""

import os
import pkgutil
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import psutil
import timing
import torch
from commands import ROOT, STARTED
from made_up import SMALL, Sample, Size
from works import Work, learning, works

from cooperation.config.training import Training
from cooperation.game.match import Game
from cooperation.io.devices import device

SHOWN = {
    "work": "{work}: {setting}",
    "rate": "{rate:,.1f} {unit}/s",
    "GFLOP/s": "{gflop_per_s:.0f}",
    "of GEMM": "{gemm_share:.0%}",
    "memory, MiB": "{memory_mib:,.0f}",
    "against": "{reference}",
    "its rate": "{reference_rate:,.2f}/s",
    "times faster": "{times_faster:,.1f}",
    "its memory, MiB": "{reference_memory_mib:,.0f}",
}


def measure(size: Size) -> tuple[pd.DataFrame, str, str, str]:
    """Measure all: a row a work and reference, what they depend on, and two tables for people."""
    psutil.cpu_times_percent()
    rates = (timing.gemm_rate(precision) / 1e9 for precision in (torch.float32, torch.bfloat16))
    gemm = "{:.0f} GFLOP/s in float32, {:.0f} in bfloat16".format(*rates)
    rows = [row for work in works(size) for row in compare(work, size.turns)]
    jobs = pd.DataFrame(start_costs(size.turns).items(), columns=["what", "seconds"])
    # Since the call above, where the system says so.
    stolen = getattr(psutil.cpu_times_percent(), "steal", 0)
    plugins = [found.name for found in pkgutil.iter_modules() if "_executor_plugin_" in found.name]
    machine = (
        f"{timing.machine()}; matrix products (GEMM) of {timing.GEMM} × {timing.GEMM}: {gemm}; meanwhile {stolen:.0f}% "
        f"of the processors' time went to others (steal); plugins of Snakemake: {', '.join(plugins) or 'none'}"
    )
    return pd.DataFrame(rows), machine, table(rows), jobs.to_markdown(index=False, floatfmt=".1f")


def table(rows: list[dict[str, Any]]) -> str:
    """The rows for people; operations that are not counted stay empty."""
    shown = pd.DataFrame(
        [{name: form.format(**row) for name, form in SHOWN.items()} for row in rows],
    ).replace({"GFLOP/s": "0", "of GEMM": "0%"}, "")
    align = ["left" if name in ("work", "against") else "right" for name in SHOWN]
    return shown.to_markdown(index=False, disable_numparse=True, colalign=align)


def compare(work: Work, turns: int) -> list[dict[str, Any]]:
    """Let a work and its references take turns with a matrix product; rates are units a second."""
    runs = {"": work.run, **{name: run for name, (run, _) in work.references.items()}}
    # That run is the warm-up, too.
    memory = {name: timing.seconds_and_memory(run)[1] / 2**20 for name, run in runs.items()}
    if work.once:
        memory[""] = max(memory[""], timing.seconds_and_memory(work.once)[1] / 2**20)
    seconds = timing.take_turns({"gemm": timing.gemm(work.precision), **runs}, turns)
    gemm, mine = timing.GEMM_FLOP / median(seconds["gemm"]), median(seconds[""])
    rows = []
    for name, (_, count) in work.references.items():
        row = {
            "work": work.name,
            "setting": work.setting,
            "unit": work.unit,
            "rate": work.count / mine,
            "gflop_per_s": work.flop / mine / 1e9,
            "gemm_gflop_per_s": gemm / 1e9,
            "gemm_share": work.flop / mine / gemm,
            "memory_mib": memory[""],
            "reference": name,
            "reference_rate": count / median(seconds[name]),
            "times_faster": timing.ratio(seconds[name], seconds[""]) * work.count / count,
            "reference_memory_mib": memory[name],
        }
        print("{work}, {setting}: {rate:.1f} {unit}/s, {times_faster:.1f} × {reference}".format(**row), flush=True)
        rows.append(row)
    return rows


def start_costs(turns: int) -> dict[str, float]:
    """Seconds of snakemake and of starting commands, in a copy of the project without and with all that is made."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in ("src", "workflow", "profiles", "paper", "Snakefile", "config.yaml"):
            (folder / name).symlink_to(ROOT / name)

        def run(*words: str) -> str:
            command, environment = [sys.executable, "-m", *words], {**os.environ, "PYTHONPATH": "src"}
            done = subprocess.run(command, cwd=folder, env=environment, check=False, capture_output=True, text=True)
            if done.returncode:
                raise RuntimeError(f"{' '.join(words)}:\n{done.stdout}{done.stderr}")
            return done.stdout

        snakemake = "snakemake", "--cores", "1"
        runs = {"snakemake -n, nothing made yet": (*snakemake, "-n")}
        runs |= {f"start of cooperation {name}": ("cooperation", name, "--help") for name in STARTED}
        seconds = timing.take_turns({name: lambda words=words: run(*words) for name, words in runs.items()}, turns)
        # All files that the workflow makes, empty, which Snakemake takes for made.
        for line in run(*snakemake, "--summary").splitlines()[1:]:
            path = folder / line.split("\t")[0]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        run(*snakemake, "--touch")
        if "Nothing to be done" not in run(*snakemake, "-n"):
            raise RuntimeError("snakemake would still do something after --touch")
        made = {"snakemake -n, all made": lambda: run(*snakemake, "-n"), "snakemake, all made": lambda: run(*snakemake)}
        seconds |= timing.take_turns(made, turns)
    return {name: median(taken) for name, taken in seconds.items()}


def measure_gpu(size: Size) -> None:
    """Print how fast a GPU trains and plays; at tiny sizes where there is none."""
    gpu = device().type == "cuda"
    size = replace(size, played=2048) if gpu else SMALL
    gemm = [timing.gemm_rate(precision, device()) / 1e12 for precision in (torch.float32, torch.bfloat16)]
    print(f"{torch.cuda.get_device_name() if gpu else 'no GPU'}; {timing.machine()}")
    print("GEMM: {:.2f} TFLOP/s in float32, {:.2f} in bfloat16".format(*gemm))
    sample = Sample.of(size, size.learnt)
    for precision in ("float32", "bfloat16"):
        for regime in ("dialog", "round"):
            work = learning(sample.on(device()), Training(regime=regime, precision=precision))
            seconds = median(timing.take_turns({"": work.run}, 10)[""])
            epoch = f"{size.train / work.count * seconds / 60:.1f} minutes for an epoch of {size.train:,} dialogs"
            rate = f"{work.count / seconds:.0f} dialogs/s, {epoch}, {work.flop / seconds / 1e12:.2f} TFLOP/s"
            print(f"{work.name}, {precision}: {rate}", flush=True)
    sample = Sample.of(size, size.val).chatting().on(device())
    ranker, rows = sample.ranker(), np.arange(min(size.played, size.val))

    def condition() -> Game:
        return sample[: len(rows)].match(rank=lambda guesses: ranker.rank(guesses, rows)).finish()

    rate = len(rows) / median(timing.take_turns({"": condition}, 3)[""])
    print(
        f"one condition, {len(rows):,} dialogs among {size.val:,} candidates: {rate:.0f} dialogs/s, "
        f"{size.val / rate / 60:.1f} minutes for all"
    )
    if gpu:
        print(f"memory of the GPU, at most: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
