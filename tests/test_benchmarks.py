"""The bots that are measured say and guess what a plain program does; the benchmarks run, at tiny sizes."""

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
import commands  # noqa: E402
import coverage  # noqa: E402
import made_up  # noqa: E402
import run  # noqa: E402
import scale  # noqa: E402
import timing  # noqa: E402
import works  # noqa: E402

from cooperation.bots.player import TOKEN_LIMIT  # noqa: E402
from cooperation.bots.updates import teacher_forced  # noqa: E402
from cooperation.config.conditions import read_conditions  # noqa: E402
from cooperation.config.training import Sizes, Training  # noqa: E402
from cooperation.evaluation.ranking import Ranker, plain_ranks  # noqa: E402
from cooperation.evaluation.results import read_ranks  # noqa: E402

SIZE = made_up.Size(40, 24, Sizes(12, 24, 2), learnt=24)


@pytest.fixture(scope="module")
def lively():
    """Bots with large weights, so that what they say depends on the dialog."""
    sample = made_up.Sample.of(SIZE, 24)
    with torch.no_grad():
        for weight in torch.nn.ModuleList([sample.questioner, sample.answerer]).parameters():
            weight.mul_(3)
    return sample


def play(sample, row):
    """One dialog, round, message and word at a time, by stock LSTMs: questions and answers, EOS included; guesses."""
    words, questioner, answerer = sample.words, sample.questioner, sample.answerer
    mine = answerer.history_encoder
    history = torch.nn.LSTM(answerer.features + mine.input_size, mine.hidden_size, mine.num_layers, batch_first=True)
    weights = torch.cat([answerer.image_encoder.weight, mine.weight_ih_l0], 1)
    history.load_state_dict({**mine.state_dict(), "weight_ih_l0": weights})

    def read(lstm, bot, ids):
        return lstm(bot.embedding(torch.tensor([ids])))[1][0][-1]

    def speak(bot, state):
        said = []
        while len(said) < TOKEN_LIMIT and words.eos not in said:
            output, state = bot.decoder(bot.embedding(torch.tensor([[said[-1] if said else words.start]])), state)
            said.append(int(bot.generator(output[0, 0]).argmax()))
        return said

    def marked(said):
        return [words.start, *(word for word in said if word != words.eos), words.eos]

    fact = sample.dialogs.captions[row : row + 1].lists()[0]
    image = torch.from_numpy(sample.images[row : row + 1])
    questions, answers, guesses = [], [], []
    asking = answering = None
    for number in range(11):
        _, asking = questioner.history_encoder(read(questioner.fact_encoder, questioner, fact)[None], asking)
        guesses.append(questioner.regressor(asking[0][-1, 0]).numpy())
        if number < 10:
            questions.append(speak(questioner, asking))
            asked = read(answerer.question_encoder, answerer, marked(questions[-1]))
            seen = torch.cat([image, asked, read(answerer.fact_encoder, answerer, fact)], 1)
            _, answering = history(seen[None], answering)
            answers.append(speak(answerer, answering))
            fact = marked(questions[-1]) + marked(answers[-1])
    return questions, answers, np.stack(guesses)


def test_losses_are_the_references(lively):
    losses = []
    for sample in (lively, plain(lively)):
        with torch.no_grad():
            losses.append(teacher_forced(sample.questioner, sample.answerer, *sample.batches()))
    for name, loss in losses[0].items():
        assert float(loss) == pytest.approx(float(losses[1][name]), rel=1e-5)


def plain(sample):
    """The same bots, as networks are defined."""
    bots = made_up.build_plain(sample.words.size, SIZE.features, SIZE.sizes)
    for bot, fast in zip(bots, (sample.questioner, sample.answerer), strict=True):
        bot.load_state_dict(fast.state_dict())
    return replace(sample, questioner=bots[0], answerer=bots[1])


