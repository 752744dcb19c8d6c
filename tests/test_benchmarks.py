"""The plain references say, lose and rank what the package does; the benchmarks run, at tiny sizes."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

ROOT = Path(__file__).parent.parent
sys.path.append(str(ROOT / "benchmarks"))

import bench  # noqa: E402
import costs  # noqa: E402
import flops  # noqa: E402
import made_up  # noqa: E402
import overhead  # noqa: E402
import precision  # noqa: E402
import reference  # noqa: E402
import scale  # noqa: E402
import timing  # noqa: E402
import works  # noqa: E402

from cooperation.bots.updates import teacher_forced  # noqa: E402
from cooperation.games.ranking import Ranker  # noqa: E402
from cooperation.games.results import read_ranks  # noqa: E402
from cooperation.method.game import Script  # noqa: E402
from cooperation.models import Sizes, Training  # noqa: E402
from cooperation.settings import flags  # noqa: E402

SIZE = works.Size(40, 24, Sizes(12, 24, 2))


@pytest.fixture(scope="module")
def lively():
    """Bots with large weights, so that what they say depends on the dialog."""
    words = made_up.vocabulary(SIZE.words)
    dialogs, images = made_up.dialogs(24, SIZE.words), made_up.features(24, SIZE.features)
    bots = made_up.bots(words, SIZE.features, SIZE.sizes)
    with torch.no_grad():
        for weight in torch.nn.ModuleList(bots).parameters():
            weight.mul_(3)
    return bots, words, dialogs, images


def test_losses_are_the_references(lively):
    bots, words, dialogs, images = lively
    batch = works.taught(SIZE, dialogs, images)
    with torch.no_grad():
        ours = teacher_forced(*bots, batch)
        plain = reference.losses(*bots, words, dialogs, images)
        stock = reference.stock_losses(*bots, batch)
    for name, loss in ours.items():
        assert float(loss) == pytest.approx(float(plain[name]), rel=1e-5)
        assert float(loss) == pytest.approx(float(stock[name]), rel=1e-5)


def test_words_and_guesses_are_the_references(lively):
    bots, words, dialogs, images = lively
    players = works.Players.of(bots, words, dialogs, images)
    guesses = []
    game = players.play(Script.silent(len(dialogs)), lambda guess: guesses.append(guess) or np.zeros(len(guess)))
    for row, talk in enumerate(reference.talks(*bots, words, dialogs, images)):
        assert game.question_said[row].lists() == talk.questions
        assert game.answer_said[row].lists() == talk.answers
        np.testing.assert_allclose(np.stack(guesses, 1)[row], talk.guesses, rtol=0, atol=1e-5)
    # Not all alike, or much would go unseen.
    assert len({tuple(map(tuple, game.question_said[row].lists())) for row in range(24)}) > 4


def test_ranks_are_the_references(lively):
    bots, _, _, _ = lively
    pool = made_up.features(300, SIZE.features)
    with torch.no_grad():
        guesses = bots[0].guess(torch.randn(1, 300, SIZE.sizes.hidden)).numpy()
    span = bots[0].span().numpy()
    truth = np.arange(300)
    found = Ranker(pool, span=span).rank(guesses, truth)
    assert found.tolist() == reference.ranks(guesses, pool, truth).tolist()
    matrix = reference.ranks_by_matrix(*(torch.from_numpy(array) for array in (guesses, pool, truth)))
    assert (matrix.numpy() == found).mean() > 0.95


def test_made_up_dialogs_and_talk_have_visdials_lengths():
    words = made_up.vocabulary(500)
    dialogs = made_up.dialogs(300, 500)
    for name, (mean, longest) in made_up.LENGTHS.items():
        lengths = getattr(dialogs, name).lengths
        assert lengths.mean() == pytest.approx(mean, rel=0.05)
        assert 1 <= lengths.min() <= lengths.max() <= longest
    bots = made_up.chatting(made_up.bots(words, 16, Sizes(8, 8, 1)), words)
    players = works.Players.of(bots, words, dialogs, made_up.features(300, 16))
    game = players.play(Script.silent(300))
    # EOS included.
    assert game.question_said.lengths.mean() == pytest.approx(6.5, rel=0.05)
    assert game.answer_said.lengths.mean() == pytest.approx(4, rel=0.05)


def test_operations_by_hand():
    # One layer, 2 inputs, 3 units: 4 gates × 3 units × 5 numbers, a multiplication and an addition each.
    shape = flops.Shape(vocabulary=10, features=7, sizes=Sizes(embedding=2, hidden=3, layers=1))
    assert shape.reading() == 120
    assert shape.saying() == 120 + 2 * 3 * 10
    assert shape.lstm(3) == 2 * 12 * 6
    assert shape.remembering() == 2 * 12 * 9
    assert shape.seeing() == 2 * 7 * 12
    assert flops.ranking(5, 6, 7) == 420


def test_a_disturbed_turn_disturbs_both():
    assert timing.ratio([2, 20, 2], [1, 10, 1]) == 2


def test_what_neighbours_take(monkeypatch):
    """Of 100 ticks that were wanted 25 went to others; waiting and idle ones were not wanted."""
    ticks = iter([[5] * 8, [5 + 60, 5, 5 + 10, 5 + 1000, 5 + 70, 5 + 2, 5 + 3, 5 + 25]])
    monkeypatch.setattr(timing.Neighbours, "_ticks", lambda _: next(ticks))
    assert timing.Neighbours().share() == 0.25


def test_memory_of_a_call():
    def fill():
        np.ones(50 * 2**20, np.uint8).sum()

    assert 45 < timing.extra_memory(fill) / 2**20 < 80 or not timing.CLEAR.exists()


def test_all_is_measured_and_written(tmp_path, monkeypatch):
    monkeypatch.setattr(overhead, "measure", lambda turns: [{"what": "nothing", "seconds": float(turns)}])
    bench.main(["--small", "--out", str(tmp_path / "benchmarks")])
    lines = (tmp_path / "benchmarks.csv").read_text().splitlines()
    assert "GFLOP/s in float32" in lines[0]
    measured = {line.split(",")[0].strip('"') for line in lines[2:]}
    assert {"ranking", "playing", "tokenising", "extracting features", "reading pictures"} <= measured
    table = (tmp_path / "benchmarks.md").read_text()
    assert "| training, dialog updates: batches of 8, float32" in table
    assert "| nothing |" in table


def test_every_rule_has_its_cost():
    seconds = dict.fromkeys(["encode", "normalise", "summarise", "claims", "diagnose", "corpus", "table"], 36.0)
    memory = dict.fromkeys([*seconds, "extract", "train dialog", "train round", "play"], 2**30)
    measured = costs.Measured(
        seconds | {"extract": 110.0, "extract a few": 10.0},
        memory,
        {"dialogs.h5": 10**9, "features.h5": 2 * 10**9, "dialog.safetensors": 10**9, "result": 10**9},
        {"training, dialog": 0.1, "training, round": 0.2, "playing": 1.0, "playing from round 6": 0.5, "ranking": 0.01},
        gemm=200e9,
        pictures=100,
        steps=3,
        epochs=2,
        shards=4,
        starts=[1, 6, 1],
        scripted=[False, False, True],
    )
    table = costs.table(measured, 360, 180).set_index("rule")
    hours = table["hours_2_cores"] * 3600
    assert hours["train, dialog"] == pytest.approx(2 * 360 * 0.1)
    assert table.loc["extract", "jobs"] == 4
    assert hours["extract"] == pytest.approx(540)
    assert hours["summarise"] == pytest.approx(6 * 36)
    # A whole game, half a one, one that people talk, in which nothing is spoken; eleven, five and eleven ranks.
    assert hours["play, all conditions"] == pytest.approx(180 * (1 + 0.5 + 0 + 0.27) + 3 * 36)
    assert table.loc["in all", "hours_2_cores"] == pytest.approx(table["hours_2_cores"][:-1].sum())
    assert (table["hours_8_cores"] <= table["hours_2_cores"]).all()
    grown = pd.DataFrame(
        {"what": ["ranking"] * 2, "times": [1, 2], "dialogs": [5, 10], "seconds": [1, 4], "MiB": [1, 2]}
    )
    assert "4.00" in costs.markdown(costs.table(measured, 360, 180), grown, memory, "a machine")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    """A folder of dialogs and features, 40 and 20, and the commands that made them."""
    tmp_path = tmp_path_factory.mktemp("prepared")
    shape = replace(scale.SMALL, train=40, val=20)
    commands = scale.Commands()
    for split, first, count in (("train", 0, 40), ("val", 40, 20)):
        made_up.write_visdial(tmp_path / f"{split}.json", split, count, first)
    given = ["--train", tmp_path / "train.json", "--val", tmp_path / "val.json", "--out", tmp_path / "dialogs.h5"]
    commands.run("encode", "encode", *given)
    scale.write_features(tmp_path, shape)
    parts = ["--train", tmp_path / "fc7_train.h5", "--val", tmp_path / "fc7_val.h5"]
    commands.run("normalise", "normalise", *parts, "--out", tmp_path / "features.h5")
    return tmp_path, commands


def test_a_command_at_scale_ends_early(prepared):
    tmp_path, commands = prepared
    inputs = ["--dialogs", tmp_path / "dialogs.h5", "--features", tmp_path / "features.h5"]
    settings = ["--epochs", 1, "--batch", 4, *flags(scale.SMALL.sizes), "--out", tmp_path / "bots.safetensors"]
    commands.run("train", "train", *inputs, *settings, limit=2)
    settings = ["--checkpoint", tmp_path / "bots.safetensors", "--out", tmp_path, "--batch", 8]
    commands.run("play", "play", *inputs, *settings, limit=1)
    assert len(read_ranks(tmp_path / "none.h5").ranks) == 8
    assert all(size > 10 * 2**20 for size in commands.memory.values())
    with pytest.raises(RuntimeError, match="no such checkpoint"):
        commands.run("play", "play", *inputs, "--checkpoint", tmp_path / "none", "--out", tmp_path)


def test_a_precision_is_trained_and_played(prepared, capfd):
    folder, _ = prepared
    said = []
    for name in ("float32", "float32", "bfloat16"):
        training = Training(epochs=2, batch=8, rate=0.01, precision=name)
        found = precision.mpr(folder, scale.SMALL.sizes, training)
        said.append((found, [line for line in capfd.readouterr().err.splitlines() if line.startswith("epoch")]))
    assert said[0] == said[1]
    # Losses, for in so few dialogs the ranks are the same.
    assert len(said[0][1]) == 2
    assert said[0][1] != said[2][1]
    assert all(0 < mean < 100 for found, _ in said for mean in found.values())


def test_precisions_by_hand():
    found = [("none", "float32", 1, 90.0), ("none", "float32", 2, 92.0), ("none", "bfloat16", 1, 91.0)]
    found += [("none", "bfloat16", 2, 91.5)]
    shown = precision.table(pd.DataFrame(found, columns=["condition", "precision", "seed", "mpr"]))
    assert shown.to_numpy().tolist() == [
        ["none", "float32", 90.0, 92.0, 91.0, 90.0, 92.0],
        ["none", "bfloat16", 91.0, 91.5, 91.25, 91.0, 91.5],
    ]


def test_each_seed_is_trained_in_each_precision_as_configured(tmp_path, monkeypatch):
    def mpr(data, sizes, training):
        assert (str(data), sizes.layers, training.epochs) == ("data/miniature", 1, 10)
        return {"none": 90 + training.seed, "human": 80.0 if training.precision == "float32" else 81.0}

    monkeypatch.setattr(precision, "mpr", mpr)
    monkeypatch.chdir(ROOT)
    precision.main(["--seeds", "2", "--out", str(tmp_path / "precision")])
    assert len((tmp_path / "precision.csv").read_text().splitlines()) == 1 + 8
    assert "| human       | bfloat16    |    81.00 |    81.00 |" in (tmp_path / "precision.md").read_text()
