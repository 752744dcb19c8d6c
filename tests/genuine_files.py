"""The genuine dialogs of ../shared/data in every layout that people have of VisDial, for tests."""

import json
from pathlib import Path

import pytest
from small_files import album, jpeg, picture, write_json, write_zip

DIALOGS = Path(__file__).parents[2] / "shared/data/visdial_1.0_val_165.json"
genuine = pytest.mark.skipif(not DIALOGS.exists(), reason="the genuine VisDial dialogs are not in ../shared/data")


def visdial_one(split="train", keep=None, without=()):
    """VisDial 1.0's JSON of a split; keep: which of the dialogs; without: fields of a round that are left out."""
    content = json.loads(DIALOGS.read_text(encoding="utf-8"))
    content["split"] = split
    content["data"]["dialogs"] = content["data"]["dialogs"][keep or slice(None)]
    for dialog in content["data"]["dialogs"]:
        dialog["dialog"] = [
            {field: value for field, value in turn.items() if field not in without} for turn in dialog["dialog"]
        ]
    return content


def ids_of(content):
    return [dialog["image_id"] for dialog in content["data"]["dialogs"]]


def coco(folder, images, split):
    """`SPLIT2014.zip` with a small picture of each image."""
    pictures = {image: jpeg(picture(image, 32, 32)) for image in images}
    return album(folder / f"{split}2014.zip", pictures, split)


def annotations(images, split):
    """COCO's annotations, as far as they list pictures; the addresses have names of other kinds."""
    named = [
        {
            "license": 3,
            "file_name": f"COCO_{split}2014_{image:012d}.jpg",
            "coco_url": f"http://images.example/{split}2014/COCO_{split}2014_{image:012d}.jpg",
            "flickr_url": f"http://farm.example/3153/2970773875_164f0c0b{image % 100:02d}.jpg",
            "id": image,
        }
        for image in images
    ]
    return {"info": {"year": 2014}, "images": named, "annotations": [{"image_id": images[0], "caption": "a cat"}]}


def zipped(folder, name, content):
    """`NAME.zip` that holds `NAME.json`."""
    return write_zip(folder / f"{name}.zip", {f"{name}.json": json.dumps(content)})


def bare(folder, name, content):
    """`NAME.json`."""
    return write_json(folder / f"{name}.json", content)
