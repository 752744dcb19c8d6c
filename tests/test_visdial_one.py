"""VisDial 1.0, divided as 0.9 was, from genuine dialogs in every layout."""

import json
import re

import h5py
import numpy as np
import pytest
import yaml
from genuine_files import annotations, bare, coco, genuine, ids_of, visdial_one, zipped
from in_process import run
from project import ROOT, Project
from small_files import document, jpeg, picture, write_json, write_zip

from cooperation.config.experiment import read
from cooperation.config.sources import SPLITS
from cooperation.data.archives import listed_ids
from cooperation.data.readers.visdial import dialog_ids, read_visdial
from cooperation.data.store import read_dialogs, read_vocabulary
from cooperation.evaluation.results import read_result
from cooperation.io.files import InputError

OPTIONAL = ("answer_options", "gt_index")


def encode(monkeypatch, out, dialogs, pictures, *more):
    flags = [word for split in SPLITS for word in (f"--{split}-pictures", pictures[split])]
    run(monkeypatch, "encode", "visdial_one", "--dialogs", dialogs, *flags, "--out", out, "--threshold", 2, *more)
    return {split: read_dialogs(out, split) for split in SPLITS}, read_vocabulary(out)


@genuine
@pytest.mark.parametrize("write", [bare, zipped])
@pytest.mark.parametrize("without", [(), OPTIONAL, OPTIONAL[:1], OPTIONAL[1:]])
def test_dialogs_go_to_the_split_of_their_pictures(tmp_path, monkeypatch, write, without):
    content = visdial_one(without=without)
    ids = ids_of(content)
    # In VisDial 1.0's file the two splits' dialogs stand in any order.
    of_split = {"train": ids[::2] + ids[1::4], "val": ids[3::4]}
    pictures = {split: coco(tmp_path, found, split) for split, found in of_split.items()}
    found, vocabulary = encode(monkeypatch, tmp_path / "d.h5", write(tmp_path, "visdial_1.0_train", content), pictures)
    for split, dialogs in found.items():
        assert dialogs.image_ids.tolist() == [image for image in ids if image in set(of_split[split])]
    # The very texts, as VisDial 0.9's layout of the same dialogs gives them.
    halves = {}
    for split, images in of_split.items():
        half = visdial_one(f"{split}2014")
        half["data"]["dialogs"] = [one for one in half["data"]["dialogs"] if one["image_id"] in set(images)]
        halves[split] = zipped(tmp_path, f"visdial_0.9_{split}", half)
    out = tmp_path / "nine.h5"
    flags = [word for split in SPLITS for word in (f"--{split}", halves[split])]
    run(monkeypatch, "encode", "visdial", *flags, "--out", out, "--threshold", 2)
    assert read_vocabulary(out).words == vocabulary.words
    for split, dialogs in found.items():
        nine = read_dialogs(out, split)
        for part in ("captions", "questions", "answers"):
            assert np.array_equal(getattr(nine, part).tokens, getattr(dialogs, part).tokens)


@genuine
def test_the_split_is_known_from_annotations_too(tmp_path, monkeypatch):
    content = visdial_one()
    ids = ids_of(content)
    halves = {"train": ids[:120], "val": ids[120:]}
    dialogs = bare(tmp_path, "visdial_1.0_train", content)
    lists = {
        split: write_json(tmp_path / f"{split}.json", annotations(found, split)) for split, found in halves.items()
    }
    both = write_zip(
        tmp_path / "annotations.zip",
        {
            f"annotations/{kind}_{split}2014.json": json.dumps(annotations(found, split))
            for kind in ("captions", "instances")
            for split, found in halves.items()
        },
    )
    for pictures in (lists, dict.fromkeys(SPLITS, both)):
        found, _ = encode(monkeypatch, tmp_path / "d.h5", dialogs, pictures)
        assert {split: found[split].image_ids.tolist() for split in SPLITS} == halves


