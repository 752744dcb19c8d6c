"""A small data set of genuine VisDial dialogs with made-up pictures: the chain's first trial on real text."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from cooperation.data.archives import read_json_text
from cooperation.data.miniature.world import draw_scenes
from cooperation.data.miniature.writing import write_pictures, write_zip
from cooperation.data.visdial import read_visdial
from cooperation.files import InputError
from cooperation.preparation import Genuine


def write_genuine(source: Path, settings: Genuine, folder: Path) -> list[Path]:
    """Write `visdial_0.9_SPLIT.zip` and `SPLIT2014.zip` of both splits from one VisDial file; the paths written.

    Image ids and texts stay as they are; the lists keep what a split's dialogs use. The pictures have nothing to do
    with the dialogs. A damaged file, or one too small for the split, is an `InputError`.
    """
    read_visdial(source, "val")
    document = json.loads(read_json_text(source))
    dialogs = document["data"]["dialogs"]
    if not 0 < settings.train < len(dialogs):
        raise InputError(
            f"{source}: cannot train on {settings.train} of its {len(dialogs)} dialogs; choose 1 to {len(dialogs) - 1}"
        )
    written = []
    for number, (split, chosen) in enumerate(
        {"train": dialogs[: settings.train], "val": dialogs[settings.train :]}.items()
    ):
        part = json.dumps(restrict(document, split, chosen), separators=(",", ":")).encode()
        written.append(write_zip(folder / f"visdial_0.9_{split}.zip", [(f"visdial_0.9_{split}.json", part)]))
        random = np.random.default_rng([settings.seed, number])
        ids = [dialog["image_id"] for dialog in chosen]
        scenes = draw_scenes(random, len(ids))
        written.append(write_pictures(folder, split, ids, scenes=scenes, pixels=settings.pixels, random=random))
    return written


def restrict(document: Mapping[str, Any], split: str, dialogs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """VisDial JSON of some of its dialogs, whose lists hold the texts that these use, renumbered."""
    rounds = [found for dialog in dialogs for found in dialog["dialog"]]
    questions = _numbered(found["question"] for found in rounds)
    answers = _numbered(position for found in rounds for position in (found["answer"], *found["answer_options"]))

    def renumbered(found: Mapping[str, Any]) -> dict[str, Any]:
        options = [answers[option] for option in found["answer_options"]]
        mine = {"question": questions[found["question"]], "answer": answers[found["answer"]], "answer_options": options}
        return {**found, **mine}

    data = document["data"]
    return {
        "version": document["version"],
        "split": split,
        "data": {
            "questions": [data["questions"][position] for position in questions],
            "answers": [data["answers"][position] for position in answers],
            "dialogs": [{**dialog, "dialog": list(map(renumbered, dialog["dialog"]))} for dialog in dialogs],
        },
    }


def _numbered(positions: Any) -> dict[int, int]:
    """Old position → new position, in the old order."""
    return {old: new for new, old in enumerate(sorted(set(positions)))}
