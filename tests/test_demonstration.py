"""The shipped miniature shows what it is made to show, with each of its seeds: every channel matters.

The default settings, the `dialog` model and the written reading alone: some minutes.
"""

from pathlib import Path

import numpy as np
import pytest
import yaml
from project import Project

from cooperation.data.store import read_dialogs, read_vocabulary
from cooperation.evaluation.results import read_result

SHIPPED = yaml.safe_load((Path(__file__).parent.parent / "config.yaml").read_text())
CHANNELS = ("caption-p1", "image-from1", "answer-from1-p1", "question-from1-p1")
PLAYED = ("none", "human", "human-questions", *(f"caption-p{p}" for p in (0.2, 0.4, 0.6, 0.8)), *CHANNELS)


@pytest.fixture(scope="module", params=SHIPPED["seeds"])
def seed(request):
    return request.param


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    conditions = {"dialog": {name: SHIPPED["conditions"]["dialog"][name] for name in PLAYED}}
    config = SHIPPED | {"readings": ["written"], "conditions": conditions}
    made = Project(tmp_path_factory.mktemp("demonstration"), config)
    folders = [f"results/miniature/dialog-seed{seed}/written" for seed in SHIPPED["seeds"]]
    done = made.snakemake(*(f"{folder}/{name}.h5" for folder in folders for name in PLAYED))
    assert done.returncode == 0, done.stdout[-5000:]
    return made


@pytest.fixture(scope="module")
def played(project, seed):
    results = project.folder / f"results/miniature/dialog-seed{seed}/written"
    return {name: read_result(results / f"{name}.h5") for name in PLAYED}


@pytest.fixture(scope="module")
def mpr(played):
    return {name: result.percentiles.mean(0) for name, result in played.items()}


def test_the_bots_play_well_and_the_dialog_adds_to_the_caption(mpr):
    assert mpr["none"][10] >= 90
    assert mpr["none"][10] - mpr["none"][0] >= 3


def test_the_human_dialog_is_at_least_as_good(mpr):
    assert mpr["human"][10] >= mpr["none"][10] - 1


def test_a_perturbed_caption_is_uninformative(mpr):
    assert 45 <= mpr["caption-p1"][0] <= 65


def test_a_more_perturbed_caption_is_worse(mpr):
    sweep = [
        mpr[name][1] for name in ("none", "caption-p0.2", "caption-p0.4", "caption-p0.6", "caption-p0.8", "caption-p1")
    ]
    assert sweep == sorted(sweep, reverse=True)


@pytest.mark.parametrize("channel", CHANNELS)
def test_every_channel_matters(mpr, channel):
    assert mpr["none"][10] - mpr[channel][10] >= 3


@pytest.mark.parametrize("strong", ["image-from1", "answer-from1-p1"])
@pytest.mark.parametrize("weak", ["caption-p1", "question-from1-p1"])
def test_pictures_and_answers_cost_more_than_captions_and_questions(mpr, strong, weak):
    assert mpr[strong][10] < mpr[weak][10]


def test_the_answerer_answers_as_people_do(project, played):
    dialogs = read_dialogs(project.folder / "data/miniature/dialogs.h5", "val")
    eos = read_vocabulary(project.folder / "data/miniature/dialogs.h5").eos
    answered = played["human-questions"].answer_said
    right = np.array(
        [
            [
                said == [*human, eos]
                for said, human in zip(answered[row].lists(), dialogs.answers[row].lists(), strict=True)
            ]
            for row in range(len(dialogs))
        ]
    )
    assert right.mean() >= 0.65


def test_every_condition_did_something(played):
    assert played["none"].perturbed_messages.sum() == 0
    for name in CHANNELS:
        assert played[name].perturbed_messages.sum() > 0
