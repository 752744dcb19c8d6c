"""`cooperation test`: what is played and kept, what a stop costs, samples, and what is said where it goes wrong."""

import json
import os
import re
import sqlite3
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from in_process import code_of
from killing import end, start
from project import Project
from reduced import CONFIG
from test_api import files  # noqa: F401

from cooperation.bots import memory
from cooperation.bots.draws import reseed
from cooperation.bots.memory import Memory
from cooperation.commands.trial import calls_of, with_people
from cooperation.config.conditions import LOADED_CONDITIONS, read_condition
from cooperation.evaluation.conformance import CHECKS
from cooperation.evaluation.results import MESSAGES, read_result
from cooperation.evaluation.tested import read_tested, write_tested
from cooperation.game.messages import Messages
from cooperation.game.readings import READINGS
from cooperation.game.text import TextVocabulary
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.files import InputError
from cooperation.reports.card import costs

BOTS = """
import os, random, signal
from pathlib import Path
import numpy as np

LOG = Path(__file__).with_name("log")

class make:
    def __init__(self, size=1):
        self.size = size
    def ask(self, dialogs):
        note("ask", dialogs)
        return [f"Is it {number(dialog) % 9}-ish?" for dialog in dialogs]
    def answer(self, pictures, dialogs, questions):
        note("answer", zip(dialogs, [picture.name for picture in pictures], questions))
        stop(len(dialogs[0].turns))
        sizes = [picture.features[0] + len(question) for picture, question in zip(pictures, questions)]
        return ["Yes" if "4" in question else f"no {size:.4f}" for question, size in zip(questions, sizes)]
    def prepare(self, pictures):
        note("prepare", pictures)
        return np.array([[float(picture.name[6:])] for picture in pictures])
    def score(self, dialogs, candidates):
        note("score", dialogs)
        return np.array([[number(dialog) * int(row[0]) % 101 for row in candidates] for dialog in dialogs])
    def describe(self):
        return {"name": "My talker (2)", "version": "3"}

def number(dialog):
    return sum(map(ord, str(dialog)))

def note(name, given):
    with LOG.open("a") as log:
        log.writelines(f"{name} {one}\\n" for one in given)

def stop(turns):
    flag = Path(__file__).with_name(f"stop{turns}")
    if flag.exists():
        flag.unlink()
        os.kill(os.getpid(), signal.SIGKILL)
"""


def words_of(folder, *words, name="make", out="out"):
    data = [
        "--dialogs",
        folder / "dialogs.h5",
        "--features",
        folder / "features.h5",
        "--config",
        folder / "config.yaml",
    ]
    return ["test", f"{folder}/my_bots.py:{name}", *data, "--out", folder / out, *words]


@pytest.fixture
def tried(files, monkeypatch, capsys):  # noqa: F811
    """A function that tests the bots: words → what was tested; raises what is said where it is refused."""
    (files / "my_bots.py").write_text(BOTS)

    def run(*words, out="out", name="make"):
        (files / "log").write_text("")
        code = code_of(monkeypatch, *words_of(files, *words, name=name, out=out))
        run.said = capsys.readouterr()
        if code:
            raise InputError(run.said.err)
        return read_tested(files / out)

    run.folder = files
    return run


def settle(folder, conditions):
    """Write settings in which the model has these conditions."""
    own = {"models": {"mine": {"load": f"{folder}/my_bots.py:make"}}, "conditions": {"mine": conditions}}
    (folder / "config.yaml").write_text(yaml.safe_dump({**CONFIG, **own, "readings": ["released"]}, sort_keys=False))


FEW = {"none": {}, "x": {"channel": "answer", "kind": "replace", "start": 3}}


def log_of(folder, name=""):
    return [line for line in (folder / "log").read_text().splitlines() if line.startswith(name)]


def beyond_the_rules(folder):
    """The answers of rounds in which no rule is looked at: those are the first three and the last."""
    return [line for line in log_of(folder, "answer") if 3 < line.count("('") < 8]


def made(tested):
    return sum(count.made for played in tested.played for count in played.calls.values())


