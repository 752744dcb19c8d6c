"""Bots of a builder's own play: words stay theirs, forks are safe, ranks follow from scores, results hold the texts."""

import json
import re
import shlex
import threading
import tracemalloc
import zipfile
from datetime import date
from itertools import chain, product
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from hypothesis import given
from hypothesis import strategies as st
from in_process import code_of, run
from project import Project
from reduced import CONFIG
from small_files import jpeg, picture

from cooperation.api import Dialog, Picture, Pool, recorded
from cooperation.bots.calls import Calls, load
from cooperation.bots.text_players import TextBots, as_images
from cooperation.commands.loaded import drawn
from cooperation.config.conditions import LOADED_CONDITIONS, read_condition
from cooperation.config.experiment import read
from cooperation.config.training import LoadedModel
from cooperation.data.store import Dialogs, Features, write_dialogs, write_features
from cooperation.evaluation.conformance import CHECKS
from cooperation.evaluation.playing import Games
from cooperation.evaluation.results import read_result
from cooperation.evaluation.scores import ranker_of, ranks_of
from cooperation.game.interventions import kinds
from cooperation.game.messages import ROUNDS, Messages
from cooperation.game.place import Place
from cooperation.game.readings import READINGS
from cooperation.game.text import TextVocabulary
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.files import InputError

ROOT = Path(__file__).parent.parent
WORDS = ("a", "ball", "is", "no", "red", "the", "there", "what", "yes", "?", "UNK")
KNOWN = Vocabulary.of(WORDS)
IMAGES = np.arange(12) * 3 + 5


def place(channel="answer", dialogs=1, vocabulary=None, number=1):
    return Place(1, channel, number, np.arange(dialogs), vocabulary or TextVocabulary(KNOWN))


TEXTS = ["Yes, it's a Zebra!", "no", "", "¿Qué?  über-red", "‹start› ‹end› UNK"]


def test_texts_stay_what_they_were_and_known_words_keep_their_ids():
    words = TextVocabulary(KNOWN)
    messages = words.messages(TEXTS)
    assert words.texts(messages) == [" ".join(text.split()) for text in TEXTS]
    assert messages.lists()[1] == [KNOWN.ids["no"], KNOWN.eos]
    assert (words.start, words.eos, words.known) == (KNOWN.start, KNOWN.eos, len(WORDS))
    assert words.words[: len(WORDS)] == WORDS
    # Those of the data set alone are drawn.
    assert words.known_words.tolist() == KNOWN.known_words.tolist()
    assert words.every_token.tolist() == KNOWN.every_token.tolist()


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=5))
def test_any_text_is_heard_as_it_was_said(texts):
    words = TextVocabulary(KNOWN)
    assert words.texts(words.messages(texts)) == [" ".join(text.split()) for text in texts]


def test_words_of_another_vocabulary_are_adopted():
    mine, its = TextVocabulary(KNOWN), TextVocabulary(KNOWN)
    mine.encode(["giraffe", "zebra"])
    said = its.messages(["a zebra", "no quagga !"])
    assert mine.texts(mine.adopted(said, its)) == ["a zebra", "no quagga !"]
    assert TextVocabulary.of_words(its.words, its.known).texts(said) == ["a zebra", "no quagga !"]


@pytest.mark.parametrize(
    ("said", "heard", "released"),
    [
        ("yes", "no", "no"),
        ("Yes.", "No.", "No."),
        ("NO!!", "YES!!", "YES!!"),
        ("“Yes”, no", "“No”, yes", "“Yes”, no"),
        ("yes,it is", "no,it is", "yes,it is"),
        ("no-one knows", "no-one knows", "no-one knows"),
        ("yesterday", "yesterday", "yesterday"),
        ("'no' _Yes_", "'yes' _No_", "'no' _Yes_"),
        ("no\u2011one yes'm yes_no", "no\u2011one yes'm yes_no", "no\u2011one yes'm yes_no"),
        ("no\u0301", "no\u0301", "no\u0301"),
        ("yes\nno 是的", "no yes 是的", "yes no 是的"),
    ],
)
def test_negation_works_on_any_casing_and_punctuation(said, heard, released):
    at, kind = place(), kinds()["negate"]()
    messages = at.vocabulary.messages([said])
    assert at.vocabulary.texts(kind.deliver(messages, at)) == [heard]
    assert at.vocabulary.texts(kind.deliver_as_released(messages, at)) == [released]


