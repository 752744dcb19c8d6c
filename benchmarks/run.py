"""Measure the package; make bench, make scale, make precision, make coverage and make gpu run this."""

import argparse
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import bench
import commands
import coverage
import pandas as pd
import scale
import timing
from made_up import SMALL, Size
from tqdm import tqdm

from cooperation.io.devices import keep_freed_memory
from cooperation.io.writing import write_text

PAGES = {
    "bench": "docs/benchmarks.md",
    "scale": "docs/scale.md",
    "precision": "docs/precision.md",
    "coverage": "docs/intervals.md",
}


def main(words: Sequence[str] | None = None) -> None:
    """Run one of the programs; all but `gpu`, which prints, write a CSV and a page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program", choices=[*PAGES, "gpu"])
    parser.add_argument("--small", action="store_true", help="tiny sizes, to try bench, scale or gpu")
    parser.add_argument("--out", type=Path, help="files to write, without ending (default: in reports)")
    parser.add_argument("--seeds", type=int, default=5, help="precision's trainings of each kind")
    parser.add_argument("--worlds", type=int, default=2000, help="coverage's worlds of each kind")
    given = parser.parse_args(words)
    size = SMALL if given.small else Size()
    keep_freed_memory()
    if given.program == "gpu":
        bench.measure_gpu(size)
        return
    programs = {
        "bench": partial(bench.measure, size),
        "scale": partial(scale.measure, size),
        "precision": partial(precision, given.seeds),
        "coverage": partial(covered, given.worlds),
    }
    write(given.program, given.out or Path("reports", Path(PAGES[given.program]).name), *programs[given.program]())


def write(program: str, out: Path, rows: pd.DataFrame, machine: str, *tables: pd.DataFrame) -> None:
    """Write the rows, and the committed page with these tables in place of its own."""
    text = rows.to_csv(index=False, float_format="%.6g", lineterminator="\n")
    write_text(out.with_suffix(".csv"), f"# {machine}\n{text}")
    page = (commands.ROOT / PAGES[program]).read_text()
    page = re.sub("^Made by .*", lambda _: f"Made by `make {program}` on {machine}.", page, flags=re.MULTILINE)
    following = (table.to_markdown(index=False, floatfmt=".2f") for table in tables)
    page = re.sub(r"^(\|.*\n)+", lambda _: next(following) + "\n", page, flags=re.MULTILINE)
    write_text(out.with_suffix(".md"), page)


def precision(seeds: int) -> tuple[pd.DataFrame, str, pd.DataFrame]:
    """Train bots in float32 and bfloat16 on the miniature, which must be made, and let them play.

    Returns a row a condition and training, what they depend on, and a table for people.
    """
    asked, rows = commands.experiment("miniature"), []
    for seed in tqdm(range(1, seeds + 1), unit="seed"):
        for name in timing.PRECISIONS:
            training = replace(asked.training("miniature", "dialog", seed), precision=name)
            found = commands.mpr(Path("data/miniature"), asked.data.sizes, training)
            rows += [(condition, name, seed, mpr) for condition, mpr in found.items()]
    frame = pd.DataFrame(rows, columns=["condition", "precision", "seed", "mpr"])
    return frame, timing.machine(), by_seed(frame)


def covered(worlds: int) -> tuple[pd.DataFrame, str, pd.DataFrame]:
    """How often intervals hold the truth in so many worlds of each kind: rows, what they depend on, and their table."""
    rows = coverage.measure(worlds)
    return rows, f"{worlds:,} made-up worlds a line, {coverage.DIALOGS} dialogs each", rows


def by_seed(found: pd.DataFrame) -> pd.DataFrame:
    """Each precision's MPR by seed, their mean and range."""
    seeds = found.pivot_table("mpr", ["condition", "precision"], "seed")
    spread = seeds.agg(["mean", "min", "max"], axis="columns")
    shown = pd.concat([seeds.rename(columns="seed {}".format), spread], axis="columns").reset_index()
    return shown.sort_values(["condition", "precision"], ascending=False)


if __name__ == "__main__":
    main()
