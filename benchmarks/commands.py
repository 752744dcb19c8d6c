"""The package's commands and config.yaml, as far as they are measured: what changes with them changes here."""

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field, replace
from json import dumps
from math import inf
from pathlib import Path

import made_up
import numpy as np
from made_up import Size
from timing import log, memory

from cooperation.bots.building import build_untrained
from cooperation.bots.checkpoint import Checkpoint, save_checkpoint
from cooperation.commands.settings import read_settings
from cooperation.config.experiment import Experiment
from cooperation.config.preparation import untrained_weights
from cooperation.config.training import Sizes, Training
from cooperation.data.identities import identity_of_dialogs, identity_of_features
from cooperation.data.store import read_vocabulary, write_feature_blocks
from cooperation.evaluation.results import read_ranks, read_result, write_result
from cooperation.game.messages import ROUNDS
from cooperation.io.plain_yaml import read_yaml_file
from cooperation.io.settings import flags
from cooperation.reports.needed import path_of

ROOT = Path(__file__).parent.parent
STARTED = ("play", "encode", "report")
"""Commands whose start is timed."""
LIMIT = 300
"""Seconds after which training and playing are stopped at full size."""
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT / "src")}


def experiment(dataset: str) -> Experiment:
    """What config.yaml asks for on a data set, with one training of each model."""
    return replace(read_settings(ROOT / "config.yaml", dataset), seeds=(1,))


def python(*words: str, folder: Path = ROOT) -> str:
    """Run a module of Python in a process of its own, in a folder: what it prints."""
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, cwd=folder, env=ENVIRONMENT, check=True, stdout=subprocess.PIPE, text=True).stdout


def train(data: Path, sizes: Sizes, training: Training, out: Path) -> list[str]:
    """Train on a folder's dialogs and features."""
    return ["train", *_made(data), *flags(sizes), *flags(training), f"--out={out}"]


def play(data: Path, checkpoint: Path, out: Path, *more: str) -> list[str]:
    """Play without perturbation, as written, on a folder's dialogs and features."""
    return ["play", *_made(data), f"--checkpoint={checkpoint}", "--condition=none={}", f"--out={out}", *more]


def _made(data: Path) -> list[str]:
    return [f"--dialogs={data / 'dialogs.h5'}", f"--features={data / 'features.h5'}"]


def mpr(data: Path, sizes: Sizes, training: Training) -> dict[str, float]:
    """Train bots, let them play: final MPR without perturbation and where people talk."""
    with tempfile.TemporaryDirectory() as scratch:
        out = Path(scratch)
        python("cooperation", *train(data, sizes, training, out / "bots"))
        python("cooperation", *play(data, out / "bots", out, "--condition=human={script: dialog}"))
        results = {name: read_ranks(out / "written" / f"{name}.h5") for name in ("none", "human")}
        return {name: float(result.percentiles[:, -1].mean()) for name, result in results.items()}


@dataclass(frozen=True)
class Ran:
    """What commands took, by name: seconds, and bytes of memory at most; and bytes of the files that they made."""

    seconds: dict[str, float] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)
    disk: dict[str, int] = field(default_factory=dict)

    def run(self, *words: object, name: str = "", limit: float = inf) -> None:
        """Run a command of the package in a process of its own, for `limit` seconds at most."""
        command, name = [sys.executable, "-m", "cooperation", *map(str, words)], name or str(words[0])
        start, taken, peak = time.perf_counter(), 0.0, 0
        with tempfile.TemporaryFile("w+") as said:
            process = subprocess.Popen(command, cwd=ROOT, env=ENVIRONMENT, stdout=said, stderr=said)
            while process.poll() is None and taken < limit:
                peak, taken = max(peak, memory("VmHWM", process.pid)), time.perf_counter() - start
                time.sleep(0.01)
            process.kill()
            if process.wait() and taken < limit:
                said.seek(0)
                raise RuntimeError(f"{name}: {said.read()}")
        self.seconds[name], self.memory[name] = taken, peak
        log(f"{name}: {taken:.0f} s, {peak / 2**30:.2f} GiB")


