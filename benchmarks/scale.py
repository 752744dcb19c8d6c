"""What the whole paper costs, tried at its full size with made-up data: make scale, or

    python benchmarks/scale.py [--small] [--folder /tmp] [--out reports/scale]

Runs the package's own commands on files of VisDial 0.9's and COCO's size (10 GB in a temporary folder that is removed),
training for 200 steps (round updates: a few) and playing for one batch; measures seconds and peak memory of each, how
costs grow when the number of dialogs doubles, and from these what every rule costs in all.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import costs
import made_up
import numpy as np
import pandas as pd
import timing
import torch
import works
import yaml

from cooperation.bots.updates import DialogUpdates
from cooperation.configuration import Experiment, read
from cooperation.data.store import write_feature_blocks
from cooperation.devices import keep_freed_memory
from cooperation.files import write_text
from cooperation.games.ranking import Ranker
from cooperation.games.results import Result, write_result
from cooperation.messages import ROUNDS, Floats, Messages
from cooperation.method.game import Script
from cooperation.models import Sizes, Training
from cooperation.settings import flags

ROOT = Path(__file__).parent.parent
DATASET = "visdial_0.9"
FEW = 3
"""Steps of training that show its memory, and what its start costs."""


@dataclass(frozen=True)
class Shape:
    """How large all is.

    steps: of training, after a few that warm up; batch: dialogs played together; growth: the smallest size tried.
    """

    train: int = 82_783
    val: int = 40_504
    features: int = made_up.FEATURES
    sizes: Sizes = field(default_factory=Sizes)
    steps: int = 200
    batch: int = 1024
    pictures: int = 62
    pixels: int = 480
    resamples: int = 10_000
    growth: int = 128

    @property
    def size(self) -> works.Size:
        """The same for what is measured in this process."""
        return works.Size(made_up.WORDS if self.features == made_up.FEATURES else 60, self.features, self.sizes)


SMALL = Shape(600, 40, 16, Sizes(8, 12, 2), 2, 16, 2, 64, 200, 4)


def log(text: str) -> None:
    """Say what is going on."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


