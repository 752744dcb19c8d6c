"""How fast the package is, against plain references: make bench, or

    python benchmarks/bench.py [--small] [--out reports/benchmarks]

Writes a CSV and a Markdown table. Nothing here passes or fails.
"""

import argparse
import os
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import overhead
import pandas as pd
import timing
import torch
from works import SMALL, Size, Work, works

from cooperation.devices import keep_freed_memory
from cooperation.files import write_text

MIB = 2**20
EXPLANATION = """
Bots have the paper's sizes (vocabulary 9,000, 300/512/2 layers, 4096 features); dialogs are made up, with VisDial's
lengths. Each row takes turns with its reference in one process, so that noise hits both; numbers are medians. Compare
within a row: the same work is slower or faster in another, where others used the machine meanwhile. GFLOP/s
count what must be computed at least, twice as much for backward as for forward; that messages begin alike and words
come again, so that less need be computed, is not subtracted, nor that guesses lie in few dimensions, so the share can
be above 100 %. “Of GEMM” is the share of the rate of the matrix products that took turns, too. Memory is what a call
needs at most beyond its inputs.
""".strip()


@dataclass(frozen=True)
class Row:
    """One work against one reference; rates are units a second, memory is what a call needs beyond its inputs."""

    work: str
    setting: str
    unit: str
    rate: float
    gflop_per_s: float
    gemm_gflop_per_s: float
    gemm_share: float
    memory_mib: float
    reference: str
    reference_rate: float
    times_faster: float
    reference_memory_mib: float


def measure(work: Work) -> list[Row]:
    """Let a work and its references take turns with a matrix product."""
    runs = {"": work.run, **{name: run for name, (run, _) in work.references.items()}}
    # That run is the warm-up, too.
    memory = {name: timing.extra_memory(run) / MIB for name, run in runs.items()}
    if work.once:
        memory[""] = max(memory[""], timing.extra_memory(work.once) / MIB)
    seconds = timing.take_turns({"gemm": timing.gemm(work.precision), **runs}, work.turns)
    gemm, mine = timing.gemm_rate(seconds["gemm"]), median(seconds[""])
    rows = []
    for name, (_, count) in work.references.items():
        rows.append(
            Row(
                work.name,
                work.setting,
                work.unit,
                work.count / mine,
                work.flop / mine / 1e9,
                gemm / 1e9,
                work.flop / mine / gemm,
                memory[""],
                name,
                count / median(seconds[name]),
                timing.ratio(seconds[name], seconds[""]) * work.count / count,
                memory[name],
            )
        )
        print(f"{work.name}, {work.setting}: {rows[-1].rate:.1f} {work.unit}/s, {rows[-1].times_faster:.1f} × {name}")
        sys.stdout.flush()
    return rows


def machine() -> str:
    """What the numbers depend on."""
    rate = timing.gemm_rate(timing.take_turns({"gemm": timing.gemm()}, 9)["gemm"]) / 1e9
    bfloat16 = timing.gemm_rate(timing.take_turns({"gemm": timing.gemm(torch.bfloat16)}, 3)["gemm"]) / 1e9
    return (
        f"{timing.processor()}, {os.cpu_count()} cores, {torch.get_num_threads()} threads, torch {torch.__version__}; "
        f"matrix products (GEMM) of {timing.GEMM} × {timing.GEMM}: {rate:.0f} GFLOP/s in float32, {bfloat16:.0f} in "
        "bfloat16"
    )


def markdown(rows: pd.DataFrame, jobs: pd.DataFrame, head: str) -> str:
    """The tables for people."""
    shown = pd.DataFrame(
        {
            "work": rows["work"] + ": " + rows["setting"],
            "rate": [f"{rate:,.1f} {unit}/s" for rate, unit in zip(rows["rate"], rows["unit"], strict=True)],
            "GFLOP/s": [f"{rate:.0f}" if rate else "" for rate in rows["gflop_per_s"]],
            "of GEMM": [f"{share:.0%}" if share else "" for share in rows["gemm_share"]],
            "memory, MiB": [f"{memory:,.0f}" for memory in rows["memory_mib"]],
            "against": rows["reference"],
            "its rate": [f"{rate:,.2f}/s" for rate in rows["reference_rate"]],
            "times faster": [f"{ratio:,.1f}" for ratio in rows["times_faster"]],
            "its memory, MiB": [f"{memory:,.0f}" for memory in rows["reference_memory_mib"]],
        }
    )
    align = ("left", "right", "right", "right", "right", "left", "right", "right", "right")
    return (
        "\n\n".join(
            (
                "# How fast",
                "Made by `make bench` on " + head + ".",
                EXPLANATION,
                shown.to_markdown(index=False, disable_numparse=True, colalign=align),
                "## What the workflow costs by itself",
                f"Snakemake imports every plugin that is installed (`make extras`). Here: {overhead.plugins()}.",
                jobs.to_markdown(index=False, floatfmt=".1f"),
            )
        )
        + "\n"
    )


def main(words: list[str] | None = None) -> None:
    """Measure all and write both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="tiny sizes, to try this program")
    parser.add_argument("--out", type=Path, default=Path("reports/benchmarks"), help="files to write, without ending")
    arguments = parser.parse_args(words)
    keep_freed_memory()
    neighbours = timing.Neighbours()
    head = machine()
    print(head)
    rows = pd.DataFrame([asdict(row) for work in works(SMALL if arguments.small else Size()) for row in measure(work)])
    jobs = pd.DataFrame(overhead.measure(turns=1 if arguments.small else 3))
    head += f"; meanwhile {neighbours.share():.0%} of the processors' time went to others (steal)"
    text = f"# {head}\n" + rows.to_csv(index=False, float_format="%.4g", lineterminator="\n")
    write_text(arguments.out.with_suffix(".csv"), text)
    write_text(arguments.out.with_suffix(".md"), markdown(rows, jobs, head))


if __name__ == "__main__":
    main()
