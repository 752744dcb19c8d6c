import io
import json
import zipfile
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from cooperation.cli import main
from cooperation.config.preparation import World
from cooperation.data.archives import made_up, picture_names, read_member
from cooperation.data.miniature.language import GROUNDS, NOUNS, OPENINGS, order_topics, write_caption, write_dialog
from cooperation.data.miniature.pictures import GROUND, SKY, draw_picture
from cooperation.data.miniature.topics import TOPICS
from cooperation.data.miniature.world import ATTRIBUTES, draw_scenes
from cooperation.data.miniature.writing import draw_options, write_world
from cooperation.data.readers.visdial import read_visdial
from cooperation.data.tokeniser import tokenise, tokenise_question
from cooperation.game.vocabulary import keep_words
from cooperation.io.files import InputError

FILES = ["train2014.zip", "val2014.zip", "visdial_0.9_train.zip", "visdial_0.9_val.zip"]
# Shares of captions, dialogs and pictures that are about the scene.
DEFAULT = {}
CAPTION_ONLY = {"dialog": 0.0}
DIALOG_ONLY = {"caption": 0.0}
PICTURE_BLIND = {"picture": 0.0}
NOTHING = {"caption": 0.0, "dialog": 0.0, "picture": 0.0}


def written(folder, **settings):
    write_world(World(**settings), folder)
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def contents(folder, **settings):
    """Archive → its members and what they hold, without its comment, which says all settings."""
    write_world(World(**settings), folder)
    found = {}
    for path in folder.iterdir():
        with zipfile.ZipFile(path) as archive:
            found[path.name] = {name: archive.read(name) for name in archive.namelist()}
    return found


def read_json(folder, split):
    with zipfile.ZipFile(folder / f"visdial_0.9_{split}.zip") as archive:
        assert archive.namelist() == [f"visdial_0.9_{split}.json"]
        return json.loads(archive.read(archive.namelist()[0]))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    folder = tmp_path_factory.mktemp("small")
    write_world(World(train=60, val=30), folder)
    return folder


@pytest.mark.parametrize(("split", "count"), [("train", 60), ("val", 30)])
def test_json_is_nested_as_in_visdial(small, split, count):
    document = read_json(small, split)
    assert set(document) == {"version", "split", "data"}
    assert (document["version"], document["split"]) == ("0.9", f"{split}2014")
    data = document["data"]
    assert set(data) == {"questions", "answers", "dialogs"}
    assert len(set(data["answers"])) == len(data["answers"]) > 100
    assert len(set(data["questions"])) == len(data["questions"])
    assert not any("?" in question for question in data["questions"])
    assert len(data["dialogs"]) == count
    places = []
    for dialog in data["dialogs"]:
        assert set(dialog) == {"image_id", "caption", "dialog"}
        assert len(dialog["dialog"]) == 10
        for found in dialog["dialog"]:
            assert set(found) == {"question", "answer", "answer_options", "gt_index"}
            assert len(set(found["answer_options"])) == len(found["answer_options"]) == 100
            assert found["answer_options"][found["gt_index"]] == found["answer"]
            places.append(found["gt_index"])
    assert len(set(places)) > 50


@pytest.mark.parametrize(("split", "count"), [("train", 60), ("val", 30)])
def test_read_like_visdial_and_coco(small, split, count):
    visdial = read_visdial(small / f"visdial_0.9_{split}.zip", split)
    pictures = picture_names(small / f"{split}2014.zip")
    assert len(visdial.captions) == count
    assert set(visdial.image_ids.tolist()) == set(pictures)
    assert all(name == f"{split}2014/COCO_{split}2014_{image_id:012d}.jpg" for image_id, name in pictures.items())
    raw = [read_member(small / f"{split}2014.zip", name) for name in pictures.values()]
    assert len(set(raw)) == count
    image = Image.open(io.BytesIO(raw[0]))
    assert (image.format, image.mode, image.size) == ("JPEG", "RGB", (64, 64))


def test_image_ids_are_drawn_once_and_in_no_order(small):
    ids = [dialog["image_id"] for split in ("train", "val") for dialog in read_json(small, split)["data"]["dialogs"]]
    assert len(set(ids)) == 90
    assert sorted(ids[:60]) != ids[:60]
    assert min(ids) >= 1