@pytest.mark.parametrize("change", [lambda sample: sample, plain], ids=["fast", "plain"])
def test_words_and_guesses_are_a_plain_programs(lively, change):
    guesses = []
    game = change(lively).match(rank=lambda guess: guesses.append(guess) or np.zeros(len(guess))).finish()
    for row in range(24):
        with torch.inference_mode():
            questions, answers, guessed = play(lively, row)
        assert game.question_said[row].lists() == questions
        assert game.answer_said[row].lists() == answers
        np.testing.assert_allclose(np.stack(guesses, 1)[row], guessed, rtol=0, atol=1e-5)
    # Not all alike, or much would go unseen.
    assert len({tuple(map(tuple, game.question_said[row].lists())) for row in range(24)}) > 4


def test_ranks_are_the_references(lively):
    pool = made_up.features(300, SIZE.features)
    with torch.no_grad():
        guesses = lively.questioner.guess(torch.randn(1, 300, SIZE.sizes.hidden)).numpy()
    truth = np.arange(300)
    found = Ranker(pool, guess_basis=lively.questioner.guess_basis().numpy()).rank(guesses, truth)
    assert found.tolist() == plain_ranks(guesses, pool, truth).tolist()
    assert (works.ranks_by_matrix(guesses, pool, truth).numpy() == found).mean() > 0.95


def test_made_up_dialogs_and_talk_have_visdials_lengths():
    sample = made_up.Sample.of(made_up.Size(500, 16, Sizes(8, 8, 1)), 300)
    for name, (mean, longest) in made_up.LENGTHS.items():
        lengths = getattr(sample.dialogs, name).lengths
        assert lengths.mean() == pytest.approx(mean, rel=0.05)
        assert 1 <= lengths.min() <= lengths.max() <= longest
    game = sample.chatting().match().finish()
    # EOS included.
    assert game.question_said.lengths.mean() == pytest.approx(6.5, rel=0.05)
    assert game.answer_said.lengths.mean() == pytest.approx(4, rel=0.05)


def test_operations_by_hand():
    # One layer, 2 inputs, 3 units: 4 gates × 3 units × 5 numbers, a multiplication and an addition each.
    reading = 120
    # 7 words and PAD, START and EOS make 10 scores.
    saying = 120 + 2 * 3 * 10
    sample = made_up.Sample.of(made_up.Size(7, 7, Sizes(embedding=2, hidden=3, layers=1)), 1)
    # The questioner remembers 11 facts; the answerer 10 rounds, of a question and a fact, and the image once.
    remembering = 11 * 2 * 12 * 6 + 10 * 2 * 12 * 9 + 2 * 7 * 12
    lengths = np.array([4]), np.full((1, 10), 2), np.full((1, 10), 1)
    # Caption, facts of 5 tokens with both STARTs, 10 and 9 of them, and questions with START: the last word is EOS.
    read, said = 2 * 4 + 19 * 5 + 10 * 3, 30
    assert sample.flop(*lengths, guesses=0) == read * reading + said * saying + remembering
    assert sample.flop(*lengths, guesses=11) == sample.flop(*lengths, guesses=0) + 11 * 2 * 7 * 3
    assert works.ranking(replace(SIZE, features=7), 5, 6).flop == 420


def test_a_disturbed_turn_disturbs_both():
    assert timing.ratio([2, 20, 2], [1, 10, 1]) == 2


def test_memory_of_a_call():
    def fill():
        np.ones(50 * 2**20, np.uint8).sum()

    assert 45 < timing.seconds_and_memory(fill)[1] / 2**20 < 80 or not timing.FORGET_PEAK.exists()


def test_all_is_measured_and_written(tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "start_costs", lambda turns: {"nothing": float(turns)})
    run.main(["bench", "--small", "--out", str(tmp_path / "benchmarks")])
    lines = (tmp_path / "benchmarks.csv").read_text().splitlines()
    assert "GFLOP/s in float32" in lines[0]
    # What is committed has the same columns and works.
    committed = (ROOT / "docs/benchmarks.csv").read_text().splitlines()
    assert lines[1] == committed[1]
    assert [line.split(",")[0] for line in lines[2:]] == [line.split(",")[0] for line in committed[2:]]
    measured = {line.split(",")[0].strip('"') for line in lines[2:]}
    assert {"ranking", "playing", "tokenising", "extracting features", "reading pictures"} <= measured
    page = (tmp_path / "benchmarks.md").read_text()
    assert "| training, dialog updates: batches of 8, float32" in page
    assert "| nothing |" in page
    # What people wrote between the tables stays, what the last run wrote goes.
    assert "## What the workflow costs by itself" in page
    assert page.count("Made by `make bench` on ") == 1
    assert "Xeon" not in page.replace(timing.machine(), "")


