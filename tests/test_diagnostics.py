"""Diagnostics of made-up results: every number follows from the ranks by hand."""

import argparse
import json
from dataclasses import asdict, replace

import numpy as np
import pytest
from fakes import made_result

from cooperation.commands import diagnose as command
from cooperation.conditions import Condition
from cooperation.files import InputError
from cooperation.games.results import write_result
from cooperation.messages import Messages
from cooperation.reports.diagnostics import listen, read_diagnostics
from cooperation.reports.findings import findings, to_html, to_markdown, view
from cooperation.reports.reasons import describe_why, draw_why

DIALOGS = 40


def settings(**given):
    return {"settings": json.dumps(asdict(Condition(**given)))}


def ranks(mean, sway=0):
    """Ranks 0 by caption, then `mean`, in half of the dialogs more by `sway` and in the others less."""
    column = mean + sway * np.where(np.arange(DIALOGS) % 2, 1, -1)
    return np.concatenate([np.zeros((DIALOGS, 1)), np.repeat(column[:, None], 10, 1)], 1)


# Among 100 candidates a rank is a point of MPR. written: noise costs 30, of which 10 is strangeness; with bare facts
# the bots lose 5 and people nothing.
GAMES = {
    ("written", "none"): ({}, 10),
    ("written", "noise"): ({"channel": "image"}, 40),
    ("written", "other"): ({"channel": "image", "by": "swap"}, 30),
    ("written", "bare"): ({"facts": "bare"}, 15),
    ("written", "noise-bare"): ({"channel": "image", "facts": "bare"}, 35),
    ("written", "human"): ({"script": "dialog"}, 4),
    ("written", "human-bare"): ({"script": "dialog", "facts": "bare"}, 4),
    ("written", "human-questions"): ({"script": "questions"}, 6),
    ("released", "none"): ({}, 15),
    ("released", "noise"): ({"channel": "image"}, 30),
    ("released", "human"): ({"script": "dialog"}, 4),
}


@pytest.fixture(scope="module")
def paths(tmp_path_factory):
    folder = tmp_path_factory.mktemp("results")
    written = []
    for (reading, name), (given, mean) in GAMES.items():
        written.append(folder / f"{reading}-{name}.h5")
        result = made_result(ranks(mean), reading=reading, condition=name, **settings(**given))
        if name == "human-questions":
            # Two of the ten answers are others than people's.
            tokens = result.answer_said.tokens.copy()
            tokens[:, :2, 0] = 5
            result = replace(result, answer_said=Messages(tokens, result.answer_said.lengths))
        write_result(written[-1], result)
    return written


@pytest.fixture(scope="module")
def frame(paths, tmp_path_factory):
    out = [tmp_path_factory.mktemp("out") / f"diagnostics{ending}" for ending in (".csv", ".md", ".html", ".svg")]
    run(paths, out)
    assert all(path.stat().st_size > 500 for path in out)
    return read_diagnostics(out[0])


def run(paths, out):
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    command.run(parser.parse_args([*map(str, paths), "--resamples", "100", "--out", *map(str, out)]))


def cells(frame, table, reading, row):
    lines = frame[(frame["table"] == table) & (frame["reading"] == reading) & (frame["row"] == row)]
    return dict(zip(lines["column"], lines["value"], strict=True))


def test_noise_beside_swap(frame):
    assert cells(frame, "swap", "written", "image") == {"noise": 30, "swap": 20, "noise − swap": 10}
    # No swap was played there, and no other channel.
    assert cells(frame, "swap", "released", "image") == {}
    assert set(frame[frame["table"] == "swap"]["row"]) == {"image"}


def test_facts_step_by_step(frame):
    assert cells(frame, "facts", "written", "MPR, bots talk") == {
        "facts as in training": 89.5,
        "bare facts": 84.5,
        "bare − as in training": -5,
        "as released": 84.5,
        "as released − bare": 0,
    }
    # The gap with bare facts is to the game with bare facts.
    assert cells(frame, "facts", "written", "gap, image") == {
        "facts as in training": 30,
        "bare facts": 20,
        "bare − as in training": -10,
        "as released": 15,
        "as released − bare": -5,
    }


def test_readings_condition_by_condition(frame):
    assert cells(frame, "readings", "both", "noise") == {"written": 30, "released": 15, "released − written": -15}
    assert set(frame[frame["table"] == "readings"]["row"]) == {"noise"}


