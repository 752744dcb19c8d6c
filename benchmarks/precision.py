"""Whether bots that are trained in bfloat16 guess as well as those in float32: make precision, or

    python benchmarks/precision.py [--seeds 5] [--out reports/precision]

on the miniature data set, which must be made. Writes a CSV and a Markdown table.
"""

import argparse
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import pandas as pd
import timing
import torch
from tqdm import tqdm

from cooperation import configuration
from cooperation.files import write_text
from cooperation.games.results import read_ranks
from cooperation.models import Sizes, Training
from cooperation.plain_yaml import read_yaml
from cooperation.settings import flags

PRECISIONS = ("float32", "bfloat16")
EXPLANATION = """
MPR after ten rounds on the miniature data set, where nothing is tampered with (none) and where people talk (human), of
bots that differ in their seed and in what matrix products are made in while they are trained.
""".strip()


def mpr(data: Path, sizes: Sizes, training: Training) -> dict[str, float]:
    """Train bots, let them play: final MPR by condition."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)
        given = [f"--dialogs={data / 'dialogs.h5'}", f"--features={data / 'features.h5'}"]
        words = ["train", *given, f"--out={out / 'bots.safetensors'}", *flags(sizes), *flags(training)]
        words += ["then", "play", *given, f"--checkpoint={out / 'bots.safetensors'}", f"--out={out}"]
        words += ["--condition=none={}", "--condition=human={script: dialog}"]
        subprocess.run([sys.executable, "-m", "cooperation", *words], check=True, stdout=subprocess.DEVNULL)
        results = {name: read_ranks(out / f"{name}.h5") for name in ("none", "human")}
        return {name: float(result.percentiles[:, -1].mean()) for name, result in results.items()}


def table(found: pd.DataFrame) -> pd.DataFrame:
    """Each precision's MPR by seed, their mean and range."""
    by_seed = found.pivot_table("mpr", ["condition", "precision"], "seed")
    spread = by_seed.agg(["mean", "min", "max"], axis="columns")
    shown = pd.concat([by_seed.rename(columns="seed {}".format), spread], axis="columns").reset_index()
    return shown.sort_values(["condition", "precision"], ascending=False)


def main(words: list[str] | None = None) -> None:
    """Train and play for each seed and precision in turn, and write both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("data/miniature"), help="folder of the miniature data set")
    parser.add_argument("--seeds", type=int, default=5, help="how many trainings of each")
    parser.add_argument("--out", type=Path, default=Path("reports/precision"), help="files to write, without ending")
    arguments = parser.parse_args(words)
    config = read_yaml(Path("config.yaml").read_bytes(), "config.yaml")
    data = configuration.read(config | {"dataset": "miniature"}).data
    training = data.training["dialog"]
    rows = []
    for seed in tqdm(range(1, arguments.seeds + 1), unit="seed"):
        for precision in PRECISIONS:
            found = mpr(arguments.data, data.sizes, replace(training, seed=seed, precision=precision))
            rows += [
                {"condition": name, "precision": precision, "seed": seed, "mpr": mean} for name, mean in found.items()
            ]
    frame = pd.DataFrame(rows)
    threads = f"{torch.get_num_threads()} threads" if torch.get_num_threads() > 1 else "one thread"
    head = f"Made by `make precision` on {timing.processor()}, {threads}, torch {torch.__version__}."
    shown = table(frame).to_markdown(index=False, floatfmt=".2f")
    write_text(arguments.out.with_suffix(".csv"), frame.to_csv(index=False, float_format="%.4f", lineterminator="\n"))
    write_text(arguments.out.with_suffix(".md"), f"# Precision\n\n{head}\n\n{EXPLANATION}\n\n{shown}\n")


if __name__ == "__main__":
    main()