def test_every_rule_has_its_cost():
    seconds = dict.fromkeys(["encode", "normalise", "play a few", "report"], 36.0)
    memory = dict.fromkeys([*seconds, "extract", "train dialog", "train round", "play"], 2**30)
    files = {"dialogs.h5": 10**9, "features.h5": 2 * 10**9, "bots.safetensors": 10**9, "result": 10**9}
    rates = {"training, dialog updates": 0.1, "training, round updates": 0.2, "playing": 1.0, "ranking": 0.01}
    rates |= {"playing from round 6": 0.5, "extracting features": 0.75, "reading pictures": 0.25}
    late = {"channel": "image", "kind": "noise", "start": 6}
    asked = small_experiment({"none": {}, "late": late, "human": {"script": "dialog"}})
    size = replace(SIZE, train=360, val=180)
    table = scale.costs(commands.Ran(seconds, memory, files), rates, 200e9, asked, size).set_index("rule")
    hours = table["hours_2_cores"] * 3600
    assert hours["train, dialog"] == pytest.approx(2 * 360 * 0.1)
    assert table.loc["extract", "jobs"] == 4
    assert hours["extract"] == pytest.approx(540)
    assert hours["report"] == pytest.approx(36)
    # A whole game, half a one, one that people talk, in which nothing is spoken; eleven, five and eleven ranks.
    assert hours["play"] == pytest.approx(180 * (1 + 0.5 + 0 + 0.27) + 3 * 36)
    assert table.loc["in all", "hours_2_cores"] == pytest.approx(table["hours_2_cores"][:-1].sum())
    assert table.loc["in all", "jobs"] == 4 + 5 + 3
    assert (table["hours_8_cores"] <= table["hours_2_cores"]).all()
    committed = pd.read_csv(ROOT / "docs/scale.csv", comment="#")
    assert [*committed] == [*table.reset_index()]
    rules = ["encode", "extract", "normalise", "train, dialog", "train, round", "play"]
    assert [*table.index] == [*rules, "report", "in all"]
    assert [*committed["rule"][:6]] == rules


