"""VisDial's JSON, versions 0.9 and 1.0, a file or several for each split.

The JSON is `{version, split, data: {questions, answers, dialogs: [{image_id, caption, dialog: [{question, answer,
answer_options, gt_index}]}]}}`, where questions and answers of a round are positions in the two lists. The last two,
which the game does not use, are checked where they are there.
"""

import json
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from cooperation.config.preparation import Encoding
from cooperation.config.sources import SPLITS
from cooperation.data.archives import LARGEST, dialog_ids, read_json_text
from cooperation.data.encoding import encode
from cooperation.data.reading import Files
from cooperation.data.records import REMEDY, VisDial, check_storable, join
from cooperation.data.store import DialogData
from cooperation.game.messages import ROUNDS
from cooperation.io.files import InputError, parse_errors

OPTIONS = 100
# JSON's names of types, for messages; answer options are packed while they are read, see `_compact`.
KINDS = {dict: "an object", list: "a list", array: "a list", str: "a text", int: "a whole number"}

SOURCE = {
    "files": {
        "train": "VisDial JSON of the train split, bare or zipped",
        "val": "VisDial JSON of the val split, bare or zipped",
    },
}


def read(files: Files, settings: Encoding) -> DialogData:
    """Read and encode both splits. Raises `InputError` as `read_visdial` does."""
    return encode({split: read_split(files[split], split, settings.cut_short) for split in SPLITS}, settings)


def read_split(paths: Sequence[Path], split: str, cut_short: str) -> VisDial:
    """Read the dialogs of a split from one file or several. Raises `InputError` as `read_visdial` does."""
    return join({path: read_visdial(path, split, cut_short) for path in paths})


def describe(_role: str, path: Path) -> str:
    """Count the dialogs. Raises `InputError` for a file that cannot be read."""
    return f"{len(dialog_ids(path)):,} dialogs"


def read_visdial(path: Path, split: str, cut_short: str = "stop") -> VisDial:
    """Read and check a file (.json, or .zip that holds one) whose split's name begins with `split`.

    A dialog cut short has fewer than ten answered rounds, as those of the 1.0 test split, whose last round has no
    answer: it is an error (cut_short: stop) or left out and counted (leave-out), never padded. An answer may be empty,
    a question may not. Raises `InputError` that names file, dialog and round (counted from 1) and field.
    """
    top = _parsed(path)
    data = _get(top, "data", dict, f"{path}")
    found = _get(top, "split", str, f"{path}")
    if not found.startswith(split):
        raise InputError(f"{path}: 'split' is {found!r}, not {split}…; give the file of the {split} split")
    texts = {name: _texts(data, name, path) for name in ("questions", "answers")}
    dialogs = _get(data, "dialogs", list, f"{path}: data")
    rows: list[tuple[list[int], list[int]]] = []
    images: dict[int, int] = {}
    captions: list[str] = []
    refused: list[int] = []
    for number, dialog in enumerate(tqdm(dialogs, f"check {path.name}", unit=" dialogs", disable=None), 1):
        image, caption, rounds = _fields(dialog, images, f"{path}: dialog {number}")
        place = f"{path}: dialog {number} (image {image})"
        if not _complete(rounds, place, cut_short):
            refused.append(image)
            continue
        rows.append(_rounds(rounds, texts, place))
        images[image] = number
        captions.append(caption)
    if not rows:
        raise InputError(f"{path}: none of its {len(dialogs)} dialogs has {ROUNDS} answered rounds; give another file")
    positions = np.array(rows, np.int32)
    return VisDial(
        version=str(top.get("version", "unknown")),
        split=found,
        **texts,
        image_ids=np.fromiter(images, np.int64),
        captions=captions,
        question_rows=positions[:, 0],
        answer_rows=positions[:, 1],
        refused_ids=np.array(refused, np.int64),
    )


def _parsed(path: Path) -> Any:
    with parse_errors(path, "not JSON or cut short", "download it again"):
        return json.loads(read_json_text(path), object_hook=_compact)


def _compact(found: dict[str, Any]) -> dict[str, Any]:
    # 124 million options as Python lists of ints would take 4 GB; as C ints they take half a gigabyte.
    options = found.get("answer_options")
    if isinstance(options, list):
        with suppress(TypeError, OverflowError):  # left as it is, for the check to name its place
            found["answer_options"] = array("i", options)
    return found