def cached(tested):
    return sum(count.cached for played in tested.played for count in played.calls.values())


def arrays(result):
    numbers = [result.ranks, result.perturbed_messages, result.perturbed_tokens, result.image_ids]
    return [array.tolist() for array in numbers], [result.texts(name) for name in MESSAGES]


def test_all_conditions_are_played_as_play_plays_them(tried, monkeypatch, capsys):
    folder, tested = tried.folder, tried()
    assert [(played.condition, played.reading) for played in tested.played] == [
        (name, reading) for reading in READINGS for name in LOADED_CONDITIONS
    ]
    data = [
        "--dialogs",
        folder / "dialogs.h5",
        "--features",
        folder / "features.h5",
        "--config",
        folder / "config.yaml",
    ]
    load = ["--load", f"{folder}/my_bots.py:make", "--reading", *READINGS]
    assert code_of(monkeypatch, "play", *load, *data, "--out", folder / "played") == 0
    capsys.readouterr()
    for played in tested.played:
        mine, its = (read_result(path) for path in (folder / "out" / played.file, folder / "played" / played.file[8:]))
        assert arrays(mine) == arrays(its)
        same = {"inputs"} if json.loads(mine.attributes["inputs"]).get("baseline") else set()
        assert {**mine.attributes, **dict.fromkeys(same)} == {**its.attributes, **dict.fromkeys(same)}
        assert json.loads(mine.attributes["settings"]) == dict(played.settings)


def test_what_was_done_is_written_down(tried):
    tested = tried("--queries", 9, "--candidates", 11, "--options", "{size: 3}")
    assert (tested.model, dict(tested.described)) == ("My-talker-2", {"name": "My talker (2)", "version": "3"})
    assert (tested.queries, tested.candidates, tested.samples, tested.sampled_by) == (9, 11, 1, "")
    assert (dict(tested.options), tested.trained_on, tested.ranks_by) == ({"size": 3}, None, "score")
    assert [(one.name, one.state) for one in tested.judged] == [(check.name, "ok") for check in CHECKS]
    same = {played.condition for played in tested.played if played.same_as == "written"}
    assert same == {name for name, condition in LOADED_CONDITIONS.items() if condition.same_in_text}
    baseline = tested.played[0].calls
    assert {name: count.made + count.cached for name, count in baseline.items()} == {
        "ask": 90,
        "answer": 90,
        "score": 99,
    }
    assert all(0 < count.seconds < tested.played[0].seconds for count in baseline.values())
    # "Is it 3-ish?" has three words that the data set lacks; "Yes" is known, "no 0.1234" has one of two.
    assert 0 < tested.unknown_words["answer"] < 1
    lines = [line for line in tried.said.out.splitlines() if line.startswith("results/")]
    assert len(lines) == 2 * len(LOADED_CONDITIONS) - len(same)
    mpr = read_result(tried.folder / "out" / tested.played[0].file).percentiles[:, 10].mean()
    assert lines[0].startswith(f"results/written/none: MPR {mpr:.1f}; ")


def test_files_of_a_test_are_as_they_were_written(tried):
    tested, out = tried(), tried.folder / "out"
    write_tested(out, replace(tested, described={"weights": Path("a")}))
    assert read_tested(out) == replace(tested, described={"weights": "a"})
    text = (out / "test.json").read_text()
    (out / "test.json").write_text(text.replace('"queries": 12', '"queries": 13'))
    with pytest.raises(InputError, match=r"test\.json: edited since the test; run"):
        read_tested(out)
    (out / "test.json").write_text(text[:-9])
    with pytest.raises(InputError, match=r"test\.json: damaged or not a test's"):
        read_tested(out)
    first, second = (out / played.file for played in tested.played[:2])
    second.replace(first)
    with pytest.raises(InputError, match=r"written/none\.h5: not the result that test\.json was written with"):
        tested.check_results(out)
    first.unlink()
    with pytest.raises(InputError, match=r"written/none\.h5: no such file, but test\.json names it"):
        tested.check_results(out)


