"""A whole project in a folder, made by its commands one after another in this process, as a person would type them."""

import copy
import io
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass

import yaml
from project import ROOT
from reduced import CONFIG as REDUCED
from test_vgg import Tiny

from cooperation.cli import main
from cooperation.config.experiment import read
from cooperation.data import vgg, volumes
from cooperation.io.settings import flags

CONFIG = copy.deepcopy(REDUCED)
CONFIG["seeds"] = [1, 2]
LATE = {"channel": "image", "kind": "noise", "start": 3}
CONFIG["conditions"]["dialog"]["late"] = LATE
CONFIG["datasets"]["small"]["manual"] = {"dialog": ["manual/figure_2.yaml"]}
# Another world, whose images have the same ids and whose dialogs are the same: the pictures alone are others.
CONFIG["datasets"]["blind"] = {
    **REDUCED["datasets"]["small"],
    "raw": {**REDUCED["datasets"]["small"]["raw"], "picture": 0},
}
CONFIG["controls"] = {
    "worlds": ["blind"],
    "conditions": {"dialog": {"none": {}, "late": LATE}},
}
MANUAL = {"title": "Noise", "text": "The answerer sees noise.", "dialog": "worst rank by caption", "image": "noise"}
EXPECTED = """world,statement,quantity,conditions,rounds,at_least,at_most
blind,it ranks,level,none,10,0,100
scripted,it knows,level,none,10,99.609375,99.609375
"""
ARCHIVES = ("visdial_0.9_train.zip", "visdial_0.9_val.zip", "train2014.zip", "val2014.zip")


@dataclass(frozen=True)
class Said:
    """What a command ended with and said."""

    code: int
    out: str
    error: str


def run(*words):
    """Run `cooperation WORDS` in this folder."""
    # An archive stays open, but not that of another run.
    volumes._open_archive.cache_clear()
    before, out, error, code = sys.argv, io.StringIO(), io.StringIO(), 0
    sys.argv = ["cooperation", *map(str, words)]
    try:
        with redirect_stdout(out), redirect_stderr(error):
            main()
    except SystemExit as stop:
        code = stop.code
    finally:
        sys.argv = before
    return Said(code, out.getvalue(), error.getvalue())


@dataclass(frozen=True)
class Step:
    """A command; reads, writes: its files, but for settings."""

    words: tuple
    reads: tuple = ()
    writes: tuple = ()


def prepare(folder, config=CONFIG):
    """Write settings and what a person writes; pictures go through a network that takes no time."""
    vgg.vgg16 = Tiny
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    (folder / "manual").mkdir()
    (folder / "manual/figure_2.yaml").write_text(yaml.safe_dump(MANUAL))
    (folder / "expected.csv").write_text(EXPECTED)
    shutil.copy(ROOT / "workflow/interventions.csv", folder / "meanings.csv")
    shutil.copytree(ROOT / "paper", folder / "paper")


def settings_of(config, dataset, *steps):
    """The flags of some steps' settings."""
    found = read(config).datasets[dataset].steps
    return [word for step in steps for word in flags(found[step])]


def texts(folder):
    return ["--train", f"{folder}/visdial_0.9_train.zip", "--val", f"{folder}/visdial_0.9_val.zip"]


def pictures(folder):
    return ["--train", f"{folder}/train2014.zip", "--val", f"{folder}/val2014.zip"]


def training(config, dataset, model, seed):
    """The flags of a training."""
    experiment = read(config)
    return flags(experiment.datasets[dataset].sizes) + flags(experiment.training(dataset, model, seed))