def test_only_coco_names_are_taken_for_pictures(tmp_path):
    path = write_json(tmp_path / "captions_val2014.json", annotations([7, 30], "val"))
    assert listed_ids([path], "val").tolist() == [7, 30]
    with pytest.raises(InputError, match=r"image 7 is in COCO's val split, not in train; exchange the paths"):
        listed_ids([path], "train")
    with pytest.raises(InputError, match=r"neither holds pictures nor lists them"):
        listed_ids([write_json(tmp_path / "x.json", document())], "train")


def test_pictures_of_the_other_split_are_named(tmp_path):
    with pytest.raises(InputError, match=r"val2014\.zip: image 7 is in COCO's val split, not in train"):
        listed_ids([coco(tmp_path, [7, 9], "val")], "train")


@genuine
def test_the_validation_file_may_take_the_place_of_val2014(tmp_path, monkeypatch):
    whole = visdial_one("val2018")
    ids = ids_of(whole)
    train, val = visdial_one(keep=slice(0, 140)), visdial_one("val2018", slice(140, None))
    # Of the training file, those about val2014 are played in neither split.
    pictures = {"train": coco(tmp_path, ids[:100], "train")}
    named = {f"VisualDialog_val2018/VisualDialog_val2018_{image:012d}.jpg": b"" for image in ids[140:]}
    pictures["val"] = write_zip(tmp_path / "VisualDialog_val2018.zip", named)
    own = bare(tmp_path, "visdial_1.0_val", val)
    found, _ = encode(
        monkeypatch, tmp_path / "d.h5", zipped(tmp_path, "visdial_1.0_train", train), pictures, "--val", own
    )
    assert found["train"].image_ids.tolist() == ids[:100]
    assert found["val"].image_ids.tolist() == ids[140:]


@genuine
def test_dialogs_cut_short_are_counted_and_left_out(tmp_path, monkeypatch, capsys):
    """So are those of the 1.0 test split."""
    content = visdial_one()
    ids = ids_of(content)
    for dialog in content["data"]["dialogs"][:7]:
        del dialog["dialog"][9]["answer"]
    pictures = {"train": coco(tmp_path, ids[:100], "train"), "val": coco(tmp_path, ids[100:], "val")}
    dialogs = bare(tmp_path, "visdial_1.0_train", content)
    found, _ = encode(monkeypatch, tmp_path / "d.h5", dialogs, pictures, "--cut-short", "leave-out")
    assert found["train"].image_ids.tolist() == ids[7:100]
    assert "train: 100 dialogs read, 93 kept, 7 refused" in capsys.readouterr().out
    with h5py.File(tmp_path / "d.h5") as file:
        assert (file.attrs["train_refused"], file.attrs["val_refused"]) == (7, 0)
    content["data"]["dialogs"] = content["data"]["dialogs"][:7]
    with pytest.raises(InputError, match="none of its 7 dialogs has 10 answered rounds"):
        read_visdial(write_json(tmp_path / "test.json", content), "train", "leave-out")