PUNCTUATION = st.text(st.characters(categories=["P", "S"]), max_size=3)
CASINGS = {"yes": "no", "Yes": "No", "YES": "NO", "no": "yes", "No": "Yes", "NO": "YES"}


@given(PUNCTUATION, st.sampled_from([*CASINGS]), PUNCTUATION)
def test_any_punctuation_may_stand_around_yes_and_no(before, said, behind):
    at = place()
    messages = at.vocabulary.messages([f"well {before}{said}{behind} 👍"])
    assert at.vocabulary.texts(kinds()["negate"]().deliver(messages, at)) == [
        f"well {before}{CASINGS[said]}{behind} 👍"
    ]


@given(st.sampled_from(["{}{}", "{}-{}", "{}'{}", "{}’{}"]), st.sampled_from([*CASINGS]), st.booleans())
def test_yes_and_no_in_other_words_stay(joined, said, first):
    parts = (said, "body") if first else ("body", said)
    at = place()
    messages = at.vocabulary.messages([joined.format(*parts)])
    assert at.vocabulary.texts(kinds()["negate"]().deliver(messages, at)) == [joined.format(*parts)]


def test_negation_needs_no_yes_in_the_data_set():
    at = place(vocabulary=TextVocabulary(Vocabulary.of(["a", "UNK"])))
    assert at.vocabulary.texts(kinds()["negate"]().deliver(at.vocabulary.messages(["Yes"]), at)) == ["No"]


@pytest.mark.parametrize("channel", ["caption", "question"])
def test_random_words_are_the_data_sets_and_new_words_are_replaced(channel):
    at, kind = place(channel, 200), kinds()["replace"]()
    said = at.vocabulary.messages(["The quagga, is striped ?"] * 200)
    heard = [text.split() for text in at.vocabulary.texts(kind.deliver(said, at))]
    drawn_words = {text[1] for text in heard}
    assert drawn_words <= set(WORDS) - {"UNK"}
    assert len(drawn_words) == len(WORDS) - 1
    kept = {(text[0], text[2], text[4]) for text in heard}
    assert (kept == {("The", "is", "?")}) == (channel == "caption")


def test_a_misspelt_word_is_heard_as_it_is_spelt():
    at = place("question")
    [heard] = at.vocabulary.texts(kinds()["typos"]().deliver(at.vocabulary.messages(["what zebra"]), at))
    assert heard != "what zebra"
    assert "UNK" not in heard
    assert [sorted(word) for word in heard.split()] == [sorted("what"), sorted("zebra")]


@given(
    st.integers(1, 6).flatmap(
        lambda width: st.lists(st.lists(st.integers(-2, 2), min_size=width, max_size=width), min_size=1, max_size=5)
    ),
    st.randoms(),
)
def test_ranks_of_scores_share_ties(scores, chance):
    scores = np.array(scores, float)
    truth = np.array([chance.randrange(scores.shape[1]) for _ in scores])
    expected = []
    for row, true in zip(scores.tolist(), truth.tolist(), strict=True):
        others = [score for column, score in enumerate(row) if column != true]
        expected.append(sum(score > row[true] for score in others) + sum(score == row[true] for score in others) / 2)
    assert ranks_of(scores, truth).tolist() == expected


def number(text):
    return sum(map(ord, text))


