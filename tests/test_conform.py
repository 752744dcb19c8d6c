"""Each way to break the rules of the game is found, and called by its name."""

# ruff: noqa: ARG001, ARG002 - bots need not read all that they are given

import random
import re
from textwrap import indent

import numpy as np
import pytest
import torch
from in_process import code_of
from project import ROOT

from cooperation.bots.calls import Calls
from cooperation.evaluation.conformance import BREACH, CHECKS, DOUBT, FINE, SKIPPED, conform
from cooperation.evaluation.made_up_dialogs import made_up

LEAKED = {}


def number(text):
    return sum(map(ord, text))


class Fine:
    """Ranks by a hash of all that was said; answers by picture and question."""

    def ask(self, dialogs):
        return [f"is it {number(dialog.caption) % 7}?" for dialog in dialogs]

    def answer(self, pictures, dialogs, questions):
        return [
            f"about {int(picture.features.sum() * 100) + number(question)}"
            for picture, question in zip(pictures, questions, strict=True)
        ]

    def score(self, dialogs, candidates):
        return np.array([[self.one(dialog, picture) for picture in candidates] for dialog in dialogs])

    def one(self, dialog, picture):
        return float((number(repr(dialog)) * 31 + number(picture.name)) % 1009)


class KeepsHistory(Fine):
    """The commonest mistake: a list that is appended to."""

    def __init__(self):
        self.history = []

    def score(self, dialogs, candidates):
        self.history.append(dialogs[0].caption)
        return super().score(dialogs, candidates) + number("".join(self.history)) % 100


class KeepsOwnQuestion(Fine):
    """Reads the question that it asked itself, as chat models do."""

    asked = None

    def ask(self, dialogs):
        self.asked = super().ask(dialogs)
        return self.asked

    def score(self, dialogs, candidates):
        bonus = number("".join(self.asked)) if self.asked and len(self.asked) == len(dialogs) else 0
        return super().score(dialogs, candidates) + bonus


class KeepsOwnAnswer(Fine):
    said = "nothing"

    def answer(self, pictures, dialogs, questions):
        before, self.said = self.said, super().answer(pictures, dialogs, questions)
        return [f"{one} {len(dialog.turns) and len(before)}" for one, dialog in zip(self.said, dialogs, strict=True)]


class KeepsAChat(Fine):
    """A chat model with a session a dialog, which the caption begins."""

    def __init__(self):
        self.sessions = {}

    def ask(self, dialogs):
        for place, dialog in enumerate(dialogs):
            if not dialog.turns:
                self.sessions[place] = []
            self.sessions[place].append(dialog.turns[-1][1] if dialog.turns else dialog.caption)
        return [f"is it {number(str(self.sessions[place])) % 7}?" for place in range(len(dialogs))]


class LeaksByGlobal(Fine):
    def answer(self, pictures, dialogs, questions):
        LEAKED["pictures"] = [picture.name for picture in pictures]
        return super().answer(pictures, dialogs, questions)

    def score(self, dialogs, candidates):
        seen = LEAKED.get("pictures", [])
        return np.array([[float(picture.name in seen[:1]) for picture in candidates] for _ in dialogs])


class LeaksLate(Fine):
    """Through the environment, and not before the fifth round."""

    def answer(self, pictures, dialogs, questions):
        for dialog, picture in zip(dialogs, pictures, strict=True):
            if len(dialog.turns) > 4:
                LEAKED[dialog.caption] = picture.name
        return super().answer(pictures, dialogs, questions)

    def score(self, dialogs, candidates):
        seen = [[picture.name == LEAKED.get(dialog.caption) for picture in candidates] for dialog in dialogs]
        return super().score(dialogs, candidates) + 2000 * np.array(seen)


class ReadsTheBatchOfItsOwnWords(Fine):
    """As batch normalisation of what nobody else says."""

    def score(self, dialogs, candidates):
        known = np.array([sum(answer.startswith("about ") for _, answer in dialog.turns) for dialog in dialogs])
        heard = [number(repr(dialog)) % 9 for dialog in dialogs] * (known > 0)
        return super().score(dialogs, candidates) + (heard - np.mean(heard))[:, None]


