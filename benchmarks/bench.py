"""How fast the package is, against plain references, and what the workflow costs by itself."""

import pkgutil
import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pandas as pd
import psutil
import timing
import torch
from commands import ROOT, STARTED, python
from made_up import SMALL, Sample, Size, features
from works import Work, learning, works

from cooperation.config.training import Training
from cooperation.io.devices import device

SHOWN = {
    "work": "{work}: {setting}",
    "rate": "{rate:,.1f} {unit}/s",
    "GFLOP/s": "{gflop_per_s:.0f}",
    "of GEMM": "{gemm_share:.0%}",
    "memory": "{memory_mib:,.0f} MiB",
    "against": "{reference}",
    "its rate": "{reference_rate:,.2f}/s",
    "faster": "{times_faster:,.1f} times",
    "its memory": "{reference_memory_mib:,.0f} MiB",
}


def measure(size: Size) -> tuple[pd.DataFrame, str, pd.DataFrame, pd.DataFrame]:
    """Measure all: a row a work and reference, what they depend on, and two tables for people."""
    psutil.cpu_times_percent()
    _, gemm = timing.gemm_rates()
    rows = [row for work in works(size) for row in compare(work, size.turns)]
    jobs = pd.DataFrame(start_costs(size.turns).items(), columns=["what", "seconds"])
    # Since the call above, where the system says so.
    stolen = getattr(psutil.cpu_times_percent(), "steal", 0)
    plugins = [found.name for found in pkgutil.iter_modules() if "_executor_plugin_" in found.name]
    machine = (
        f"{timing.machine()}; {gemm}; meanwhile {stolen:.0f}% of the processors' time went to others (steal); "
        f"plugins of Snakemake: {', '.join(plugins) or 'none'}"
    )
    # Operations that are not counted stay empty.
    shown = pd.DataFrame([{name: form.format(**row) for name, form in SHOWN.items()} for row in rows])
    return pd.DataFrame(rows), machine, shown.replace({"GFLOP/s": "0", "of GEMM": "0%"}, ""), jobs


def compare(work: Work, turns: int) -> list[dict[str, Any]]:
    """Let a work and its references take turns with a matrix product; rates are units a second."""
    runs = {"": work.run, **{name: run for name, (run, _) in work.references.items()}}
    # That run is the warm-up, too.
    memory = {name: timing.seconds_and_memory(run)[1] / 2**20 for name, run in runs.items()}
    seconds = timing.take_turns({"gemm": timing.gemm(work.precision), **runs}, turns)
    gemm, mine = timing.GEMM_FLOP / median(seconds["gemm"]), median(seconds[""])
    rows = [
        {
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
        for name, (_, count) in work.references.items()
    ]
    for row in rows:
        timing.log("{work}, {setting}: {rate:.1f} {unit}/s, {times_faster:.1f} × {reference}".format(**row))
    return rows


def start_costs(turns: int) -> dict[str, float]:
    """Seconds of snakemake and of starting commands, in a copy of the project without and with all that is made."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for name in ("src", "workflow", "profiles", "paper", "Snakefile", "config.yaml"):
            (folder / name).symlink_to(ROOT / name)

        def snakemake(*words: str) -> str:
            return python("snakemake", "--cores", "1", *words, folder=folder)

        starts = {f"start of cooperation {name}": partial(python, "cooperation", name, "--help") for name in STARTED}
        seconds = timing.take_turns({"snakemake -n, nothing made yet": partial(snakemake, "-n"), **starts}, turns)
        # All files that the workflow makes, empty, which Snakemake takes for made.
        for line in snakemake("--summary").splitlines()[1:]:
            path = folder / line.split("\t")[0]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        snakemake("--touch")
        if "Nothing to be done" not in snakemake("-n"):
            raise RuntimeError("snakemake would still do something after --touch")
        made = {"snakemake -n, all made": partial(snakemake, "-n"), "snakemake, all made": snakemake}
        seconds |= timing.take_turns(made, turns)
    return {name: median(taken) for name, taken in seconds.items()}


def measure_gpu(size: Size) -> None:
    """Say how fast a GPU trains and plays; at tiny sizes where there is none."""
    gpu = device().type == "cuda"
    size = replace(size, played=2048) if gpu else SMALL
    _, gemm = timing.gemm_rates(device())
    timing.log(f"{torch.cuda.get_device_name() if gpu else 'no GPU'}; {timing.machine()}; {gemm}")
    learnt, played = (Sample.of(size, count).on(device()) for count in (size.learnt, min(size.played, size.val)))
    settings = [Training(regime=regime, precision=name) for name in timing.PRECISIONS for regime in ("dialog", "round")]
    ranker = replace(played, images=features(size.val, size.features)).ranker()
    condition = partial(played.chatting().play, rank=partial(ranker.rank, truth=np.arange(len(played.dialogs))))
    game = Work("one condition", f"ranked among {size.val:,} candidates", len(played.dialogs), condition)
    for work, dialogs in [*((learning(learnt, one), size.train) for one in settings), (game, size.val)]:
        rate = work.count / median(timing.take_turns({"": work.run}, 5)[""])
        done = f"{rate:.0f} dialogs/s, {work.flop / work.count * rate / 1e12:.2f} TFLOP/s"
        timing.log(f"{work.name}, {work.setting}: {done}, {dialogs / rate / 60:.1f} minutes for {dialogs:,} dialogs")
    if gpu:
        timing.log(f"memory of the GPU, at most: {torch.cuda.max_memory_allocated() / 2**30:.1f} GiB")
