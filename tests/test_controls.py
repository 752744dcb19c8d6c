"""Known ground truth: how expectations are judged, and those of the scripted bots."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from fakes import WORLDS, made_result, made_scores
from in_process import run_module

from cooperation.commands import confirm as command
from cooperation.commands import controls as controls_command
from cooperation.config.conditions import ORACLE_CONDITIONS, ORACLE_WORLDS
from cooperation.evaluation.oracle import play_oracles
from cooperation.evaluation.results import write_result
from cooperation.io.files import InputError
from cooperation.reports.controls import (
    EXPECTED,
    compare,
    controls_table,
    failures,
    judge,
    read_expected,
    resample_worlds,
)
from cooperation.reports.scores import Scores
from cooperation.reports.trainings import Estimate

SHIPPED = Path(__file__).parents[1] / "workflow" / "controls.csv"
LABELS = SHIPPED.with_name("interventions.csv")
NONE = float("nan")


@pytest.mark.parametrize(
    ("each", "low", "high", "at_least", "at_most", "holds"),
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
        # The mean of the trainings does not make up for one of them.
        ((20, 16, 15), 12, 22, 15, NONE, True),
        ((20, 16, 14), 12, 22, 15, NONE, False),
        ((1, -3, 1), -5, 5, -2, 2, False),
    ],
)
def test_judging(each, low, high, at_least, at_most, holds):
    each = each if isinstance(each, tuple) else (each,)
    found = Estimate(float(np.mean(each)), low, high, tuple(range(len(each))), each)
    assert judge(found, at_least, at_most) is holds


def expectation(**given):
    line = {"world": "w", "statement": "it falls", "quantity": "gap", "conditions": "none image", "rounds": "10"}
    return pd.DataFrame([{**line, "at_least": 15.0, "at_most": NONE, **given}], columns=list(EXPECTED))


def scores(dataset="w", gap=20):
    ranks = np.full((30, 11), 10.0)
    names = {"dataset": dataset, "model": "dialog"}
    return [made_scores(ranks, **names), made_scores(ranks + gap, condition="image", **names)]


def compared(expected, played, resamples=100):
    return compare(expected, WORLDS, resample_worlds(played, resamples, 0))


def test_each_world_by_itself():
    both = [*scores("w", 20), *scores("v", 5)]
    expected = pd.concat([expectation(), expectation(world="v"), expectation(quantity="level", conditions="image")])
    found = compared(expected, both)
    assert found["value"].tolist() == pytest.approx([20, 5, 69.5])
    assert found["holds"].tolist() == [True, False, True]
    assert failures(found) == ["v, model dialog: it falls: expected at least 15.0, found 5.0 [5.0, 5.0], by seed 5.0"]
    (block,) = controls_table(found, "").blocks
    assert [row[-1].text for row in block.rows] == ["yes", "NO", "yes"]


def test_a_world_of_several_readings_is_refused():
    again = [made_scores(np.full((30, 11), 40.0), "b.h5", dataset="w", condition="none", reading="released")]
    with pytest.raises(
        InputError, match=r"b\.h5: played as released, but x\.h5 as written; give results of one reading"
    ):
        compared(expectation(), [*scores(), *again])
    # Another world may be played by others.
    away = [
        made_scores(score.percentiles, dataset="v", condition=score.condition, reading="released") for score in scores()
    ]
    assert compared(expectation(), [*scores(), *away])["holds"].all()


def test_each_model_of_a_world_is_judged():
    """But for one that did not play what the expectation is about."""
    ranks = np.full((30, 11), 10.0)
    others = [
        made_scores(ranks, dataset="w", model="w1"),
        made_scores(ranks + 3, dataset="w", model="w1", condition="image"),
    ]
    others.append(made_scores(ranks, dataset="w", model="round"))
    found = compared(expectation(), [*scores(), *others])
    assert found[["model", "holds"]].to_numpy().tolist() == [["dialog", True], ["w1", False]]
    assert found["value"].tolist() == pytest.approx([20, 3])


def test_what_is_expected_of_a_condition_that_was_not_played_is_an_error():
    with pytest.raises(InputError, match=r"w: no result of the condition 'answer'"):
        compared(expectation(conditions="none answer"), scores())


@pytest.fixture
def confirm(tmp_path):
    """Run `cooperation confirm` on results of a world whose unperturbed games have an MPR of 89.5, given bounds."""
    results, config = tmp_path / "results", yaml.safe_load((SHIPPED.parents[1] / "config.yaml").read_text())
    config["seeds"] = [1]
    config["controls"] = {"worlds": ["nothing"], "conditions": {"dialog": {"none": {}}}}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    ranks = np.full((30, 11), 10.0)
    write_result(results / "nothing" / "dialog-seed1" / "written" / "none.h5", made_result(ranks, dataset="nothing"))
    for world in ORACLE_WORLDS:
        for name in ORACLE_CONDITIONS:
            made = made_result(ranks, "scripted", dataset=world, condition=name)
            write_result(results / world / f"{name}.h5", made)

    def words(*lines):
        expected = tmp_path / "expected.csv"
        expected.write_text("\n".join([",".join(EXPECTED), *(f"nothing,{line}" for line in lines), ""]))
        files = [
            "--config",
            tmp_path / "config.yaml",
            "--results",
            results,
            "--expected",
            expected,
            "--interventions",
            LABELS,
        ]
        return [str(word) for word in (*files, "--resamples", "20")]

    return words


def test_the_command_fails_with_a_line_for_each(confirm):
    words = confirm("it holds,level,none,10,80,90", "it rises,level,none,10,95,")
    done = subprocess.run(
        [sys.executable, "-m", "cooperation", "confirm", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    *_, said, last = done.stderr.splitlines()
    assert said == "nothing, model dialog: it rises: expected at least 95.0, found 89.5 [89.5, 89.5], by seed 89.5"
    assert last == f"cooperation confirm: {words[5]}: 1 of 2 expectations do not hold"


def test_where_nothing_is_expected_nothing_holds(confirm):
    with pytest.raises(InputError, match=r"expected\.csv: nothing is expected"):
        run_module(command, *confirm())


def test_the_command_is_content_where_all_hold(confirm, capsys):
    run_module(command, *confirm("it holds,level,none,10,80,90"))
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


def test_the_table_is_of_words(tmp_path):
    found = compared(expectation(statement="<b>"), scores())
    table = controls_table(found, "w: 30 queries.")
    assert "&lt;b&gt;" in table.html()
    (line,) = (line for line in table.markdown().splitlines() if line.startswith("| w "))
    cells = ["w", "dialog", "<b>", "at least 15.0", "20.0 [20.0, 20.0]", "20.0", "yes"]
    assert [cell.strip() for cell in line.strip("|").split("|")] == cells
    assert "w: 30 queries." in table.markdown()
    with pytest.raises(InputError, match=r"x\.pdf: unknown ending; choose \.csv, \.md, \.tex or \.html"):
        table.write([tmp_path / "x.pdf"])


def test_the_command_reads_what_the_settings_say(confirm, tmp_path):
    """The worlds' games by their settings and the scripted bots', where the rules put them."""
    words = confirm("x,level,none,10,80,90")
    run_module(controls_command, *words, "--out", tmp_path / "c.csv", tmp_path / "c.md")
    found = pd.read_csv(tmp_path / "c.csv")
    assert found[["world", "model", "value", "holds"]].to_numpy().tolist() == [["nothing", "dialog", 89.5, True]]
    assert "nothing: 30 queries × 100 candidates" in (tmp_path / "c.md").read_text()


@pytest.fixture(scope="module")
def oracles():
    return play_oracles("scripted")


@pytest.mark.parametrize("world", ORACLE_WORLDS)
def test_the_oracles_score_what_they_must(world):
    expected = read_expected(SHIPPED)
    expected = expected[expected["world"] == world]
    labels = set(" ".join(expected["conditions"]).split())
    assert {WORLDS.conditions[label] for label in labels} == set(ORACLE_CONDITIONS.values())
    played = [Scores.of(Path(name), result) for name, result in play_oracles(world).items()]
    assert failures(compared(expected, played)) == []


def test_every_intervention_perturbs_what_it_says(oracles):
    for name, condition in ORACLE_CONDITIONS.items():
        said = oracles[name].perturbed_messages
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
    config = yaml.safe_load((SHIPPED.parents[1] / "config.yaml").read_text())
    expected = read_expected(SHIPPED)
    assert set(expected["world"]) == {*config["controls"]["worlds"], *ORACLE_WORLDS}
    trained = expected[~expected["world"].isin(ORACLE_WORLDS)]
    for conditions in config["controls"]["conditions"].values():
        assert set(" ".join(trained["conditions"]).split()) <= set(conditions)
