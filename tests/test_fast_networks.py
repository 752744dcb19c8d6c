"""The fast networks compute what the plain ones do: histories, losses, gradients, messages, games and trainings."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from small_bots import KINDS, VOCABULARY, batch_of, bots, data_of, made_up, players

from cooperation.bots.building import build
from cooperation.bots.fast import networks as fast_networks
from cooperation.bots.fast.networks import FastAnswerer, FastQuestioner
from cooperation.bots.fast.recurrent import encode_prefix_tree, input_gates, packed_steps, prefix_tree, run
from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork, pack
from cooperation.bots.training import Trainer
from cooperation.bots.updates import teacher_forced
from cooperation.config.training import Sizes, Training
from cooperation.game.match import Batch, Match, Perturbation, Script
from cooperation.game.messages import ROUNDS
from cooperation.game.place import Context

MANY = [Sizes(12, 24, 2), Sizes(5, 7, 1), Sizes(6, 8, 3)]


def both(seed=0, sizes=MANY[0], eos=0.0):
    """A plain and a fast pair of the same weights; eos: how much the bots like to say it."""
    pairs = {kind: bots(kind, seed, sizes) for kind in KINDS}
    for plain, fast in zip(*pairs.values(), strict=True):
        plain.generator.bias.data[VOCABULARY.eos] += eos
        fast.load_state_dict(plain.state_dict())
    return pairs


def close(found, expected, within=1e-5):
    torch.testing.assert_close(found, expected, rtol=within, atol=within * float(expected.detach().abs().max()))


@pytest.fixture(params=["by our layers", "messages by stock LSTMs, as on a GPU", "scores in pieces"])
def way(request, monkeypatch):
    """All ways that the fast networks have."""
    if "GPU" in request.param:
        monkeypatch.setattr(fast_networks, "_stock_is_faster", lambda _: True)
    if "pieces" in request.param:
        pieces = torch.nn.LinearCrossEntropyOptions(allow_retain_graph=True, batch_chunk_size=7)
        monkeypatch.setattr(fast_networks, "MANY_SCORES", 0)
        monkeypatch.setattr(fast_networks, "IN_PIECES", pieces)


def test_they_have_the_same_weights_under_the_same_names():
    for plain, fast in zip(bots("plain"), bots("fast"), strict=True):
        assert list(plain.state_dict()) == list(fast.state_dict())
        assert all(torch.equal(value, fast.state_dict()[key]) for key, value in plain.state_dict().items())
    assert [type(bot) for bot in build(9, 4, MANY[0])] == [FastQuestioner, FastAnswerer]


@pytest.mark.parametrize("sizes", MANY, ids=str)
@pytest.mark.usefixtures("way")
def test_histories_are_the_same(sizes):
    batch = batch_of(*made_up(9))
    found = {}
    for kind, (questioner, answerer) in both(sizes=sizes).items():
        size = len(batch)
        begun = tuple(torch.randn(sizes.layers, size, sizes.hidden, generator=torch.manual_seed(4)) for _ in range(2))
        seen = answerer.image_input(batch.images)
        found[kind] = [
            *questioner.history(batch.facts, questioner.zero_state(size)),
            *questioner.history(batch.facts.rounds(slice(3, 4)), begun),
            *answerer.history(seen, batch.questions, batch.facts.rounds(slice(ROUNDS)), begun),
        ]
    assert found["plain"][0].shape == (sizes.layers, 9, ROUNDS + 1, sizes.hidden)
    for fast, plain in zip(found["fast"], found["plain"], strict=True):
        close(fast, plain)


@pytest.mark.parametrize("sizes", MANY, ids=str)
@pytest.mark.usefixtures("way")
def test_losses_and_gradients_are_the_same(sizes):
    batch = batch_of(*made_up(9))
    losses, gradients = {}, {}
    for kind, pair in both(sizes=sizes).items():
        losses[kind] = teacher_forced(*pair, batch)
        sum(losses[kind].values()).backward()
        gradients[kind] = [weight.grad for bot in pair for weight in bot.parameters()]
    for name, loss in losses["plain"].items():
        assert losses["fast"][name].item() == pytest.approx(loss.item(), rel=1e-6)
    for fast, plain in zip(gradients["fast"], gradients["plain"], strict=True):
        assert plain.any()
        close(fast, plain)


@pytest.mark.parametrize("eos", [-100, 0.3, 0.4, 100])
@pytest.mark.parametrize("limit", [1, 19])
def test_greedy_messages_are_the_same(eos, limit):
    questions = {}
    generator = torch.Generator().manual_seed(1)
    state = [torch.randn(2, 200, 24, generator=generator) for _ in range(2)]
    for kind, (questioner, _) in both(eos=eos).items():
        with torch.no_grad():
            questions[kind] = questioner.speak(state, VOCABULARY.start, VOCABULARY.eos, limit)
    tokens, lengths = questions["plain"]
    assert tokens.shape == (200, limit)
    for plain, fast in zip(*questions.values(), strict=True):
        assert plain.dtype == fast.dtype
        assert torch.equal(plain, fast)
    # As long as they are said to be, and no longer.
    ended = tokens == VOCABULARY.eos
    assert not tokens[torch.arange(limit) >= lengths[:, None]].any()
    assert torch.equal(lengths, torch.where(ended.any(1), ended.long().argmax(1) + 1, limit))
    wanted = {-100: {limit}, 100: {1}}.get(eos)
    assert set(lengths.tolist()) == wanted if wanted else limit == 1 or len(set(lengths.tolist())) > 2


@pytest.mark.usefixtures("way")
def test_whole_games_are_the_same():
    dialogs, images = made_up(40)
    games, guesses = {}, {kind: [] for kind in KINDS}
    for kind, pair in both(eos=0.3).items():
        game = Match(
            *players(pair, "bare"),
            Batch(dialogs.image_ids, dialogs.captions, images),
            Script.silent(40),
            Perturbation(),
            Context(1, VOCABULARY),
            lambda guess, kind=kind: guesses[kind].append(guess) or np.zeros(40),
        ).finish()
        games[kind] = [said[row].lists() for said in (game.question_said, game.answer_said) for row in range(40)]
    assert games["plain"] == games["fast"]
    np.testing.assert_allclose(guesses["fast"], guesses["plain"], rtol=0, atol=1e-5)


@pytest.mark.parametrize(("regime", "name"), [("dialog", "marked"), ("round", "plain")])
@pytest.mark.usefixtures("way")
def test_training_is_the_same(regime, name):
    dialogs, images = made_up(12)
    training = Training(regime=regime, epochs=2, batch=6)
    pairs, losses = both(), {}
    before = [weight.clone() for bot in pairs["plain"] for weight in bot.parameters()]
    for kind, pair in pairs.items():
        losses[kind] = [epoch.losses for epoch in Trainer(*pair, training).fit(data_of(dialogs, images, name))]
    for plain, fast in zip(losses["plain"], losses["fast"], strict=True):
        assert fast == pytest.approx(plain, rel=1e-5)
    # Adam's first steps are as long for gradients that are nearly zero, whose rounding then shows.
    plain, fast, begun = (
        torch.cat([weight.ravel() for weight in weights])
        for weights in (*([w for bot in pairs[kind] for w in bot.parameters()] for kind in KINDS), before)
    )
    assert (fast - plain).norm() < 1e-4 * (plain - begun).norm()


@pytest.mark.parametrize("lengths", [[5, 3, 3, 1], [2, 2], [1], [1, 4, 2]])
def test_messages_are_encoded_and_decoded_as_by_stock_lstms(lengths):
    """In float64, so that nothing hides behind rounding."""
    sizes, shape = torch.tensor(lengths), (2, len(lengths), 4)
    tokens = torch.randint(9, (len(lengths), max(lengths)), generator=torch.manual_seed(0))
    state = tuple(torch.randn(shape, dtype=torch.float64, generator=torch.manual_seed(1)) for _ in range(2))
    found = []
    for kind in (QuestionerNetwork, FastQuestioner):
        torch.manual_seed(0)
        bot = kind(9, 3, Sizes(3, 4, 2)).double()
        found.append([bot.last_hidden(bot.fact_encoder, tokens, sizes), bot.decode(pack(tokens, sizes), state)])
    for plain, fast in zip(*found, strict=True):
        torch.testing.assert_close(fast, plain)


@pytest.mark.parametrize("lengths", [[5, 3, 3, 1], [2, 2], [1]])
def test_the_layer_differentiates_as_a_stock_lstm_does(lengths):
    torch.manual_seed(0)
    stock = torch.nn.LSTM(3, 4, 2, batch_first=True).double()
    inputs = torch.randn(len(lengths), max(lengths), 3, dtype=torch.float64, requires_grad=True)
    state = tuple(torch.randn(2, len(lengths), 4, dtype=torch.float64, requires_grad=True) for _ in range(2))
    packed = pack(inputs, torch.tensor(lengths))
    theirs, (theirs_h, theirs_c) = stock(packed, state)
    order = packed.sorted_indices
    begun = state[0][:, order], state[1][:, order]
    sizes = packed.batch_sizes.tolist()
    layers = run(stock, input_gates(stock, 0, packed.data), begun, packed_steps(sizes))
    ours = layers[-1][0]
    torch.testing.assert_close(ours, theirs.data)
    # Hidden and cell states of all layers count, each differently.
    last = [sum(sizes[:length]) - sizes[length - 1] + row for row, length in enumerate(sorted(lengths, reverse=True))]
    ends = [torch.stack([states[kind][last] for states in layers])[:, packed.unsorted_indices] for kind in (0, 1)]
    torch.testing.assert_close(ends[0], theirs_h)
    torch.testing.assert_close(ends[1], theirs_c)
    leaves = [inputs, *state, *stock.parameters()]
    weight = torch.randn_like(ours)

    def loss(outputs, hidden, cell):
        return (outputs * weight).sum() + hidden.square().sum() + (3 * cell).sin().sum()

    expected = torch.autograd.grad(loss(theirs.data, theirs_h, theirs_c), leaves, retain_graph=True)
    found = torch.autograd.grad(loss(ours, *ends), leaves)
    for gradient, wanted in zip(found, expected, strict=True):
        torch.testing.assert_close(gradient, wanted)


def test_prefixes_that_messages_share_are_read_once():
    # b a, b a c (twice), b, and b followed by PAD.
    tokens = torch.tensor([[2, 1, 0], [2, 1, 3], [2, 1, 3], [2, 0, 0], [2, 0, 0]])
    found = prefix_tree(tokens, torch.tensor([2, 3, 3, 1, 2]))
    assert [(step.start, step.end) for step in found.steps] == [(0, 1), (1, 3), (3, 4)]
    assert found.words.tolist() == [2, 0, 1, 3]
    assert found.ends.tolist() == [2, 3, 3, 0, 1]


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 40), longest=st.integers(1, 5), words=st.integers(1, 3))
def test_a_prefix_tree_learns_as_messages_alone(seed, count, longest, words):
    torch.manual_seed(seed)
    bot = AnswererNetwork(4, 3, Sizes(3, 4, 2)).double()
    lstm = bot.fact_encoder
    lengths = torch.randint(1, longest + 1, (count,))
    # 0, PAD, may be said; past the length, too, there is nothing else.
    tokens = torch.randint(0, words + 1, (count, longest)).masked_fill_(torch.arange(longest) >= lengths[:, None], 0)
    weight = torch.randn(count, 4, dtype=torch.float64)
    weights = [*lstm.parameters(), *bot.embedding.parameters()]
    gradients = [
        torch.autograd.grad((encoded * weight).sum(), weights)
        for encoded in (
            bot.last_hidden(lstm, tokens, lengths),
            encode_prefix_tree(lstm, bot.embedding, tokens, lengths),
        )
    ]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)
    found = prefix_tree(tokens, lengths)
    begun = {(*row[: at + 1],) for row, end in zip(tokens.tolist(), lengths.tolist(), strict=True) for at in range(end)}
    assert len(found.words) == len(begun)