def test_the_same_bytes_from_the_same_seed(tmp_path):
    settings = {"train": 12, "val": 5}
    first, again = written(tmp_path / "a", **settings), written(tmp_path / "b", **settings)
    other = written(tmp_path / "c", **settings, seed=2)
    assert sorted(first) == FILES
    assert first == again
    assert all(first[name] != other[name] for name in FILES)


def test_one_channel_changes_alone(tmp_path):
    settings = {"train": 12, "val": 5}
    own, told = contents(tmp_path / "a", **settings), contents(tmp_path / "b", **settings, caption=0.0)
    assert {name for name in FILES if own[name] != told[name]} == {"visdial_0.9_train.zip", "visdial_0.9_val.zip"}
    shown = contents(tmp_path / "c", **settings, picture=0.0)
    assert {name for name in FILES if own[name] != shown[name]} == {"train2014.zip", "val2014.zip"}


def test_archives_say_which_world_they_are_of(tmp_path):
    for number, settings in enumerate(({"train": 3, "val": 2}, {"train": 3, "val": 2, "caption": 0.5})):
        write_world(World(**settings, pixels=32), tmp_path / str(number))
    one, other = ([tmp_path / folder / name for name in FILES] for folder in "01")
    assert made_up(one).startswith("miniature: seed 1, train 3, val 2, pixels 32, caption 1.0,")
    assert "caption 0.5" in made_up(other)
    with pytest.raises(InputError) as error:
        made_up([one[0], other[1]])
    for said in (one[0], other[1], "caption 1.0", "caption 0.5", "give archives that were made together"):
        assert str(said) in str(error.value)
    # Nor is anything said of files that others made, or unpacked.
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("a.jpg", b"")
        archive.comment = b"made by somebody"
    assert made_up([tmp_path / "other.zip", tmp_path]) == ""


def talk(scenes, seed=1, wander=0.3):
    random = np.random.default_rng(seed)
    captions = [write_caption(scene, random) for scene in scenes]
    dialogs = [
        write_dialog(scene, caption.noun, order_topics(caption.opening, wander, random), random)
        for scene, caption in zip(scenes, captions, strict=True)
    ]
    return captions, dialogs


@pytest.fixture(scope="module")
def spoken():
    scenes = draw_scenes(np.random.default_rng(3), 1500)
    return scenes, *talk(scenes)


def test_share_of_exact_yes_and_no(spoken):
    answers = [answer for dialog in spoken[2] for _, answer in dialog]
    assert 0.38 < np.mean([answer in ("yes", "no") for answer in answers]) < 0.44
    yes = np.mean([answer == "yes" for answer in answers if answer in ("yes", "no")])
    assert 0.3 < yes < 0.7


def test_answers_are_of_all_kinds(spoken):
    answers = {answer for dialog in spoken[2] for _, answer in dialog}
    assert {"yes", "no", "red", "two", "on the left", "can't tell", "yes, it is huge"} <= answers
    assert sum(len(answer.split()) > 1 for answer in answers) > 20


def test_vocabulary_and_variety(spoken):
    _, captions, dialogs = spoken
    words = Counter(word for caption in captions for word in tokenise(caption.text))
    words.update(word for dialog in dialogs for question, _ in dialog for word in tokenise_question(question))
    words.update(word for dialog in dialogs for _, answer in dialog for word in tokenise(answer))
    assert len(keep_words(words, 5).words) > 100
    assert len({caption.text for caption in captions}) > 500
    assert len({question for dialog in dialogs for question, _ in dialog}) > 50
    assert len({tuple(question for question, _ in dialog) for dialog in dialogs}) > 1400


def test_captions_tell_shape_and_setting_in_english(spoken):
    for scene, caption in zip(*spoken[:2], strict=True):
        words = caption.text.split()
        assert set(words) & set(GROUNDS[scene["setting"]])
        assert caption.noun in words
        assert caption.noun in NOUNS[scene["shape"]]
        for article, noun in pairwise(words):
            assert article != "a" or noun[0] not in "aeiou"
            assert article != "an" or noun[0] in "aeiou"


def test_no_word_belongs_to_two_values():
    for words in (NOUNS, GROUNDS):
        listed = [word for synonyms in words.values() for word in synonyms]
        assert len(listed) == len(set(listed))


