"""Image features that others made, in the shapes in which people have them."""

import json

import h5py
import numpy as np
import pytest
import yaml
from in_process import code_of, run
from project import ROOT, Project
from small_files import authors_arrays, document, write_authors_files, write_hdf5, write_json

from cooperation.config.datasets import read_one
from cooperation.config.made import said_by_features
from cooperation.data.store import read_dialogs, read_features
from cooperation.io.files import InputError

IDS = [5, 9, 3, 8, 7]
"""The images of the features, in any order; 5 has no dialog."""
VECTORS = np.array([[9, 9, 9], [0, 3, 4], [2, 0, 0], [0, 0, 7], [6, 8, 0]], "f4")
EXPECTED = {"train": [[0.6, 0.8, 0], [1, 0, 0]], "val": [[0, 0, 1], [0, 0.6, 0.8]]}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_json(tmp_path / "t.json", document("train", (7, 3)))
    write_json(tmp_path / "v.json", document("val", (8, 9)))
    run(monkeypatch, "encode", "visdial", "--train", "t.json", "--val", "v.json", "--threshold", 1, "--out", "d.h5")
    return tmp_path


def starter(path, kind):
    write_hdf5(path / "f.h5", {"features": VECTORS.astype(kind), "image_ids": np.array(IDS)})
    return ["f.h5"]


def own_names(path, kind):
    write_hdf5(
        path / "f.h5", {"clip": VECTORS.astype(kind), "who": np.array([f"COCO_{one:012d}.jpg" for one in IDS], "S")}
    )
    return ["f.h5", "--array", "clip", "--ids-array", "who"]


def npy(path, kind):
    np.save(path / "f.npy", VECTORS.astype(kind))
    np.save(path / "i.npy", np.array(IDS))
    return ["f.npy", "--ids", "i.npy"]


def npy_and_json(path, kind):
    np.save(path / "f.npy", VECTORS.astype(kind))
    write_json(path / "i.json", [f"COCO_train2014_{one:012d}.jpg" for one in IDS])
    return ["f.npy", "--ids", "i.json"]


def two_files(path, kind):
    np.save(path / "a.npy", VECTORS[:2].astype(kind))
    np.save(path / "b.npy", VECTORS[2:].astype(kind))
    (path / "a.txt").write_text("5\n9\n")
    (path / "b.txt").write_text("3\n8\n7\n")
    return ["a.npy", "b.npy", "--ids", "a.txt", "b.txt"]


@pytest.mark.parametrize("kind", ["f2", "f4", "f8"])
@pytest.mark.parametrize("layout", [starter, own_names, npy, npy_and_json, two_files])
def test_each_dialog_gets_its_images_features(here, monkeypatch, layout, kind):
    run(monkeypatch, "normalise", *layout(here, kind), "--dialogs", "d.h5", "--out", "features.h5")
    for split, expected in EXPECTED.items():
        ids = read_dialogs(here / "d.h5", split).image_ids
        found = read_features(here / "features.h5", split, ids)
        np.testing.assert_allclose(found.vectors, expected, atol=1e-6)
        assert found.attributes["width"] == 3
        assert 5 not in read_features(here / "features.h5", split).image_ids


def wrong_list(path):
    write_json(path / "i.json", IDS[:4])


def twice(path):
    write_json(path / "i.json", [9, 9, 3, 8, 7])


def missing(path):
    write_json(path / "i.json", [5, 6, 3, 8, 7])


def not_ids(path):
    write_json(path / "i.json", [5, 0.5, 3, 8, 7])


def boxes(path):
    np.save(path / "f.npy", np.zeros((5, 36, 3), "f4"))


def nan(path):
    np.save(path / "f.npy", np.where(VECTORS == 7, np.nan, VECTORS))


def pickled(path):
    np.save(path / "f.npy", np.array([{}] * 5))


BROKEN = {
    wrong_list: "i.json: 4 ids for the 5 rows of f.npy; give the list made with it",
    twice: "f.npy: image 9 is there twice; give each image once",
    missing: "f.npy: no features of image 9 of val, which has a dialog (1 images missing)",
    not_ids: "i.json: '0.5' is no id of an image",
    boxes: "f.npy: its array is float32 (5, 36, 3), not numbers [images, features]",
    nan: "f.npy: NaN or infinity in the features of image 8",
    pickled: "f.npy: damaged or cut short",
}


@pytest.mark.parametrize(("damage", "words"), BROKEN.items())
def test_what_does_not_fit_is_one_line(here, monkeypatch, capsys, damage, words):
    npy_and_json(here, "f4")
    damage(here)
    assert code_of(monkeypatch, "normalise", "f.npy", "--ids", "i.json", "--dialogs", "d.h5", "--out", "o.h5") == 2
    said = capsys.readouterr().err.splitlines()[-1]
    assert words in said
    assert not (here / "o.h5").exists()