def _get(found: Any, key: str, kind: type, place: str) -> Any:
    if not isinstance(found, dict):
        raise InputError(f"{place}: {_kind(found)} instead of an object with {key!r}; {REMEDY}")
    if key not in found:
        raise InputError(f"{place}: {key!r} is missing; {REMEDY}")
    value = found[key]
    if not isinstance(value, kind) or isinstance(value, bool):
        raise InputError(f"{place}: {key!r} is {_kind(value)}, not {KINDS[kind]}; {REMEDY}")
    return value


def _kind(value: Any) -> str:
    return "empty" if value is None else KINDS.get(type(value), f"a {type(value).__name__}")


def _texts(data: Mapping[str, Any], name: str, path: Path) -> list[str]:
    texts: list[str] = _get(data, name, list, f"{path}: data")
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"{path}: data: {name}[{number}] is {_kind(text)}, not a text; {REMEDY}")
        check_storable(text, f"{path}: data: {name}[{number}]")
    return texts


def _fields(dialog: Any, seen: Mapping[int, int], place: str) -> tuple[int, str, list[Any]]:
    """Image id, caption and rounds of a dialog."""
    image = _image_id(dialog, seen, place)
    place = f"{place} (image {image})"
    caption: str = _get(dialog, "caption", str, place)
    if not caption.strip():
        raise InputError(f"{place}: 'caption' is empty; {REMEDY}")
    check_storable(caption, f"{place}: 'caption'")
    return image, caption, _get(dialog, "dialog", list, place)


def _image_id(dialog: Any, seen: Mapping[int, int], place: str) -> int:
    image: int = _get(dialog, "image_id", int, place)
    if not 0 <= image <= LARGEST:
        raise InputError(f"{place}: 'image_id' is not from 0 to {LARGEST}; {REMEDY}")
    if image in seen:
        raise InputError(f"{place}: 'image_id' {image} is that of dialog {seen[image]} already; {REMEDY}")
    return image


def _complete(rounds: list[Any], place: str, cut_short: str) -> bool:
    if len(rounds) > ROUNDS:
        raise InputError(f"{place}: 'dialog' has {len(rounds)} rounds, not {ROUNDS}; {REMEDY}")
    answered = len(rounds)
    while answered and _unanswered(rounds[answered - 1]):
        answered -= 1
    if answered == ROUNDS:
        return True
    if cut_short == "stop":
        raise InputError(
            f"{place}: 'dialog' has {answered} answered rounds, not {ROUNDS}; "
            "download the file again or leave such dialogs out with --cut-short leave-out"
        )
    return False


def _unanswered(found: Any) -> bool:
    return isinstance(found, dict) and found.get("answer") is None


def _rounds(rounds: list[Any], texts: Mapping[str, list[str]], place: str) -> tuple[list[int], list[int]]:
    questions, answers = [], []
    for number, found in enumerate(rounds, 1):
        at = f"{place}, round {number}"
        questions.append(_position(found, "question", texts["questions"], at))
        if not texts["questions"][questions[-1]].strip():
            raise InputError(f"{at}: 'question' is an empty text; {REMEDY}")
        answers.append(_position(found, "answer", texts["answers"], at))
        _check_options(found, texts["answers"], at)
    return questions, answers


def _position(found: Any, key: str, texts: list[str], place: str) -> int:
    position: int = _get(found, key, int, place)
    if not 0 <= position < len(texts):
        raise InputError(f"{place}: {key!r} {position} is not in the list of {len(texts)} texts; {REMEDY}")
    return position


def _check_options(found: Mapping[str, Any], answers: list[str], place: str) -> None:
    if found.get("answer_options") is None:
        return
    if isinstance(found.get("answer_options"), list):
        raise InputError(f"{place}: 'answer_options' holds something else than positions; {REMEDY}")
    options = _get(found, "answer_options", array, place)
    if len(options) != OPTIONS:
        raise InputError(f"{place}: 'answer_options' has {len(options)} entries, not {OPTIONS}; {REMEDY}")
    if min(options) < 0 or max(options) >= len(answers):
        raise InputError(f"{place}: 'answer_options' are not all in the list of {len(answers)} answers; {REMEDY}")
    if found.get("gt_index") is None:
        return
    truth = _get(found, "gt_index", int, place)
    if not 0 <= truth < OPTIONS:
        raise InputError(f"{place}: 'gt_index' {truth} is not among the {OPTIONS} options; {REMEDY}")
    if answers[options[truth]] != answers[found["answer"]]:
        raise InputError(f"{place}: 'gt_index' {truth} is not the option that is the answer; {REMEDY}")
