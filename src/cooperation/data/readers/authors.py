"""The files that the paper's authors made of VisDial 0.9 and COCO: token ids and image features, read as they are."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

from cooperation.config.sources import SPLITS
from cooperation.data.archives import read_json_text
from cooperation.data.encoding import count_tokens
from cooperation.data.given import unique_images
from cooperation.data.reading import Files
from cooperation.data.records import check_storable
from cooperation.data.store import PARTS, DialogData, Dialogs, FeatureParts
from cooperation.game.messages import PAD, ROUNDS, Messages
from cooperation.game.vocabulary import UNKNOWN, Vocabulary
from cooperation.io.files import InputError, parse_errors
from cooperation.io.hdf5 import opened, read_array, shape_of

Ids = npt.NDArray[np.int64]
REMEDY = "download the file again"

SOURCE = {
    "files": {
        "data": "the authors' visdial_data.h5: dialogs as token ids",
        "params": "the authors' visdial_params.json: the vocabulary",
        "images": "the authors' data_img.h5: features of the images, of which `encode` reads the shapes alone",
    },
    "text": False,
    "features": "images",
    "ids": "params",
}


def read(files: Files) -> DialogData:
    """Read and check the dialogs of both splits. Raises `InputError` for files that are damaged or do not fit."""
    data, params, images = (_only(files[role], role) for role in ("data", "params", "images"))
    vocabulary = read_params(params)
    dialogs: dict[str, Dialogs] = {}
    counts: dict[str, Any] = {}
    for split in SPLITS:
        rows = FeatureParts.of([images], split, unique_images(params, split)).image_ids
        dialogs[split], padded = read_data(data, split, vocabulary, rows)
        counts |= {f"{split}_{name}": count for name, count in count_data(dialogs[split], vocabulary, padded).items()}
    return vocabulary, dialogs, counts


def _only(paths: Sequence[Path], role: str) -> Path:
    if len(paths) > 1:
        raise InputError(f"{paths[1]}: a second file of {role}; the authors' files are one of each kind")
    return paths[0]


def describe(role: str, path: Path) -> str:
    """Shapes of the arrays, or size of the vocabulary. Raises `InputError` for a file that is damaged or foreign."""
    if role == "params":
        return f"{len(read_params(path).words):,} words"
    with opened(path) as file:
        arrays = ["images"] if role == "images" else PARTS.values()
        names = [f"{name}_{split}" for split in SPLITS for name in arrays]
        return ", ".join(f"{name} {'×'.join(map(str, shape_of(file, name)))}" for name in names)


def read_params(path: Path) -> Vocabulary:
    """Read the vocabulary in `word2ind`. Raises `InputError` unless its ids are 1…n, each once, and one word is UNK."""
    with parse_errors(path, "no 'word2ind' of words and ids", "give visdial_params.json"):
        words = json.loads(read_json_text(path))["word2ind"]
        ordered = sorted(words, key=words.__getitem__)
    if [words[word] for word in ordered] != list(range(1, len(words) + 1)):
        raise InputError(f"{path}: the ids in 'word2ind' are not 1 to {len(words)}; {REMEDY}")
    for word in ordered:
        check_storable(word, f"{path}: a word of 'word2ind'")
    if UNKNOWN not in words:
        raise InputError(f"{path}: 'word2ind' has no {UNKNOWN}; {REMEDY}")
    return Vocabulary.of(ordered)


def read_data(path: Path, split: str, vocabulary: Vocabulary, rows: Ids) -> tuple[Dialogs, int]:
    """Read the dialogs of a split; how many are left out, since a round of them has no question: it is padding.

    rows: ids [images] of the split's images in `data_img.h5`, of which `img_pos` says the row: as visdial_params.json
    lists them, or else numbers from `FIRST_ROW` on.
    Raises `InputError` where shapes or lengths do not fit, an id is no word, or two dialogs share an image.
    """
    names = {field: f"{part}_{split}" for field, part in PARTS.items()}
    with opened(path) as file:
        positions = _whole_numbers(file, f"img_pos_{split}", 1)
        if not len(positions):
            raise InputError(f"{path}: has no dialogs of the {split} split; give a file that has")
        arrays = {
            field: (
                _whole_numbers(file, name, 2 + (field != "captions")),
                _whole_numbers(file, f"{PARTS[field]}_length_{split}", 1 + (field != "captions")),
            )
            for field, name in names.items()
        }
    for field, (tokens, lengths) in arrays.items():
        place = f"{path}: {names[field]}"
        leading = (len(positions),) if field == "captions" else (len(positions), ROUNDS)
        if lengths.shape != leading or tokens.shape[:-1] != leading:
            raise InputError(f"{place}: {tokens.shape} tokens, {lengths.shape} lengths, not {leading}; {REMEDY}")
        _check_messages(place, tokens, lengths, len(vocabulary.words))
    _check_positions(f"{path}: img_pos_{split}", positions, len(rows))
    parts = {field: Messages(*(array.astype(np.int32) for array in pair)) for field, pair in arrays.items()}
    asked = np.all(parts["questions"].lengths > 0, axis=1)
    if not asked.any():
        raise InputError(f"{path}: none of the {len(asked)} dialogs of {split} has {ROUNDS} rounds; give another file")
    return Dialogs(rows[positions], **parts)[np.flatnonzero(asked)], int((~asked).sum())


def _whole_numbers(file: h5py.File, name: str, dimensions: int) -> Ids:
    found = read_array(file, name)
    if found.dtype.kind not in "iu" or found.ndim != dimensions:
        raise ValueError(f"{name} is {found.dtype} {found.shape}")
    return found.astype(np.int64)


def _check_positions(place: str, positions: Ids, rows: int) -> None:
    for dialog in np.flatnonzero((positions < 0) | (positions >= rows))[:1]:
        raise InputError(
            f"{place}: dialog {dialog + 1}: row {positions[dialog]} is none of the {rows} images; "
            "give the data_img.h5 that belongs to it"
        )
    # Dialogs of one image would share their randomness and each other's place among the candidates.
    _, first, inverse = np.unique(positions, return_index=True, return_inverse=True)
    for dialog in np.flatnonzero(first[inverse] != np.arange(len(positions)))[:1]:
        raise InputError(
            f"{place}: dialog {dialog + 1}: row {positions[dialog]} is that of dialog "
            f"{first[inverse[dialog]] + 1} already; {REMEDY}"
        )


def _check_messages(place: str, tokens: Ids, lengths: Ids, words: int) -> None:
    width = tokens.shape[-1]
    real = np.arange(width) < lengths[..., None]
    wrong = {
        f"a length that is not 0 to {width}": (lengths < 0) | (lengths > width),
        f"an id that is no word (1 to {words}) within its length": (real & ((tokens < 1) | (tokens > words))).any(-1),
        "tokens beyond its length": (~real & (tokens != PAD)).any(-1),
    }
    for what, where in wrong.items():
        for dialog, *turn in np.argwhere(where)[:1]:
            at = "".join(f", round {number + 1}" for number in turn)
            raise InputError(f"{place}: dialog {dialog + 1}{at}: {what}; {REMEDY}")


def count_data(dialogs: Dialogs, vocabulary: Vocabulary, refused: int) -> dict[str, Any]:
    """The counts of a split that `encoding.encode` makes, as far as token ids allow; refused: dialogs left out."""
    yes_no = [vocabulary.ids.get(word, -1) for word in ("yes", "no")]
    beginning = np.isin(dialogs.answers.tokens[..., 0], yes_no)
    return {
        "version": "the authors' files",
        "read": len(dialogs) + refused,
        "kept": len(dialogs),
        "refused": refused,
        "exactly_yes_no": float((beginning & (dialogs.answers.lengths == 1)).mean()),
        "beginning_yes_no": float(beginning.mean()),
        **count_tokens(dialogs, vocabulary),
    }