def test_a_second_look_asks_nothing(tried):
    first = tried()
    assert made(first) > 0
    assert beyond_the_rules(tried.folder)
    again = tried()
    assert (made(again), cached(again)) == (0, made(first) + cached(first))
    assert not beyond_the_rules(tried.folder)
    assert [one.sha256 for one in first.played] == [one.sha256 for one in again.played]
    # New words have other numbers where dialogs are played in another order.
    other = tried("--batch", 5, "--cache", tried.folder / "out/cache", out="other")
    assert made(other) == 0
    for one in first.played:
        assert arrays(read_result(tried.folder / "out" / one.file)) == arrays(
            read_result(tried.folder / "other" / one.file)
        )


def test_only_what_is_new_is_asked(tried):
    folder = tried.folder
    settle(folder, FEW)
    first = tried("--queries", 8)
    more = tried("--queries", 12)
    baseline = more.played[0].calls
    # The pictures of four dialogs are new; all have the same caption, so that the first question is.
    assert [(baseline[name].made, baseline[name].cached) for name in ("score", "answer")] == [(44, 88), (40, 80)]
    assert baseline["ask"].made <= 36
    # Fewer candidates are ranked anew, but no one need talk for that.
    fewer = tried("--queries", 8, "--candidates", 11).played[0].calls
    assert fewer["score"].made >= 77
    assert fewer["ask"].cached >= 70
    # Another place for what is known, and the same for other words of the model, start from nothing.
    assert made(tried("--queries", 8, "--cache", folder / "elsewhere")) == made(first)
    assert made(tried("--queries", 8, "--options", "{size: 2}", "--model", "mine")) == made(first)
    (folder / "my_bots.py").write_text(BOTS + "# another\n")
    assert made(tried("--queries", 8)) == made(first)


def test_files_beside_and_files_of_options_are_part_of_the_model(tried):
    folder = tried.folder
    settle(folder, FEW)
    (folder / "helper.py").write_text("SIZE = 3\n")
    (folder / "my_bots.py").write_text("import helper\n" + BOTS)
    (folder / "weights.txt").write_text("1")
    options = ["--queries", 2, "--model", "mine", "--options", f"{{size: {{a: [{folder}/weights.txt]}}}}"]
    first = made(tried(*options))
    assert made(tried(*options)) == 0
    (folder / "weights.txt").write_text("2")
    assert made(tried(*options)) == first
    (folder / "helper.py").write_text("SIZE = 4\n")
    assert made(tried(*options)) == first
    (folder / "none_of_it.py").write_text("SIZE = 4\n")
    assert made(tried(*options)) == 0


def test_the_conditions_of_the_settings_are_played(tried):
    late, no = {"channel": "answer", "kind": "replace", "start": 6}, {"channel": "answer", "kind": "negate"}
    own = {"none": {}, "late": late, "no": no}
    own["heard"] = {"channel": "question", "kind": "replace", "script": "dialog"}
    settle(tried.folder, own)
    (tried.folder / "my_bots.py").write_text(BOTS.replace('"Yes" if', '"Si" if').replace('f"no ', 'f"non '))
    tested = tried("--queries", 6)
    assert tested.model == "mine"
    assert [played.condition for played in tested.played if played.reading == "written"] == [*own, "human"]
    found = {(played.condition, played.reading): played for played in tested.played}
    # Nobody says yes or no, and nobody hears that question: noted, and the rest is played.
    assert "perturbed nothing" in found["no", "written"].note
    assert "nobody remembers it" in found["heard", "written"].note
    assert [found[key].file for key in (("no", "released"), ("heard", "written"))] == ["", ""]
    assert found["heard", "released"].file
    # Five rounds are taken from the baseline.
    assert {name: one.made + one.cached for name, one in found["late", "released"].calls.items()} == dict.fromkeys(
        ("ask", "answer", "score"), 30
    )


