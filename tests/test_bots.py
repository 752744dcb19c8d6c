"""The networks: batches equal loops, and they learn what they are shown."""

import numpy as np
import pytest
import torch
from small_bots import CPU, FEATURES, KINDS, SIZES, VOCABULARY, batch_of, bots, data_of, made_up, messages, players

from cooperation.bots.building import build_untrained
from cooperation.bots.fast import networks as fast_networks
from cooperation.bots.networks import Text
from cooperation.bots.training import Trainer
from cooperation.bots.updates import mixed_precision, teacher_forced
from cooperation.config.training import Sizes, Training
from cooperation.evaluation.ranking import Ranker
from cooperation.game.match import Batch, Match, Perturbation, Script
from cooperation.game.messages import Messages, with_end
from cooperation.game.place import Context


def encoded(questioner, tokens, lengths):
    return questioner.encode(questioner.fact_encoder, Text(tokens, lengths))


@pytest.mark.parametrize("kind", KINDS)
def test_encoding_a_batch_equals_encoding_each_message_alone(kind):
    questioner, _ = bots(kind)
    generator = np.random.default_rng(3)
    batch = messages(generator, 40, longest=9)
    # The same message twice, and one without tokens.
    tokens, lengths = torch.from_numpy(batch.tokens).long(), torch.from_numpy(batch.lengths).long()
    tokens[1], lengths[1] = tokens[0], lengths[0]
    tokens[2], lengths[2] = 0, 0
    together = encoded(questioner, tokens, lengths)
    for row in range(40):
        if row == 2:
            assert not together[row].any()
            continue
        read = questioner.embedding(tokens[row : row + 1, : lengths[row]])
        _, (hidden, _) = questioner.fact_encoder(read)
        torch.testing.assert_close(together[row], hidden[-1, 0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
def test_a_message_with_pad_in_it_is_read_alike_alone_and_in_a_batch(kind):
    questioner, _ = bots(kind)
    tokens, lengths = torch.tensor([[5, 0], [5, 0], [0, 0], [0, 0]]), torch.tensor([2, 1, 1, 0])
    together = encoded(questioner, tokens, lengths)
    for row in range(4):
        alone = encoded(questioner, tokens[row : row + 1], lengths[row : row + 1])
        torch.testing.assert_close(together[row], alone[0], rtol=0, atol=1e-6)
    assert (together[0] - together[1]).abs().max() > 1e-3


@pytest.mark.parametrize(("kind", "as_on_a_gpu"), [*((kind, False) for kind in KINDS), ("fast", True)])
def test_bfloat16_learns_nearly_the_same(kind, as_on_a_gpu, monkeypatch):
    monkeypatch.setattr(fast_networks, "_stock_is_faster", lambda _: as_on_a_gpu)
    dialogs, images = made_up(16)
    batch = batch_of(dialogs, images)
    losses, gradients = {}, {}
    for precision in ("float32", "bfloat16"):
        questioner, answerer = bots(kind)
        with mixed_precision(precision, batch):
            losses[precision] = teacher_forced(questioner, answerer, batch)
        sum(losses[precision].values()).backward()
        assert all(weight.grad.dtype == torch.float32 for weight in answerer.parameters())
        gradients[precision] = torch.cat([weight.grad.ravel() for weight in questioner.parameters()])
    for name, loss in losses["float32"].items():
        other = losses["bfloat16"][name]
        assert other.item() == pytest.approx(loss.item(), rel=5e-3)
        assert other.item() != loss.item() or name == "image"
    assert torch.cosine_similarity(gradients["float32"], gradients["bfloat16"], dim=0) > 0.999


@pytest.mark.parametrize("regime", ["dialog", "round"])
def test_precision_reaches_the_updates_of_both_bots(regime):
    dialogs, images = made_up(8)
    weights = {}
    for precision in ("float32", "bfloat16"):
        training = Training(regime=regime, epochs=1, batch=8, precision=precision)
        pair = build_untrained(VOCABULARY.size, FEATURES, SIZES, training)
        list(Trainer(*pair, training).fit(data_of(dialogs, images, "plain")))
        weights[precision] = [torch.cat([weight.ravel() for weight in bot.parameters()]) for bot in pair]
    for exact, fast in zip(weights["float32"], weights["bfloat16"], strict=True):
        assert 0 < (exact - fast).abs().max() < 0.05


def slow_losses(questioner, answerer, dialogs, images):
    """One dialog, one round and one token at a time, with nothing but stock LSTM calls."""
    start, eos = VOCABULARY.start, VOCABULARY.eos
    sums = {"question": 0.0, "answer": 0.0}
    errors = torch.zeros(10)

    def read(lstm, bot, ids):
        return lstm(bot.embedding(torch.tensor([ids])))[1][0][-1]

    def said(bot, ids, state):
        loss = 0.0
        for word, following in zip([start, *ids], [*ids, eos], strict=True):
            output, state = bot.decoder(bot.embedding(torch.tensor([[word]])), state)
            loss -= bot.generator(output[0, 0]).log_softmax(0)[following]
        return loss

    # The answerer's history as one stock LSTM over [image, question, fact].
    history = torch.nn.LSTM(FEATURES + 2 * SIZES.hidden, SIZES.hidden, SIZES.layers, batch_first=True)
    weights = answerer.history_encoder.state_dict()
    weights["weight_ih_l0"] = torch.cat([answerer.image_encoder.weight, weights["weight_ih_l0"]], 1)
    history.load_state_dict(weights)
    for row in range(len(dialogs)):
        caption = dialogs.captions[row : row + 1].lists()[0]
        questions, answers = dialogs.questions[row].lists(), dialogs.answers[row].lists()
        facts = [caption] + [[start, *q, eos, start, *a, eos] for q, a in zip(questions, answers, strict=True)]
        image = torch.from_numpy(images[row])
        _, q_state = questioner.history_encoder(read(questioner.fact_encoder, questioner, facts[0])[None])
        a_state = None
        for number in range(10):
            sums["question"] += said(questioner, questions[number], q_state)
            asked = read(answerer.question_encoder, answerer, [start, *questions[number], eos])
            fact = read(answerer.fact_encoder, answerer, facts[number])
            _, a_state = history(torch.cat([image[None], asked, fact], 1)[None], a_state)
            sums["answer"] += said(answerer, answers[number], a_state)
            fact = read(questioner.fact_encoder, questioner, facts[number + 1])
            _, q_state = questioner.history_encoder(fact[None], q_state)
            errors[number] += (image - questioner.regressor(q_state[0][-1, 0])).square().sum()
    return sums | {"image": errors.sqrt().sum()}


@pytest.mark.parametrize("kind", KINDS)
def test_a_packed_batch_equals_a_loop_over_dialogs(kind):
    questioner, answerer = bots(kind)
    dialogs, images = made_up(4)
    with torch.no_grad():
        together = teacher_forced(questioner, answerer, batch_of(dialogs, images))
        alone = slow_losses(questioner, answerer, dialogs, images)
    for name, loss in together.items():
        assert float(loss) == pytest.approx(float(alone[name]), rel=1e-5)


def play_all(pair, dialogs, images, rows):
    guesses = []

    def rank(guess):
        guesses.append(guess)
        return np.zeros(len(guess))

    script = Script.silent(len(rows))
    batch = Batch(rows, dialogs.captions[rows], images[rows])
    game = Match(*players(pair), batch, script, Perturbation(), Context(1, VOCABULARY), rank).finish()
    return game, np.stack(guesses, 1)


@pytest.mark.parametrize("kind", KINDS)
def test_batch_1_and_batch_64_play_the_same(kind):
    pair = bots(kind)
    dialogs, images = made_up(64)
    game, guesses = play_all(pair, dialogs, images, np.arange(64))
    for row in range(0, 64, 7):
        one, guess = play_all(pair, dialogs, images, np.array([row]))
        assert one.question_said[0].lists() == game.question_said[row].lists()
        assert one.answer_said[0].lists() == game.answer_said[row].lists()
        np.testing.assert_allclose(guess[0], guesses[row], rtol=0, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["marked", "bare", "plain"])
def test_silent_bots_can_play(name, kind):
    # All messages are EOS alone or even empty, so bare facts are empty.
    questioner, answerer = players(bots(kind), name)
    dialogs, images = made_up(3)
    questioner.begin(dialogs.captions)
    answerer.begin(dialogs.captions)
    answerer.see(images)
    for said in (Messages.of([[VOCABULARY.eos]] * 3), Messages.of([[]] * 3)):
        answerer.hear(said)
        answerer.answer()
        answerer.remember(said, said)
        questioner.remember(said, said)
        assert np.isfinite(questioner.guess()).all()


@pytest.mark.parametrize("regime", ["dialog", "round"])
def test_eight_dialogs_are_learnt_by_heart(regime):
    dialogs, images = made_up(8, longest=3)
    # An update a round takes ten times as long; one layer needs fewer of them.
    layers, epochs, rate = {"dialog": (2, 150, 0.01), "round": (1, 50, 0.008)}[regime]
    training = Training(regime=regime, epochs=epochs, batch=8, rate=rate)
    pair = build_untrained(VOCABULARY.size, FEATURES, Sizes(embedding=16, hidden=64, layers=layers), training)
    name = {"dialog": "marked", "round": "plain"}[regime]
    losses = [epoch.losses for epoch in Trainer(*pair, training).fit(data_of(dialogs, images, name))]
    assert losses[-1]["question"] < 0.1 * losses[0]["question"]
    assert losses[-1]["answer"] < 0.1 * losses[0]["answer"]
    human = Script(
        with_end(dialogs.questions, VOCABULARY.eos), with_end(dialogs.answers, VOCABULARY.eos), np.zeros((8, 0))
    )
    ranker = Ranker(images)

    def play(script):
        return Match(
            *players(pair, name),
            Batch(dialogs.image_ids, dialogs.captions, images),
            script,
            Perturbation(),
            Context(1, VOCABULARY),
            lambda guess: ranker.rank(guess, np.arange(8)),
        ).finish()

    # The round regime never trains the guess after the last fact.
    assert (play(human).ranks[:, :10] == 0).mean() > 0.9
    game = play(Script.silent(8))
    spoken = [game.question_said[row].lists() == human.questions[row].lists() for row in range(8)]
    assert sum(spoken) >= 6


def test_a_regime_and_a_seed_are_where_weights_begin():
    """Round updates begin with embeddings from U(−√3, √3), else with what dialog updates begin with."""
    first = {
        (regime, seed): build_untrained(VOCABULARY.size, FEATURES, SIZES, Training(regime=regime, seed=seed))
        for regime in ("dialog", "round")
        for seed in (1, 2)
    }
    for bot in range(2):
        dialog, rounds = (first[regime, 1][bot].state_dict() for regime in ("dialog", "round"))
        drawn = rounds.pop("embedding.weight")
        assert not drawn[0].any()
        assert 1.7 < drawn.abs().max() <= 3**0.5
        assert drawn[1:].std() == pytest.approx(1, abs=0.1)
        assert not dialog.pop("embedding.weight")[0].any()
        assert all(torch.equal(dialog[key], value) for key, value in rounds.items())
        other = first["dialog", 2][bot].state_dict()
        assert not any(torch.equal(other[key], value) for key, value in dialog.items())


@pytest.mark.parametrize("regime", ["dialog", "round"])
def test_a_trainer_is_made_without_effects(regime):
    pair = bots()
    before = [{key: value.clone() for key, value in bot.state_dict().items()} for bot in pair]
    chance = torch.random.get_rng_state()
    Trainer(*pair, Training(regime=regime))
    assert torch.equal(torch.random.get_rng_state(), chance)
    for bot, weights in zip(pair, before, strict=True):
        assert all(torch.equal(value, weights[key]) for key, value in bot.state_dict().items())
        assert {value.device for value in bot.state_dict().values()} == {CPU}
