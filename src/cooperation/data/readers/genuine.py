"""A small data set of genuine VisDial dialogs with stand-in pictures: a first trial of the pipeline on real text."""

from pathlib import Path

import numpy as np

from cooperation.config.preparation import Encoding, Genuine
from cooperation.config.sources import SPLITS, picture_role
from cooperation.data.archives import find_pictures
from cooperation.data.encoding import encode
from cooperation.data.miniature.world import draw_scenes
from cooperation.data.miniature.writing import draw_pictures, write_pictures
from cooperation.data.readers.visdial import describe, read_split
from cooperation.data.reading import Files
from cooperation.data.records import divide
from cooperation.data.store import DialogData
from cooperation.io.files import InputError
from cooperation.io.settings import in_words

__all__ = ["SOURCE", "describe", "read", "write_genuine"]

SOURCE = {
    "files": {
        "dialogs": "VisDial JSON of the 1.0 val split, bare or zipped",
        "train_pictures": "pictures of the dialogs to train on, zipped, or their folder",
        "val_pictures": "pictures of the dialogs to play and rank, zipped, or their folder",
    },
    "makes": {"train_pictures": "train2014.zip", "val_pictures": "val2014.zip"},
    "made_of": ("dialogs",),
    "raw": "Genuine",
}


def read(files: Files, settings: Encoding) -> DialogData:
    """Read the dialogs; each belongs to the split that has its picture.

    Raises `InputError` where a file is damaged or a dialog has no picture.
    """
    dialogs = read_split(files["dialogs"], "val", settings.cut_short)
    pictures = {split: np.array(list(find_pictures(files[picture_role(split)])), np.int64) for split in SPLITS}
    return encode(divide(dialogs, pictures, files["dialogs"][0]), settings)


def write_genuine(dialogs: list[Path], settings: Genuine, folder: Path) -> list[Path]:
    """Write `SPLIT2014.zip` of both splits: a stand-in picture for each dialog of VisDial files; the paths written.

    The pictures have nothing to do with the dialogs. Raises `InputError` for a damaged file, or one too small to split.
    """
    ids = read_split(dialogs, "val", "stop").image_ids
    if not 0 < settings.train < len(ids):
        raise InputError(
            f"{dialogs[0]}: cannot train on {settings.train} of its {len(ids)} dialogs; choose 1 to {len(ids) - 1}"
        )
    written = []
    for number, (split, chosen) in enumerate(zip(SPLITS, np.split(ids, [settings.train]), strict=True)):
        random = np.random.default_rng([settings.seed, number])
        drawn = draw_pictures(split, chosen, draw_scenes(random, len(chosen)), settings.pixels, random)
        written.append(write_pictures(folder, split, drawn, in_words("genuine", settings)))
    return written