@pytest.mark.parametrize(
    "condition",
    [
        *LOADED_CONDITIONS.values(),
        *(
            read_condition(given, "x")
            for given in (
                {"channel": "image", "kind": "noise", "start": 4},
                {"channel": "answer", "kind": "swap", "start": 4},
                {"channel": "answer", "kind": "replace", "script": "questions"},
                {"channel": "answer", "kind": "replace", "script": "dialog", "start": 4},
            )
        ),
    ],
    ids=lambda condition: condition.text,
)
def test_as_many_calls_are_made_as_the_bar_expects(tried, condition):
    settle(tried.folder, {"none": {}, "x": dict(condition.settings)} if condition.kind else {"none": {}})
    for played in tried("--queries", 3).played:
        if not played.same_as:
            counts = sum(count.made + count.cached for count in played.calls.values())
            assert counts == 3 * calls_of(read_condition(played.settings, "x"))


def test_peoples_dialog_is_always_played():
    human, none = {"script": "dialog"}, {"none": read_condition({}, "x")}
    assert list(with_people(none)) == ["none", "human"]
    assert list(with_people({"people": read_condition(human, "x"), **none})) == ["none", "people"]


def test_a_breach_ends_it_with_all_lines_and_no_file(tried):
    (tried.folder / "my_bots.py").write_text(BOTS.replace("% 101", "% 101 + random.random()"))
    with pytest.raises(InputError, match="breaks 1 of the rules: same twice"):
        tried()
    assert len(tried.said.out.splitlines()) == len(CHECKS)
    assert not (tried.folder / "out").exists()


def test_a_killed_test_goes_on_where_it_was(tried):
    folder = tried.folder
    settle(folder, FEW)
    whole = tried("--batch", 4, out="whole")
    expected = Counter(beyond_the_rules(folder))
    (folder / "log").write_text("")
    kills = (4, 5, 6, 7)
    for turns in kills:
        (folder / f"stop{turns}").touch()
        assert end(start(words_of(folder, "--batch", 4))) == -9
    assert end(start(words_of(folder, "--batch", 4))) == 0
    tested = read_tested(folder / "out")
    for mine, its in zip(tested.played, whole.played, strict=True):
        assert arrays(read_result(folder / "out" / mine.file)) == arrays(read_result(folder / "whole" / its.file))
    # What was under way when it was killed is asked again, nothing else.
    found = Counter(beyond_the_rules(folder))
    assert found.keys() == expected.keys()
    assert 0 < sum((found - expected).values()) <= 4 * len(kills)


def test_what_is_known_survives_a_kill_at_any_moment(tmp_path):
    """Each outcome that was returned is there, whatever came after."""
    for turn in range(5):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            remembered = Memory(tmp_path, "bots")
            for number in range(turn, 10**6, 5):
                remembered.recall("ask", [number], lambda rows: ["x" * 9999 for _ in rows])
                os.write(writer, number.to_bytes(4, "big"))
        os.close(writer)
        told = [int.from_bytes(os.read(reader, 4), "big") for _ in range(20 * turn + 7)]
        os.kill(child, 9)
        os.waitpid(child, 0)
        os.close(reader)
        found = Memory(tmp_path, "bots")
        assert found.recall("ask", told, lambda _: pytest.fail("lost")) == (["x" * 9999] * len(told), len(told))
        found.close()


def test_a_call_is_made_once_for_each_input_and_bots(tmp_path):
    asked = []

    def call(rows):
        asked.append(rows)
        return [f"said {row}" for row in rows]

    for about, known in (("a", 1), ("a", 4), ("b", 1)):
        remembered = Memory(tmp_path, about)
        assert remembered.recall("ask", [[1, "x"], [2, "x"], [1, "x"], [3, "é"]], call) == (
            ["said 0", "said 1", "said 0", "said 3"],
            known,
        )
        remembered.close()
    assert asked == [[0, 1, 3]] * 2
    many = list(range(3 * memory.AT_ONCE + 1))
    remembered = Memory(tmp_path, "many")
    assert remembered.recall("score", many, lambda rows: [row / 7 for row in rows])[0] == [one / 7 for one in many]
    assert remembered.recall("score", many[::-1], call) == ([one / 7 for one in many[::-1]], len(many))
    remembered.close()


