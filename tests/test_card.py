"""The report card of a tested model, and tested models side by side, against what scripted bots must lose."""

import csv
import json
import re
import shutil
from pathlib import Path

import pytest
from in_process import code_of, run
from test_api import files  # noqa: F401

from cooperation.config.conditions import Condition
from cooperation.config.interventions import read_interventions
from cooperation.evaluation.tested import read_tested
from cooperation.io.files import InputError
from cooperation.io.sealed import write_sealed
from cooperation.reports.card import _said as said_of
from cooperation.reports.card import write_card
from cooperation.reports.paper import read_published
from cooperation.reports.side_by_side import OTHER_CAPTION, PUBLISHED, REACHED, hits_of, read_folders
from cooperation.reports.statistics import resample
from cooperation.reports.trainings import Estimate

ROOT = Path(__file__).parent.parent
# The answerer says what the picture is, and the questioner believes the last answer.
BOTS = """
class make:
    def __init__(self, name="honest", believes=True):
        self.name, self.believes = name, believes
    def ask(self, dialogs):
        return ["what is it?"] * len(dialogs)
    def answer(self, pictures, dialogs, questions):
        return [self.label(picture) for picture in pictures]
    def label(self, picture):
        return f"{picture.features[0]:.6f}"
    def prepare(self, pictures):
        return [self.label(picture) for picture in pictures]
    def score(self, dialogs, candidates):
        heard = [dialog.turns[-1][1] if dialog.turns and self.believes else "" for dialog in dialogs]
        return [[float(label == answer) for label in candidates] for answer in heard]
    def describe(self):
        return {"name": self.name, "version": "<b>2</b>|=1"}
"""

# Those who draw at random whether they believe it.
CHANCE = """
    def rate(self):
        import random
        return random.choice([0.0, 1.0])
"""


def words_of(folder, out, *words):
    data = ["--dialogs", folder / "dialogs.h5", "--features", folder / "features.h5", "--config", folder / "none.yaml"]
    return ["test", f"{folder}/my_bots.py:make", *data, "--out", folder / out, *words]


@pytest.fixture
def tested(files, monkeypatch):  # noqa: F811
    """A function that tests the bots: words → the folder."""
    (files / "my_bots.py").write_text(BOTS)

    def test(out, *words):
        run(monkeypatch, *words_of(files, out, *words))
        return files / out

    return test


def numbers(folder, name="card.csv"):
    with (folder / name).open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return {tuple(line[key] for key in ("model", "reading", "quantity", "row", "round")): line for line in lines}


def test_a_card_says_what_scripted_bots_must_lose(tested):
    folder = tested("mine")
    found = numbers(folder)
    # Of twelve candidates the named one comes first, and where none is named all share the middle.
    best, other = 100 * (1 - 0.5 / 12), 100 * (1 - 6.5 / 12)
    expected = {
        ("mpr", "bots", "0"): 50,
        ("mpr", "bots", "10"): best,
        ("hits", "1", "0"): 0,
        ("hits", "1", "10"): 100,
        ("hits", "10", "0"): 100,
        ("noise", "image", "10"): best - 50,
        ("noise", "answer", "10"): best - 50,
        ("noise", "caption", "10"): 0,
        # Another picture is named: it comes first, and the eleven others share what follows.
        ("swap", "image", "10"): best - other,
        ("swap", "answer", "10"): best - other,
        # All dialogs ask the same.
        ("changed by swap", "question", "10"): 0,
        ("changed by swap", "answer", "10"): 100,
    }
    for reading in ("written", "released"):
        for key, value in expected.items():
            line = found["mine", reading, *key]
            assert float(line["value"]) == pytest.approx(value, abs=1e-3), key
            if key[0] != "changed by swap":
                assert float(line["low"]) <= value + 1e-3
                assert value - 1e-3 <= float(line["high"])
        assert ("mine", reading, "swap", "question", "10") not in found
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "the picture 50.0 points [50.0, 50.0] and the answers 50.0 points [50.0, 50.0]" in page
    for same in ("caption", "questions"):
        assert f"All dialogs have the same {same}, so none can be swapped; " in page
    assert "the same caption, so none can be swapped; nor is a loss seen by noise." in page
    assert "MPR is 50.0 by the caption alone and 95.8 after the bots’ own ten rounds" in page
    assert "Trained on</dt><dd>not known" in page
    # What a builder says is text.
    assert "&lt;b&gt;2&lt;/b&gt;|=1" in page
    assert "<b>2</b>" not in page


@pytest.mark.parametrize(("low", "leaks"), [(51, True), (49, False)])
def test_a_leak_shows_before_a_word_is_said(tested, low, leaks):
    """An honest questioner knows nothing by another dialog's caption."""
    assert float(numbers(tested("mine"))["mine", "written", "mpr", OTHER_CAPTION, "0"]["value"]) == 50
    found = said_of({("mpr", OTHER_CAPTION, 0): Estimate(75, low, 80, (1,), (75,))})
    expected = f"With another dialog’s caption, before a word is said, MPR is 75.0 [{low}.0, 80.0] where it must be 50"
    assert any(sentence.startswith(expected) for sentence in found) == leaks


