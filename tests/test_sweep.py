"""The sweep over weights of the image loss."""

import json

import numpy as np
import pytest
from fakes import made_scores

from cooperation.files import InputError
from cooperation.reports.sweep import compare_weights, printed, weight_of


def ranks(first, last):
    return np.concatenate([np.full((20, 10), first), np.full((20, 1), last)], 1)


def trained(weight, ranks, path="x.h5", **names):
    return made_scores(ranks, path, training=json.dumps({"image_weight": weight, "epochs": 3}), **names)


def test_a_row_a_weight_whatever_their_order():
    weighted = [
        trained(10.0, ranks(20.0, 5.0)),
        trained(0.5, ranks(30.0, 25.0)),
        trained(10.0, ranks(20.0, 2.0), condition="human"),
        trained(0.5, ranks(30.0, 15.0), condition="human"),
    ]
    frame = compare_weights(weighted, 50, 0)
    none = frame[frame["condition"] == "none"]
    assert none["image_weight"].tolist() == [0.5, 0.5, 10, 10]
    assert none["round"].tolist() == [0, 10, 0, 10]
    assert none["mpr"].tolist() == [69.5, 74.5, 79.5, 94.5]
    shown = printed(frame)
    columns = ["Image weight", "none, round 0", "none, round 10", "human, round 0", "human, round 10"]
    assert list(shown.columns) == columns
    assert shown.to_numpy().tolist() == [
        ["0.5", "69.5 [69.5, 69.5]", "74.5 [74.5, 74.5]", "69.5 [69.5, 69.5]", "84.5 [84.5, 84.5]"],
        ["10", "79.5 [79.5, 79.5]", "94.5 [94.5, 94.5]", "79.5 [79.5, 79.5]", "97.5 [97.5, 97.5]"],
    ]


def test_the_weight_is_read_from_the_result():
    assert weight_of(trained(0.1, ranks(1.0, 1.0))) == 0.1
    with pytest.raises(InputError, match=r"x\.h5: it does not say how its bots were trained"):
        weight_of(made_scores(ranks(1.0, 1.0)))


@pytest.mark.parametrize("other", [{"model": "round"}, {"reading": "released"}])
def test_several_models_or_readings_are_refused(other):
    """Of one weight or of several: the table names neither."""
    for weight in (0.5, 10.0):
        both = [trained(0.5, ranks(1.0, 1.0)), trained(weight, ranks(2.0, 2.0), "b.h5", **other)]
        with pytest.raises(InputError, match=r"b\.h5: model .* give those of one model and reading"):
            compare_weights(both, 20, 0)
