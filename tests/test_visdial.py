import copy
import json
import math
from pathlib import Path

import numpy as np
import pytest
from small_files import dialog, document, write_json, write_zip

from cooperation.data.readers.visdial import read_visdial
from cooperation.io.files import InputError

GENUINE = Path("../shared/data/visdial_1.0_val_165.json")
genuine = pytest.mark.skipif(not GENUINE.exists(), reason="the genuine VisDial dialogs are not in ../shared/data")


def test_reads_every_dialog(tmp_path):
    found = read_visdial(write_json(tmp_path / "v.json", document("train2014", (7, 3, 9))), "train")
    assert found.image_ids.tolist() == [7, 3, 9]
    assert found.question_rows.tolist() == [[0, 1, 2, 0, 1, 2, 0, 1, 2, 0]] * 3
    assert found.answer_rows.tolist() == [[0, 1, 2, 3, 4, 0, 1, 2, 3, 4]] * 3
    assert found.captions == ["a man on a horse"] * 3
    assert (found.version, found.split, found.read, found.refused) == ("0.9", "train2014", 3, 0)


def test_reads_the_one_json_of_a_zip(tmp_path):
    bare = read_visdial(write_json(tmp_path / "v.json", document()), "train")
    path = write_zip(tmp_path / "v.zip", {"a/v.json": json.dumps(document()), "__MACOSX/._v.json": "x", "README": "x"})
    zipped = read_visdial(path, "train")
    assert zipped.image_ids.tolist() == bare.image_ids.tolist()
    assert zipped.answers == bare.answers


def test_a_byte_order_mark_is_no_damage(tmp_path):
    path = tmp_path / "v.json"
    path.write_text(json.dumps(document()), encoding="utf-8-sig")
    assert read_visdial(path, "train").read == 2


def broken(change):
    content = copy.deepcopy(document())
    change(content)
    return content


def second(content):
    """Dialog 2 of the file, that of image 3."""
    return content["data"]["dialogs"][1]


def put(field, value):
    return lambda content: second(content)["dialog"][4].__setitem__(field, value)


ROUND = "dialog 2 (image 3), round 5: "
KINDS = {
    "missing caption": (lambda c: second(c).pop("caption"), "dialog 2 (image 3): 'caption' is missing"),
    "missing rounds": (lambda c: second(c).pop("dialog"), "dialog 2 (image 3): 'dialog' is missing"),
    "missing image": (lambda c: second(c).pop("image_id"), "dialog 2: 'image_id' is missing"),
    "missing question": (lambda c: second(c)["dialog"][4].pop("question"), ROUND + "'question' is missing"),
    "missing answer": (lambda c: second(c)["dialog"][4].pop("answer"), ROUND + "'answer' is missing"),
    "missing lists": (lambda c: c["data"].pop("answers"), "data: 'answers' is missing"),
    "missing data": (lambda c: c.pop("data"), "'data' is missing"),
    "missing split": (lambda c: c.pop("split"), "'split' is missing"),
    "question beyond the list": (put("question", 3), ROUND + "'question' 3 is not in the list of 3 texts"),
    "negative answer": (put("answer", -1), ROUND + "'answer' -1 is not in the list of 105 texts"),
    "option beyond the list": (
        put("answer_options", [*range(99), 105]),
        ROUND + "'answer_options' are not all in the list of 105 answers",
    ),
    "104 options": (put("answer_options", list(range(104))), ROUND + "'answer_options' has 104 entries, not 100"),
    "an option of another type": (
        put("answer_options", [*range(99), "x"]),
        ROUND + "'answer_options' holds something else than positions",
    ),
    "truth beyond the options": (put("gt_index", 100), ROUND + "'gt_index' 100 is not among the 100 options"),
    "truth that is another answer": (put("gt_index", 9), ROUND + "'gt_index' 9 is not the option that is the answer"),
    "question of another type": (put("question", "0"), ROUND + "'question' is a text, not a whole number"),
    "answer that is true": (put("answer", True), ROUND + "'answer' is a bool, not a whole number"),
    "a round that is a list": (lambda c: second(c)["dialog"].__setitem__(4, []), ROUND + "a list instead of an object"),
    "nine rounds": (lambda c: second(c)["dialog"].pop(), "dialog 2 (image 3): 'dialog' has 9 answered rounds, not 10"),
    "last round unanswered": (
        lambda c: second(c)["dialog"][9].pop("answer"),
        "dialog 2 (image 3): 'dialog' has 9 answered rounds, not 10",
    ),
    "image beyond 64 bits": (
        lambda c: second(c).__setitem__("image_id", 2**63),
        "dialog 2: 'image_id' is not from 0 to",
    ),
    "negative image": (lambda c: second(c).__setitem__("image_id", -1), "dialog 2: 'image_id' is not from 0 to"),
    "image of a thousand digits": (
        lambda c: second(c).__setitem__("image_id", 10**999),
        "dialog 2: 'image_id' is not from 0 to",
    ),
    "eleven rounds": (
        lambda c: second(c)["dialog"].append(second(c)["dialog"][0]),
        "dialog 2 (image 3): 'dialog' has 11 rounds, not 10",
    ),
    "empty question": (
        lambda c: (c["data"]["questions"].append("  "), put("question", 3)(c)),
        ROUND + "'question' is an empty text",
    ),
    "caption that is a number": (
        lambda c: second(c).__setitem__("caption", 5),
        "dialog 2 (image 3): 'caption' is a whole number, not a text",
    ),
    "caption that is null": (
        lambda c: second(c).__setitem__("caption", None),
        "dialog 2 (image 3): 'caption' is empty, not a text",
    ),
    "empty caption": (lambda c: second(c).__setitem__("caption", ""), "dialog 2 (image 3): 'caption' is empty"),
    "same image twice": (
        lambda c: second(c).__setitem__("image_id", 7),
        "dialog 2: 'image_id' 7 is that of dialog 1 already",
    ),
    "wrong split": (lambda c: c.__setitem__("split", "val2018"), "'split' is 'val2018', not train…"),
    "answer text of another type": (lambda c: c["data"]["answers"].__setitem__(2, 2), "data: answers[2] is a whole"),
    "zero byte": (lambda c: c["data"]["answers"].__setitem__(2, "a\0b"), "data: answers[2] holds a zero byte"),
    "half a character": (lambda c: c["data"]["questions"].__setitem__(2, "\ud800"), "data: questions[2] holds"),
    "no dialogs": (lambda c: c["data"]["dialogs"].clear(), "none of its 0 dialogs has 10 answered rounds"),
}