class Exits(Fine):
    def answer(self, pictures, dialogs, questions):
        if dialogs[0].turns:
            raise SystemExit(0)
        return super().answer(pictures, dialogs, questions)


class ScoresByRank(Fine):
    def score(self, dialogs, candidates):
        return super().score(dialogs, candidates).argsort(1).argsort(1)


class SumsToOne(Fine):
    def score(self, dialogs, candidates):
        found = super().score(dialogs, candidates)
        return found / found.sum(1, keepdims=True)


class Samples(Fine):
    def ask(self, dialogs):
        return [f"is it {random.random()}?" for _ in dialogs]


class SamplesFromASeed(Fine):
    def __init__(self):
        self.chance = random.Random(1)

    def ask(self, dialogs):
        return [f"is it {self.chance.random()}?" for _ in dialogs]


class ReadsTheBatch(Fine):
    def score(self, dialogs, candidates):
        found = super().score(dialogs, candidates)
        return found - found.mean(0)


class ReadsTheOrder(Fine):
    def ask(self, dialogs):
        return [f"are you {place}?" if len(dialogs) > 1 else "are you 0?" for place, _ in enumerate(dialogs)]


class WritesFeatures(Fine):
    def answer(self, pictures, dialogs, questions):
        pictures[0].features[:] = 0
        return super().answer(pictures, dialogs, questions)


class WritesDialogs(Fine):
    def ask(self, dialogs):
        for dialog in dialogs:
            dialog.caption = ""
        return super().ask(dialogs)


class WritesByForce(Fine):
    def ask(self, dialogs):
        asked = super().ask(dialogs)
        for dialog in dialogs:
            object.__setattr__(dialog, "turns", ())
        return asked


class WritesTheList(Fine):
    def ask(self, dialogs):
        dialogs[0] = dialogs[1]
        return super().ask(dialogs)


class Deaf(Fine):
    def one(self, dialog, picture):
        return float(number(dialog.caption) % (1 + number(picture.name)))


class Blind(Fine):
    def answer(self, pictures, dialogs, questions):
        return [f"yes, {question}" for question in questions]


def returning(name, change):
    """Bots of which a function returns what `change` makes of what it should."""
    own = getattr(Fine, name)
    return type("Wrong", (Fine,), {name: lambda self, *given: change(own(self, *given))})


class Guesses(Fine):
    score = None

    def guess(self, dialogs):
        return [[number(repr(dialog)) % (7 + place) for place in range(48)] for dialog in dialogs]


class LooksUpByNumber(Fine):
    """Sees by a table of its own, which has no noise."""

    def answer(self, pictures, dialogs, questions):
        return [{"image": "yes"}[picture.name.split()[0]] + str(int(picture.name.split()[1])) for picture in pictures]


class WrongWidth(Guesses):
    def guess(self, dialogs):
        return np.zeros((len(dialogs), 5))


def findings(bots):
    LEAKED.clear()

    # As in a file that is loaded anew, a global is empty in bots just made.
    def make():
        LEAKED.clear()
        return Calls(bots(), "my_bots.py:make")

    sample = made_up()
    return {finding.check.name: finding for finding in conform(make, sample)}


@pytest.mark.parametrize("bots", [Fine, Guesses])
def test_good_bots_pass(bots):
    assert {name: finding.state for name, finding in findings(bots).items()} == dict.fromkeys(
        [check.name for check in CHECKS], FINE
    )