def test_an_answer_follows_from_the_question_and_the_scene(spoken):
    scenes, captions, dialogs = spoken
    given_answers = {}
    for scene, caption, dialog in zip(scenes, captions, dialogs, strict=True):
        for question, answer in dialog:
            asked = question.replace(f"the {caption.noun}", "it")
            # Of a whole scene there are too many; an answer may depend on one attribute.
            given_answers.setdefault(asked, []).append((scene, answer))
    for pairs in given_answers.values():
        assert any(
            len({(scene[name], answer) for scene, answer in pairs}) == len({scene[name] for scene, _ in pairs})
            for name in ATTRIBUTES
        )


@pytest.mark.parametrize(
    ("question", "scene", "answer"),
    [
        ("what color is it", {"color": "purple"}, "purple"),
        ("is it small", {"size": "small"}, "yes"),
        ("is it large", {"size": "small"}, "no"),
        ("is it in the middle", {"place": "right"}, "no, on the right"),
        ("are there any birds", {"birds": "none"}, "no"),
        ("how many birds are there", {"birds": "three"}, "three"),
        ("is it plain", {"pattern": "plain"}, "yes"),
        ("is it striped", {"pattern": "plain"}, "no"),
        ("what color is the sky", {"sky": "orange"}, "orange"),
        ("is the sky clear", {"sky": "blue"}, "yes, clear and blue"),
        ("what brand is it", {}, "can't tell"),
    ],
)
def test_answers_by_hand(question, scene, answer):
    whole = {name: values[0] for name, values in ATTRIBUTES.items()} | scene
    found = {asked: reply for seed in range(40) for asked, reply in write_dialog(
        whole, "ball", list(range(10)), np.random.default_rng(seed))}  # fmt: skip
    assert found[question] == answer


@given(st.integers(0, len(OPENINGS) - 1), st.floats(0, 1), st.integers(0, 99))
def test_no_topic_comes_twice(opening, wander, seed):
    assert sorted(order_topics(opening, wander, np.random.default_rng(seed))) == list(range(len(TOPICS)))


def test_the_usual_order_is_a_circle_from_the_captions_opening():
    assert order_topics(7, 0.0, np.random.default_rng(0)) == [7, 8, 9, 0, 1, 2, 3, 4, 5, 6]


def test_who_wanders_starts_anywhere():
    random = np.random.default_rng(0)
    starts = np.bincount([order_topics(7, 1.0, random)[0] for _ in range(2000)], minlength=10)
    assert (abs(starts - 200) < 4 * 200**0.5).all()


def test_who_seldom_wanders_mostly_takes_the_next_topic():
    random = np.random.default_rng(0)
    orders = [order_topics(0, 0.3, random) for _ in range(2000)]
    # 0.7, and a tenth of the wanderers.
    assert np.mean([order[0] == 0 for order in orders]) == pytest.approx(0.73, abs=0.04)


def test_true_answers_are_among_the_options():
    true = np.random.default_rng(0).integers(130, size=(40, 10))
    options, places = draw_options(true, 130, np.random.default_rng(1))
    assert options.shape == (40, 10, 100)
    assert (np.take_along_axis(options, places[..., None], -1)[..., 0] == true).all()
    assert all(len(set(row)) == 100 for row in options.reshape(-1, 100).tolist())
    # Other answers are as likely as any other: 99 of 129 rounds have each.
    counts = np.bincount(options.ravel(), minlength=130) - np.bincount(true.ravel(), minlength=130)
    assert (abs(counts - 400 * 99 / 130) < 5 * 10).all()


def nearest(color, named):
    return min(named, key=lambda name: np.square(np.subtract(named[name], color, dtype=float)).sum())