def test_an_index_is_kept_if_it_is_an_array(tmp_path):
    remembered, made_here = Memory(tmp_path, "bots"), []

    def make(index):
        made_here.append(index)
        return index

    for index, kept in (
        (np.arange(6.0).reshape(3, 2), True),
        (np.array(["a", "b"]), True),
        ([1, 2], False),
        (None, False),
    ):
        key = str(index)
        assert remembered.array("prepare", key, lambda: make(index))[1] is False  # noqa: B023
        found, known = remembered.array("prepare", key, lambda: make(index))  # noqa: B023
        assert known == kept
        assert np.array_equal(found, index) if kept else found == index
    # An index that is not what was written is made again.
    first = next(tmp_path.glob("prepare-*.npy"))
    first.write_bytes(first.read_bytes()[:-1] + b"\1")
    known = [remembered.array("prepare", str(index), lambda: make(index))[1] for index in made_here[:2]]  # noqa: B023
    assert sorted(known) == [False, True]
    remembered.close()


def versioned(path):
    with sqlite3.connect(path) as file:
        file.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda path: path.write_bytes(b"no cache" * 999), "damaged or no cache (file is not a database); delete it"),
        (lambda path: path.mkdir(), "a folder, not a file"),
        (versioned, "of another version of this program; delete it"),
    ],
)
def test_a_cache_that_cannot_be_used(tried, spoil, message):
    (tried.folder / "kept").mkdir()
    spoil(tried.folder / "kept" / memory.FILE)
    with pytest.raises(InputError, match=re.escape(message)) as refused:
        tried("--cache", tried.folder / "kept")
    assert f"{refused.value}".startswith(f"cooperation test: {tried.folder}/kept/{memory.FILE}: ")
    assert f"{refused.value}".count("\n") == 1
    assert tried.said.out == ""


def test_a_cache_that_another_process_writes(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "PATIENCE", 0.01)
    one = Memory(tmp_path, "bots")
    other = sqlite3.connect(one.path)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(InputError, match="database is locked"):
        one.recall("ask", [1], lambda _: ["a"])
    other.rollback()
    other.close()
    assert one.recall("ask", [1], lambda _: ["a"]) == (["a"], 0)
    one.close()


def test_bots_that_keep_more_than_an_index_are_prepared_each_time(tried):
    settle(tried.folder, FEW)
    leaving = BOTS.replace("        return np.array([[float", "        self.own = 7\n        return np.array([[float")
    (tried.folder / "my_bots.py").write_text(leaving.replace("* int(row[0])", "* int(row[0]) * self.own"))
    first = tried("--queries", 3)
    assert "needs more of `prepare` than it returns" in tried.said.err
    assert not list(tried.folder.glob("out/cache/*.npy"))
    assert made(tried("--queries", 3)) == 0
    assert made(tried("--queries", 4)) < made(first)


DRAWN = {
    "global": "random.random()",
    "own": "self.chance.random()",
    "seeded": "np.random.default_rng([self.seed, number(dialog)]).random()",
}
MAKERS = {"own": "self.chance = np.random.default_rng(3)", "seeded": "self.seed = seed"}


def drawing(folder, how):
    text = BOTS.replace("number(dialog) % 9", f"int({DRAWN[how]} * 9)")
    text = text.replace("self, size=1", "self, seed, size=1" if how == "seeded" else "self, size=1")
    (folder / "my_bots.py").write_text(text.replace("self.size = size", MAKERS.get(how, "pass")))