def test_talk(frame):
    bots, asked = (cells(frame, "talk", "written", row) for row in ("bots", "people ask, bots answer"))
    assert bots["MPR by caption"] == 99.5
    assert bots["MPR, round 10"] == 89.5
    # Every message is the same.
    assert bots["different questions a dialog"] == 1
    assert bots["questions asked before [%]"] == 90
    assert bots["answer entropy, all dialogs [bits]"] == 0
    assert asked["answers as people’s [%]"] == 80
    assert asked["different answers a dialog"] == 2


def test_intervals_hold_the_value_and_have_none_only_for_the_entropy_of_all(frame):
    rows = frame[frame["column"] != "answer entropy, all dialogs [bits]"]
    assert ((rows["low"] <= rows["value"] + 1e-4) & (rows["value"] <= rows["high"] + 1e-4)).all()
    assert frame[frame["column"] == "answer entropy, all dialogs [bits]"]["low"].isna().all()


def test_the_sentences_follow_the_numbers(frame):
    text = "\n".join(findings(frame))
    for words in (
        "stays natural (swap): image 20.0 [20.0, 20.0].",
        "only because it is strange: image +10.0.",
        "the caption alone gives an MPR of 99.5 [99.5, 99.5]; ten rounds of the bots’ own talk make it 89.5",
        "ask 1.0 different questions in ten rounds (people 1.0); 90.0 %",
        "says what people said in 80.0 [80.0, 80.0] % of the rounds",
        "costs the bots’ own dialog 5.0 [5.0, 5.0] points",
        "makes no difference to the recorded human dialog",
        "in 1 of 1 conditions",
        "most for noise: 30.0 [30.0, 30.0] as written, 15.0 [15.0, 15.0] as released",
    ):
        assert words in text
    assert "cost the same" not in text
    assert "mislead more" not in text


def test_the_sentences_turn_with_the_numbers(frame):
    turned = frame.copy()
    here = (turned["table"] == "swap") & (turned["column"] == "noise − swap")
    turned.loc[here, ["value", "low", "high"]] = [-3, -4, -2]
    assert "mislead more: image −3.0" in "\n".join(findings(turned))
    turned.loc[here, ["value", "low", "high"]] = [1, -1, 3]
    assert "cost the same, as far as the interval tells: image" in "\n".join(findings(turned))
    here = (turned["row"] == "MPR, bots talk") & (turned["column"] == "bare − as in training")
    turned.loc[here, ["value", "low", "high"]] = [3, 2, 4]
    assert "gains the bots’ own dialog 3.0 [2.0, 4.0] points" in "\n".join(findings(turned))


def test_tables_and_figure_show_every_cell(frame):
    shown = view(frame)
    assert [table["name"] for table in shown["tables"]] == ["swap", "talk", "facts", "readings"]
    assert "30.0 [30.0, 30.0]" in to_markdown(frame, "miniature", "9 queries × 9 candidates.")
    assert "not expected to match" in to_html(frame, "miniature", "9 queries × 9 candidates.")
    # Two tables by two readings; where there is no swap, the panel is empty.
    assert len(draw_why(frame, "9 queries × 9 candidates.").axes) == 4
    assert "image, noise: 30.0" in describe_why(frame)


def test_seeds_are_averaged(tmp_path):
    paths = []
    for seed, mean in ((1, 20), (2, 40)):
        for name, given, rank in (
            ("none", {}, 10),
            ("noise", {"channel": "image"}, mean),
            ("other", {"channel": "image", "by": "swap"}, 15),
        ):
            paths.append(tmp_path / f"{name}-{seed}.h5")
            write_result(paths[-1], made_result(ranks(rank, 2), seed=seed, condition=name, **settings(**given)))
    run(paths, [tmp_path / "d.csv"])
    found = read_diagnostics(tmp_path / "d.csv")
    assert cells(found, "swap", "written", "image")["noise"] == 20
    # The dialogs sway together, so that differences don't.
    line = found[(found["column"] == "noise") & (found["table"] == "swap")].iloc[0]
    assert (line["low"], line["high"]) == pytest.approx((20, 20), abs=1e-3)


def test_settings_of_another_version_are_refused(tmp_path):
    write_result(tmp_path / "x.h5", made_result(ranks(1), settings='{"chanel": "image"}'))
    with pytest.raises(InputError, match=r"x\.h5: its settings are of another version"):
        run([tmp_path / "x.h5"], [tmp_path / "d.csv"])


def test_without_transcripts_nothing_is_heard():
    assert listen({}) == {}