def test_arrays_of_other_names_are_listed(here, monkeypatch, capsys):
    own_names(here, "f4")
    assert code_of(monkeypatch, "normalise", "f.h5", "--dialogs", "d.h5", "--out", "o.h5") == 2
    assert "f.h5: has no array features or images or" in (said := capsys.readouterr().err)
    assert "but clip, who; name it: `features: {array:" in said


SETTINGS = {
    "source": "visdial",
    "dialogs": {"train": "./t.json", "val": "./v.json"},
    "features": {"file": "./f.npy", "ids": "./i.json", "array": "clip", "normalisation": "l2"},
}


def test_features_are_a_setting():
    data = read_one(SETTINGS, "datasets.real")
    assert data.inputs.features == ("./f.npy",)
    assert data.inputs.ids == ("ids of features", ("./i.json",))
    assert data.inputs.arrays == {"--array": "clip"}
    assert data.inputs.of_extraction == {}
    assert said_by_features(data) == {"normalisation": "l2", "length": 1.0}
    assert [role for role, *_ in data.inputs.used()] == ["train", "val", "given features", "ids of features"]
    with pytest.raises(InputError, match=r"features\.ids: names a list of ids, but `file` names no features"):
        read_one(
            SETTINGS | {"features": {"ids": "./i.json"}, "pictures": {"train": "./t", "val": "./v"}}, "datasets.real"
        )


def test_settings_taken_over_from_the_papers_data_set_may_stay():
    pictures = {
        "pictures": {"train": "a.zip", "val": "b.zip"},
        "weights": "w.pth",
        "downloads": {name: {"addresses": ["http://127.0.0.1/x"]} for name in ("a.zip", "b.zip", "w.pth")},
    }
    data = read_one(SETTINGS | pictures, "datasets.real")
    assert not {"train_pictures", "weights"} & {role for role, *_ in data.inputs.used()}


def test_the_authors_lists_give_cocos_ids(tmp_path, monkeypatch):
    data = authors_arrays("train", [2, 0, 1]) | authors_arrays("val", [1, 0])
    images = {"images_train": np.array([[3, 4], [0, 2], [1, 0]], "f4"), "images_val": np.array([[5, 0], [0, 6]], "f4")}
    write_authors_files(tmp_path, data, images)
    params = tmp_path / "visdial_params.json"
    lists = {"unique_img_train": [30, 10, 20], "unique_img_val": ["COCO_val2014_000000000008.jpg", "9"]}
    write_json(params, json.loads(params.read_text()) | lists)
    words = ("--data", "visdial_data.h5", "--params", params, "--images", "data_img.h5")
    run(monkeypatch, "encode", "authors", *words, "--out", "theirs.h5")
    run(monkeypatch, "normalise", "data_img.h5", "--ids", params, "--out", "features.h5")
    expected = {"train": ([20, 30, 10], [[1, 0], [0.6, 0.8], [0, 1]]), "val": ([9, 8], [[0, 1], [1, 0]])}
    for split, (ids, vectors) in expected.items():
        dialogs = read_dialogs(tmp_path / "theirs.h5", split)
        assert dialogs.image_ids.tolist() == ids
        found = read_features(tmp_path / "features.h5", split, dialogs.image_ids).vectors
        assert found.tolist() == pytest.approx(np.array(vectors))
    write_json(params, json.loads(params.read_text()) | {"unique_img_val": [8]})
    assert code_of(monkeypatch, "encode", "authors", *words, "--out", "theirs.h5") == 2
    with h5py.File(tmp_path / "theirs.h5") as file:
        assert "image_id_val" in file


def test_the_workflow_makes_features_of_them(here):
    npy_and_json(here, "f2")
    shipped = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    places = {split: str(here / f"{split[0]}.json") for split in ("train", "val")}
    features = {"file": str(here / "f.npy"), "ids": str(here / "i.json")}
    small = {"dialogs": places, "features": features, "text": {"threshold": 1}}
    # What else the paper's data set names stays, and is not asked for.
    mine = shipped["datasets"]["visdial_0.9"] | {"downloads": {}, "weights": "./none.pth", "captions": None} | small
    mine["pictures"] = {"train": "./none", "val": "./none"}
    config = shipped | {"dataset": "mine", "datasets": shipped["datasets"] | {"mine": mine}}
    project = Project(here / "project", config)
    done = project.snakemake("data/mine/features.h5")
    assert done.returncode == 0, done.stdout[-3000:]
    assert read_features(here / "project/data/mine/features.h5", "val", np.array([8, 9])).vectors.tolist() == [
        [0, 0, 1],
        pytest.approx([0, 0.6, 0.8]),
    ]
