"""Known answers: how they are judged, and the scripted bots' own."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fakes import made_scores

from cooperation.commands import confirm as command
from cooperation.conditions import ORACLE_CONDITIONS
from cooperation.files import InputError
from cooperation.games.oracle import play_oracles
from cooperation.reports.controls import EXPECTED, complaints, confront, judge, printed, read_expected, read_found
from cooperation.reports.statistics import Scores
from cooperation.reports.tables import write_simple

SHIPPED = Path(__file__).parents[1] / "workflow" / "controls.csv"
NONE = float("nan")


@pytest.mark.parametrize(
    ("found", "low", "high", "at_least", "at_most", "holds"),
    [
        (20, 10, 30, 15, NONE, True),
        (14, 10, 30, 15, NONE, False),
        # The range leaves out zero, so the interval must, too.
        (20, -1, 41, 15, NONE, False),
        (-20, -41, 1, NONE, -15, False),
        (-20, -41, -1, NONE, -15, True),
        # A range around zero asks nothing of the interval.
        (1, -5, 7, -2, 2, True),
        (2.1, 1, 3, -2, 2, False),
        (-2.1, -3, 1, -2, 2, False),
        # Bounds are included, whatever the rounding.
        (49.609375 + 1e-9, 49, 50, 49.609375, 49.609375, True),
        (49.62, 49, 50, 49.609375, 49.609375, False),
    ],
)
def test_judging(found, low, high, at_least, at_most, holds):
    assert judge(found, low, high, at_least, at_most) is holds


def expectation(**given):
    line = {"world": "w", "statement": "it falls", "quantity": "gap", "conditions": "none image", "rounds": "10"}
    return pd.DataFrame([{**line, "at_least": 15.0, "at_most": NONE, **given}], columns=list(EXPECTED))


def scores(dataset="w", gap=20):
    ranks = np.full((30, 11), 10.0)
    names = {"dataset": dataset, "model": "dialog"}
    return [made_scores(ranks, **names), made_scores(ranks + gap, condition="image", **names)]


def test_each_world_by_itself():
    both = [*scores("w", 20), *scores("v", 5)]
    expected = pd.concat([expectation(), expectation(world="v"), expectation(quantity="level", conditions="image")])
    found = confront(expected, both, 100, 0)
    assert found["found"].tolist() == pytest.approx([20, 5, 69.5])
    assert found["holds"].tolist() == [True, False, True]
    assert complaints(found) == ["v: it falls: expected at least 15.0, found 5.0 [5.0, 5.0]"]
    assert printed(found)["Holds"].tolist() == ["yes", "NO", "yes"]


@pytest.mark.parametrize("other", [{"model": "round"}, {"reading": "released"}])
def test_a_world_of_several_models_or_readings_is_refused(other):
    again = [made_scores(np.full((30, 11), 40.0), "b.h5", dataset="w", condition="none", **other)]
    with pytest.raises(InputError, match=r"b\.h5: model .* give those of one model and reading"):
        confront(expectation(), [*scores(), *again], 10, 0)
    # Another world may be played by others.
    away = [made_scores(score.percentiles, dataset="v", condition=score.condition, **other) for score in scores()]
    assert confront(expectation(), [*scores(), *away], 10, 0)["holds"].all()


def test_what_is_expected_of_a_condition_that_was_not_played_is_an_error():
    with pytest.raises(InputError, match=r"w: no result of the condition 'answer'"):
        confront(expectation(conditions="none answer"), scores(), 10, 0)


def test_the_command_fails_with_a_line_for_each(tmp_path):
    found = confront(pd.concat([expectation(), expectation(statement="it rises", at_least=30.0)]), scores(), 100, 0)
    path = tmp_path / "controls.csv"
    write_simple([path], found, printed(found), "t", "")
    assert read_found(path)["holds"].tolist() == [True, False]
    done = subprocess.run(
        [sys.executable, "-m", "cooperation", "confirm", str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        "w: it rises: expected at least 30.0, found 20.0 [20.0, 20.0]",
        f"cooperation confirm: {path}: 1 of 2 expectations do not hold",
    ]


def test_where_nothing_is_expected_nothing_holds(tmp_path):
    found = confront(expectation(), scores(), 100, 0)[:0]
    write_simple([tmp_path / "c.csv"], found, printed(found), "t", "")
    with pytest.raises(InputError, match=r"c\.csv: nothing is expected"):
        command.run(type("A", (), {"found": tmp_path / "c.csv"}))


def test_the_command_is_content_where_all_hold(tmp_path, capsys):
    found = confront(expectation(), scores(), 100, 0)
    write_simple([tmp_path / "c.csv"], found, printed(found), "t", "")
    command.run(type("A", (), {"found": tmp_path / "c.csv"}))
    assert capsys.readouterr().out == "all 1 expectations hold\n"


def test_an_unknown_quantity_is_refused(tmp_path):
    expectation(quantity="gaps").to_csv(tmp_path / "c.csv", index=False)
    with pytest.raises(InputError, match="w: unknown quantity 'gaps'; choose level"):
        read_expected(tmp_path / "c.csv")


def with_bounds(path, bounds):
    path.write_text(",".join(EXPECTED) + f"\nnothing,x,level,none,10,{bounds}\n")
    return path


@pytest.mark.parametrize("bounds", [",", "60,50"])
def test_a_range_has_a_bound_and_room(tmp_path, bounds):
    with pytest.raises(InputError, match=r"nothing: .* is no range; give one bound or two"):
        read_expected(with_bounds(tmp_path / "c.csv", bounds))


@pytest.mark.parametrize("bounds", ["50,50", "50,", ",5"])
def test_a_bound_is_enough(tmp_path, bounds):
    assert len(read_expected(with_bounds(tmp_path / "c.csv", bounds))) == 1


def test_simple_tables_escape_and_refuse(tmp_path):
    frame = pd.DataFrame({"a": ["<b>"]})
    write_simple([tmp_path / "x.html"], frame, frame, "T", "")
    assert "&lt;b&gt;" in (tmp_path / "x.html").read_text()
    with pytest.raises(InputError, match=r"x\.pdf: unknown ending; choose \.csv, \.md or \.html"):
        write_simple([tmp_path / "x.pdf"], frame, frame, "T", "")


@pytest.fixture(scope="module")
def oracles():
    return play_oracles()


def test_the_oracles_score_what_they_must(oracles):
    expected = read_expected(SHIPPED)
    expected = expected[expected["world"] == "scripted"]
    assert set(" ".join(expected["conditions"]).split()) == set(ORACLE_CONDITIONS)
    played = [Scores.of(Path(name), result) for name, result in oracles.items()]
    assert complaints(confront(expected, played, 100, 0)) == []


def test_every_intervention_tampers_with_what_it_says(oracles):
    for name, condition in ORACLE_CONDITIONS.items():
        said = oracles[name].tampered_messages
        assert (said[0] > 0) == (condition.channel == "caption")
        assert (said[1:] > 0).all() == (condition.channel not in ("none", "caption"))
        assert said.max() <= 128


def test_an_oracles_question_that_is_replaced_is_not_answered(oracles):
    result = oracles["question"]
    understood = (result.question_heard.tokens == result.question_said.tokens).all(-1)
    assert ((result.answer_said.lengths == 7) == understood).all()
    assert (result.ranks[:, 1:][understood] == 0).all()
    assert (result.ranks[:, 1:][~understood] == 63.5).all()


def test_shipped_expectations_are_about_the_shipped_worlds():
    import yaml

    config = yaml.safe_load((SHIPPED.parents[1] / "config.yaml").read_text())
    expected = read_expected(SHIPPED)
    assert set(expected["world"]) == {*config["controls"]["worlds"], "scripted"}
    trained = expected[expected["world"] != "scripted"]
    assert set(" ".join(trained["conditions"]).split()) <= set(config["controls"]["conditions"])
