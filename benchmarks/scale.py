"""What the whole paper costs, tried at its full size with made-up data: an hour, and 10 GB of disk meanwhile.

Runs the package's own commands on files of VisDial 0.9's and COCO's size, training and playing for some minutes;
measures seconds and peak memory of each, how costs grow when the number of dialogs doubles, and from these what every
rule costs in all.
"""

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd
import timing
import torch
import works
from commands import Ran, experiment, run_all
from made_up import Sample, Size
from timing import log

from cooperation.config.conditions import Condition
from cooperation.config.experiment import Experiment
from cooperation.config.training import Training
from cooperation.game.messages import ROUNDS

# Assumptions, as docs/scale.md says. FLOP/s that one GPU reaches in float32, a quarter of what a present large one can;
# the share of a machine's GEMM rate that work on the cores reaches; how much faster eight cores are than two at it.
GPU, OF_GEMM, MORE_CORES = 15e12, 0.5, 4
LINEAR = "extrapolated linearly from"
COLUMNS = "rule", "jobs", "hours_2_cores", "hours_8_cores", "hours_gpu", "peak_memory_gib", "disk_gb", "how"
HOURS = "hours, 2 cores", "hours, 8 cores", "hours, 1 GPU"
HEADERS = "rule", "jobs", *HOURS, "peak memory, GiB", "disk, GB", "time on 2 cores is"


def measure(size: Size) -> tuple[pd.DataFrame, str, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Measure all: a row a rule, what they depend on, and three tables for people."""
    asked = experiment("visdial_0.9")
    with tempfile.TemporaryDirectory() as scratch:
        ran = run_all(Path(scratch), size, asked)
    (gemm, shown), rates = timing.gemm_rates(), {}
    for work in works.works(size):
        if work.precision == torch.float32:
            # The first run warms up. Of several works of a name the last is what the workflow does at full size.
            work.run()
            rates[work.name] = timing.seconds(work.run) / work.count
            log(f"{work.name}, {work.setting}: {1 / rates[work.name]:,.1f} {work.unit}/s")
    rows = costs(ran, rates, gemm["float32"], asked, size)
    memory = [(name, peak / 2**30) for name, peak in ran.memory.items()]
    peaks = pd.DataFrame(memory, columns=["command", "peak memory, GiB"])
    return rows, f"{timing.machine()}; {shown}", rows.set_axis(HEADERS, axis="columns"), growth(size), peaks


def growth(size: Size) -> pd.DataFrame:
    """Seconds and memory of training, playing and ranking once, twice and four times as many dialogs."""
    rows, first = [], {}
    for times in (1, 2, 4):
        played, ranked = times * 2 * size.learnt, times * size.val // 16
        for what, work in {
            "training": works.learning(Sample.of(size, played), Training()),
            "playing": next(works.playing(size, played)),
            "ranking": works.ranking(size, ranked, ranked),
        }.items():
            seconds, memory = timing.seconds_and_memory(work.run)
            rows.append((what, times, work.count, seconds, memory >> 20, seconds / first.setdefault(what, seconds)))
            log(f"{what} {work.count:,} dialogs: {seconds:.1f} s, {memory >> 20} MiB")
    return pd.DataFrame(rows, columns=["what", "times", "dialogs", "seconds", "MiB", "seconds, × the first"])


def costs(ran: Ran, rates: Mapping[str, float], gemm: float, asked: Experiment, size: Size) -> pd.DataFrame:
    """A row a rule, and their sum; rates: seconds a unit of each work; gemm: FLOP/s."""

    def rule(name: str, jobs: int, seconds: float, command: str, disk: int = 0, how: str = "measured whole") -> tuple:
        hours, linear = seconds / 3600, how.startswith(LINEAR)
        # As many operations as two cores make in that time.
        on_gpu = gemm * OF_GEMM / GPU if linear else 1
        eight = hours / MORE_CORES if linear else hours
        return name, jobs, hours, eight, hours * on_gpu, ran.memory[command] / 2**30, disk / 1e9, how

    seconds, disk, bots = ran.seconds, ran.disk, ran.disk["bots.safetensors"]
    extracted = (rates["extracting features"] + rates["reading pictures"]) * (size.train + size.val)
    epochs = {model: asked.training(asked.dataset, model, 1).epochs for model in ("dialog", "round")}
    trained = {model: rates[f"training, {model} updates"] * size.train * epochs[model] for model in epochs}
    played = [asked.conditions[game.model][game.condition] for game in asked.games(asked.dataset)]
    results = len(played) * disk["result"]
    # Each game is a process, whose start takes as long as a few dialogs.
    playing = size.val * seconds_of_games(rates, played) + len(played) * seconds["play a few"]
    batch, pictures = f"{LINEAR} one batch; {{}} epochs", f"{LINEAR} {size.pictures} pictures"
    ranked = f"{LINEAR} a sample of dialogs, ranked among all candidates"
    rows = [
        rule("encode", 1, seconds["encode"], "encode", disk["dialogs.h5"]),
        rule("extract", asked.data.shards, extracted, "extract", disk["features.h5"], pictures),
        rule("normalise", 1, seconds["normalise"], "normalise", disk["features.h5"]),
        rule("train, dialog", 1, trained["dialog"], "train dialog", bots, batch.format(epochs["dialog"])),
        rule("train, round", 1, trained["round"], "train round", bots, batch.format(epochs["round"])),
        rule("play", len(played), playing, "play", results, ranked),
        rule("report", 1, seconds["report"], "report", how="measured whole, made-up results of all conditions"),
    ]
    table = pd.DataFrame(rows, columns=COLUMNS)
    largest = table["peak_memory_gib"].max()
    table.loc[len(table)] = {**table.sum(numeric_only=True), "rule": "in all", "peak_memory_gib": largest, "how": ""}
    return table.astype({"jobs": int})


def seconds_of_games(rates: Mapping[str, float], conditions: Iterable[Condition]) -> float:
    """Seconds a dialog of playing and ranking all conditions."""
    # The rounds before the start are read, not spoken; in round 6 that leaves the measured share of a whole game.
    spared = (rates["playing"] - rates["playing from round 6"]) / (ROUNDS / 2)
    return sum(
        rates["playing"]
        - spared * (one.start - 1 if one.script == "none" else ROUNDS)
        + rates["ranking"] * (ROUNDS + 1 - (one.start if one.start > 1 else 0))
        for one in conditions
    )