@pytest.mark.parametrize("size", [1 << 22, 64])
def test_ids_are_found_wherever_a_piece_ends(tmp_path, monkeypatch, size):
    monkeypatch.setattr("cooperation.data.volumes.PIECE", size)
    monkeypatch.setattr("cooperation.data.volumes.LONGEST_MATCH", 30)
    images = [7, 3, 123456, 9, 2**40]
    path = write_json(tmp_path / "v.json", document("train", images))
    assert dialog_ids(path) == images
    assert dialog_ids(write_zip(tmp_path / "v.zip", {"v.json": path.read_text()})) == images


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The whole chain on genuine dialogs and small pictures: VisDial 1.0, and its own validation file."""
    have = tmp_path_factory.mktemp("have")
    whole = ids_of(visdial_one())
    # The last 25 are the validation file's.
    coco(have, whole[:100], "train"), coco(have, whole[100:140], "val")
    bare(have, "visdial_1.0_train", visdial_one(keep=slice(140), without=OPTIONAL))
    zipped(have, "visdial_1.0_val", visdial_one("val2018", slice(140, None), OPTIONAL))
    write_zip(
        have / "VisualDialog_val2018.zip",
        {f"VisualDialog_val2018_{image:012d}.jpg": jpeg(picture(image, 32, 32)) for image in whole[140:]},
    )
    write_json(have / "captions_train2014.json", annotations(whole[:100], "train"))
    one = {
        "source": "visdial_one",
        "dialogs": {"dialogs": str(have / "visdial_1.0_train.json")},
        "pictures": {split: str(have / f"{split}2014.zip") for split in SPLITS},
        "extraction": {"preprocessing": "small"},
        "text": {"threshold": 2},
        "jobs": "model",
        "sizes": {"embedding": 8, "hidden": 12, "layers": 1},
        "training": {"dialog": {"epochs": 1, "batch": 32}},
    }
    val = one | {
        "bots": "visdial_1.0",
        "dialogs": one["dialogs"] | {"val": str(have / "visdial_1.0_val.zip")},
        "pictures": {
            "train": str(have / "captions_train2014.json"),
            "val": [str(have / "VisualDialog_val2018.zip"), str(have / "val2014.zip")],
        },
        "playing": {"among": "pictures"},
    }
    config = {
        "dataset": "visdial_1.0",
        "seeds": [1],
        "readings": ["written"],
        "models": {"dialog": {"regime": "dialog"}},
        "conditions": {"dialog": {"none": {}, "human": {"script": "dialog"}}},
        "datasets": {"visdial_1.0": one, "visdial_1.0_val": val},
    }
    made = Project(tmp_path_factory.mktemp("project"), config)
    done = made.snakemake()
    assert done.returncode == 0, done.stdout[-5000:]
    return made


def human(project, dataset):
    return read_result(project.folder / f"results/{dataset}/dialog-seed1/written/human.h5")


@genuine
def test_from_the_file_to_ranks_and_the_page(project):
    found = human(project, "visdial_1.0")
    assert found.ranks.shape == (40, 11)
    assert found.image_ids.tolist() == ids_of(visdial_one())[100:140]
    page = (project.folder / "reports/visdial_1.0/index.html").read_text()
    assert "VisDial 1.0’s text, v0.9’s split" in page
    text = (project.folder / "reports/visdial_1.0/statistics.md").read_text()
    assert re.search(r"Dialogs read +\| +100 \| +40", text)


@genuine
def test_the_same_bots_play_the_validation_file_among_all_pictures(project):
    done = project.snakemake("--config", "dataset=visdial_1.0_val")
    assert done.returncode == 0, done.stdout[-5000:]
    # Nothing is trained again, and none of the training's pictures is looked at.
    assert not (project.folder / "checkpoints/visdial_1.0_val").exists()
    with h5py.File(project.folder / "data/visdial_1.0_val/features.h5") as file:
        assert "images_train" not in file
    found = human(project, "visdial_1.0_val")
    assert found.image_ids.tolist() == ids_of(visdial_one())[140:]
    assert found.attributes["candidates"] == 25 + 40
    assert found.ranks.max() > 25
    assert "not expected to match" in (project.folder / "reports/visdial_1.0_val/index.html").read_text()


def test_bots_of_another_data_set_are_trained_as_there():
    shipped = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    val = shipped["datasets"]["visdial_1.0_val"]
    for change, said in (
        ({"bots": "visdial_2"}, "datasets.visdial_1.0_val.bots: unknown 'visdial_2'"),
        ({"sizes": {"hidden": 9}}, "datasets.visdial_1.0_val.sizes: is not that of visdial_1.0, whose bots play here"),
        ({"features": {"normalisation": "standardise"}}, "standardise needs train images"),
    ):
        with pytest.raises(InputError, match=said):
            read(shipped | {"datasets": shipped["datasets"] | {"visdial_1.0_val": val | change}})
