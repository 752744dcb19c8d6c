"""VisDial 1.0, divided as VisDial 0.9 was: by the COCO split that a dialog's picture is in.

Version 1.0's training file holds dialogs about all pictures of COCO's train2014 and val2014; version 0.9 trained on the
82,783 of the one and evaluated on the 40,504 of the other. Version 1.0's own validation file, about pictures of its
own, may take the place of the latter.
"""

from cooperation.config.preparation import Encoding
from cooperation.config.sources import SPLITS, picture_role
from cooperation.data.archives import dialog_ids, listed_ids
from cooperation.data.encoding import encode
from cooperation.data.readers.visdial import describe, read_split
from cooperation.data.reading import Files
from cooperation.data.records import divide
from cooperation.data.store import DialogData

__all__ = ["SOURCE", "describe", "dialog_ids", "read"]

SOURCE = {
    "files": {
        "dialogs": "VisDial JSON of the 1.0 train split, bare or zipped",
        "val": "VisDial JSON of the 1.0 val split, where its dialogs are played in place of those about val2014",
        "train_pictures": "pictures of the dialogs to train on, or COCO's annotations of them",
        "val_pictures": "pictures of the dialogs to play and rank, or COCO's annotations of them",
    },
    "optional": ("val",),
}


def read(files: Files, settings: Encoding) -> DialogData:
    """Read the dialogs; each belongs to the split that has its picture.

    Raises `InputError` where a file is damaged, or a dialog's picture is in no split or in both.
    """
    pictures = {split: listed_ids(files[picture_role(split)], split) for split in SPLITS}
    dialogs = read_split(files["dialogs"], "train", settings.cut_short)
    if not files.get("val"):
        return encode(divide(dialogs, pictures, files["dialogs"][0]), settings)
    own = divide(read_split(files["val"], "val", settings.cut_short), {"val": pictures["val"]}, files["val"][0])
    # Those about pictures that are no split's here are version 0.9's val split.
    train = divide(dialogs.of_images(pictures["train"]), {"train": pictures["train"]}, files["dialogs"][0])
    return encode(train | own, settings)
