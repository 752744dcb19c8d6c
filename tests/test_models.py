"""Models side by side."""

import json

import numpy as np
import pytest
from fakes import made_scores

from cooperation.reports.models import COLUMNS, compare_models, models_table
from cooperation.reports.statistics import resample


def ranks(first, last):
    return np.concatenate([np.full((20, 10), first), np.full((20, 1), last)], 1)


def trained(model, ranks, condition="none", **training):
    return made_scores(
        ranks, model=model, condition=condition, training=json.dumps({"epochs": 3, "seed": 1, **training})
    )


@pytest.fixture
def found():
    w01, w10 = ({"regime": "dialog", "image_weight": weight} for weight in (0.1, 10.0))
    scores = [
        trained("w10", ranks(20.0, 5.0), **w10),
        trained("w0.1", ranks(30.0, 25.0), **w01),
        trained("w10", ranks(20.0, 2.0), "human", **w10),
        trained("w0.1", ranks(30.0, 15.0), "human", **w01),
        trained("w10", ranks(20.0, 35.0), "image", **w10),
        trained("w10", ranks(20.0, 9.0), "question-p1", **w10),
        # Not the paper's intervention in all rounds.
        trained("w10", ranks(20.0, 8.0), "answer-from5", **w10),
        trained("round", ranks(40.0, 1.0), regime="round", image_weight=1.0, epochs=9),
    ]
    return compare_models(resample(scores, 50))


def test_every_model_reading_and_quantity_is_a_line(found):
    assert list(found.columns) == list(COLUMNS)
    numbers = {tuple(line[:4]): line[4] for line in found[["model", "quantity", "row", "round", "value"]].to_numpy()}
    assert numbers == {
        ("w10", "mpr", "bots", 0): 79.5,
        ("w10", "mpr", "bots", 10): 94.5,
        ("w10", "mpr", "people", 0): 79.5,
        ("w10", "mpr", "people", 10): 97.5,
        ("w10", "gap", "image", 10): 30,
        ("w10", "gap", "question", 10): 4,
        ("w0.1", "mpr", "bots", 0): 69.5,
        ("w0.1", "mpr", "bots", 10): 74.5,
        ("w0.1", "mpr", "people", 0): 69.5,
        ("w0.1", "mpr", "people", 10): 84.5,
        ("round", "mpr", "bots", 0): 59.5,
        ("round", "mpr", "bots", 10): 98.5,
    }
    assert (found["low"] <= found["value"] + 1e-9).all()


def test_a_model_is_told_by_all_that_differs_from_others(found):
    """But the weight of the image loss is none of bots that learn the image apart."""
    about = found[["model", "regime", "training"]].drop_duplicates().to_numpy().tolist()
    assert about == [
        ["w10", "dialog", "epochs 3, image_weight 10"],
        ["w0.1", "dialog", "epochs 3, image_weight 0.1"],
        ["round", "round", "epochs 9"],
    ]


def test_a_row_a_model(found):
    (block,) = models_table(found, "9 queries.").blocks
    assert [column.title for column in block.columns] == [
        "Model", "Regime", "Training", "Bots talk, caption alone", "Bots talk, round 10", "People talk, caption alone",
        "People talk, round 10", "Gap, image", "Gap, question",
    ]  # fmt: skip
    shown = [[cell.line(0) for cell in row] for row in block.rows]
    certain = [[text.split(" [")[0] for text in row] for row in shown]
    assert certain == [
        ["w10", "dialog", "epochs 3, image_weight 10", "79.5", "94.5", "79.5", "97.5", "30.0", "4.0"],
        ["w0.1", "dialog", "epochs 3, image_weight 0.1", "69.5", "74.5", "69.5", "84.5", "–", "–"],
        ["round", "round", "epochs 9", "59.5", "98.5", "–", "–", "–", "–"],
    ]
    assert shown[0][3] == "79.5 [79.5, 79.5] one training"


def test_results_that_do_not_say_how_their_bots_were_trained_are_shown_without():
    table = models_table(compare_models(resample([made_scores(ranks(1.0, 1.0), training="{}")], 20)), "9 queries.")
    assert [cell.text for cell in table.blocks[0].rows[0][:3]] == ["dialog", "–", "–"]
    assert "9 queries." in table.markdown()