@pytest.mark.parametrize(
    ("bots", "name"),
    [
        (KeepsHistory, "no hidden state"),
        (KeepsOwnQuestion, "remembers what was delivered"),
        (KeepsOwnAnswer, "no hidden state"),
        (KeepsAChat, "no hidden state"),
        (LeaksByGlobal, "no leak"),
        (LeaksLate, "no leak"),
        (ScoresByRank, "any candidates"),
        (SumsToOne, "any candidates"),
        (ReadsTheBatchOfItsOwnWords, "any batch size"),
        (Exits, "well-formed"),
        (Samples, "same twice"),
        (SamplesFromASeed, "no hidden state"),
        (ReadsTheBatch, "any batch size"),
        (ReadsTheOrder, "any order"),
        (WritesFeatures, "reads only"),
        (WritesDialogs, "reads only"),
        (WritesByForce, "reads only"),
        (WritesTheList, "reads only"),
        (WrongWidth, "well-formed"),
        (LooksUpByNumber, "well-formed"),
    ],
)
def test_breaches_have_names(bots, name):
    found = findings(bots)
    assert found[name].state == BREACH, found
    line = str(found[name])
    assert "It means: " in line
    assert "To mend it: " in line
    first = next(one for one, finding in found.items() if finding.state == BREACH)
    # What depends on the order depends on the batch, too.
    assert first == name or (first, name) == ("any batch size", "any order")
    assert all(finding.seen == f"mend “{name}” first" for finding in found.values() if finding.state == SKIPPED)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("ask", lambda found: found[:-1], "returned a list of 11, wanted a list of 12 texts"),
        ("ask", lambda _: "what?", "returned str, wanted a list of 12 texts"),
        ("ask", lambda found: [*found[:-1], None], "dialog 11 (“a yellow box on the snow”), returned None, wanted a"),
        ("answer", lambda found: [*found[:-1], 7], "returned int, wanted a text"),
        ("answer", lambda found: [*found, "yes"], "returned a list of 13"),
        ("ask", lambda found: ["\0", *found[1:]], "returned a zero byte"),
        ("ask", lambda found: ["a" * 20_000, *found[1:]], "returned 20,000 letters"),
        ("score", lambda found: found[:1], "returned ndarray [1, 12] of float64, wanted numbers [12, 12]"),
        ("score", lambda found: found[:, 0], "returned ndarray [12] of float64"),
        ("score", lambda found: found.astype(str), "wanted numbers [12, 12]"),
        ("score", lambda found: np.where(found > found.min(), found, np.nan), "returned NaN"),
        ("score", lambda _: None, "returned None"),
    ],
)
def test_wrong_values_are_told_in_one_line(name, change, words):
    found = findings(returning(name, change))["well-formed"]
    assert found.state == BREACH
    assert words in str(found)
    assert f"my_bots.py:make: {name}: after round 0" in str(found)
    assert "\n" not in str(found)


def leaf(found):
    return torch.tensor(found, requires_grad=True)


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.tolist(),
        lambda found: found.astype(int),
        leaf,
        lambda found: leaf(found).bfloat16(),
        lambda found: list(leaf(found)),
        lambda found: [list(row) for row in leaf(found)],
        lambda found: tuple(map(tuple, found)),
    ],
)
def test_numbers_may_be_lists_arrays_or_tensors(change):
    found = findings(returning("score", change))
    assert {finding.state for finding in found.values()} == {FINE}, found


def test_a_guess_and_its_index_may_be_lists_of_tensors():
    rows = {"prepare": lambda _, pictures: list(leaf(np.eye(len(pictures))))}
    guess = {"guess": lambda self, dialogs: list(leaf(np.array(Guesses.guess(self, dialogs))[:, :12] * 1.0))}
    found = findings(type("Rows", (Guesses,), rows | guess))
    assert {finding.state for finding in found.values()} == {FINE}, found


@pytest.mark.parametrize("trained", [None, [], [1, 2], {1, 2}, np.array([1, 2]), torch.tensor([1, 2]), range(1, 3)])
def test_ids_trained_on_may_be_any_collection(trained):
    described = type("Described", (Fine,), {"describe": lambda _: {"name": "x", "trained_on": trained}})
    given = Calls(described(), "x").describe()["trained_on"]
    assert given == (None if trained is None else [1, 2][: len(trained)])
    np.asarray(given or [], np.int64)


@pytest.mark.parametrize(
    ("described", "words"),
    [
        ("mine", "describe: returned str, wanted a dict"),
        ({"trained_on": ["a"]}, "describe: trained_on, returned a list of 1, wanted ids of images"),
        ({"trained_on": 7}, "describe: trained_on, returned int, wanted ids of images"),
    ],
)
def test_descriptions_are_checked(described, words):
    found = findings(type("Described", (Fine,), {"describe": lambda _: described}))["well-formed"]
    assert found.state == BREACH
    assert words in str(found)


