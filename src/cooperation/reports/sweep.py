"""How the weight of the image loss in training moves the MPR."""

import json
from collections.abc import Sequence

import pandas as pd

from cooperation.files import InputError
from cooperation.reports.bootstrap import interval
from cooperation.reports.claims import game_evidence
from cooperation.reports.paper import with_interval
from cooperation.reports.statistics import Scores, refuse_several_games

ROUNDS_SHOWN = (0, 10)


def weight_of(score: Scores) -> float:
    """The image weight that the bots of a result were trained with."""
    training = json.loads(score.training)
    if "image_weight" not in training:
        raise InputError(f"{score.path}: it does not say how its bots were trained; play it again")
    return float(training["image_weight"])


def compare_weights(scores: Sequence[Scores], resamples: int, seed: int) -> pd.DataFrame:
    """A row a weight, condition and round (0 and 10): image_weight, condition, round, mpr, low, high.

    The results must be of one model and reading, for the table names neither.
    """
    refuse_several_games(scores)
    weighted: dict[float, list[Scores]] = {}
    for score in scores:
        weighted.setdefault(weight_of(score), []).append(score)
    lines = []
    for weight, members in sorted(weighted.items()):
        for (_, _, condition), drawn in game_evidence(members, resamples, seed).items():
            for number_of_round in ROUNDS_SHOWN:
                low, high = interval(drawn[1:, number_of_round])
                place = {"image_weight": weight, "condition": condition, "round": number_of_round}
                lines.append(place | {"mpr": drawn[0, number_of_round], "low": low, "high": high})
    return pd.DataFrame(lines)


def printed(frame: pd.DataFrame) -> pd.DataFrame:
    """The table to print: a row a weight, a column a condition and round."""
    texts = frame.assign(
        column=[f"{name}, round {turn}" for name, turn in zip(frame["condition"], frame["round"], strict=True)],
        text=[with_interval(*cell) for cell in zip(frame["mpr"], frame["low"], frame["high"], strict=True)],
    )
    columns = list(dict.fromkeys(texts["column"]))
    wide = texts.pivot_table(index="image_weight", columns="column", values="text", aggfunc="first")[columns]
    wide.insert(0, "Image weight", [f"{weight:g}" for weight in wide.index])
    return wide.reset_index(drop=True).rename_axis(columns=None)