@pytest.mark.parametrize("how", DRAWN)
def test_samples_are_played_and_told_apart(tried, how):
    drawing(tried.folder, how)
    settle(tried.folder, FEW)
    tested = tried("--queries", 5, "--samples", 3)
    assert (tested.samples, tested.sampled_by) == (3, "seed" if how == "seeded" else "plays")
    assert dict(tested.options) == {}
    results = [read_result(tried.folder / "out" / one.file) for one in tested.played if one.condition == "none"]
    assert [result.attributes["seed"] for result in results] == [1, 1, 2, 2, 3, 3]
    asked = [str(result.texts("question_said")) for result in results]
    # The same in both readings, another in each sample; what they are made of says so, too.
    assert asked[::2] == asked[1::2]
    assert len(set(asked)) == 3
    assert len({json.loads(result.attributes["identity"])["bots"] for result in results}) == 3
    states = {one.name: one.state for one in tested.judged}
    expected = {"global": {"same twice": "samples"}, "own": {"no hidden state": "samples"}, "seeded": {}}[how]
    apart = {} if how == "seeded" else dict.fromkeys(("any batch size", "any order"), "not judged")
    assert states == dict.fromkeys(states, "ok") | expected | apart
    assert "draws nothing" not in tried.said.err
    assert made(tried("--queries", 5, "--samples", 3)) == 0
    # One sample more is played, and fewer leave no others' results behind.
    more = tried("--queries", 5, "--samples", 4).played
    assert {one.sample for one in more if made_of(one)} == {4}
    baselines = [tried.folder / "out" / one.file for one in more if one.condition == "none" and not one.same_as]
    assert len({str(read_result(path).texts("question_said")) for path in baselines}) == 4
    tried("--queries", 5, "--samples", 2)
    assert {path.parts[-3] for path in tried.folder.glob("out/results/**/*.h5")} == {"sample-1", "sample-2"}


def made_of(played):
    return sum(count.made for count in played.calls.values())


def test_options_of_samples_may_be_of_any_kind(tried):
    """YAML knows dates, which JSON lacks: the model gets what they print, and a seed."""
    text = BOTS.replace("def __init__(self, size=1):", "def __init__(self, seed=0, day=None):")
    (tried.folder / "my_bots.py").write_text(text.replace("self.size = size", "self.day = day + ''"))
    tested = tried("--queries", 2, "--samples", 2, "--options", "{day: 2020-01-01}")
    assert tested.options == {"day": "2020-01-01"}


def test_the_time_of_prepare_is_within_that_of_the_conditions(tried):
    text = BOTS.replace('note("prepare", pictures)', 'note("prepare", pictures); import time; time.sleep(0.3)')
    (tried.folder / "my_bots.py").write_text(text)
    tested = tried("--queries", 2)
    assert 0.3 <= tested.prepared_seconds <= sum(played.seconds for played in tested.played)
    shown = costs(tested).caption
    assert shown.startswith(f"{sum(played.seconds for played in tested.played):,.1f} seconds in all")


def test_another_models_test_is_not_overwritten(tried):
    tried("--queries", 2)
    text = (tried.folder / "my_bots.py").read_text() + "\n\nclass other(make):\n    pass\n"
    (tried.folder / "my_bots.py").write_text(text)
    with pytest.raises(InputError, match=r"out: holds the test of .*my_bots.py:make; choose another --out"):
        tried("--queries", 2, name="other")
    assert tried("--queries", 3).queries == 3


def test_samples_of_bots_that_draw_nothing_are_told(tried):
    tried("--queries", 2, "--samples", 2)
    assert "draws nothing, all samples are the same; leave --samples out" in tried.said.err
    with pytest.raises(InputError, match="--samples: 0 is too small"):
        tried("--samples", 0)


def test_a_seed_is_given_once(tried):
    drawing(tried.folder, "seeded")
    assert tried("--queries", 2, "--options", "{seed: 7}").samples == 1
    with pytest.raises(InputError, match="--options: seed, but --samples makes the bots with 1 to 2; leave it out"):
        tried("--queries", 2, "--options", "{seed: 7}", "--samples", 2)


