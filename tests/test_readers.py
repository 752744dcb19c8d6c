"""Sources of data sets: a new one is one new file; several files and archives make a split."""

import json
import os
import re
import shutil
import subprocess
import sys

import numpy as np
import pytest
import yaml
from in_process import run
from project import ROOT
from small_files import album, dialog, document, jpeg, picture, write_json

from cooperation.cli import main
from cooperation.config.preparation import World
from cooperation.config.sources import READERS, declared, source_names
from cooperation.data.miniature.writing import write_world
from cooperation.data.readers.visdial import read_split
from cooperation.data.reading import reader_of
from cooperation.data.store import read_dialogs, read_vocabulary
from cooperation.io.files import InputError

SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))

# The documentation's example: dialogs of one JSON object a line belong to the split whose archives have their picture.
NEW_READER = re.search(r"```python\n(.*?)```", (ROOT / "docs/data.md").read_text(encoding="utf-8"), re.DOTALL)[1]


def tree(folder):
    return {
        path.relative_to(folder): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def write_rows(folder, images):
    rows = [
        {"image_path": f"coco/COCO_train2014_{image:012d}.jpg", "caption": "a man", "dialog": [["is it", "yes"]] * 10}
        for image in images
    ]
    (folder / "train.json").write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture
def extended(tmp_path):
    """A copy of the package with one more file, and an entry in a config.yaml."""
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    before = tree(tmp_path / "src")
    (tmp_path / "src/cooperation/data/readers/rows.py").write_text(NEW_READER)
    after = tree(tmp_path / "src")
    assert len(after) == len(before) + 1
    assert all(after[name] == content for name, content in before.items())
    write_rows(tmp_path, (7, 30, 9, 4))
    album(tmp_path / "train2014.zip", {image: jpeg(picture(image)) for image in (4, 7)})
    album(tmp_path / "val2014.zip", {image: jpeg(picture(image)) for image in (9, 30, 31)}, "val")
    entry = {
        "source": "rows",
        "dialogs": {"dialogs": "./train.json"},
        "pictures": {"train": "./train2014.zip", "val": ["./val2014.zip"]},
        "text": {"threshold": 1},
        "training": {"dialog": {}, "round": {}},
    }
    config = {**SHIPPED, "dataset": "one", "datasets": {**SHIPPED["datasets"], "one": entry}}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    return tmp_path


def run_in(folder, *words):
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    command = [sys.executable, "-m", "cooperation", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


PICTURES = ("--train-pictures", "train2014.zip", "--val-pictures", "val2014.zip")


def test_a_new_source_is_one_new_file_and_an_entry(extended):
    done = run_in(extended, "encode", "rows", "--dialogs", "train.json", *PICTURES, "--out", "d.h5")
    assert (done.returncode, done.stderr) == (0, "")
    assert "train: 2 dialogs read" in done.stdout
    assert read_dialogs(extended / "d.h5", "train").image_ids.tolist() == [7, 4]
    assert read_dialogs(extended / "d.h5", "val").image_ids.tolist() == [30, 9]
    checked = run_in(extended, "check")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert "dialogs: found, train.json" in checked.stdout
    assert "val_pictures: found, val2014.zip" in checked.stdout
    assert "3 pictures" in checked.stdout


def test_a_new_source_is_checked_as_all_others(extended):
    code = "import sys, yaml; from cooperation.config import experiment; experiment.read(yaml.safe_load(sys.stdin))"
    config = yaml.safe_load((extended / "config.yaml").read_text())
    command, environment = [sys.executable, "-c", code], os.environ | {"PYTHONPATH": str(extended / "src")}
    for change, said in (
        ({}, ""),
        ({"dialogs": {}}, "datasets.one.dialogs: 'dialogs' is missing; write `dialogs: {dialogs: FILE}`"),
        ({"pictures": {"train": "./a"}}, "datasets.one.pictures: 'val' is missing"),
        ({"source": "visdial_two"}, "choose from authors, genuine, miniature, rows, visdial, visdial_one"),
    ):
        changed = {**config, "datasets": {**config["datasets"], "one": {**config["datasets"]["one"], **change}}}
        done = subprocess.run(
            command, input=yaml.safe_dump(changed), env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode == 0) == (not said), done.stderr
        assert said in done.stderr


def test_a_dialog_without_picture_is_named(extended):
    write_rows(extended, (7, 30, 5))
    done = run_in(extended, "encode", "rows", "--dialogs", "train.json", *PICTURES, "--out", "d.h5")
    assert done.returncode == 2
    assert "train.json: image 5 is in no archive of pictures (1 images missing); give the archives" in done.stderr
    assert not (extended / "d.h5").exists()


@pytest.mark.parametrize(
    ("train", "val", "said"),
    [
        ((7, 4), (30, 9, 7), "image 7 is among the pictures of two splits"),
        ((7, 4, 30, 9), (31,), "no dialog is about a picture of the val split"),
    ],
)
def test_pictures_that_do_not_divide_the_dialogs(extended, train, val, said):
    album(extended / "train2014.zip", dict.fromkeys(train, b""))
    album(extended / "val2014.zip", dict.fromkeys(val, b""), "val")
    done = run_in(extended, "encode", "rows", "--dialogs", "train.json", *PICTURES, "--out", "d.h5")
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert said in done.stderr


# What readers declare


def test_the_sources_are_the_files():
    assert source_names() == ("authors", "genuine", "miniature", "visdial", "visdial_one")


@pytest.mark.parametrize("source", source_names())
def test_a_declaration_is_what_the_module_says(source):
    reader, found = reader_of(source), declared(source)
    assert reader.SOURCE["files"] == found.files
    assert all(found.files.values())
    assert callable(reader.read)
    # What is made, made of, or features already has a role.
    assert {*found.made_of, *filter(None, [found.features])} <= set(found.files)
    assert set(found.makes) <= set(found.roles)


def test_the_made_up_world_makes_what_it_declares(tmp_path):
    written = write_world(World(train=2, val=1, pixels=32), tmp_path)
    assert {path.name for path in written} == set(declared("miniature").makes.values())


def test_every_source_has_help(monkeypatch, capsys):
    for source in source_names():
        monkeypatch.setattr(sys, "argv", ["cooperation", "encode", source, "--help"])
        with pytest.raises(SystemExit):
            main()
        said = re.sub(r"\s+", " ", capsys.readouterr().out)
        assert all(text in said for text in declared(source).files.values())
        assert ("--threshold" in said) == declared(source).text


def test_a_file_without_declaration_is_a_bug_that_is_named(tmp_path, monkeypatch):
    (tmp_path / "odd.py").write_text("def read(files, settings): ...\n")
    monkeypatch.setattr("cooperation.config.sources.READERS", tmp_path)
    with pytest.raises(TypeError, match=r"odd\.py: has no SOURCE"):
        declared("odd")
    assert READERS.name == "readers"


# Several files of a split


def test_dialogs_of_several_files_are_one_split(tmp_path, monkeypatch):
    # Each file has lists of texts of its own.
    second = document("train", (9, 4))
    second["data"]["questions"] = second["data"]["questions"][::-1]
    second["data"]["answers"][0] = "perhaps not"
    paths = [write_json(tmp_path / "a.json", document("train", (7, 3))), write_json(tmp_path / "b.json", second)]
    val = write_json(tmp_path / "v.json", document("val", (5,)))
    out = tmp_path / "d.h5"
    run(monkeypatch, "encode", "visdial", "--train", *paths, "--val", val, "--out", out, "--threshold", 1)
    found, vocabulary = read_dialogs(out, "train"), read_vocabulary(out)
    assert found.image_ids.tolist() == [7, 3, 9, 4]
    asked = [vocabulary.decode(found.questions.tokens[row, 0]) for row in range(4)]
    assert asked == ["is it red ?"] * 2 + ["is he smiling ?"] * 2
    answered = [vocabulary.decode(found.answers.tokens[row, 5]) for row in range(4)]
    assert answered == ["yes"] * 2 + ["perhaps not"] * 2
    # The same as from one file that has all of them.
    alone = [read_split([path], "train", "stop") for path in paths]
    both = read_split(paths, "train", "stop")
    texts = [np.array(part.answers)[part.answer_rows] for part in (*alone, both)]
    assert (np.concatenate(texts[:2]) == texts[2]).all()


def test_dialogs_left_out_of_several_files_are_counted_together(tmp_path):
    paths = []
    for name, images in (("a", (7, 3)), ("b", (9, 4))):
        content = document("train", images)
        content["data"]["dialogs"][0] = dialog(images[0], rounds=4)
        paths.append(write_json(tmp_path / f"{name}.json", content))
    found = read_split(paths, "train", "leave-out")
    assert (found.read, found.refused, found.refused_ids.tolist()) == (4, 2, [7, 9])
    assert found.image_ids.tolist() == [3, 4]


def test_two_files_with_dialogs_of_one_image(tmp_path):
    paths = [write_json(tmp_path / "a.json", document("train", (7, 3)))]
    paths += [write_json(tmp_path / "b.json", document("train", (3, 9)))]
    with pytest.raises(InputError, match=r"b\.json: image 3 has a dialog in .*a\.json already; give each dialog once"):
        read_split(paths, "train", "stop")
