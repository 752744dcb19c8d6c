"""The made-up world, which `cooperation miniature` writes in the files of VisDial 0.9 and COCO; read as those are."""

from cooperation.data.readers.visdial import describe, read

__all__ = ["SOURCE", "describe", "read"]

SOURCE = {
    "files": {
        "train": "VisDial JSON of the train split, bare or zipped",
        "val": "VisDial JSON of the val split, bare or zipped",
    },
    "makes": {
        "train": "visdial_0.9_train.zip",
        "val": "visdial_0.9_val.zip",
        "train_pictures": "train2014.zip",
        "val_pictures": "val2014.zip",
    },
    "raw": "World",
}