@pytest.mark.parametrize(("change", "words"), KINDS.values(), ids=KINDS)
def test_each_kind_of_broken_file_is_one_line_with_its_place(tmp_path, change, words):
    path = write_json(tmp_path / "v.json", broken(change))
    with pytest.raises(InputError) as caught:
        read_visdial(path, "train")
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert words in message
    assert "; " in message
    assert "\n" not in message


@pytest.mark.parametrize("content", [[], 3, None, {"data": []}])
def test_other_json_is_refused(tmp_path, content):
    with pytest.raises(InputError, match=r"v\.json: "):
        read_visdial(write_json(tmp_path / "v.json", content), "train")


@pytest.mark.parametrize("share", [0, 0.3, 0.9, 1 - 1e-9])
def test_json_cut_short(tmp_path, share):
    whole = json.dumps(document())
    path = tmp_path / "v.json"
    path.write_text(whole[: math.floor(len(whole) * share)])
    with pytest.raises(InputError, match=r"v\.json: (not JSON|damaged) or cut short .*; (delete it and )?download"):
        read_visdial(path, "train")


def test_json_nested_too_deep(tmp_path):
    path = tmp_path / "v.json"
    path.write_text("[" * 200_000)
    with pytest.raises(InputError, match=r"v\.json: not JSON"):
        read_visdial(path, "train")


def test_not_utf_8(tmp_path):
    path = tmp_path / "v.json"
    path.write_bytes(json.dumps(document()).encode() + "é".encode("latin-1"))
    with pytest.raises(InputError, match=r"v\.json: byte \d+ is not UTF-8"):
        read_visdial(path, "train")


def test_dialogs_cut_short_are_left_out_and_counted(tmp_path):
    content = document(images=(7, 3, 9))
    content["data"]["dialogs"][1] = dialog(3, rounds=4)
    found = read_visdial(write_json(tmp_path / "v.json", content), "train", "leave-out")
    assert found.image_ids.tolist() == [7, 9]
    assert (found.read, found.refused) == (3, 1)


@pytest.mark.parametrize("unanswered", [{"question": 0}, {"question": 0, "answer": None}])
def test_a_last_round_without_an_answer_is_cut_short(tmp_path, unanswered):
    """So end the dialogs of the 1.0 test split, those of ten rounds too."""
    content = document(images=(7, 3, 9))
    content["data"]["dialogs"][1]["dialog"][9] = unanswered
    found = read_visdial(write_json(tmp_path / "v.json", content), "train", "leave-out")
    assert found.image_ids.tolist() == [7, 9]
    assert (found.read, found.refused) == (3, 1)


def test_an_answer_missing_before_others_is_damage_even_so(tmp_path):
    path = write_json(tmp_path / "v.json", broken(lambda c: second(c)["dialog"][4].pop("answer")))
    with pytest.raises(InputError, match="round 5: 'answer' is missing"):
        read_visdial(path, "train", "leave-out")


def test_a_number_too_long_to_read_is_one_line(tmp_path):
    path = tmp_path / "v.json"
    path.write_text(json.dumps(document()).replace('"image_id": 3', f'"image_id": {"9" * 5000}'))
    with pytest.raises(InputError, match=r"v\.json: not JSON .*digits") as caught:
        read_visdial(path, "train")
    assert "\n" not in str(caught.value)


def test_an_answer_may_be_empty(tmp_path):
    content = broken(lambda c: c["data"]["answers"].__setitem__(2, " "))
    found = read_visdial(write_json(tmp_path / "v.json", content), "train")
    assert found.answers[found.answer_rows[1, 2]] == " "


@genuine
def test_genuine_dialogs():
    found = read_visdial(GENUINE, "val")
    raw = json.loads(GENUINE.read_text())["data"]
    assert (found.version, found.split, found.read, found.refused) == ("1.0", "val2018", 165, 0)
    assert found.captions == [each["caption"] for each in raw["dialogs"]]
    assert found.image_ids.tolist() == [each["image_id"] for each in raw["dialogs"]]
    asked = np.array(found.questions)[found.question_rows]
    assert asked[164, 9] == raw["questions"][raw["dialogs"][164]["dialog"][9]["question"]]