def small_experiment(conditions):
    """What config.yaml would ask for with these conditions, four shards and two epochs of each model."""
    asked = commands.experiment("visdial_0.9")
    training = {name: replace(how, epochs=2) for name, how in asked.data.training.items()}
    datasets = {asked.dataset: replace(asked.data, shards=4, training=training)}
    given = {"dialog": read_conditions(conditions, "conditions")}
    return replace(asked, datasets=datasets, readings=asked.readings[:1], conditions=given)


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A folder in which all commands were run, and what they took."""
    folder = tmp_path_factory.mktemp("scale")
    size = replace(made_up.SMALL, train=40, val=20)
    return folder, commands.run_all(folder, size, commands.experiment("visdial_0.9"))


def test_scale_counts_every_rule_and_command(ran, tmp_path, monkeypatch):
    monkeypatch.setattr(scale, "run_all", lambda *_: ran[1])
    run.main(["scale", "--small", "--out", str(tmp_path / "scale")])
    page, committed = (tmp_path / "scale.md").read_text(), (ROOT / "docs/scale.md").read_text()
    for command in ("encode", "train dialog", "train round", "play", "extract", "report"):
        assert f"\n| {command} " in page
    heads = [[line for line in text.splitlines() if line.startswith("## ")] for text in (page, committed)]
    assert heads[0] == heads[1]
    assert page.count("\n|:") == committed.count("\n|:") == 3


def test_a_command_at_scale_ends_early(ran):
    folder, taken = ran
    assert len(read_ranks(folder / "played/written/none.h5").ranks) == 20
    assert all(size > 10 * 2**20 for size in taken.memory.values())
    late = commands.Ran()
    words = commands.train(folder, made_up.SMALL.sizes, Training(epochs=10**6), folder / "never")
    late.run(*words, limit=2)
    assert 2 <= late.seconds["train"] < 4
    assert not (folder / "never").exists()
    with pytest.raises(RuntimeError, match="no such checkpoint"):
        late.run(*commands.play(folder, folder / "none", folder))


def test_a_precision_is_trained_and_played(ran, capfd):
    folder, _ = ran
    said = []
    for name in ("float32", "float32", "bfloat16"):
        training = Training(epochs=2, batch=8, rate=0.01, precision=name)
        found = commands.mpr(folder, made_up.SMALL.sizes, training)
        said.append((found, [line for line in capfd.readouterr().err.splitlines() if line.startswith("epoch")]))
    assert said[0] == said[1]
    # Losses, for in so few dialogs the ranks are the same.
    assert len(said[0][1]) == 2
    assert said[0][1] != said[2][1]
    assert all(0 < mean < 100 for found, _ in said for mean in found.values())


def test_precisions_by_hand():
    found = [("none", "float32", 1, 90.0), ("none", "float32", 2, 92.0), ("none", "bfloat16", 1, 91.0)]
    found += [("none", "bfloat16", 2, 91.5)]
    shown = run.by_seed(pd.DataFrame(found, columns=["condition", "precision", "seed", "mpr"]))
    assert shown.to_numpy().tolist() == [
        ["none", "float32", 90.0, 92.0, 91.0, 90.0, 92.0],
        ["none", "bfloat16", 91.0, 91.5, 91.25, 91.0, 91.5],
    ]


def test_each_seed_is_trained_in_each_precision_as_configured(tmp_path, monkeypatch):
    def mpr(data, sizes, training):
        assert (str(data), sizes.layers, training.epochs) == ("data/miniature", 1, 10)
        return {"none": 90 + training.seed, "human": 80.0 if training.precision == "float32" else 81.0}

    monkeypatch.setattr(commands, "mpr", mpr)
    run.main(["precision", "--seeds", "2", "--out", str(tmp_path / "precision")])
    lines = (tmp_path / "precision.csv").read_text().splitlines()
    assert len(lines) == 1 + 1 + 8
    assert lines[1] == (ROOT / "docs/precision.csv").read_text().splitlines()[1]
    assert "| human       | bfloat16    |    81.00 |    81.00 |" in (tmp_path / "precision.md").read_text()


def test_coverage_of_made_up_worlds(tmp_path):
    run.main(["coverage", "--worlds", "2", "--out", str(tmp_path / "intervals")])
    rows = pd.read_csv(tmp_path / "intervals.csv", comment="#")
    assert len(rows) == 2 * len(coverage.SEEDS) * len(coverage.SPREADS)
    assert rows[list(coverage.METHODS)].isin([0, 50, 100]).all(axis=None)
    assert "| gap  |          10 |" in (tmp_path / "intervals.md").read_text()


def test_satterthwaites_interval_of_equal_variances_has_their_sum_of_degrees():
    """Two dialogs and two trainings whose means are as far apart: t with two degrees of freedom, by hand."""
    values = np.array([[0.0, 2.0], [2.0, 4.0]])
    draws = coverage.satterthwaite(values, np.random.default_rng(1))
    # Each variance of a mean is 2 / 2, and the quartile of t with two degrees is 0.816.
    assert np.median(draws) == pytest.approx(2, abs=0.15)
    assert np.median(np.abs(draws - 2)) == pytest.approx(0.816 * np.sqrt(2), rel=0.12)


def test_the_intervals_in_use_are_as_the_page_of_them_says():
    """With several trainings no line of the committed simulation is too narrow; none too wide where they differ."""
    rows = pd.read_csv(ROOT / "docs" / "intervals.csv", comment="#")
    several = rows[rows["trainings"] > 1]
    assert set(several["trainings"]) == {3, 5, 10}
    assert several["used here"].min() >= 93
    assert several.loc[several["SD of trainings"] > 0, "used here"].max() < 98