class Talkers:
    """The questioner asks what no one has asked; scores are a hash of all that was heard."""

    def __init__(self):
        self.calls = []

    def ask(self, dialogs):
        self.calls.append(("ask", len(dialogs[0].turns)))
        return [f"Is it {number(repr(dialog)) % 97}-ish?" for dialog in dialogs]

    def answer(self, pictures, dialogs, questions):
        self.calls.append(("answer", len(dialogs[0].turns)))
        return [
            f"{('Yes', 'no')[number(question) % 2]}, {one.name}"
            for one, question in zip(pictures, questions, strict=True)
        ]

    def score(self, dialogs, candidates):
        self.calls.append(("score", len(dialogs[0].turns)))
        return np.array([[number(repr(dialog)) * number(one.name) % 101 for one in candidates] for dialog in dialogs])


class Quiet:
    """The least that bots have."""

    def ask(self, dialogs):
        return [""] * len(dialogs)

    def answer(self, _pictures, dialogs, _questions):
        return [""] * len(dialogs)

    def score(self, dialogs, candidates):
        return np.zeros((len(dialogs), len(candidates)))


def people(words=KNOWN):
    caption = Messages.of([[words.ids["a"], words.ids["red"], words.ids["ball"]]] * len(IMAGES))
    question, answer = [words.ids["what"], words.ids["?"]], [words.ids["yes"]]
    turns = [Messages.of([message] * len(IMAGES))[:, None] for message in (question, answer)]
    repeated = (Messages(np.repeat(one.tokens, ROUNDS, 1), np.repeat(one.lengths, ROUNDS, 1)) for one in turns)
    return Dialogs(IMAGES, caption, *repeated)


def games(bots, batch=5, rows=None):
    calls, words = Calls(bots, "my_bots.py"), TextVocabulary(KNOWN)
    pool = [Picture(f"image {image}") for image in IMAGES]
    rows = np.arange(len(IMAGES)) if rows is None else rows
    ranker = ranker_of(calls, pool, rows)
    return Games(TextBots(calls, words, pool), words, people()[rows], as_images(rows), ranker, 1, batch)


def texts(played, words):
    names = ("question_said", "question_heard", "answer_said", "answer_heard")
    return [[words.texts(getattr(played, name)[row]) for name in names] for row in range(len(played.ranks))]


def test_the_questioner_is_told_nothing_of_the_picture():
    assert set(Dialog.__dataclass_fields__) == {"caption", "turns"}
    with pytest.raises(AttributeError):
        Dialog("a").caption = "b"


@pytest.mark.parametrize("reading", READINGS)
def test_branches_are_what_is_played_from_the_beginning(reading):
    """Forks share nothing; what bots remember is what the reading says, whatever the batch."""
    conditions = [
        read_condition({"channel": channel, "kind": kind, "start": start}, "x")
        for (channel, kind), start in product(
            [("question", "replace"), ("answer", "negate"), ("image", "noise"), ("image", "swap")], (2, 7)
        )
    ]
    branching = games(Talkers())
    played = branching.play_branching(conditions, READINGS[reading])
    for condition, found in zip([read_condition({}, "x"), *conditions], played, strict=True):
        plain = games(Talkers(), batch=12)
        expected = plain.play(condition, READINGS[reading])
        assert texts(found, branching.vocabulary) == texts(expected, plain.vocabulary)
        assert found.ranks.tolist() == expected.ranks.tolist()


def test_bots_remember_their_own_words_as_the_reading_says():
    remembered = {}

    class Watching(Talkers):
        def score(self, dialogs, candidates):
            if dialogs[0].turns:
                remembered[reading] = dialogs[0].turns[0]
            return super().score(dialogs, candidates)

    for reading in READINGS:
        game = games(Watching(), batch=12)
        played = game.play(read_condition({"channel": "question", "kind": "replace"}, "x"), READINGS[reading])
        said, heard, _, answered = (one[0] for one in texts(played, game.vocabulary)[0])
        assert said != heard
        assert remembered[reading] == ((said if reading == "written" else heard), answered)


