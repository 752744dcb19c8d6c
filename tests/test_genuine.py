import json
from pathlib import Path

import pytest
from nltk.tokenize import NLTKWordTokenizer
from small_files import dialog, document, write_json

from cooperation.cli import main
from cooperation.config.preparation import Encoding, Genuine
from cooperation.config.sources import declared
from cooperation.data.archives import find_pictures
from cooperation.data.pictures import decode
from cooperation.data.readers import genuine
from cooperation.data.readers.genuine import write_genuine
from cooperation.io.files import InputError

GENUINE = Path("../shared/data/visdial_1.0_val_165.json")


def read(source, folder, **settings):
    """What the reader makes of dialogs and of the pictures that were made for them."""
    archives = {role: [folder / name] for role, name in declared("genuine").makes.items()}
    return genuine.read({"dialogs": [source], **archives}, Encoding(**settings))


def check_split(source, folder, train):
    """Each dialog is in the split of its picture, with its texts; the first of the file are trained on."""
    raw = json.loads(source.read_text())["data"]
    vocabulary, splits, counts = read(source, folder, threshold=1, count_words_in="train+val")
    for split, part in (("train", slice(train)), ("val", slice(train, None))):
        found, wanted = splits[split], raw["dialogs"][part]
        assert found.image_ids.tolist() == [each["image_id"] for each in wanted]
        assert counts[f"{split}_kept"] == len(wanted)
        for row, each in enumerate(wanted):
            for turn, exchange in enumerate(each["dialog"]):
                asked = vocabulary.decode(found.questions.tokens[row, turn]).split()
                assert asked == tokens(raw["questions"][exchange["question"]] + "?")
                answered = vocabulary.decode(found.answers.tokens[row, turn]).split()
                assert answered == tokens(raw["answers"][exchange["answer"]])
        pictures = find_pictures([folder / f"{split}2014.zip"])
        assert set(pictures) == set(found.image_ids.tolist())
        assert decode(next(iter(pictures.values())).read(), "here").size == (64, 64)


def tokens(text):
    return list(NLTKWordTokenizer().tokenize(text.lower()))[:20]


def test_dialogs_keep_their_texts_and_ids(tmp_path):
    content = document("val2018", (7, 3, 9))
    content["data"]["dialogs"][2]["dialog"][4] |= {"question": 1, "answer": 104, "gt_index": 99}
    content["data"]["dialogs"][2]["dialog"][4]["answer_options"] = list(range(5, 105))
    source = write_json(tmp_path / "v.json", content)
    written = write_genuine([source], Genuine(train=2), tmp_path / "out")
    assert [path.name for path in written] == list(declared("genuine").makes.values())
    check_split(source, tmp_path / "out", 2)


def test_words_are_counted_in_train_alone(tmp_path):
    content = document("val2018", (7, 3, 9))
    content["data"]["dialogs"][2]["caption"] = "zebra zebra zebra"
    source = write_json(tmp_path / "v.json", content)
    write_genuine([source], Genuine(train=2), tmp_path / "out")
    assert "zebra" not in read(source, tmp_path / "out", threshold=1)[0].words


def test_dialogs_cut_short_are_counted_where_their_pictures_are(tmp_path):
    content = document("val2018", (7, 3, 9, 8))
    source = write_json(tmp_path / "v.json", content)
    write_genuine([source], Genuine(train=2), tmp_path / "out")
    content["data"]["dialogs"][2] = dialog(9, rounds=4)
    _, splits, counts = read(write_json(source, content), tmp_path / "out", threshold=1, cut_short="leave-out")
    assert splits["val"].image_ids.tolist() == [8]
    assert [counts[f"{split}_refused"] for split in ("train", "val")] == [0, 1]
    assert [counts[f"{split}_read"] for split in ("train", "val")] == [2, 2]


@pytest.mark.parametrize("train", [0, 3, 4, -1])
def test_both_splits_need_dialogs(tmp_path, train):
    source = write_json(tmp_path / "v.json", document("val2018", (7, 3, 9)))
    with pytest.raises(InputError, match=rf"v\.json: cannot train on {train} of its 3 dialogs"):
        write_genuine([source], Genuine(train=train), tmp_path / "out")


@pytest.mark.skipif(not GENUINE.exists(), reason="the genuine VisDial dialogs are not in ../shared/data")
def test_command_on_genuine_dialogs(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["cooperation", "genuine", "--dialogs", str(GENUINE), "--out", str(tmp_path)])
    main()
    check_split(GENUINE, tmp_path, 130)
