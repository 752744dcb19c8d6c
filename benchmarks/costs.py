"""From what was measured of some dialogs to what the whole paper costs: time, memory and disk of every rule."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import pandas as pd

from cooperation.messages import ROUNDS

GPU = 15e12
"""FLOP/s that one GPU is assumed to reach in float32: a quarter of what a present large one can. Not measured."""
OF_GEMM = 0.5
"""Share of a machine's GEMM rate that work on a GPU's eight processor cores is assumed to reach."""
MORE_CORES = 4
"""How much faster eight cores are assumed to do matrix products than the two that were measured."""

EXPLANATION = f"""
Measured: peak memory of every rule, by running its command on all dialogs and features (training for some steps,
playing for one batch), and the time on two cores where it says so. Extrapolated: the other times on two cores, as said
in the last column; eight cores as {MORE_CORES} times as fast where matrix products are what takes long, else as fast
as two; for one GPU, not measured, {GPU / 1e12:.0f} TFLOP/s are assumed where matrix products are what takes long,
and nothing is gained elsewhere. `benchmarks/gpu.sh` measures it. The downloads, 21 GB, come on top.
""".strip()
GROWTH = """
Training and playing should take twice as long, in little more memory. Ranking compares all dialogs with all, which
takes four times as long; but at a few thousand dialogs what is done once a dialog, such as bringing its guess into few
dimensions, counts, too.
""".strip()


@dataclass(frozen=True)
class Measured:
    """What was measured.

    seconds, memory: of each command, in bytes the latter; disk: bytes of each kind of file; rates: seconds a dialog;
    gemm: FLOP/s; pictures: that `extract` went through; steps: that were trained; epochs: of each training; shards:
    jobs of `extract`; starts, scripted: of each game, its first tampered round, and whether people say all.
    """

    seconds: Mapping[str, float]
    memory: Mapping[str, int]
    disk: Mapping[str, int]
    rates: Mapping[str, float]
    gemm: float
    pictures: int
    steps: int
    epochs: int
    shards: int
    starts: Sequence[int]
    scripted: Sequence[bool]


@dataclass(frozen=True)
class Rule:
    """One rule: how often it runs, seconds of all its jobs on two cores, whether more cores and a GPU help, and disk.

    how: measured whole, or extrapolated from what.
    """

    name: str
    jobs: int
    seconds: float
    scales: bool
    command: str
    disk: float
    how: str


def table(measured: Measured, train: int, val: int) -> pd.DataFrame:
    """A row a rule, and their sum."""
    rows = [_row(rule, measured) for rule in _rules(measured, train, val)]
    total = {"rule": "in all", "jobs": sum(row["jobs"] for row in rows), "how": ""}
    for column in ("hours_2_cores", "hours_8_cores", "hours_gpu", "disk_gb"):
        total[column] = sum(row[column] for row in rows)
    total["peak_memory_gib"] = max(row["peak_memory_gib"] for row in rows)
    return pd.DataFrame([*rows, total])


def _rules(measured: Measured, train: int, val: int) -> list[Rule]:
    seconds, rates, disk = measured.seconds, measured.rates, measured.disk
    pictures, features = train + val, disk["features.h5"]
    # The rounds before the start are read, not spoken; in round 6 that leaves the measured share of a whole game.
    spared = (rates["playing"] - rates["playing from round 6"]) / (ROUNDS / 2)
    games = [
        rates["playing"] - spared * (ROUNDS if human else start - 1)
        for start, human in zip(measured.starts, measured.scripted, strict=True)
    ]
    ranks = [rates["ranking"] * (ROUNDS + 1 - (start if start > 1 else 0)) for start in measured.starts]
    playing = val * (sum(games) + sum(ranks)) + len(games) * seconds["table"]
    rounds = measured.epochs * train
    each = max(seconds["extract"] - seconds["extract a few"], 0) / measured.pictures
    sample = f"{measured.pictures} pictures"
    few = "measured whole; a few times one table"
    whole = "measured whole, made-up results of all conditions"
    return [
        Rule("encode", 1, seconds["encode"], False, "encode", disk["dialogs.h5"], "measured whole"),
        Rule(
            "extract",
            measured.shards,
            each * pictures,
            True,
            "extract",
            features,
            f"extrapolated linearly from {sample}",
        ),
        Rule("normalise", 1, seconds["normalise"], False, "normalise", features, "measured whole"),
        Rule(
            "train, dialog",
            1,
            rates["training, dialog"] * rounds,
            True,
            "train dialog",
            disk["dialog.safetensors"],
            f"extrapolated linearly from {measured.steps} steps; {measured.epochs} epochs",
        ),
        Rule(
            "train, round",
            1,
            rates["training, round"] * rounds,
            True,
            "train round",
            disk["dialog.safetensors"],
            f"extrapolated linearly from one batch; {measured.epochs} epochs",
        ),
        Rule(
            "play, all conditions",
            len(games),
            playing,
            True,
            "play",
            disk["result"] * len(games),
            "extrapolated linearly from a sample of dialogs, ranked among all candidates",
        ),
        Rule("summarise", 1, seconds["summarise"] + 5 * seconds["table"], False, "summarise", 0, few),
        Rule("diagnose", 1, seconds["diagnose"], False, "diagnose", 0, whole),
        Rule("corpus", 1, seconds["corpus"], False, "corpus", 0, whole),
        Rule("page", 1, seconds["claims"] + seconds["table"], False, "claims", 0, few),
    ]


def _row(rule: Rule, measured: Measured) -> dict[str, float | str | int]:
    on_gpu = rule.seconds
    if rule.scales:
        # As many operations as two cores make in that time at the share of GEMM that is assumed.
        on_gpu = rule.seconds * measured.gemm * OF_GEMM / GPU
    hour = 3600
    return {
        "rule": rule.name,
        "jobs": rule.jobs,
        "hours_2_cores": rule.seconds / hour,
        "hours_8_cores": rule.seconds / (MORE_CORES if rule.scales else 1) / hour,
        "hours_gpu": on_gpu / hour,
        "peak_memory_gib": measured.memory[rule.command] / 2**30,
        "disk_gb": rule.disk / 1e9,
        "how": rule.how,
    }


def markdown(rules: pd.DataFrame, grown: pd.DataFrame, memory: Mapping[str, int], head: str) -> str:
    """The tables for people."""
    shown = rules.rename(
        columns={
            "hours_2_cores": "hours, 2 cores",
            "hours_8_cores": "hours, 8 cores",
            "hours_gpu": "hours, 1 GPU",
            "peak_memory_gib": "peak memory, GiB",
            "disk_gb": "disk, GB",
            "how": "time on 2 cores is",
        }
    )
    first = grown[grown["times"] == 1].set_index("what")
    grown = grown.assign(
        **{"seconds, × the first": grown["seconds"] / grown["what"].map(first["seconds"])},
    )
    commands = pd.DataFrame([{"command": name, "peak memory, GiB": size / 2**30} for name, size in memory.items()])
    parts = [
        "# What the whole paper costs",
        f"Made by `make scale` on {head}, with made-up data of VisDial 0.9's and COCO's size.",
        EXPLANATION,
        shown.to_markdown(index=False, floatfmt=("", "", ".2f", ".2f", ".2f", ".2f", ".2f", "")),
        "## When dialogs double",
        GROWTH,
        grown.to_markdown(index=False, floatfmt=("", "", "", ".2f", ".0f", ".2f")),
        "## Peak memory of each command at full size",
        commands.to_markdown(index=False, floatfmt=".2f"),
    ]
    return "\n\n".join(parts) + "\n"
