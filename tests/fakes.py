"""Made-up results for the tests of statistics, tables, figures and the page; all of a data set belong together."""

import json
import tempfile
from dataclasses import asdict
from functools import cache
from pathlib import Path

import numpy as np
import yaml

from cooperation.config.conditions import read_condition
from cooperation.config.experiment import read
from cooperation.config.interventions import read_interventions
from cooperation.config.made import said_by_dialogs, said_by_features
from cooperation.data.identities import identity_of_dialogs
from cooperation.data.store import Dialogs, write_dialogs
from cooperation.evaluation.results import Result, write_result
from cooperation.game.interventions import CHANNELS
from cooperation.game.messages import Messages
from cooperation.game.vocabulary import Vocabulary
from cooperation.reports.diagnostics import diagnose
from cooperation.reports.material import Material
from cooperation.reports.page import games_shown
from cooperation.reports.paper import read_figures, read_published
from cooperation.reports.scores import Scores
from cooperation.reports.statistics import resample, summarise

ROOT = Path(__file__).parent.parent
PAPERS = read_interventions(str(ROOT / "paper" / "interventions.csv"))
WORLDS = read_interventions(str(ROOT / "workflow" / "interventions.csv"))
WORDS = ("a", "red", "cube", "yes", "no", "what", "<script>alert(1)</script>", "UNK")
DIALOG = [
    "none",
    "human",
    "caption-p0.2",
    "caption-p0.4",
    "caption-p0.6",
    "caption-p0.8",
    "image-from5",
    "question-from5-p0.8",
    "answer-from5-p0.8",
    "image-from1",
    "caption-p1",
    "question-from1-p1",
    "answer-from1-p1",
]
VOCABULARY = Vocabulary.of(WORDS)
STANDS_FOR = {"dialog": ("dialog",), "round": ("round",)}
ROUND = ["none", "negation-from1", "negation-from2", "negation-from4", "negation-from6", "negation-from8"]


def condition_of(name):
    """The condition that a name as in `DIALOG` and `ROUND` stands for; one of its own is the unperturbed game."""
    channel, *rest = name.split("-")
    given = {"facts": "bare"} if "bare" in rest else {}
    if channel == "human":
        return read_condition({**given, "script": "questions" if "questions" in rest else "dialog"}, name)
    if channel not in (*CHANNELS, "negation"):
        return read_condition(given, name)
    kind = "swap" if "swap" in rest else {"image": "noise", "negation": "negate"}.get(channel, "replace")
    for part in rest:
        given |= {"start": int(part[4:])} if part.startswith("from") else {}
        given |= {"p": float(part[1:])} if part.startswith("p") else {}
    return read_condition({**given, "channel": "answer" if channel == "negation" else channel, "kind": kind}, name)


@cache
def shipped():
    return read(yaml.safe_load((ROOT / "config.yaml").read_text()))


def write_data(path, vocabulary=VOCABULARY, dataset="miniature", counts=None):
    """The dialogs that made-up results are about: a hundred candidates, as the shipped settings encode them."""
    turns = Messages(np.ones((100, 10, 1), np.int32), np.ones((100, 10), np.int32))
    dialogs = Dialogs(np.arange(100) * 3 + 5, Messages.of([[1]] * 100), turns, turns)
    about = {**said_by_dialogs(shipped().datasets[dataset]), "files": "{}"}
    write_dialogs(path, vocabulary, {"val": dialogs}, {**about, **(counts or {})})
    return path


@cache
def made_of(dataset="miniature"):
    """What made-up results of a data set say of their dialogs and images."""
    with tempfile.TemporaryDirectory() as folder:
        dialogs = identity_of_dialogs(write_data(Path(folder, "dialogs.h5"), dataset=dataset))
    return dialogs.only("vocabulary", "val dialogs") | {"features": "small (0123)", "val images": "100 images (4567)"}


def about(dataset, model, seed):
    """What results of a data set and model of the shipped settings say of how they came to be."""
    experiment = shipped()
    if dataset not in experiment.datasets or model not in experiment.models:
        return {}
    data = experiment.datasets[dataset]
    said = {
        "training": asdict(experiment.training(dataset, model, seed)),
        "sizes": asdict(data.sizes),
        "dialogs": said_by_dialogs(data),
        "features": {"extractor": "VGG-16", **said_by_features(data)},
    }
    return {name: json.dumps(settings) for name, settings in said.items()}


