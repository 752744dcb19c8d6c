"""Diagnostics of made-up results: every number follows from the ranks by hand."""

import json
from dataclasses import replace

import numpy as np
import pytest
from fakes import made_result, made_scores

from cooperation.commands.common import read_scores
from cooperation.config.conditions import read_condition
from cooperation.evaluation.results import write_result
from cooperation.game.messages import Messages
from cooperation.reports.diagnostics import COLUMNS, diagnose, diagnostics_table, read_talks
from cooperation.reports.findings import findings
from cooperation.reports.statistics import resample

DIALOGS = 40


def settings(**given):
    return {"settings": json.dumps(read_condition(given, "x").settings)}


def ranks(mean, sway=0):
    """Ranks 0 by caption, then `mean`, in half of the dialogs more by `sway` and in the others less."""
    column = mean + sway * np.where(np.arange(DIALOGS) % 2, 1, -1)
    return np.concatenate([np.zeros((DIALOGS, 1)), np.repeat(column[:, None], 10, 1)], 1)


# Among 100 candidates a rank is a point of MPR. written: noise costs 30, 10 of them for being out of distribution; with
# bare facts the bots lose 5 and people nothing.
NOISE = {"channel": "image", "kind": "noise"}
SWAP = {"channel": "image", "kind": "swap"}
GAMES = {
    ("written", "none"): ({}, 10),
    ("written", "noise"): (NOISE, 40),
    ("written", "other"): (SWAP, 30),
    ("written", "bare"): ({"facts": "bare"}, 15),
    ("written", "noise-bare"): ({**NOISE, "facts": "bare"}, 35),
    ("written", "human"): ({"script": "dialog"}, 4),
    ("written", "human-bare"): ({"script": "dialog", "facts": "bare"}, 4),
    ("written", "human-questions"): ({"script": "questions"}, 6),
    ("released", "none"): ({}, 15),
    ("released", "noise"): (NOISE, 30),
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
def frame(paths):
    return diagnosed(paths)


def diagnosed(paths):
    scores = read_scores(paths)
    return diagnose(resample(scores, 100), read_talks(scores))


def cells(frame, table, reading, row):
    """To the decimals of the CSV."""
    lines = frame[(frame["table"] == table) & (frame["reading"] == reading) & (frame["row"] == row)]
    return dict(zip(lines["column"], (lines["value"].round(4) + 0.0).tolist(), strict=True))


def test_noise_beside_swap(frame):
    found = cells(frame, "swap", "written", "image")
    assert {name: found[name] for name in ("noise", "swap", "noise − swap")} == {
        "noise": 30,
        "swap": 20,
        "noise − swap": 10,
    }
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


def test_intervals_hold_the_value_and_have_none_only_for_what_is_of_all_dialogs(frame):
    of_all = frame["column"].isin(["answer entropy, all dialogs [bits]", "messages a swap changes [%]"])
    rows = frame[~of_all]
    assert ((rows["low"] <= rows["value"] + 1e-4) & (rows["value"] <= rows["high"] + 1e-4)).all()
    assert frame[of_all]["low"].isna().all()


def in_three_trainings(frame):
    """The same numbers of three trainings that agree."""
    each = frame["each"].map(lambda value: " ".join([str(value)] * 3))
    return frame.assign(seeds="1 2 3", each=each)


def test_the_sentences_follow_the_numbers(frame):
    text = "\n".join(findings(in_three_trainings(frame)))
    for words in (
        "dialog, seeds 1, 2, 3, as written: gap where another dialog’s stands in its place",
        "in distribution: image 20.0 [20.0, 20.0].",
        "noise, which changes all messages and is out of distribution, costs more than a swap: noise − swap is image",
        "the caption alone gives an MPR of 99.5 [99.5, 99.5]; ten rounds of the bots’ own talk make it 89.5",
        "ask 1.0 different questions in ten rounds (people 1.0); 90.0 %",
        "says what people said in 80.0 [80.0, 80.0] % of the rounds",
        "costs the bots’ own dialog 5.0 [5.0, 5.0] points",
        "not as in training, makes a difference to the recorded human dialog cannot be told: 0.0 [0.0, 0.0]",
        "both readings: for 1 of 1 conditions the interval of the difference between the gaps at round 10 leaves zero",
        "released − written is noise −15.0 [−15.0, −15.0]. Of so many, 0.1 would if none differed",
    ):
        assert words in text
    assert "costs more cannot be told" not in text
    assert "misleads" not in text


def test_one_training_decides_nothing_of_others(frame):
    text = "\n".join(findings(frame))
    assert "dialog, one training (seed 1), as written: gap where another dialog’s" in text
    for words in (
        "whether noise or swap costs more cannot be told: noise − swap is image 10.0 [10.0, 10.0].",
        "whether reading facts bare, not as in training, makes a difference to the bots’ own dialog cannot be told",
        "whether gaps differ between the readings cannot be told from one training.",
    ):
        assert words in text
    assert " costs more than " not in text
    assert " costs the " not in text


def test_it_is_said_how_many_messages_a_swap_changes(tmp_path):
    """Three dialogs hear another's question, one of two rounds: half of the messages; captions change in round 0."""
    paths = []
    for name, given, changed in (("none", {}, 0), ("noise", NOISE, 10), ("other", SWAP, 4)):
        paths.append(tmp_path / f"{name}.h5")
        counts = np.array([0] + [changed] * 10)
        made = replace(made_result(ranks(10), condition=name, **settings(**given)), perturbed_messages=counts)
        write_result(paths[-1], made)
    found = diagnosed(paths)
    [share] = found[found["column"] == "messages a swap changes [%]"]["value"]
    assert share == 100 * 4 / DIALOGS
    assert f"a swap changes fewer messages than noise does: image {share:.1f} %." in "\n".join(findings(found))


def test_the_sentences_turn_with_the_numbers(frame):
    turned = in_three_trainings(frame)
    here = (turned["table"] == "swap") & (turned["column"] == "noise − swap")
    turned.loc[here, ["value", "low", "high", "each"]] = [-3, -4, -2, "-3 -3 -3"]
    assert "costs more than noise: noise − swap is image −3.0" in "\n".join(findings(turned))
    turned.loc[here, ["value", "low", "high", "each"]] = [1, -1, 3, "1 1 1"]
    assert "whether noise or swap costs more cannot be told: noise − swap is image 1.0 [−1.0, 3.0]" in "\n".join(
        findings(turned)
    )
    here = (turned["row"] == "MPR, bots talk") & (turned["column"] == "bare − as in training")
    turned.loc[here, ["value", "low", "high", "each"]] = [3, 2, 4, "3 3 3"]
    assert "gains the bots’ own dialog 3.0 [2.0, 4.0] points" in "\n".join(findings(turned))


def test_the_table_shows_every_cell(frame):
    table = diagnostics_table(frame, "9 queries × 9 candidates.")
    assert list(table.frame.columns) == list(COLUMNS)
    assert [block.columns[0].title for block in table.blocks] == ["Swap", *["Talk"] * 2, "Facts", "Readings"]
    assert [title.split(":")[0] for title, _ in table.sections] == [
        "Noise, or another dialog’s", "Who talks", "Format of the facts", "As written against as released"
    ]  # fmt: skip
    assert sum(len(row) - 1 for block in table.blocks for row in block.rows if block.columns[0].title != "Talk") == len(
        frame[frame["table"] != "talk"]
    )
    assert "30.0 [30.0, 30.0]" in table.markdown()
    assert "9 queries" in table.markdown()
    assert "not expected to match" in table.html()
    assert table.findings == tuple(findings(frame))


def test_where_nothing_can_be_diagnosed_there_is_no_table():
    found = diagnose(resample([made_scores(ranks(1))], 20), {})
    assert found.empty
    assert diagnostics_table(found, "") is None


def test_every_model_that_played_is_diagnosed(tmp_path):
    paths = []
    for model, lost in (("w1", 5), ("w10", 20)):
        for name, given, mean in (("none", {}, 10), ("noise", NOISE, 10 + lost), ("other", SWAP, 12)):
            paths.append(tmp_path / f"{model}-{name}.h5")
            write_result(paths[-1], made_result(ranks(mean), model=model, condition=name, **settings(**given)))
    found = diagnosed(paths)
    gaps = found[(found["table"] == "swap") & (found["column"] == "noise")].set_index("model")["value"]
    assert gaps.to_dict() == pytest.approx({"w1": 5, "w10": 20}, abs=1e-4)
    talks = found[(found["table"] == "talk") & (found["column"] == "MPR, round 10")].set_index("model")["value"]
    assert talks.to_dict() == pytest.approx({"w1": 89.5, "w10": 89.5}, abs=1e-4)
    headings = [block.heading for block in diagnostics_table(found, "").blocks if block.columns[0].title == "Swap"]
    assert [heading.split(".")[0] for heading in headings] == ["Model “w1”", "Model “w10”"]
    assert {sentence.split(",")[0] for sentence in findings(found)} == {"w1", "w10"}


def test_seeds_are_averaged(tmp_path):
    paths = []
    for seed, mean in ((1, 20), (2, 40)):
        for name, given, rank in (
            ("none", {}, 10),
            ("noise", NOISE, mean),
            ("other", SWAP, 15),
        ):
            paths.append(tmp_path / f"{name}-{seed}.h5")
            write_result(paths[-1], made_result(ranks(rank, 2), seed=seed, condition=name, **settings(**given)))
    found = diagnosed(paths)
    assert cells(found, "swap", "written", "image")["noise"] == 20
    line = found[(found["column"] == "noise") & (found["table"] == "swap")].iloc[0]
    assert (line["seeds"], line["each"]) == ("1 2", "10.0000 30.0000")
    # The dialogs sway together, so that differences don't; the trainings differ.
    assert line["low"] < 0
    assert line["high"] > 40


def test_without_transcripts_nothing_is_heard():
    assert read_talks([]) == {}