def test_conditions_that_are_the_same_in_text_are_the_same_in_all_readings():
    same = {name for name, condition in LOADED_CONDITIONS.items() if condition.same_in_text}
    assert same == {"none", "human", "image-from1", "image-swap", "caption-swap"}
    for name in same - {"caption-p1"}:
        # Other dialogs' captions and pictures need no baseline.
        one, other = (games(Talkers()).play(LOADED_CONDITIONS[name], READINGS[reading]) for reading in READINGS)
        assert one.ranks.tolist() == other.ranks.tolist()


def test_swapped_and_noisy_pictures_are_seen():
    for kind, seen in (("swap", "image "), ("noise", "noise ")):
        game = games(Talkers())
        played = game.play(read_condition({"channel": "image", "kind": kind, "start": 4}, "x"), READINGS["written"])
        answers = [dialog[2] for dialog in texts(played, game.vocabulary)]
        for row, image in enumerate(IMAGES):
            assert {answer.split(", ")[1] for answer in answers[row][:3]} == {f"image {image}"}
            [name] = {answer.split(", ")[1] for answer in answers[row][3:]}
            assert name.startswith(seen)
            assert name != f"image {image}"


def test_some_dialogs_are_drawn_among_all_candidates():
    rows = drawn(IMAGES, 4, seed=3)
    assert rows.tolist() == sorted(set(rows.tolist()))
    assert rows.tolist() != drawn(IMAGES, 4, seed=4).tolist()
    every, some = games(Talkers()), games(Talkers(), rows=rows)
    one, other = (game.play(read_condition({}, "x"), READINGS["written"]) for game in (every, some))
    assert one.ranks[rows].tolist() == other.ranks.tolist()
    with pytest.raises(InputError, match="choose from 1 to so many"):
        drawn(IMAGES, 13, 1)


def test_an_index_is_made_once_and_its_rows_are_scored():
    class Indexed(Talkers):
        prepared = 0

        def prepare(self, pictures):
            self.prepared += 1
            return np.array([[number(one.name)] for one in pictures])

        def score(self, dialogs, candidates):
            return np.array([[number(repr(dialog)) * row[0] % 101 for row in candidates] for dialog in dialogs])

    bots = Indexed()
    indexed = games(bots).play(read_condition({}, "x"), READINGS["written"])
    plain = games(Talkers()).play(read_condition({}, "x"), READINGS["written"])
    assert indexed.ranks.tolist() == plain.ranks.tolist()
    assert bots.prepared == 1


def test_an_index_may_be_a_sparse_tensor():
    class Bots(Quiet):
        def prepare(self, pictures):
            return torch.eye(len(pictures)).to_sparse()

    assert Calls(Bots(), "x.py").prepare((None,) * 3).tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("name", ["path", "what", "function", "place", "name", "self", "arguments"])
def test_options_may_have_any_name(tmp_path, name):
    (tmp_path / "mine.py").write_text("def make(**options):\n    return options\n")
    assert load(f"{tmp_path}/mine.py:make", {name: 1}) == {name: 1}


@pytest.mark.parametrize(("kind", "kept"), [("float32", "float32"), ("int64", "int64"), ("bfloat16", "float32")])
def test_an_index_of_tensors_keeps_its_type(kind, kept):
    """A builder multiplies it by weights of that type; NumPy has no bfloat16."""

    class Bots(Quiet):
        def prepare(self, pictures):
            return torch.ones(len(pictures), 2, dtype=getattr(torch, kind))

    assert Calls(Bots(), "x.py").prepare((None,) * 3).dtype == kept


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        (Path("weights.pt"), "weights.pt"),
        (date(2020, 1, 1), "2020-01-01"),
        ((1, 2), [1, 2]),
        ({1: 2}, {"1": 2}),
        ({("x", 1): 2}, None),
    ],
)
def test_what_describe_returns_can_be_written_down(value, kept):
    class Bots(Quiet):
        def describe(self):
            return {"name": "mine", "about": value, "trained_on": [3]}

    if kept is None:
        with pytest.raises(InputError, match=r"x.py: describe: not plain names and values \(keys must be str"):
            Calls(Bots(), "x.py").describe()
    else:
        assert Calls(Bots(), "x.py").describe() == {"name": "mine", "about": kept, "trained_on": [3]}