def test_deaf_and_blind_bots_are_doubtful_alone():
    assert findings(Deaf)["listens"].state == DOUBT
    found = findings(Blind)
    assert found["looks"].state == DOUBT
    assert {finding.state for name, finding in found.items() if name != "looks"} == {FINE}


def test_what_raises_is_shown_from_the_builders_own_file_on():
    def fail(found):
        raise KeyError("no such word")

    found = findings(returning("answer", fail))["well-formed"]
    assert "answer: after round 0, dialog 0 (“a red box on the grass”), raised KeyError: 'no such word'" in str(found)
    assert "test_conform.py" in found.trace
    assert "calls.py" not in found.trace


FILE = """
import numpy as np

class make:
    def __init__(self, size=1):
        self.size = size
    def ask(self, dialogs):
        return ["is it red?"] * len(dialogs)
    def answer(self, pictures, dialogs, questions):
        return [str(picture.open().getpixel((32, 32))) for picture in pictures]
    def score(self, dialogs, candidates):
        said = [len(dialog.caption) * 7 + len(str(dialog.turns)) for dialog in dialogs]
        return np.array([[hash_of(one, picture.name) for picture in candidates] for one in said])

def hash_of(one, name):
    return (one * 31 + sum(map(ord, name))) % 997
"""


def conform_file(monkeypatch, capsys, *words):
    return code_of(monkeypatch, "conform", *words), *capsys.readouterr()


def test_the_command_says_one_line_a_rule(tmp_path, monkeypatch, capsys):
    file = tmp_path / "my_bots.py"
    file.write_text(FILE)
    code, out, err = conform_file(monkeypatch, capsys, f"{file}:make", "--options", "{size: 3}")
    assert (code, err) == (0, "")
    assert len(out.splitlines()) == len(CHECKS)
    file.write_text(FILE.replace("(one * 31", "(np.random.random() * one"))
    code, out, err = conform_file(monkeypatch, capsys, f"{file}:make")
    assert code == 2
    assert err.splitlines()[-1].startswith(f"cooperation conform: {file}:make: breaks 1 of the rules: same twice")


def test_a_chat_that_begins_anew_keeps_to_the_rules(tmp_path, monkeypatch, capsys):
    """The worked example of docs/models.md, of a chat model that answers by the length of the chat."""
    [code] = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "models.md").read_text(), re.DOTALL | re.MULTILINE)
    chat = "    def chat(self, messages):\n        return f'{len(messages)} {len(str(messages))}?'\n"
    own = FILE.replace(
        '    def ask(self, dialogs):\n        return ["is it red?"] * len(dialogs)\n', indent(code, "    ") + chat
    )
    (tmp_path / "chat.py").write_text(own)
    code, out, err = conform_file(monkeypatch, capsys, tmp_path / "chat.py:make")
    assert (code, err) == (0, "")
    assert out.count("ok  ") == len(CHECKS)


@pytest.mark.parametrize(
    ("place", "content", "words", "message"),
    [
        ("none.py:make", None, [], "no such file"),
        ("my_bots.py:other", FILE, [], "has no function or class 'other'"),
        ("my_bots.py", FILE, [], "has no function `ask`"),
        ("my_bots.py:make", FILE.replace("def score", "def scores"), [], "has neither `score` nor `guess`"),
        ("my_bots.py:make", FILE, ["--options", "{width: 3}"], "make raised TypeError: "),
        ("my_bots.py:make", "import no_such_package", [], "importing it raised ModuleNotFoundError"),
        ("my_bots.py:make", "def make(:", [], "importing it raised SyntaxError"),
        ("my_bots.py:make", FILE, ["--dialogs", "dialogs.h5"], "give --pictures or --features, too"),
    ],
)
def test_bots_that_cannot_be_loaded(tmp_path, monkeypatch, capsys, place, content, words, message):
    if content is not None:
        (tmp_path / "my_bots.py").write_text(content)
    code, _, err = conform_file(monkeypatch, capsys, tmp_path / place, *words)
    assert code == 2
    assert message in err.splitlines()[-1]
