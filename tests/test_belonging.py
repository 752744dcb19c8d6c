"""What does not belong together is found by names and ids alone, before hours are spent; damaged pictures."""

from pathlib import Path

import h5py
import numpy as np
import pytest
import yaml
from in_process import code_of, run
from project import ROOT
from small_files import album, document, jpeg, picture, write_json
from test_vgg import Tiny

from cooperation.data import vgg
from cooperation.data.store import read_dialogs, read_features, said_of_damaged
from cooperation.evaluation.results import read_result


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(vgg, "vgg16", Tiny)
    return tmp_path


def pictures(path, images, split):
    return album(Path(path), {image: jpeg(picture(image)) for image in images}, split)


def zero_nine(train=(7, 3), val=(8, 9), **changes):
    """Data set of VisDial 0.9's layout."""
    write_json(Path("train.json"), document("train", train))
    write_json(Path("val.json"), document("val", val))
    return {
        "source": "visdial",
        "dialogs": {"train": "./train.json", "val": "./val.json"},
        "pictures": {"train": "./train.zip", "val": "./val.zip"},
        **changes,
    }


def one(images=(7, 3, 8, 9), **changes):
    """Data set of VisDial 1.0's layout."""
    write_json(Path("both.json"), document("train", images))
    return {
        "source": "visdial_one",
        "dialogs": {"dialogs": "./both.json"},
        "pictures": {"train": "./train.zip", "val": "./val.zip"},
        **changes,
    }


def check(monkeypatch, capsys, data, name="real"):
    Path("config.yaml").write_text(yaml.safe_dump({"dataset": name, "datasets": {name: data}}))
    code = code_of(monkeypatch, "check")
    said = capsys.readouterr()
    return code, said.out, said.err


@pytest.mark.parametrize("data", [zero_nine, one])
def test_what_belongs_together_is_counted(monkeypatch, capsys, data):
    pictures("train.zip", [7, 3, 5], "train")
    pictures("val.zip", [8, 9], "val")
    code, out, err = check(monkeypatch, capsys, data())
    assert (code, err) == (0, "")
    assert "train: 2 dialogs, 3 pictures\nval: 2 dialogs, 2 pictures\n" in out


def test_counts_stand_beside_the_papers(monkeypatch, capsys):
    pictures("train.zip", [7, 3], "train")
    pictures("val.zip", [8, 9], "val")
    _, out, _ = check(monkeypatch, capsys, one(), "visdial_1.0")
    assert "train: 2 dialogs (the paper's: 82,783), 2 pictures" in out


WRONG = {
    "val2014 given as train2014": (zero_nine, {"train": ([8, 9], "val"), "val": ([8, 9], "val")}, "image"),
    "exchanged": (zero_nine, {"train": ([8, 9], "val"), "val": ([7, 3], "train")}, "image 3 is not in train.zip"),
    "exchanged, by name": (
        one,
        {"train": ([8, 9], "val"), "val": ([7, 3], "train")},
        "image 8 is in COCO's val split, not in train; exchange the paths",
    ),
    "a picture is missing": (
        zero_nine,
        {"train": ([7], "train"), "val": ([8, 9], "val")},
        "train.json: image 3 is not in train.zip (1 of 2 images missing); give the pictures that these dialogs are",
    ),
    "a picture of neither": (
        one,
        {"train": ([7], "train"), "val": ([8, 9], "val")},
        "both.json: image 3 is not in train.zip nor val.zip (1 of 4 images missing)",
    ),
    "version 1.0's file as 0.9's train": (
        lambda: zero_nine(train=(7, 3, 8, 9)),
        {"train": ([7, 3], "train"), "val": ([8, 9], "val")},
        "train.json and val.json: image 8 is in both (2 images); give each to one split",
    ),
    "pictures of both splits": (
        one,
        {"train": ([7, 3, 8], "train"), "val": ([8, 9], "val")},
        "train.zip and val.zip: image 8 is in both (1 images); give each to one split",
    ),
    "a dialog twice": (
        lambda: one((7, 3, 3, 8)),
        {"train": ([7, 3], "train"), "val": ([8, 9], "val")},
        "both.json: two dialogs are about image 3; give each dialog once",
    ),
    "nothing of a split": (
        lambda: one((7, 3)),
        {"train": ([7, 3], "train"), "val": ([8, 9], "val")},
        "val.zip: no dialog is about a picture of val; give other pictures",
    ),
}


@pytest.mark.parametrize(("data", "albums", "words"), WRONG.values(), ids=WRONG)
def test_what_does_not_belong_together_is_one_line(monkeypatch, capsys, data, albums, words):
    for split, (images, named) in albums.items():
        pictures(f"{split}.zip", images, named)
    code, _, err = check(monkeypatch, capsys, data())
    assert code == 2
    assert words in err
    assert all(line.startswith("cooperation check: ") for line in err.splitlines())


def test_a_partial_downloads_progress_is_told(monkeypatch, capsys):
    raw = Path("data/real/raw")
    raw.mkdir(parents=True)
    (raw / ".train2014.zip.part").write_bytes(bytes(250))
    data = zero_nine(
        pictures={"train": "train2014.zip", "val": "./val.zip"},
        downloads={"train2014.zip": {"addresses": ["http://127.0.0.1:9/x"], "size": 1000}},
    )
    pictures("val.zip", [8, 9], "val")
    code, out, _ = check(monkeypatch, capsys, data)
    assert code == 0
    assert "train2014.zip: to be downloaded, 250 bytes of 1,000 (25%) are there" in out