def test_a_lock_in_describe_is_kept_as_what_it_prints():
    class Bots(Quiet):
        def describe(self):
            return {"name": threading.Lock()}

    assert "lock" in Calls(Bots(), "x.py").describe()["name"]


def test_guesses_are_ranked_by_distance():
    class Guessing(Talkers):
        score = None

        def prepare(self, pictures):
            return np.arange(len(pictures))[:, None] * 1.0

        def guess(self, dialogs):
            return [[3.1]] * len(dialogs)

    played = games(Guessing()).play(read_condition({}, "x"), READINGS["written"])
    assert played.ranks[:, 0].tolist() == [6, 4, 2, 0, 1, 3, 5, 7, 8, 9, 10, 11]


@pytest.fixture
def files(tmp_path):
    """Dialogs, features and a folder of pictures of the validation split, and an archive of the same."""
    write_dialogs(tmp_path / "dialogs.h5", KNOWN, {"train": people(), "val": people()}, {})
    vectors = np.random.default_rng(1).random((len(IMAGES), 8), np.float32)
    made = {"extractor": "x", "normalisation": "l2", "preprocessing": "small", "length": 1.0}
    splits = {split: Features(IMAGES, vectors, {}) for split in ("train", "val")}
    write_features(tmp_path / "features.h5", splits, made)
    (tmp_path / "pictures").mkdir()
    with zipfile.ZipFile(tmp_path / "pictures.zip", "w") as archive:
        for image in IMAGES:
            name, content = f"COCO_val2014_{image:012d}.jpg", jpeg(picture(int(image)))
            (tmp_path / "pictures" / name).write_bytes(content)
            archive.writestr(name, content)
    return tmp_path


def test_pictures_are_opened_when_asked_for(files):
    for where in ("pictures", "pictures.zip"):
        pool = Pool.of(files / "dialogs.h5", IMAGES, [files / where], files / "features.h5")
        one = pool[IMAGES[0]]
        assert (one.name, one.open().mode, one.open().size) == ("image 5", "RGB", (40, 36))
        assert (one.path is None) == (where == "pictures.zip")
        assert one.features.shape == (8,)
        with pytest.raises(ValueError, match="read-only"):
            one.features[0] = 1
    for lacking, message in (("open", "give --pictures"), ("features", "give --features")):
        with pytest.raises(InputError, match=message):
            getattr(Picture("image 1"), lacking)() if lacking == "open" else Picture("image 1").features
    with pytest.raises(InputError, match=r"no picture of image 1 \(1 missing\)"):
        Pool.of(files / "dialogs.h5", np.array([1]), [files / "pictures"])


def test_peoples_dialogs_are_read_as_texts(files):
    dialog, seen = next(recorded(files / "dialogs.h5", features=files / "features.h5"))
    assert dialog == Dialog("a red ball", (("what ?", "yes"),) * ROUNDS)
    assert seen.features.shape == (8,)


FILE = """
class make:
    def __init__(self, fail=None):
        self.fail = fail
    def ask(self, dialogs):
        return [f"Is it {len(str(dialog)) % 9}-ish?" for dialog in dialogs]
    def answer(self, pictures, dialogs, questions):
        if self.fail and len(dialogs[0].turns) == self.fail:
            raise RuntimeError("out of words")
        sizes = [picture.open().size[0] + len(question) for picture, question in zip(pictures, questions)]
        return ["Yes" if "4" in question else f"Yes {size}" for question, size in zip(questions, sizes)]
    def score(self, dialogs, candidates):
        return [[len(str(dialog)) * int(picture.name[6:]) % 101 for picture in candidates] for dialog in dialogs]
    def describe(self):
        return {"name": "talker", "trained_on": self.fail and [] or []}
"""


