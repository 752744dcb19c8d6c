"""Made-up results for the tests of statistics, tables, figures and the page."""

import json
from pathlib import Path

import numpy as np

from cooperation.conditions import CHANNELS
from cooperation.games.results import Result, write_result
from cooperation.messages import Messages
from cooperation.reports.statistics import Scores, summarise

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
ROUND = ["none", "negation-from1", "negation-from2", "negation-from4", "negation-from6", "negation-from8"]


def settings_of(condition):
    """The settings that a condition's name in `DIALOG` and `ROUND` stands for, as JSON; the rest is left out."""
    channel = condition.partition("-")[0]
    given = {"channel": channel if channel in CHANNELS else "none", "facts": "reading"}
    given |= {"script": "dialog"} if channel == "human" else {}
    return json.dumps(given | ({"facts": "bare"} if condition.endswith("-bare") else {}))


def made_result(ranks, model="dialog", seed=1, reading="written", condition="none", heard=None, **attributes):
    """A result with these ranks [dialogs, 11] in which every message is `a red cube EOS`."""
    dialogs = len(ranks)
    message = np.array([1, 2, 3, len(WORDS) + 2], np.int32)
    captions = Messages(np.tile(message, (dialogs, 1)), np.full(dialogs, 4, np.int32))
    turns = Messages(np.tile(message, (dialogs, 10, 1)), np.full((dialogs, 10), 4, np.int32))
    zeros = np.zeros(11, np.int64)
    names = {"dataset": "miniature", "model": model, "seed": seed, "reading": reading, "condition": condition}
    features = {"features": json.dumps({"extractor": "VGG-16", "weights": "seeded, untrained"})}
    said = {"caption_said": captions, "question_said": turns, "answer_said": turns}
    heard = {"caption_heard": captions, "question_heard": turns, "answer_heard": turns} | (heard or {})
    return Result(
        np.arange(dialogs) * 3 + 5,
        np.asarray(ranks, np.float64),
        zeros + 2,
        zeros + 3,
        **said,
        **heard,
        attributes=names | features | {"settings": settings_of(condition), "candidates": 100} | attributes,
    )


def made_scores(ranks, path="x.h5", **names):
    return Scores.of(Path(path), made_result(ranks, **names))


def all_results(dialogs=30, seeds=(1,), readings=("written", "released")):
    """Every condition of the paper's tables and figures, the control best."""
    generator = np.random.default_rng(7)
    base = generator.integers(0, 20, (dialogs, 11))
    for model, conditions in (("dialog", DIALOG), ("round", ROUND)):
        for seed in seeds:
            for reading in readings:
                for number, condition in enumerate(conditions):
                    ranks = base + seed + 2 * number + generator.integers(0, 3, (dialogs, 11))
                    yield made_result(ranks, model, seed, reading, condition)


def made_summary(resamples=200, **settings):
    scores = [Scores.of(Path(f"{number}.h5"), result) for number, result in enumerate(all_results(**settings))]
    return summarise(scores, resamples)


def write_results(folder, **settings):
    paths = []
    for result in all_results(**settings):
        names = result.attributes
        paths.append(folder / f"{names['model']}-seed{names['seed']}" / names["reading"] / f"{names['condition']}.h5")
        write_result(paths[-1], result)
    return paths