def test_hits_by_hand(tested):
    folder = tested("mine")
    [read] = read_folders([folder])
    resampled = resample(read.scores, 50)
    drawn = hits_of(resampled, "mine", "written")
    assert drawn.means.shape == (1, 51, 11, 3)
    assert drawn.means[0, 0, 0].tolist() == [0, 0, 100]
    assert drawn.means[0, 0, 10].tolist() == [100, 100, 100]
    assert hits_of(resampled, "mine", "neither") is None


def test_the_paper_is_quoted_as_its_tables_say(monkeypatch):
    monkeypatch.chdir(ROOT)
    published = read_published(ROOT / "paper/published.csv", read_interventions(ROOT / "paper/interventions.csv"))
    first = published[(published["table"] == 1) & (published["round"] == 10) & (published["quantity"] == "gap")]
    printed = {
        column.casefold().rstrip("s"): value for column, value in first[["column", "value"]].itertuples(index=False)
    }
    assert printed == {"none": 0, **PUBLISHED}
    level = published[
        (published["table"] == 1) & (published["round"] == 10) & (published["settings"] == Condition().text)
    ]
    assert set(level.loc[level["quantity"] == "mpr", "value"]) == {REACHED}


def test_models_stand_side_by_side(tested, files, monkeypatch, capsys):  # noqa: F811
    tested("mine")
    tested("deaf", "--options", "{believes: false}", "--beside", files / "mine")
    (files / "empty").mkdir()
    assert {model for model, *_ in numbers(files / "deaf")} == {"mine", "deaf"}
    assert "costs" not in (files / "deaf/index.html").read_text(encoding="utf-8").split("<main>")[0]
    capsys.readouterr()
    for _ in range(2):
        # The second time the folder that is written is among those that a shell names.
        run(monkeypatch, "compare", *sorted(files.glob("*/")), "--out", files / "compared", "--resamples", "100")
    assert "empty: no test.json, so no test of a model; left out" in capsys.readouterr().err
    found = numbers(files / "compared", "compared.csv")
    assert float(found["mine", "written", "swap", "answer", "10"]["value"]) == pytest.approx(50)
    assert float(found["deaf", "written", "swap", "answer", "10"]["value"]) == pytest.approx(0)
    table = (files / "compared/compared.md").read_text(encoding="utf-8")
    for name in ("mine", "deaf", "the paper’s bots", "chance"):
        assert re.search(rf"^\| {name} ", table, re.MULTILINE)
    assert all(
        (files / "compared" / f"compared.{ending}").stat().st_size > 1000 for ending in ("svg", "pdf", "png", "html")
    )


def test_a_folder_that_is_not_there_is_no_model_left_out(tested, files, monkeypatch, capsys):  # noqa: F811
    tested("mine")
    with pytest.raises(SystemExit):
        run(monkeypatch, "compare", files / "mine", files / "mime", "--out", files / "compared")
    assert "mime: no such folder; correct its name" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (["--queries", "9"], "other dialogs"),
        (["--candidates", "11", "--queries", "9"], "candidates"),
        (["--seed", "2"], "game seed"),
    ],
)
def test_what_was_played_otherwise_is_refused(tested, files, monkeypatch, capsys, other, said):  # noqa: F811
    tested("mine", "--queries", "12")
    tested("other", *(other if "--queries" in other else [*other, "--queries", "12"]))
    assert code_of(monkeypatch, "compare", files / "mine", files / "other", "--out", files / "compared") == 2
    message = capsys.readouterr().err
    assert said in message
    assert "mine" in message
    assert "other" in message
    assert not (files / "compared").exists()


def test_edited_files_are_refused(tested, files, monkeypatch, capsys):  # noqa: F811
    folder = tested("mine")
    place = folder / "test.json"
    place.write_text(place.read_text().replace("honest", "better"))
    assert code_of(monkeypatch, "compare", folder, "--out", files / "compared") == 2
    assert "test.json: edited since the test" in capsys.readouterr().err
    tested("mine")
    (folder / "results/written/none.h5").write_bytes((folder / "results/written/image-swap.h5").read_bytes())
    with pytest.raises(InputError, match=r"none\.h5: not the result that test\.json was written with"):
        write_card(folder, resamples=10)


def test_two_folders_of_one_name_are_told_apart(tested, files):  # noqa: F811
    tested("mine")
    shutil.copytree(files / "mine", files / "old" / "mine")
    labels = [folder.label for folder in read_folders([files / "mine", files / "old" / "mine"])]
    assert labels == [str(files / "mine"), str(files / "old" / "mine")]


def test_samples_widen_the_intervals(tested, files):  # noqa: F811
    (files / "my_bots.py").write_text(
        BOTS.replace("float(label == answer)", "float(label == answer) * self.rate()") + CHANCE
    )
    folder = tested("chance", "--samples", "3")
    line = numbers(folder)["chance", "written", "mpr", "bots", "10"]
    assert line["seeds"] == "1 2 3"
    assert len({*line["each"].split()}) > 1
    assert "over dialogs and samples of a model" in (folder / "index.html").read_text(encoding="utf-8")


def test_a_broken_rule_is_said_first(tested):
    folder = tested("mine")
    found = json.loads((folder / "test.json").read_text())
    del found["sha256"]
    found["judged"][0] |= {"state": "BREACH", "seen": "something"}
    write_sealed(folder / "test.json", found)
    assert read_tested(folder).judged[0].state == "BREACH"
    write_card(folder, resamples=10)
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert page.index("The model breaks a") < page.index("<main>")
    assert "something. It means: " in page