@pytest.mark.parametrize(
    ("change", "broken"),
    [
        (("* int(row[0])", "* int(row[0] + seen())"), "no hidden state"),
        (("number(dialog) * int", "(leaked() + number(dialog)) * int"), "no leak"),
    ],
)
def test_what_draws_may_break_no_other_rule(tried, change, broken):
    drawing(tried.folder, "global")
    text = (tried.folder / "my_bots.py").read_text().replace(*change)
    text = (
        text.replace("        stop(", "        LEAKED[:] = [pictures[0].name]\n        stop(")
        if broken == "no leak"
        else text
    )
    text += "\nSEEN, LEAKED = [], ['image 5']\ndef seen():\n    SEEN.append(1)\n    return len(SEEN)\n"
    (tried.folder / "my_bots.py").write_text(text + "def leaked():\n    return number(LEAKED)\n")
    with pytest.raises(InputError, match=broken):
        tried("--samples", 2)


def test_every_generator_begins_anew():
    class Bots:
        def __init__(self):
            nested = {"list": [np.random.RandomState(5)], "own": np.random.default_rng()}
            self.parts, self.chance = nested, __import__("random").Random()

        def drawn(self):
            import random

            held = self.parts["list"][0].rand(), self.parts["own"].random(), self.chance.random()
            return [random.random(), np.random.rand(), *held]  # noqa: NPY002

    bots, others = Bots(), Bots()
    found = []
    for one, seed in ((bots, 1), (bots, 1), (others, 1), (bots, 2)):
        reseed(one, seed)
        found.append(one.drawn())
    assert found[0] == found[1] == found[2]
    assert len({*found[0], *found[3]}) == 10


KNOWN = Vocabulary.of(("a", "cat", "is", "it", "no", "red", "?", "UNK"))


def test_words_are_known_in_any_casing_and_punctuation():
    words = TextVocabulary(KNOWN)
    assert words.unknown(words.messages(["Is it a CAT?", "¿Is zebra, zebra a (Quagga)!", "", "--"])) == (10, 3)
    assert words.unknown(Messages.of([])) == (0, 0)
    rounds = words.messages(["a cat", "a yak"])[:, None]
    assert words.unknown(rounds) == (4, 1)


def played_by(project, *words):
    """The commands that play, of a dry run."""
    shown = project.snakemake("-n", "--verbose", *words).stdout
    return shown, [line for line in shown.splitlines() if "cooperation play" in line]


def test_the_workflow_plays_each_condition_in_a_job_of_its_own(tmp_path):
    """Under all readings together, so that what is the same in both is played once; with a GPU where asked for."""
    late = {"channel": "answer", "kind": "replace", "start": 4}
    config = {**CONFIG, "readings": ["written", "released"], "conditions": {"mine": {"none": {}, "late": late}}}
    (tmp_path / "weights.pt").write_text("1")
    config["models"] = {"mine": {"load": "my_bots.py:make", "options": {"weights": "weights.pt"}}}
    config["datasets"] = {"small": {**CONFIG["datasets"]["small"], "jobs": "condition"}}
    project = Project(tmp_path, config)
    (tmp_path / "my_bots.py").write_text(BOTS)
    asked = "results/small/mine-seed1/released/late.h5"
    assert project.jobs(asked) == {"miniature": 1, "encode": 1, "extract": 1, "normalise": 1, "play_mine": 2}
    shown, (first, second) = played_by(project, asked, "--set-resources", "play_mine:gpu=1")
    assert "--condition none " in first
    assert "--baseline" not in first
    folder = "results/small/mine-seed1"
    assert f"--baseline {folder}/written/none.h5 {folder}/released/none.h5 --reading written released" in second
    assert len(re.findall(r"^ +resources: .*\bgpu=1\b", shown, re.MULTILINE)) == 2
    assert shown.count("input: my_bots.py, weights.pt, ") == 2
    assert f"output: {folder}/written/late.h5, {folder}/released/late.h5" in shown