def made_result(ranks, model="dialog", seed=1, reading="written", condition="none", heard=None, **attributes):
    """A result with these ranks [dialogs, 11] in which every message is `a red cube EOS`."""
    dialogs = len(ranks)
    message = np.array([1, 2, 3, len(WORDS) + 2], np.int32)
    captions = Messages(np.tile(message, (dialogs, 1)), np.full(dialogs, 4, np.int32))
    turns = Messages(np.tile(message, (dialogs, 10, 1)), np.full((dialogs, 10), 4, np.int32))
    zeros = np.zeros(11, np.int64)
    names = {"dataset": "miniature", "model": model, "seed": seed, "reading": reading, "condition": condition}
    names["game_seed"] = 1
    given = about(attributes.get("dataset", "miniature"), model, seed)
    own = {"bots": f"{model}, seed {seed} (89ab)", "training": model}
    identity = {"identity": json.dumps({**made_of(), **own})}
    said = {"caption_said": captions, "question_said": turns, "answer_said": turns}
    heard = {"caption_heard": captions, "question_heard": turns, "answer_heard": turns} | (heard or {})
    settings = {"settings": json.dumps(condition_of(condition).settings)}
    return Result(
        np.arange(dialogs) * 3 + 5,
        np.asarray(ranks, np.float64),
        zeros + 2,
        zeros + 3,
        **said,
        **heard,
        attributes=names | given | identity | settings | {"candidates": 100, "val_dialogs": 100} | attributes,
    )


def made_scores(ranks, path="x.h5", **names):
    return Scores.of(Path(path), made_result(ranks, **names))


def all_results(dialogs=30, seeds=(1,), readings=("written", "released")):
    """Every condition of the paper's tables and figures, the baseline best."""
    generator = np.random.default_rng(7)
    base = generator.integers(0, 20, (dialogs, 11))
    for model, conditions in (("dialog", DIALOG), ("round", ROUND)):
        for seed in seeds:
            for reading in readings:
                for number, condition in enumerate(conditions):
                    ranks = base + seed + 2 * number + generator.integers(0, 3, (dialogs, 11))
                    yield made_result(ranks, model, seed, reading, condition)


def made_config(**changes):
    """The shipped settings with the conditions of `DIALOG` and `ROUND` alone, one seed and no manual interventions."""
    shipped = yaml.safe_load((ROOT / "config.yaml").read_text())
    conditions = {
        model: {name: condition_of(name).settings for name in names}
        for model, names in (("dialog", DIALOG), ("round", ROUND))
    }
    datasets = {name: shipped["datasets"][name] | {"manual": {}} for name in ("miniature", "genuine")}
    kept = {key: shipped[key] for key in ("dataset", "game_seed", "bootstrap_seed", "readings", "models")}
    return kept | {"seeds": [1], "conditions": conditions, "datasets": datasets} | changes


def made_material(config=None, played=None, **changes):
    """What figures and page are made of, from the results `played` (default: `all_results`)."""
    experiment = read(config or made_config())
    results = list(played or all_results())
    resampled = resample([Scores.of(Path(f"{number}.h5"), result) for number, result in enumerate(results)], 200)
    by_name = {(*Scores.of(Path(), result).bots, result.attributes["condition"]): result for result in results}
    given = {
        "experiment": experiment,
        "folder": Path("results/miniature"),
        "vocabulary": Vocabulary.of(WORDS),
        "results": {
            game: by_name[game.model, game.seed, game.reading, game.condition] for game in games_shown(experiment)
        },
        "manual": {},
        "pictures": {},
        "lines": read_figures(ROOT / "paper" / "figures.csv", PAPERS),
        "published": read_published(ROOT / "paper" / "published.csv", PAPERS),
        "scores": resampled.scores,
        "summary": summarise(resampled),
        "diagnostics": diagnose(resampled, {}),
        "size": resampled.size,
    }
    return Material(**given | changes)


def made_resampled(resamples=200, **settings):
    scores = [Scores.of(Path(f"{number}.h5"), result) for number, result in enumerate(all_results(**settings))]
    return resample(scores, resamples)


def made_summary(resamples=200, **settings):
    return summarise(made_resampled(resamples, **settings))


def write_results(folder, **settings):
    paths = []
    for result in all_results(**settings):
        names = result.attributes
        paths.append(folder / f"{names['model']}-seed{names['seed']}" / names["reading"] / f"{names['condition']}.h5")
        write_result(paths[-1], result)
    return paths
