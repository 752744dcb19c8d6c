import math

import h5py
import numpy as np
import pytest
from small_files import authors_arrays, write_authors_files, write_hdf5

from cooperation.cli import main
from cooperation.data.store import FIRST_ROW, read_dialogs, read_features, read_vocabulary


@pytest.fixture
def files(tmp_path):
    data = authors_arrays("train", [2, 0, 1]) | authors_arrays("val", [1, 0])
    images = {"images_train": np.array([[3, 4], [0, 2], [1, 0]], "f4"), "images_val": np.array([[5, 0], [0, 6]], "f4")}
    return write_authors_files(tmp_path, data, images)


def encode(monkeypatch, folder):
    words = ["--data", "visdial_data.h5", "--params", "visdial_params.json", "--images", "data_img.h5"]
    words = [str(folder / word) if "." in word else word for word in words]
    monkeypatch.setattr("sys.argv", ["cooperation", "encode", "authors", *words, "--out", str(folder / "dialogs.h5")])
    main()


def normalise(monkeypatch, folder):
    images = str(folder / "data_img.h5")
    out = str(folder / "features.h5")
    monkeypatch.setattr("sys.argv", ["cooperation", "normalise", images, "--out", out])
    main()


def test_texts_and_vocabulary(files, monkeypatch):
    encode(monkeypatch, files)
    vocabulary = read_vocabulary(files / "dialogs.h5")
    assert vocabulary.words == ("no", "a", "yes", "?", "UNK")
    assert (vocabulary.start, vocabulary.eos) == (6, 7)
    found = read_dialogs(files / "dialogs.h5", "train")
    assert found.captions.lists() == [[2], [2, 2], [2, 2, 2]]
    assert vocabulary.decode(found.questions.tokens[2, 4]) == "a ?"
    assert [vocabulary.decode(row) for row in found.answers.tokens[0]] == ["yes"] * 9 + ["no a"]


def test_each_dialog_gets_the_image_in_its_row(files, monkeypatch):
    encode(monkeypatch, files)
    normalise(monkeypatch, files)
    for split, expected in (("train", [[1, 0], [0.6, 0.8], [0, 1]]), ("val", [[0, 1], [1, 0]])):
        dialogs = read_dialogs(files / "dialogs.h5", split)
        features = read_features(files / "features.h5", split, dialogs.image_ids)
        assert features.vectors.tolist() == pytest.approx(np.array(expected))
    assert features.attributes["extractor"] == "not stated"


def test_no_image_of_one_split_is_taken_for_one_of_the_other(files, monkeypatch):
    encode(monkeypatch, files)
    train, val = (set(read_dialogs(files / "dialogs.h5", split).image_ids.tolist()) for split in ("train", "val"))
    assert not train & val
    assert min(train) == FIRST_ROW["train"] > 581_929


def test_counts(files, monkeypatch):
    encode(monkeypatch, files)
    with h5py.File(files / "dialogs.h5") as file:
        stored = dict(file.attrs)
    assert stored["train_kept"] == 3
    assert math.isclose(stored["train_exactly_yes_no"], 0.9)
    assert stored["val_beginning_yes_no"] == 1
    assert stored["val_mean_length_captions"] == 1.5


def change(name, where, value):
    def apply(folder):
        with h5py.File(folder / "visdial_data.h5", "r+") as file:
            file[name][where] = value

    return apply


def replace(name, content):
    return lambda folder: (folder / name).write_text(content)


def rewrite(name, array):
    def apply(folder):
        with h5py.File(folder / "visdial_data.h5", "r+") as file:
            del file[name]
            if array is not None:
                file[name] = array

    return apply