class Commands:
    """Runs the package's commands, each in a process of its own, and keeps what they took."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.memory: dict[str, int] = {}

    def run(self, name: str, *words: object, limit: int = 0) -> None:
        """Run a command, or no more of it than `limit` batches; `name` is what its numbers are kept under."""
        runner = Path(__file__).with_name("limited.py")
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
        with tempfile.NamedTemporaryFile() as peak:
            command = [sys.executable, str(runner), str(limit), peak.name, *map(str, words)]
            start = time.perf_counter()
            done = subprocess.run(
                command, check=False, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
            self.seconds[name] = time.perf_counter() - start
            if done.returncode:
                raise RuntimeError(f"{name}: {done.stdout}")
            self.memory[name] = int(Path(peak.name).read_text())
        log(f"{name}: {self.seconds[name]:.0f} s, {self.memory[name] / 2**30:.2f} GiB")


def write_features(folder: Path, shape: Shape) -> None:
    """What `extract` would write of both splits, block by block."""
    attributes = {"extractor": "made up", "layer": "fc7", "weights": "none", "preprocessing": "none"}
    for split, first, count in (("train", 0, shape.train), ("val", shape.train, shape.val)):
        # One block again and again: each image's own vector would take minutes to draw and change nothing.
        block = 10 * made_up.features(min(4096, count), shape.features)
        blocks = (np.roll(block, start, 1)[: min(4096, count - start)] for start in range(0, count, 4096))
        ids = np.arange(count) + first
        write_feature_blocks(folder / f"fc7_{split}.h5", {split: (ids, blocks)}, attributes)


def write_results(folder: Path, experiment: Experiment, shape: Shape) -> list[Path]:
    """A result of every condition, with made-up ranks and talk of all dialogs."""
    chance = np.random.default_rng(0)
    dialogs = made_up.dialogs(shape.val, 60, first_image=shape.train)
    heard = {"caption_heard": dialogs.captions, "question_heard": dialogs.questions, "answer_heard": dialogs.answers}
    said = {name.replace("heard", "said"): messages for name, messages in heard.items()}
    silent = dict.fromkeys([*heard, *said], Messages.of([]))
    base = chance.integers(0, shape.val, (shape.val, ROUNDS + 1))
    paths = []
    for model, reading, name in games(experiment):
        condition = experiment.conditions[model][name]
        names = {"dataset": DATASET, "model": model, "seed": 1, "reading": reading, "condition": name}
        done = {"settings": json.dumps(asdict(condition)), "training": json.dumps({"regime": model})}
        made_by = {"candidates": shape.val, "features": json.dumps({"extractor": "made up"})}
        ranks = np.minimum(base + chance.integers(0, 20, base.shape), shape.val - 1).astype(float)
        # Only where the bots aren't tampered with are their words read.
        talk = {**said, **heard} if condition.channel == "none" else silent
        paths.append(folder / model / reading / f"{name}.h5")
        counts = np.full(ROUNDS + 1, shape.val if condition.channel != "none" else 0)
        result = Result(dialogs.image_ids, ranks, counts, counts, **talk, attributes=names | done | made_by)
        write_result(paths[-1], result)
    return paths


def games(experiment: Experiment) -> list[tuple[str, str, str]]:
    """Model, reading and condition of every game of the paper."""
    return [
        (model, reading, name)
        for model, conditions in experiment.conditions.items()
        for name in conditions
        for reading in experiment.readings
        if experiment.plays(model, reading, name)
    ]


def run_commands(folder: Path, experiment: Experiment, shape: Shape) -> Commands:
    """Run what the rules run, at full size where it isn't said otherwise."""
    commands = Commands()
    for split, first, count in (("train", 0, shape.train), ("val", shape.train, shape.val)):
        log(f"writing {count:,} dialogs of {split}")
        made_up.write_visdial(folder / f"{split}.json", split, count, first)
    dialogs, features = folder / "dialogs.h5", folder / "features.h5"
    commands.run("encode", "encode", "--train", folder / "train.json", "--val", folder / "val.json", "--out", dialogs)
    log("writing features")
    write_features(folder, shape)
    parts = ["--train", folder / "fc7_train.h5", "--val", folder / "fc7_val.h5"]
    commands.run("normalise", "normalise", *parts, "--out", features)
    inputs = ["--dialogs", dialogs, "--features", features]
    for name, model, steps in (
        ("train round", "round", FEW),
        ("train dialog a few", "dialog", FEW),
        ("train dialog", "dialog", FEW + shape.steps),
    ):
        once = replace(experiment.data.training[model], epochs=1)
        settings = [*flags(shape.sizes), *flags(once), "--out", folder / f"{model}.safetensors"]
        commands.run(name, "train", *inputs, *settings, limit=steps)
    settings = ["--checkpoint", folder / "dialog.safetensors", "--out", folder / "played", "--batch", shape.batch]
    commands.run("play", "play", *inputs, *settings, limit=1)
    preprocessing = ["--preprocessing", "torchvision" if shape.pixels > 64 else "small"]
    # The difference of two is without the start of the program.
    for name, count in (("extract a few", 2), ("extract", 2 + shape.pictures)):
        archive = folder / f"{count}/train2014.zip"
        archive.parent.mkdir()
        works.write_pictures(archive, count, shape.pixels)
        settings = ["--split", "train", "--out", folder / "extracted.h5", *preprocessing]
        commands.run(name, "extract", "--images", archive, *settings)
    log("writing results")
    results = write_results(folder / "results", experiment, shape)
    report(commands, results, folder, dialogs, shape)
    return commands


def report(commands: Commands, results: Sequence[Path], folder: Path, dialogs: Path, shape: Shape) -> None:
    """Run the commands that read the results."""
    resampled = [*results, "--resamples", shape.resamples]
    summary, claims, published = folder / "mpr.csv", ROOT / "paper/claims.csv", ROOT / "paper/published.csv"
    commands.run("summarise", "summarise", *resampled, "--out", summary)
    stated = ["--claims", claims, "--published", published, "--dialogs", dialogs]
    commands.run("claims", "claims", *resampled, *stated, "--out", folder / "claims.csv")
    commands.run("diagnose", "diagnose", *resampled, "--out", folder / "diagnostics.csv")
    counted = ["--dialogs", dialogs, "--claims", claims, "--dataset", DATASET]
    commands.run("corpus", "corpus", *counted, "--out", folder / "statistics.csv")
    tabled = ["--summary", summary, "--published", published]
    commands.run("table", "table", "1", *tabled, "--out", folder / "table_1.csv")


def growth(shape: Shape) -> Iterator[dict[str, Any]]:
    """Seconds of training, playing and ranking at once, twice and four times as many dialogs, and memory."""
    size = shape.size
    words = made_up.vocabulary(size.words)
    bots = made_up.bots(words, size.features, size.sizes)
    updates = DialogUpdates(*bots, Training())
    chatting = made_up.chatting(made_up.bots(words, size.features, size.sizes), words)
    for times in (1, 2, 4):
        count = times * shape.growth
        dialogs, images = made_up.dialogs(count, size.words), made_up.features(count, size.features)
        lessons = [works.taught(size, dialogs[slice(at, at + 64)], images[at : at + 64]) for at in range(0, count, 64)]
        players = works.Players.of(chatting, words, dialogs, images)
        silent = Script.silent(count)

        def train(lessons: list[works.Lessons] = lessons) -> None:
            for batch in lessons:
                updates.update(batch)

        def play(players: works.Players = players, silent: Script = silent) -> None:
            players.play(silent)

        ranked = times * shape.val // 16
        pool = made_up.features(ranked, size.features)
        guesses, span = works.guessed(size, pool, ranked)

        def rank(pool: Floats = pool, guesses: Floats = guesses, span: Floats = span) -> None:
            Ranker(pool, span=span).rank(guesses, np.arange(len(pool)))

        for name, number, run in (("training", count, train), ("playing", count, play), ("ranking", ranked, rank)):
            start = time.perf_counter()
            memory = timing.extra_memory(run)
            seconds = time.perf_counter() - start
            log(f"{name} {number:,} dialogs: {seconds:.1f} s, {memory / 2**20:.0f} MiB")
            yield {"what": name, "times": times, "dialogs": number, "seconds": seconds, "MiB": memory / 2**20}