def test_baselines_of_several_readings(files, monkeypatch, capsys):  # noqa: F811
    (files / "my_bots.py").write_text(BOTS)
    data = ["--dialogs", files / "dialogs.h5", "--features", files / "features.h5", "--config", files / "config.yaml"]
    play = ["play", "--load", f"{files}/my_bots.py:make", *data, "--reading", *READINGS]
    conditions = ["x={channel: answer, kind: replace, start: 4}", "y={channel: image, kind: noise, start: 3}"]
    words = [word for condition in conditions for word in ("--condition", condition)]
    assert code_of(monkeypatch, *play, *words, "--condition", "none={}", "--out", files / "whole") == 0
    baselines = [files / "whole" / reading / "none.h5" for reading in READINGS]
    assert code_of(monkeypatch, *play, *words, "--baseline", *baselines, "--out", files / "apart") == 0
    for place in (f"{reading}/{name}.h5" for reading in READINGS for name in ("x", "y")):
        mine, its = (read_result(files / folder / place) for folder in ("apart", "whole"))
        assert arrays(mine) == arrays(its)
        assert mine.attributes["inputs"] == its.attributes["inputs"]
    capsys.readouterr()
    for given, message in (
        (baselines[:1], "1 for 2 readings"),
        (baselines[::-1], "its reading is released, not written"),
    ):
        assert code_of(monkeypatch, *play, *words, "--baseline", *given, "--out", files / "apart") == 2
        assert message in capsys.readouterr().err


def test_what_raises_in_a_game_names_condition_round_and_dialog(tried):
    failing = BOTS.replace(
        "        stop(", "        assert len(dialogs[0].turns) < 4 or 'noise' not in str(pictures)\n        stop("
    )
    (tried.folder / "my_bots.py").write_text(failing)
    with pytest.raises(InputError) as refused:
        tried("--queries", 5)
    *trace, last = f"{refused.value}".splitlines()
    assert re.search(
        r"answer: after round 4, dialog 0 \(“a red ball”\), raised AssertionError:? "
        r"\(condition image-from1, reading written\)$",
        last,
    )
    assert "my_bots.py" in "".join(trace)
    assert "src/cooperation" not in "".join(trace)
    # What was played before is known.
    (tried.folder / "my_bots.py").write_text(failing.replace("assert", "assert True or"))
    assert (tried.folder / "out/results/written/none.h5").is_file()


INDEX = "np.array([[float(picture.name[6:])] for picture in pictures])"


@pytest.mark.parametrize(
    ("index", "message"),
    [
        (f"{INDEX}[:, 0]", "returned ndarray [12] of float64, wanted numbers [pictures, features]"),
        (f"{INDEX}[:, :0]", "returned ndarray [12, 0] of float64, wanted numbers"),
        (f"{INDEX}[:, None]", "returned ndarray [12, 1, 1] of float64, wanted numbers"),
        (f"{INDEX}.astype(str)", "returned ndarray [12, 1] of"),
        (f"{INDEX} * np.nan", "returned NaN or infinity, wanted finite numbers"),
        ("[[1.0]] * 11 + [[1.0, 2.0]]", "returned a list of 12, wanted numbers"),
        ("[picture.name for picture in pictures]", "returned a list of 12, wanted numbers"),
        (f"{INDEX}[:5]", "returned ndarray [5, 1] of float64, wanted one row for each of the 12 pictures"),
    ],
)
def test_guesses_need_an_index_of_vectors(files, monkeypatch, capsys, index, message):  # noqa: F811
    guessing = BOTS.replace(INDEX, index).replace("def score(self, dialogs, candidates)", "def guess(self, dialogs)")
    guessing = re.sub(r"return np.array\(\[\[number\(dialog\).*", "return [[1.0] for _ in dialogs]", guessing)
    (files / "my_bots.py").write_text(guessing)
    data = ["--dialogs", files / "dialogs.h5", "--features", files / "features.h5"]
    assert code_of(monkeypatch, "conform", f"{files}/my_bots.py:make", *data) == 2
    said = capsys.readouterr()
    assert f"BREACH     well-formed: {files}/my_bots.py:make: prepare: {message}" in said.out
    load = ["--load", f"{files}/my_bots.py:make", "--config", files / "none", "--out", files / "out"]
    assert code_of(monkeypatch, "play", *load, *data) == 2
    said = capsys.readouterr().err
    assert f"cooperation play: {files}/my_bots.py:make: prepare: {message}" in said
    assert said.count("\n") == 1