BROKEN = {
    "row beyond the images": (change("img_pos_train", 1, 3), "img_pos_train: dialog 2: row 3 is none of the 3 images"),
    "negative row": (change("img_pos_val", 0, -1), "img_pos_val: dialog 1: row -1 is none of the 2 images"),
    "row given twice": (
        change("img_pos_train", 2, 2),
        "img_pos_train: dialog 3: row 2 is that of dialog 1 already",
    ),
    "length beyond the width": (
        change("ques_length_train", (1, 4), 21),
        "ques_train: dialog 2, round 5: a length that is not 0 to 20",
    ),
    "length too large": (change("ans_length_val", (0, 0), 2), "ans_val: dialog 1, round 1: an id that is no word"),
    "length too small": (change("cap_length_train", 2, 1), "cap_train: dialog 3: tokens beyond its length"),
    "id beyond the vocabulary": (
        change("ans_train", (0, 9, 1), 6),
        "ans_train: dialog 1, round 10: an id that is no word (1 to 5)",
    ),
    "nine rounds": (
        rewrite("ques_train", np.zeros((3, 9, 20), "u4")),
        "ques_train: (3, 9, 20) tokens, (3, 10) lengths",
    ),
    "lengths of other dialogs": (rewrite("cap_length_val", np.ones(3, "u4")), "cap_val: (2, 40) tokens, (3,) lengths"),
    "no positions": (rewrite("img_pos_val", None), "damaged or not of this kind"),
    "no words": (replace("visdial_params.json", "{}"), "no 'word2ind' of words and ids"),
    "no JSON": (replace("visdial_params.json", "{"), "no 'word2ind' of words and ids"),
    "a list": (replace("visdial_params.json", '{"word2ind": ["a"]}'), "no 'word2ind' of words and ids"),
    "ids with a hole": (
        replace("visdial_params.json", '{"word2ind": {"a": 1, "UNK": 3}}'),
        "the ids in 'word2ind' are not 1 to 2",
    ),
    "no UNK": (replace("visdial_params.json", '{"word2ind": {"a": 1}}'), "'word2ind' has no UNK"),
    "no HDF5": (replace("data_img.h5", "<html>404</html>"), "damaged or not of this kind"),
}


@pytest.mark.parametrize(("damage", "words"), BROKEN.values(), ids=BROKEN)
def test_broken_files_are_one_line_with_their_place(files, monkeypatch, capsys, damage, words):
    damage(files)
    with pytest.raises(SystemExit) as caught:
        encode(monkeypatch, files)
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert words in error
    assert not (files / "dialogs.h5").exists()


def test_features_of_another_shape(files, monkeypatch, capsys):
    write_hdf5(files / "data_img.h5", {"images_train": np.zeros((3, 7, 7, 512), "f4")})
    with pytest.raises(SystemExit):
        normalise(monkeypatch, files)
    assert "images_train is (3, 7, 7, 512), not [images, features]" in capsys.readouterr().err


def test_padded_rounds_are_left_out_and_counted(files, monkeypatch, capsys):
    """As in dialogs of a test split, whose later rounds are padding and no empty answers."""
    with h5py.File(files / "visdial_data.h5", "r+") as file:
        for part in ("ques", "ans"):
            file[f"{part}_train"][1, 4:] = 0
            file[f"{part}_length_train"][1, 4:] = 0
        # An answer alone may be empty.
        file["ans_val"][0, 2] = 0
        file["ans_length_val"][0, 2] = 0
    encode(monkeypatch, files)
    assert "train: 3 dialogs read, 2 kept, 1 refused" in capsys.readouterr().out
    found = read_dialogs(files / "dialogs.h5", "train")
    assert found.captions.lists() == [[2], [2, 2, 2]]
    with h5py.File(files / "dialogs.h5") as file:
        assert (file.attrs["train_empty_answers"], file.attrs["val_empty_answers"]) == (0, 1)
    normalise(monkeypatch, files)
    assert read_features(files / "features.h5", "train", found.image_ids).vectors.tolist() == [[1, 0], [0, 1]]


def test_a_file_of_padding_alone_is_refused(files, monkeypatch, capsys):
    with h5py.File(files / "visdial_data.h5", "r+") as file:
        for part in ("ques", "ans"):
            file[f"{part}_val"][:, 9] = 0
            file[f"{part}_length_val"][:, 9] = 0
    with pytest.raises(SystemExit):
        encode(monkeypatch, files)
    assert "none of the 2 dialogs of val has 10 rounds" in capsys.readouterr().err