def rates(shape: Shape, commands: Commands, batch: int) -> dict[str, float]:
    """Seconds a dialog of training, of each kind of game, and of ranking among all candidates."""
    size = shape.size
    words = made_up.vocabulary(size.words)
    chatting = made_up.chatting(made_up.bots(words, size.features, size.sizes), words)
    count = 2 * shape.growth
    dialogs, images = made_up.dialogs(count, size.words), made_up.features(count, size.features)
    players = works.Players.of(chatting, words, dialogs, images)
    game = players.play(Script.silent(count))
    half = slice(ROUNDS // 2)
    script = Script(game.question_said[:, half], game.answer_said[:, half], game.ranks[:, : ROUNDS // 2 + 1])
    round_updates = works.updating(
        size, works.taught(size, dialogs[slice(64)], images[:64]), works.RoundUpdates, Training(regime="round")
    )
    pool = made_up.features(shape.val, size.features)
    guesses, span = works.guessed(size, pool, min(2048, shape.val))
    ranker = Ranker(pool, span=span)
    runs = {
        "training, round": (round_updates, min(64, count)),
        "playing": (lambda: players.play(Script.silent(count)), count),
        "playing from round 6": (lambda: players.play(script), count),
        "ranking": (lambda: ranker.rank(guesses, np.arange(len(guesses))), len(guesses)),
    }
    steps = commands.seconds["train dialog"] - commands.seconds["train dialog a few"]
    found = {"training, dialog": max(steps, 0) / shape.steps / batch}
    log(f"training, dialog: {shape.steps * batch / max(steps, 1):,.1f} dialogs/s")
    for name, (run, done) in runs.items():
        found[name] = timing.synchronised(run) / done
        log(f"{name}: {1 / found[name]:,.1f} dialogs/s")
    return found


def main() -> None:
    """Measure all and write both files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="tiny sizes, to try this program")
    parser.add_argument("--folder", type=Path, help="where 10 GB are written for the time being (default: TMPDIR)")
    parser.add_argument("--out", type=Path, default=Path("reports/scale"), help="files to write, without ending")
    arguments = parser.parse_args()
    keep_freed_memory()
    shape = SMALL if arguments.small else Shape()
    experiment = read({**yaml.safe_load((ROOT / "config.yaml").read_text()), "dataset": DATASET})
    with tempfile.TemporaryDirectory(dir=arguments.folder) as scratch:
        folder = Path(scratch)
        commands = run_commands(folder, experiment, shape)
        disk = {name: (folder / name).stat().st_size for name in ("dialogs.h5", "features.h5", "dialog.safetensors")}
        disk["result"] = max(path.stat().st_size for path in folder.glob("results/*/*/*.h5"))
    grown = pd.DataFrame(growth(shape))
    gemm = timing.gemm_rate(timing.take_turns({"gemm": timing.gemm()}, 9)["gemm"])
    conditions = [experiment.conditions[model][name] for model, _, name in games(experiment)]
    measured = costs.Measured(
        commands.seconds,
        commands.memory,
        disk,
        rates(shape, commands, experiment.data.training["dialog"].batch),
        gemm,
        shape.pictures,
        shape.steps,
        experiment.data.training["dialog"].epochs,
        experiment.data.shards,
        [condition.start for condition in conditions],
        [condition.script != "none" for condition in conditions],
    )
    table = costs.table(measured, shape.train, shape.val)
    threads = f"{os.cpu_count()} cores, {torch.get_num_threads()} threads, torch {torch.__version__}"
    head = f"{timing.processor()}, {threads}, matrix products (GEMM) at {gemm / 1e9:.0f} GFLOP/s in float32"
    written = table.to_csv(index=False, float_format="%.4g", lineterminator="\n")
    write_text(arguments.out.with_suffix(".csv"), f"# {head}\n{written}")
    write_text(arguments.out.with_suffix(".md"), costs.markdown(table, grown, commands.memory, head))
    log(f"written: {arguments.out}.md")


if __name__ == "__main__":
    main()