def data_steps(config, dataset):
    """From nothing to dialogs and features."""
    data, raw = f"data/{dataset}", f"data/{dataset}/raw"
    zips = [f"{raw}/{name}" for name in ARCHIVES]
    made = "miniature", *settings_of(config, dataset, "raw"), "--out", raw
    yield Step(made, (), zips)
    encoded = "encode", "miniature", *texts(raw), *settings_of(config, dataset, "text"), "--out", f"{data}/dialogs.h5"
    yield Step(encoded, zips[:2], [f"{data}/dialogs.h5"])
    shares = [f"{data}/fc7_{shard}of2.h5" for shard in (1, 2)]
    for shard, share in enumerate(shares, 1):
        how = *settings_of(config, dataset, "extraction"), "--shard", f"{shard}/2", "--out", share
        yield Step(("extract", *pictures(raw), *how), zips[2:], [share])
    normalised = "normalise", *shares, *settings_of(config, dataset, "features"), "--out", f"{data}/features.h5"
    yield Step(normalised, shares, [f"{data}/features.h5"])


def bots_steps(config, dataset, model, seed):
    """From dialogs and features to results."""
    files = [f"data/{dataset}/dialogs.h5", f"data/{dataset}/features.h5"]
    bots, out = f"checkpoints/{dataset}/{model}-seed{seed}.safetensors", f"results/{dataset}/{model}-seed{seed}"
    given = ["--dialogs", files[0], "--features", files[1]]
    yield Step(("verify", "--dataset", dataset), files)
    yield Step(("train", *given, *training(config, dataset, model, seed), "--out", bots), files, [bots])
    named = "--dataset", dataset, "--model", model, "--training-seed", seed
    played = "play", *named, "--checkpoint", bots, *given, "--out", out
    games = [game.path for game in read(config).games(dataset) if (game.model, game.seed) == (model, seed)]
    yield Step(played, [bots, *files], games)


def all_steps(config=CONFIG):
    """Everything, in order."""
    experiment = read(config)
    for dataset in experiment.datasets:
        yield from data_steps(config, dataset)
        for game in dict.fromkeys((game.model, game.seed) for game in experiment.games(dataset)):
            yield from bots_steps(config, dataset, *game)
    yield from report_steps(experiment)


def report_steps(experiment):
    """From results to the report."""
    games = [game.path for game in experiment.games("small")]
    manual = [game.path for game in experiment.manual_games()]
    for seed in dict.fromkeys(game.seed for game in experiment.manual_games()):
        bots, none = (
            f"checkpoints/small/dialog-seed{seed}.safetensors",
            f"results/small/dialog-seed{seed}/written/none.h5",
        )
        files = ["data/small/dialogs.h5", "data/small/features.h5"]
        given = ["--checkpoint", bots, "--dialogs", files[0], "--features", files[1], "--baseline", none]
        intervened = "intervene", "--all", "--dataset", "small", "--model", "dialog", "--training-seed", seed, *given
        mine = [game.path for game in experiment.manual_games() if game.seed == seed]
        yield Step((*intervened, "--out", f"results/small/manual/dialog-seed{seed}"), [bots, *files, none], mine)
    yield Step(("summarise", *games, "--resamples", 20, "--out", "mpr.csv"), games, ["mpr.csv"])
    scripted = sorted(f"results/{world}/{name}.h5" for world in ("scripted", "scripted_leak") for name in SCRIPTED)
    yield Step(("scripted", "--out", "results"), (), scripted)
    worlds = [game.path for game in experiment.games("blind")]
    compared = (
        "--results",
        "results",
        "--expected",
        "expected.csv",
        "--interventions",
        "meanings.csv",
        "--resamples",
        20,
    )
    yield Step(("controls", *compared, "--out", "controls.csv"), [*worlds, *scripted], ["controls.csv"])
    yield Step(("confirm", *compared), [*worlds, *scripted])
    shown = "--results", "results/small", "--dialogs", files[0], "--resamples", 20, "--out", "report"
    archive = "data/small/raw/val2014.zip"
    wanted = [
        "report/index.html",
        "report/mpr.csv",
        "report/claims.csv",
        "report/statistics.csv",
        "report/manifest.json",
    ]
    reads = [*games, *manual, files[0], archive]
    yield Step(("report", "--dataset", "small", *shown, "--pictures", archive), reads, wanted)


SCRIPTED = ("none", "image", "caption", "question", "answer", "negation", "image-swap", "caption-swap", "answer-swap")