def run_all(folder: Path, size: Size, asked: Experiment) -> Ran:
    """Run the workflow's commands on made-up files of full size, in an empty folder."""
    ran, bots, results = Ran(), folder / "bots.safetensors", folder / "results"
    prepare(ran, folder, size)
    for model in ("round", "dialog"):
        words = train(folder, size.sizes, asked.training(asked.dataset, model, 1), folder / f"trained_{model}")
        ran.run(*words, name=f"train {model}", limit=LIMIT)
    write_bots(folder, size, bots)
    ran.run(*play(folder, bots, folder / "played", f"--batch={2 * size.played}"), limit=LIMIT)
    ran.run(*play(folder, bots, folder / "few", "--candidates=8"), name="play a few")
    write_results(folder / "few/written/none.h5", results, size, asked)
    shown = f"--config={write_settings(folder, size, asked.dataset)}", f"--results={results}"
    shown = *shown, f"--dialogs={folder / 'dialogs.h5'}"
    ran.run("report", *shown, f"--resamples={size.resamples}", f"--out={folder / 'report'}")
    ran.disk.update({path.name: path.stat().st_size for path in folder.iterdir()})
    ran.disk["result"] = max(path.stat().st_size for path in results.rglob("*.h5"))
    return ran


def prepare(ran: Ran, folder: Path, size: Size) -> None:
    """Make a data set of made-up raw files."""
    for split, first, count in (("train", 0, size.train), ("val", size.train, size.val)):
        log(f"writing {count:,} dialogs and features of {split}")
        made_up.write_visdial(folder / f"{split}.json", split, count, first)
        # One block again and again: each image's own vector would take minutes to draw and change nothing.
        block = 10 * made_up.features(min(4096, count), size.features)
        blocks = (np.roll(block, start, 1)[: min(4096, count - start)] for start in range(0, count, 4096))
        made_by = {"extractor": "made up", "layer": "fc7", "weights": untrained_weights(1), "preprocessing": "small"}
        write_feature_blocks(folder / f"{split}.h5", {split: (np.arange(first, first + count), blocks)}, made_by)
    dialogs = f"--train={folder / 'train.json'}", f"--val={folder / 'val.json'}"
    ran.run("encode", "visdial", *dialogs, f"--out={folder / 'dialogs.h5'}")
    ran.run("normalise", folder / "train.h5", folder / "val.h5", f"--out={folder / 'features.h5'}")
    archive, how = folder / "train2014.zip", "torchvision" if size.pixels == 224 else "small"
    made_up.write_pictures(archive, 4 * size.pictures)
    ran.run("extract", f"--train={archive}", f"--preprocessing={how}", f"--out={folder / 'extracted.h5'}")


def write_bots(folder: Path, size: Size, out: Path) -> None:
    """Write untrained bots for a folder's dialogs and features; training them would take days."""
    dialogs, features, training = folder / "dialogs.h5", folder / "features.h5", Training()
    words = read_vocabulary(dialogs)
    bots = build_untrained(words.size, size.features, size.sizes, training)
    made_of = identity_of_dialogs(dialogs).only("vocabulary") | identity_of_features(features).only("features")
    save_checkpoint(out, Checkpoint(*bots, words, np.zeros(0, int), size.sizes, asdict(training), made_of, {}))


def write_results(like: Path, folder: Path, size: Size, asked: Experiment) -> None:
    """Write made-up results of all games, with all else that is in the result `like`."""
    log("writing results")
    count = min(size.val, asked.data.playing.candidates)
    chance, dialogs, played = np.random.default_rng(0), made_up.dialogs(count, 60, size.train), read_result(like)
    talk = [messages for messages in (dialogs.captions, dialogs.questions, dialogs.answers) for _ in ("said", "heard")]
    base = chance.integers(0, count, (count, ROUNDS + 1))
    for game in asked.games(asked.dataset):
        condition = asked.conditions[game.model][game.condition]
        training = asdict(asked.training(game.dataset, game.model, game.seed))
        said = {**asdict(game), "settings": dumps(condition.settings), "training": dumps(training), "candidates": count}
        ranks = np.minimum(base + chance.integers(0, 20, base.shape), count - 1).astype(float)
        changed = np.full(ROUNDS + 1, count if condition.kind else 0)
        made = type(played)(dialogs.image_ids, ranks, changed, changed, *talk, {**played.attributes, **said})
        write_result(path_of(game, folder), made)


def write_settings(folder: Path, size: Size, dataset: str) -> Path:
    """Write settings as the shipped ones, but that the data set is made of a folder's made-up files; the path."""
    config = dict(read_yaml_file(ROOT / "config.yaml"))
    files = {split: f"{folder / split}.json" for split in ("train", "val")}
    pictures = dict.fromkeys(files, f"{folder / 'train2014.zip'}")
    kept = {
        name: given for name, given in config["datasets"][dataset].items() if name in ("source", "text", "training")
    }
    made = {
        "dialogs": files,
        "pictures": pictures,
        "extraction": {"preprocessing": "small"},
        "sizes": asdict(size.sizes),
    }
    config |= {"dataset": dataset, "seeds": [1], "datasets": {dataset: kept | made}, "controls": None}
    path = folder / "config.json"
    path.write_text(dumps({name: given for name, given in config.items() if given is not None}))
    return path