def play(monkeypatch, capsys, files, *words):
    (files / "my_bots.py").write_text(FILE)
    given = ["play", "--load", files / "my_bots.py:make", "--dialogs", files / "dialogs.h5", "--config", files / "no"]
    return code_of(monkeypatch, *given, "--out", files / "out", *words), *capsys.readouterr()


def test_a_file_of_bots_plays_all_conditions(files, monkeypatch, capsys):
    words = ["--pictures", files / "pictures.zip", "--reading", "written", "released"]
    code, _, err = play(monkeypatch, capsys, files, *words)
    assert code == 0, err
    negation = ["--condition", "negation={channel: answer, kind: negate}"]
    code, _, err = play(monkeypatch, capsys, files, *words[:2], *negation)
    assert code == 0, err
    found = {path.relative_to(files / "out").as_posix() for path in files.rglob("out/*/*.h5")}
    assert found == {f"{reading}/{name}.h5" for reading in READINGS for name in LOADED_CONDITIONS} | {
        "written/negation.h5"
    }
    result = read_result(files / "out" / "written" / "negation.h5")
    said, heard = result.texts("answer_said")[0], result.texts("answer_heard")[0]
    assert {text.split()[0] for text in said} == {"Yes"}
    assert heard == [text.replace("Yes", "No") for text in said]
    assert result.texts("caption_said")[0] == ["a red ball"]
    names = ("model", "seed", "game_seed", "candidates", "trained_on")
    assert [result.attributes[name] for name in names] == ["talker", 1, 1, 12, 0]
    assert json.loads(result.attributes["training"])["regime"] == "loaded"


STRANGE = [
    "👍🏽 YES!",
    "是的，红色",
    "one\ntwo\r\n\tNo,",
    "",
    " ",
    '<b>no</b> & "x"',
    "‹start› UNK",
    "\ufeffa\u2028b",
    "עברית",
    "\x1b[31m",
]
STRANGE_BOTS = f"""
TEXTS = {STRANGE!r}
def ask(dialogs):
    return [TEXTS[len(dialog.turns)] for dialog in dialogs]
def answer(pictures, dialogs, questions):
    return [TEXTS[-1 - len(dialog.turns)] for dialog in dialogs]
def score(dialogs, candidates):
    return [[hash(picture.name) for picture in candidates] for dialog in dialogs]
"""


def test_strange_texts_are_kept_as_they_were_said_and_heard(files, monkeypatch):
    (files / "strange.py").write_text(STRANGE_BOTS, encoding="utf-8")
    given = ["play", "--load", files / "strange.py", "--dialogs", files / "dialogs.h5", "--config", files / "no"]
    conditions = ["--condition", "none={}", "--condition", "negation={channel: answer, kind: negate}"]
    run(monkeypatch, *given, "--features", files / "features.h5", "--out", files / "out", *conditions)
    said = [" ".join(text.split()) for text in STRANGE]
    heard = {"none": said[::-1], "negation": [text.replace("No,", "Yes,") for text in said[::-1]]}
    heard["negation"] = [text.replace("YES!", "NO!").replace(">no<", ">yes<") for text in heard["negation"]]
    for name, answers in heard.items():
        result = read_result(files / "out" / "written" / f"{name}.h5")
        assert result.texts("question_said") == result.texts("question_heard") == [said] * len(IMAGES)
        assert result.texts("answer_said") == [said[::-1]] * len(IMAGES)
        assert result.texts("answer_heard") == [answers] * len(IMAGES)


def test_a_late_start_goes_on_from_a_baseline_of_another_process(files, monkeypatch, capsys):
    words = ["--pictures", files / "pictures", "--condition", "late={channel: answer, kind: replace, start: 6}"]
    assert play(monkeypatch, capsys, files, *words, "--condition", "none={}")[0] == 0
    together = read_result(files / "out" / "written" / "late.h5")
    code, _, err = play(monkeypatch, capsys, files, *words, "--baseline", files / "out" / "written" / "none.h5")
    assert code == 0, err
    alone = read_result(files / "out" / "written" / "late.h5")
    for name in ("question_said", "question_heard", "answer_said", "answer_heard"):
        assert together.texts(name) == alone.texts(name)
    assert together.ranks.tolist() == alone.ranks.tolist()


