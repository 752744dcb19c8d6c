"""Whether bots, dialogs and baseline belong together, before anything is played."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from cooperation.config.conditions import Condition
from cooperation.data.store import Dialogs
from cooperation.evaluation.results import Result
from cooperation.io.files import InputError

Ids = npt.NDArray[np.int64]


def check_baseline(baseline: Result, attributes: Mapping[str, Any], image_ids: Ids, place: Path) -> None:
    """Raise `InputError` that names `place` for a baseline of other dialogs, seeds, another model or reading.

    attributes: those of the results that need it (see `Result`); image_ids: the dialogs', [dialogs].
    """
    remedy = "give the condition none of the same bots, dialogs, seed and reading"
    if not np.array_equal(baseline.image_ids, image_ids):
        found, played = len(baseline.image_ids), len(image_ids)
        raise InputError(f"{place}: its {found:,} dialogs are not the {played:,} that are played here; {remedy}")
    here = {"condition": json.dumps(Condition().settings)}
    there = {"condition": baseline.attributes["settings"]}
    for name in ("model", "seed", "game_seed", "reading"):
        here[name], there[name] = attributes[name], baseline.attributes.get(name)
    for name, wanted in here.items():
        if there[name] != wanted:
            what = name.replace("_", " ")
            raise InputError(f"{place}: its {what} is {there[name]}, not {wanted} as here; {remedy}")


def check_width(width: int, learnt: int, place: Path) -> None:
    """Raise `InputError` that names `place` for images of another number of features than the bots have learnt."""
    if width != learnt:
        raise InputError(
            f"{place}: an image has {width:,} features, but the bots have learnt {learnt:,}; give features like those "
            "that they were trained with"
        )


def trained_on(trained: Ids, dialogs: Dialogs) -> Ids:
    """Ids [images] of the dialogs' images on which the bots were trained; trained: those of the training, [images]."""
    return np.intersect1d(dialogs.image_ids, trained)


def refuse_trained_on(overlap: Ids) -> None:
    """Raise `InputError` where there are any images that the bots were trained on; overlap: their ids, [images]."""
    if len(overlap):
        raise InputError(
            f"the bots were trained on image {overlap[0]} ({len(overlap)} such images), which they are now asked "
            "to guess; train them on other dialogs, or give --allow-trained-on"
        )


def notes_on_images(attributes: Mapping[str, Any], overlap: int) -> list[str]:
    """Warnings about the images that bear on the ranks. attributes: the features'; overlap: images trained on."""
    lines = {
        "have the very features of another, so they share their ranks": attributes.get("duplicates_val", 0),
        "were trained on, so the bots may have memorised them": overlap,
    }
    return [f"{count:,} of the images {what}" for what, count in lines.items() if count]
