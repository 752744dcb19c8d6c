import json
from pathlib import Path

import numpy as np
import pytest
from small_files import document, write_json

from cooperation.cli import main
from cooperation.data.archives import picture_names, read_json_text, read_member
from cooperation.data.genuine import write_genuine
from cooperation.data.pictures import decode
from cooperation.data.visdial import read_visdial
from cooperation.files import InputError
from cooperation.preparation import Genuine

GENUINE = Path("../shared/data/visdial_1.0_val_165.json")


def said(visdial):
    return np.array(visdial.questions)[visdial.question_rows], np.array(visdial.answers)[visdial.answer_rows]


def check_split(source, folder, train):
    whole = read_visdial(source, "val")
    for split, part in (("train", slice(train)), ("val", slice(train, None))):
        found = read_visdial(folder / f"visdial_0.9_{split}.zip", split)
        assert found.image_ids.tolist() == whole.image_ids[part].tolist()
        assert found.captions == whole.captions[part]
        for mine, its in zip(said(found), said(whole), strict=True):
            assert (mine == its[part]).all()
        pictures = picture_names(folder / f"{split}2014.zip")
        assert set(pictures) == set(found.image_ids.tolist())
        raw = read_member(folder / f"{split}2014.zip", next(iter(pictures.values())))
        assert decode(raw, "here").size == (64, 64)


def test_dialogs_keep_their_texts_and_ids(tmp_path):
    content = document("val2018", (7, 3, 9))
    content["data"]["dialogs"][2]["dialog"][4] |= {"question": 1, "answer": 104, "gt_index": 99}
    content["data"]["dialogs"][2]["dialog"][4]["answer_options"] = list(range(5, 105))
    source = write_json(tmp_path / "v.json", content)
    write_genuine(source, Genuine(train=2), tmp_path / "out")
    check_split(source, tmp_path / "out", 2)
    train, val = (json.loads(read_json_text(tmp_path / f"out/visdial_0.9_{split}.zip")) for split in ("train", "val"))
    assert len(train["data"]["answers"]) == 100
    assert len(val["data"]["answers"]) == 105


@pytest.mark.parametrize("train", [0, 3, 4, -1])
def test_both_splits_need_dialogs(tmp_path, train):
    source = write_json(tmp_path / "v.json", document("val2018", (7, 3, 9)))
    with pytest.raises(InputError, match=rf"v\.json: cannot train on {train} of its 3 dialogs"):
        write_genuine(source, Genuine(train=train), tmp_path / "out")


@pytest.mark.skipif(not GENUINE.exists(), reason="the genuine VisDial dialogs are not in ../shared/data")
def test_command_on_genuine_dialogs(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.argv", ["cooperation", "genuine", "--dialogs", str(GENUINE), "--out", str(tmp_path)])
    main()
    check_split(GENUINE, tmp_path, 130)