def seen(jpeg):
    """Setting and sky of a picture, from two points that nothing else covers."""
    image = Image.open(io.BytesIO(jpeg))
    width = image.width
    ground = nearest(image.getpixel((width // 2, int(0.815 * width))), GROUND)
    return ground, nearest(image.getpixel((width // 2, int(0.2 * width))), SKY)


@pytest.mark.parametrize("pixels", [64, 96])
def test_pictures_show_the_scene(pixels):
    random = np.random.default_rng(0)
    scenes = draw_scenes(random, 200)
    shown = [seen(draw_picture(scene, random, pixels)) for scene in scenes]
    assert shown == [(scene["setting"], scene["sky"]) for scene in scenes]


@pytest.mark.parametrize("attribute", list(ATTRIBUTES))
def test_every_attribute_is_shown(attribute):
    plain = {name: values[0] for name, values in ATTRIBUTES.items()}
    pictures = [
        np.array(Image.open(io.BytesIO(draw_picture(plain | {attribute: value}, np.random.default_rng(0), 64))), float)
        for value in ATTRIBUTES[attribute]
    ]
    for at, one in enumerate(pictures):
        for other in pictures[:at]:
            assert (abs(one - other).max(-1) > 50).mean() > 0.01


def agreement(folder, **shares):
    """How often caption, answers and picture agree: (caption, picture), (answers, picture), (caption, answers)."""
    write_world(World(train=1, val=400, **shares), folder)
    document = read_json(folder, "val")["data"]
    names = picture_names(folder / "val2014.zip")
    agreed = {"caption-picture": [], "answers-picture": [], "caption-answers": []}
    for dialog in document["dialogs"]:
        words = set(dialog["caption"].split())
        setting, sky = seen(read_member(folder / "val2014.zip", names[dialog["image_id"]]))
        agreed["caption-picture"].append(bool(words & set(GROUNDS[setting])))
        for found in dialog["dialog"]:
            question, answer = document["questions"][found["question"]], document["answers"][found["answer"]]
            if question == "what color is the sky":
                agreed["answers-picture"].append(answer == sky)
            if question.startswith("is ") and question.endswith(" striped") and words & set(ATTRIBUTES["pattern"]):
                agreed["caption-answers"].append(answer == ("yes" if "striped" in words else "no"))
    return [float(np.mean(values)) for values in agreed.values()]


@pytest.mark.parametrize(
    ("shares", "caption_picture", "answers_picture", "caption_answers"),
    [
        (DEFAULT, 1, 1, 1),
        (CAPTION_ONLY, 1, 1 / 4, 1 / 2),
        (DIALOG_ONLY, 1 / 6, 1, 1 / 2),
        (PICTURE_BLIND, 1 / 6, 1 / 4, 1),
        (NOTHING, 1 / 6, 1 / 4, 1 / 2),
        ({"caption": 0.5}, 1 / 2 + 1 / 12, 1, 3 / 4),
    ],
)
def test_what_the_channels_tell(tmp_path, shares, caption_picture, answers_picture, caption_answers):
    found = agreement(tmp_path, **shares)
    assert found[0] == pytest.approx(caption_picture, abs=0 if caption_picture == 1 else 0.08)
    assert found[1] == pytest.approx(answers_picture, abs=0 if answers_picture == 1 else 0.1)
    assert found[2] == pytest.approx(caption_answers, abs=0 if caption_answers == 1 else 0.3)


def test_unrelated_captions_are_as_varied_as_related_ones(tmp_path):
    counts = []
    for caption in (1.0, 0.0):
        write_world(World(train=1, val=300, caption=caption), tmp_path / str(caption))
        told = [
            set(dialog["caption"].split()) for dialog in read_json(tmp_path / str(caption), "val")["data"]["dialogs"]
        ]
        counts.append([sum(bool(words & set(synonyms)) for words in told) for synonyms in GROUNDS.values()])
    assert (abs(np.array(counts) - 50) < 4 * 50**0.5).all()


def test_command(tmp_path, monkeypatch):
    arguments = [
        "cooperation",
        "miniature",
        "--out",
        str(tmp_path / "out"),
        "--train",
        "3",
        "--val",
        "2",
        "--seed",
        "9",
    ]
    monkeypatch.setattr("sys.argv", arguments)
    main()
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == FILES
    assert written(tmp_path / "same", train=3, val=2, seed=9) == {
        path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()
    }


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"caption": 1.5}, "caption: 1.5 is no share; choose a number from 0 to 1"),
        ({"dialog": -0.1}, "dialog: -0.1 is no share; choose a number from 0 to 1"),
        ({"val": 0}, "val: 0 is too small; choose at least 1"),
        ({"pixels": 8}, "pixels: 8 is too small; choose at least 32"),
    ],
)
def test_impossible_worlds_are_refused(settings, message):
    with pytest.raises(InputError, match=message):
        World(**settings)