def test_a_baseline_of_other_pictures_is_refused(files, monkeypatch, capsys):
    """The same pictures, in an archive or a folder, are the same."""
    late = ["--condition", "late={channel: answer, kind: replace, start: 6}"]
    baseline = ["--baseline", files / "out" / "written" / "none.h5"]
    assert play(monkeypatch, capsys, files, "--pictures", files / "pictures", "--condition", "none={}")[0] == 0
    code, _, err = play(monkeypatch, capsys, files, "--pictures", files / "pictures.zip", *late, *baseline)
    assert code == 0, err
    name = f"COCO_val2014_{int(IMAGES[3]):012d}.jpg"
    (files / "pictures" / name).write_bytes(jpeg(picture(int(IMAGES[4]))))
    code, _, err = play(monkeypatch, capsys, files, "--pictures", files / "pictures", *late, *baseline)
    assert code == 2
    assert "do not belong together: bots: " in err
    assert err.count("\n") == 1


def test_what_raises_is_told_with_condition_round_and_dialog(files, monkeypatch, capsys):
    words = ["--pictures", files / "pictures", "--options", "{fail: 4}", "--condition", "none={}"]
    code, _, err = play(monkeypatch, capsys, files, *words)
    assert code == 2
    *trace, last = err.splitlines()
    assert last.endswith(
        "answer: after round 4, dialog 0 (“a red ball”), raised RuntimeError: out of words "
        "(condition none, reading written)"
    )
    shown = "\n".join(trace)
    assert 'my_bots.py", line 9, in answer' in shown
    assert "src/cooperation" not in shown


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--pictures: give archives or folders of pictures, or --features, or both"),
        (["--features", "features.h5"], "image 5: the bots open it, but no pictures were given; give --pictures"),
        (["--features", "features.h5", "--queries", "0"], "--queries: 0, but there are 12 dialogs"),
        (["--features", "features.h5", "--condition", "x={facts: bare}"], "reads texts; leave facts out"),
        (["--features", "features.h5", "--options", "3"], "--options: 3 has no keys"),
    ],
)
def test_mistakes_are_told(files, monkeypatch, capsys, words, message):
    monkeypatch.chdir(files)
    code, _, err = play(monkeypatch, capsys, files, *words)
    assert code == 2
    assert message in err.splitlines()[-1]