BAD = 167126
"""The picture of train2014 that older archives have cut short."""


def with_bad(split="train"):
    whole = {7: jpeg(picture(7)), 3: jpeg(picture(3)), BAD: jpeg(picture(1, 200, 200), quality=95)}
    whole[BAD] = whole[BAD][: len(whole[BAD]) // 2]
    return album(Path("train.zip"), whole, split)


def test_the_known_bad_picture_is_named(monkeypatch, capsys):
    with_bad()
    pictures("val.zip", [8, 9], "val")
    data = zero_nine(train=(7, 3, BAD))
    code, _, err = check(monkeypatch, capsys, data)
    assert code == 2
    assert f"COCO_train2014_{BAD:012d}.jpg: cannot be decoded" in err
    assert "extraction: {damaged: skip}" in err
    assert check(monkeypatch, capsys, data | {"extraction": {"damaged": "skip"}})[0] == 0


def extract(monkeypatch, out, *more):
    words = ("--train", "train.zip", "--val", "val.zip", "--preprocessing", "torchvision")
    return code_of(monkeypatch, "extract", *words, "--out", out, *more)


def encode(monkeypatch):
    texts = ("--train", "train.json", "--val", "val.json", "--threshold", 1)
    run(monkeypatch, "encode", "visdial", *texts, "--out", "d.h5")


def test_damaged_pictures_stop_or_are_left_out_with_their_dialogs(monkeypatch, capsys):
    with_bad()
    pictures("val.zip", [8, 9], "val")
    assert extract(monkeypatch, "stopped.h5") == 2
    assert "extraction: {damaged: skip}" in capsys.readouterr().err
    assert not Path("stopped.h5").exists()
    # Any number of shards.
    for shard in ("1/2", "2/2"):
        assert extract(monkeypatch, f"fc7_{shard[0]}.h5", "--damaged", "skip", "--shard", shard) == 0
    said = capsys.readouterr()
    assert f"left out: train.zip, train2014/COCO_train2014_{BAD:012d}.jpg: cannot be decoded" in said.err
    assert "train: 1 pictures, 1 damaged ones left out" in said.out
    run(monkeypatch, "normalise", "fc7_2.h5", "fc7_1.h5", "--out", "features.h5")
    with h5py.File("features.h5") as file:
        assert sorted(file["image_id_train"][()]) == [3, 7]
    write_json(Path("train.json"), document("train", (7, BAD, 3)))
    write_json(Path("val.json"), document("val", (8, 9)))
    encode(monkeypatch)
    features = Path("features.h5")
    kept = read_dialogs(Path("d.h5"), "train", features)
    assert kept.image_ids.tolist() == [7, 3]
    whole = read_dialogs(Path("d.h5"), "train")
    assert np.array_equal(kept.questions.tokens, whole.questions.tokens[[0, 2]])
    assert read_features(features, "train", kept.image_ids).vectors.shape == (2, vgg.FEATURES)
    assert read_dialogs(Path("d.h5"), "val", features).image_ids.tolist() == [8, 9]
    assert said_of_damaged(features) == {"damaged_pictures": "1 of train; their dialogs are left out"}


def test_a_picture_that_is_merely_unreadable_is_not_skipped(monkeypatch, capsys):
    """Its archive is damaged: to skip it would leave out what is whole elsewhere."""
    path = pictures("train.zip", [7, 3], "train")
    pictures("val.zip", [8, 9], "val")
    raw = bytearray(path.read_bytes())
    name = b"COCO_train2014_000000000003.jpg"
    raw[raw.index(name) + len(name) + 3] ^= 0xFF
    path.write_bytes(raw)
    assert extract(monkeypatch, "f.h5", "--damaged", "skip") == 2
    assert "damaged or cut short" in capsys.readouterr().err


def test_pictures_of_which_none_can_be_decoded_are_refused(monkeypatch, capsys):
    album(Path("train.zip"), {7: b"x"})
    pictures("val.zip", [8, 9], "val")
    assert extract(monkeypatch, "f.h5", "--damaged", "skip") == 2
    assert "train.zip: none of its pictures can be decoded" in capsys.readouterr().err


def test_training_and_playing_leave_them_out(monkeypatch):
    """Bots are trained and play on what is left, and results say so."""
    with_bad()
    album(Path("val.zip"), {8: jpeg(picture(8)), 9: jpeg(picture(9)), 10: b"no picture"}, "val")
    write_json(Path("train.json"), document("train", (7, BAD, 3)))
    write_json(Path("val.json"), document("val", (8, 10, 9)))
    extract(monkeypatch, "fc7.h5", "--damaged", "skip")
    run(monkeypatch, "normalise", "fc7.h5", "--out", "features.h5")
    encode(monkeypatch)
    sizes = ("--embedding", 4, "--hidden", 4, "--layers", 1, "--epochs", 1)
    both = ("--dialogs", "d.h5", "--features", "features.h5")
    run(monkeypatch, "train", *both, *sizes, "--out", "bots.safetensors")
    shipped = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    Path("config.yaml").write_text(yaml.safe_dump(shipped))
    words = ("--reading", "written", "--condition", "none", "--out", "results")
    run(monkeypatch, "play", "--checkpoint", "bots.safetensors", *both, *words)
    result = read_result(Path("results/written/none.h5"))
    assert result.image_ids.tolist() == [8, 9]
    assert result.attributes["damaged_pictures"] == "1 of train, 1 of val; their dialogs are left out"
