"""The sentence that the page begins with, and the figure beside it."""

import pandas as pd
import pytest
from fakes import made_material

from cooperation.reports.figures import channels
from cooperation.reports.headline import headline
from cooperation.reports.trainings import Estimate
from cooperation.reports.verdicts import FAILS, HOLDS, UNDECIDED


def gaps(reading="written", model="dialog", **values):
    """Lines of the diagnostics: the gap of each channel by noise."""
    return [
        {"model": model, "table": "swap", "reading": reading, "row": channel, "column": "noise"}
        | Estimate(value, value - 0.3, value + 0.3, (1, 2), (value, value)).cells
        for channel, value in values.items()
    ]


def said(lines, *verdicts):
    judged = [
        {"claim": "caption-falls-most", "model": model, "reading": reading, "verdict": verdict, "q": 0.01}
        for model, reading, verdict in verdicts
    ]
    return list(headline(pd.DataFrame(lines), pd.DataFrame(judged)))


@pytest.mark.parametrize(
    ("verdict", "found", "values", "most", "less"),
    [
        (
            FAILS,
            "does not hold",
            {"image": 25.7, "caption": 6.8, "question": 12.3, "answer": 26.7},
            "the answers and the picture matter most here (26.7 and 25.7 points)",
            ", the questions and the caption less (12.3 and 6.8).",
        ),
        (
            HOLDS,
            "holds",
            {"image": 0.4, "caption": 40.1, "question": 3.0, "answer": -0.8},
            "the caption matters most here (40.1 points)",
            ", the questions and the picture less (3.0 and 0.4); no loss is seen for the answers.",
        ),
        (
            UNDECIDED,
            "is undecided",
            {"image": 2.0, "caption": 3.0},
            "the caption and the picture matter most here (3.0 and 2.0 points of MPR)",
            ".",
        ),
        (
            FAILS,
            "does not hold",
            {"image": 0.0, "caption": -1.0},
            "no loss is seen here, whichever channel is perturbed",
            ".",
        ),
    ],
)
def test_what_the_bots_rely_on(verdict, found, values, most, less):
    finding = f"The paper’s finding, that the caption matters most, {found} here."
    expected = f"As written in the paper: {most}{less} {finding}"
    assert said(gaps(**values), ("dialog", "written", verdict)) == [expected]


def test_each_reading_and_each_rival_speaks():
    lines = [*gaps(caption=9.0), *gaps("released", caption=8.0), *gaps(model="w1", caption=7.0)]
    verdicts = ("dialog", "written", HOLDS), ("dialog", "released", FAILS), ("w1", "written", HOLDS)
    first, second, third = said(lines, *verdicts)
    assert first.startswith("As written in the paper, dialog: the caption matters most here (9.0 points of MPR)")
    assert second.startswith("As in the released program, dialog: the caption matters most here (8.0")
    assert third.startswith("As written in the paper, w1: the caption matters most here (7.0")


def test_one_training_alone_is_called_so():
    lines = [line | Estimate(9.0, 8.0, 10.0, (1,), (9.0,)).cells for line in gaps(caption=9.0)]
    assert (
        "(9.0 points of MPR) (one training alone; others may differ)." in said(lines, ("dialog", "written", FAILS))[0]
    )


def test_a_verdict_that_does_not_stand_among_all_is_called_so():
    judged = {"claim": "caption-falls-most", "model": "dialog", "reading": "written", "verdict": FAILS, "q": 0.09}
    [sentence] = headline(pd.DataFrame(gaps(caption=9.0)), pd.DataFrame([judged]))
    assert sentence.endswith("that the caption matters most, does not hold here, judged by itself.")


def test_nothing_is_said_of_what_was_not_played():
    assert said(gaps(caption=9.0), ("round", "written", HOLDS)) == []


def test_the_figure_has_the_papers_gaps_and_ours():
    material = made_material(diagnostics=pd.DataFrame([*gaps(image=30.0, caption=5.0), *gaps("released", image=20.0)]))
    found = channels.gaps(material)
    assert list(found) == ["written", "released"]
    paper = {"image": 0.4, "caption": 40.1, "question": 3.0, "answer": 0.8}
    assert {channel: one.value for channel, one in found["written"]["paper"].items()} == pytest.approx(paper)
    assert found["written"]["noise"]["caption"].value == 5.0
    assert found["written"]["swap"] == {}
    described = channels.describe(material, "channels")
    assert "written, caption, ours, noise or random words: 5.0" in described.alt
    assert "written, caption, the paper, noise or random words: 40.1" in described.alt
    drawn = channels.draw(material, "channels")
    assert [axes.get_title() for axes in drawn.axes] == ["written", "released"]