def readme():
    """The bots of README and its commands for them."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [section] = re.findall(r"^## Test your own model\n(.*?)^## ", text, re.DOTALL | re.MULTILINE)
    blocks = dict(re.findall(r"^```(\w*)\n(.*?)^```", section, re.DOTALL | re.MULTILINE))
    code, commands, settings = blocks["python"], blocks[""], blocks["yaml"]
    lines = commands.replace("\\\n", "").splitlines()
    return code, [shlex.split(line, comments=True)[1:] for line in lines], yaml.safe_load(settings)


def test_the_readmes_bots_and_commands_work(files, monkeypatch, capsys):
    code, commands, _ = readme()
    monkeypatch.chdir(files)
    Path("my_bots.py").write_text(code, encoding="utf-8")
    data = {
        "data/miniature/dialogs.h5": ["dialogs.h5"],
        "data/miniature/raw/val2014.zip": ["pictures.zip"],
        "200": ["9"],
    }
    assert [words[0] for words in commands] == ["conform", "test", "compare"]
    for words in commands:
        # A shell would expand names of folders.
        given = [data.get(word) or ([*Path().glob(word)] if "*" in word else [word]) for word in words]
        run(monkeypatch, *chain(*given))
        said = capsys.readouterr().out
        assert words[0] == "compare" or said.count("ok  ") == len(CHECKS)
    folder = Path("reports/mine/results/written")
    told, swapped = (read_result(folder / f"{name}.h5") for name in ("none", "image-swap"))
    # Twelve pictures of random brightness: the answers tell them apart, another's lead astray.
    assert told.percentiles[:, 10].mean() > 80
    assert swapped.percentiles[:, 10].mean() < 60
    assert len(told.ranks) == 9
    assert Path("reports/mine/index.html").is_file()


def test_the_settings_name_loaded_models():
    shipped = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    _, _, own = readme()
    given = shipped | {key: shipped[key] | own[key] for key in ("models", "conditions")} | {"seeds": [4, 5]}
    experiment = read(given)
    assert experiment.loaded["mine"] == LoadedModel("my_bots.py:Shades", {})
    assert experiment.loaded["mine"].file == "my_bots.py"
    games = [game.path for game in experiment.games("miniature") if game.model == "mine"]
    assert games == [
        f"results/miniature/mine-seed4/{reading}/{name}.h5"
        for name in own["conditions"]["mine"]
        for reading in ("written", "released")
    ]


@pytest.mark.parametrize(
    ("model", "condition", "message"),
    [
        ({"load": 3}, {}, "models.mine.load: 3 names no file; write my_bots.py:make"),
        ({"load": "a.py:b", "regime": "dialog"}, {}, "models.mine.regime: unknown 'regime'"),
        ({"load": "a.py:b", "options": 3}, {}, "models.mine.options: 3 has no keys"),
        ({"load": "a.py:b"}, {"none-bare": {"facts": "bare"}}, "conditions.mine.none-bare: facts: bare"),
    ],
)
def test_mistakes_in_the_settings_of_loaded_models(model, condition, message):
    shipped = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
    shipped["models"]["mine"], shipped["conditions"]["mine"] = model, {"none": {}} | condition
    with pytest.raises(InputError) as refused:
        read(shipped)
    assert message in str(refused.value)


def test_the_workflow_plays_a_loaded_model_in_one_job(tmp_path):
    config = CONFIG | {"models": {"mine": {"load": "my_bots.py:make", "options": {"size": 3}}}}
    config |= {"conditions": {"mine": {"none": {}, "late": {"channel": "image", "kind": "noise", "start": 4}}}}
    project = Project(tmp_path, config)
    missing = project.snakemake("-n")
    assert "my_bots.py: no such file; write it, or correct models.mine.load" in missing.stdout
    (tmp_path / "my_bots.py").write_text(FILE)
    jobs = project.jobs("results/small/mine-seed1/written/late.h5")
    assert jobs == {"miniature": 1, "encode": 1, "extract": 1, "normalise": 1, "play_mine": 1}
    shown = project.snakemake("-n", "--verbose", "results/small/mine-seed1/written/late.h5").stdout
    [command] = [line for line in shown.splitlines() if "cooperation play" in line]
    assert """--load my_bots.py:make --options '{"size": 3}'""" in command
    assert "--pictures data/small/raw/val2014.zip" in command


def test_many_candidates_are_scored_in_blocks():
    asked = []

    class Counting(Talkers):
        def prepare(self, pictures):
            return np.arange(len(pictures))

        def score(self, dialogs, candidates):
            asked.append((len(dialogs), len(candidates)))
            return -np.abs(candidates - 7.5)[None].repeat(len(dialogs), 0)

    pool = [Picture(f"image {image}") for image in range(25_000)]
    ranker = ranker_of(Calls(Counting(), "x"), pool, np.arange(300))
    tracemalloc.start()
    ranks = ranker.rank((Dialog("a"),) * 300, np.arange(300))
    assert tracemalloc.get_traced_memory()[1] < 200e6
    tracemalloc.stop()
    # 7 and 8 are the nearest, equally so; then 6 and 9, and so on to 0 and 15, beyond which there are no ties.
    assert ranks[:9].tolist() == [14.5, 12.5, 10.5, 8.5, 6.5, 4.5, 2.5, 0.5, 0.5]
    assert ranks[16:].tolist() == list(range(16, 300))
    assert set(asked) == {(160, 10_000), (160, 5_000), (140, 10_000), (140, 5_000)}
