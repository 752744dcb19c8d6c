"""The networks: batches equal loops, and they learn what they are shown."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cooperation.bots import recurrent
from cooperation.bots.lessons import lessons
from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork
from cooperation.bots.player import AnswererPlayer, QuestionerPlayer
from cooperation.bots.recurrent import encode, in_order, input_gates, pack, run
from cooperation.bots.training import School
from cooperation.bots.updates import products_in, teacher_forced
from cooperation.data.store import Dialogs
from cooperation.games.ranking import Ranker
from cooperation.messages import Messages, with_end
from cooperation.method.facts import FORMATS
from cooperation.method.game import Match, Script, Tampering
from cooperation.models import Sizes, Training
from cooperation.text import Vocabulary

VOCABULARY = Vocabulary.of([*"abcdefghijklmnopqrs", "UNK"])
SIZES = Sizes(embedding=12, hidden=24, layers=2)
FEATURES = 16
CPU = torch.device("cpu")


def bots(seed=0, sizes=SIZES):
    torch.manual_seed(seed)
    return QuestionerNetwork(VOCABULARY.size, FEATURES, sizes), AnswererNetwork(VOCABULARY.size, FEATURES, sizes)


def messages(generator, *shape, longest):
    lengths = generator.integers(1, longest + 1, size=shape).astype(np.int32)
    tokens = generator.integers(1, 21, size=(*shape, longest)).astype(np.int32)
    return Messages(np.where(np.arange(longest) < lengths[..., None], tokens, 0).astype(np.int32), lengths)


def made_up(count, seed=0, longest=7):
    generator = np.random.default_rng(seed)
    dialogs = Dialogs(
        np.arange(count),
        messages(generator, count, longest=12),
        messages(generator, count, 10, longest=longest),
        messages(generator, count, 10, longest=min(longest, 4)),
    )
    images = generator.normal(size=(count, FEATURES)).astype(np.float32)
    return dialogs, images / np.linalg.norm(images, axis=1, keepdims=True)


def batch_of(dialogs, images, reads="marked"):
    batch = lessons(dialogs, images, VOCABULARY, FORMATS[reads](VOCABULARY), CPU)
    return batch.of(torch.arange(len(batch)))


def test_encoding_a_batch_equals_encoding_each_message_alone():
    questioner, _ = bots()
    generator = np.random.default_rng(3)
    batch = messages(generator, 40, longest=9)
    # The same message twice, and one without tokens.
    tokens, lengths = torch.from_numpy(batch.tokens).long(), torch.from_numpy(batch.lengths).long()
    tokens[1], lengths[1] = tokens[0], lengths[0]
    tokens[2], lengths[2] = 0, 0
    together = encode(questioner.fact_encoder, questioner.embedding, tokens, lengths)
    for row in range(40):
        if row == 2:
            assert not together[row].any()
            continue
        read = questioner.embedding(tokens[row : row + 1, : lengths[row]])
        _, (hidden, _) = questioner.fact_encoder(read)
        torch.testing.assert_close(together[row], hidden[-1, 0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("lengths", [[5, 3, 3, 1], [2, 2], [1], [1, 4, 2]])
def test_what_runs_on_a_gpu_equals_what_runs_on_a_cpu(lengths):
    torch.manual_seed(0)
    lstm, embedding = torch.nn.LSTM(3, 4, 2, batch_first=True).double(), torch.nn.Embedding(9, 3).double()
    tokens, sizes = torch.randint(9, (len(lengths), max(lengths))), torch.tensor(lengths)
    packed = pack(tokens, sizes)
    state = tuple(torch.randn(2, len(lengths), 4, dtype=torch.float64) for _ in range(2))
    for ways, inputs in (
        ((recurrent.decode_by_stock, recurrent.decode_by_layers), (packed, state)),
        ((recurrent.encode_messages, recurrent.encode_prefixes), (tokens, sizes)),
    ):
        torch.testing.assert_close(*(way(lstm, embedding, *inputs) for way in ways))


def test_beginnings_that_messages_share_are_read_once():
    # b a, b a c (twice), b, and b followed by PAD.
    tokens = torch.tensor([[2, 1, 0], [2, 1, 3], [2, 1, 3], [2, 0, 0], [2, 0, 0]])
    found = recurrent.prefixes(tokens, torch.tensor([2, 3, 3, 1, 2]))
    assert [(step.start, step.end) for step in found.steps] == [(0, 1), (1, 3), (3, 4)]
    assert found.words.tolist() == [2, 0, 1, 3]
    assert found.ends.tolist() == [2, 3, 3, 0, 1]


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10**6), count=st.integers(1, 40), longest=st.integers(1, 5), words=st.integers(1, 3))
def test_shared_beginnings_learn_as_messages_alone(seed, count, longest, words):
    torch.manual_seed(seed)
    lstm, embedding = (
        torch.nn.LSTM(3, 4, 2, batch_first=True).double(),
        torch.nn.Embedding(4, 3, padding_idx=0).double(),
    )
    lengths = torch.randint(1, longest + 1, (count,))
    # 0, PAD, may be said; past the length, too, there is nothing else.
    tokens = torch.randint(0, words + 1, (count, longest)).masked_fill_(torch.arange(longest) >= lengths[:, None], 0)
    weight = torch.randn(count, 4, dtype=torch.float64)
    weights = [*lstm.parameters(), *embedding.parameters()]
    gradients = [
        torch.autograd.grad((read(lstm, embedding, tokens, lengths) * weight).sum(), weights)
        for read in (recurrent.encode_messages, recurrent.encode_prefixes)
    ]
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)
    found = recurrent.prefixes(tokens, lengths)
    begun = {(*row[: at + 1],) for row, end in zip(tokens.tolist(), lengths.tolist(), strict=True) for at in range(end)}
    assert len(found.words) == len(begun)


def test_bfloat16_learns_nearly_the_same():
    dialogs, images = made_up(16)
    batch = batch_of(dialogs, images)
    losses, gradients = {}, {}
    for precision in ("float32", "bfloat16"):
        questioner, answerer = bots()
        with products_in(precision, batch):
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
        pair = bots()
        school = School(*pair, Training(regime=regime, epochs=1, batch=8, precision=precision))
        list(school.fit(lessons(dialogs, images, VOCABULARY, FORMATS["plain"](VOCABULARY), CPU)))
        weights[precision] = [torch.cat([weight.ravel() for weight in bot.parameters()]) for bot in pair]
    for exact, fast in zip(weights["float32"], weights["bfloat16"], strict=True):
        assert 0 < (exact - fast).abs().max() < 0.05


def test_a_message_with_pad_in_it_is_read_alike_alone_and_in_a_batch():
    questioner, _ = bots()
    tokens, lengths = torch.tensor([[5, 0], [5, 0], [0, 0], [0, 0]]), torch.tensor([2, 1, 1, 0])
    together = encode(questioner.fact_encoder, questioner.embedding, tokens, lengths)
    for row in range(4):
        alone = encode(questioner.fact_encoder, questioner.embedding, tokens[row : row + 1], lengths[row : row + 1])
        torch.testing.assert_close(together[row], alone[0], rtol=0, atol=1e-6)
    assert (together[0] - together[1]).abs().max() > 1e-3


@pytest.mark.parametrize("lengths", [[5, 3, 3, 1], [2, 2], [1]])
def test_the_layer_differentiates_as_stock_lstm_does(lengths):
    torch.manual_seed(0)
    stock = torch.nn.LSTM(3, 4, 2, batch_first=True).double()
    inputs = torch.randn(len(lengths), max(lengths), 3, dtype=torch.float64, requires_grad=True)
    state = tuple(torch.randn(2, len(lengths), 4, dtype=torch.float64, requires_grad=True) for _ in range(2))
    packed = pack(inputs, torch.tensor(lengths))
    theirs, (theirs_h, theirs_c) = stock(packed, state)
    order = packed.sorted_indices
    begun = state[0][:, order], state[1][:, order]
    sizes = packed.batch_sizes.tolist()
    layers = run(stock, input_gates(stock, 0, packed.data), begun, in_order(sizes))
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


def test_a_packed_batch_equals_a_loop_over_dialogs():
    questioner, answerer = bots()
    dialogs, images = made_up(4)
    with torch.no_grad():
        together = teacher_forced(questioner, answerer, batch_of(dialogs, images))
        alone = slow_losses(questioner, answerer, dialogs, images)
    for name, loss in together.items():
        assert float(loss) == pytest.approx(float(alone[name]), rel=1e-5)


def play_all(network_pair, dialogs, images, rows, script=None):
    questioner = QuestionerPlayer(network_pair[0], VOCABULARY, FORMATS["marked"](VOCABULARY))
    answerer = AnswererPlayer(network_pair[1], VOCABULARY, FORMATS["marked"](VOCABULARY))
    guesses = []

    def rank(guess):
        guesses.append(guess)
        return np.zeros(len(guess))

    script = script or Script.silent(len(rows))
    game = Match(
        questioner, answerer, dialogs.captions[rows], images[rows], rows, 1, script, Tampering(), rank
    ).finish()
    return game, np.stack(guesses, 1)


def test_batch_1_and_batch_64_play_the_same():
    pair = bots()
    dialogs, images = made_up(64)
    game, guesses = play_all(pair, dialogs, images, np.arange(64))
    for row in range(0, 64, 7):
        one, guess = play_all(pair, dialogs, images, np.array([row]))
        assert one.question_said[0].lists() == game.question_said[row].lists()
        assert one.answer_said[0].lists() == game.answer_said[row].lists()
        np.testing.assert_allclose(guess[0], guesses[row], rtol=0, atol=1e-5)


@pytest.mark.parametrize("reads", ["marked", "bare", "plain"])
def test_silent_bots_can_play(reads):
    # All messages are EOS alone or even empty, so bare facts are empty.
    pair = bots()
    reading = FORMATS[reads](VOCABULARY)
    questioner, answerer = QuestionerPlayer(pair[0], VOCABULARY, reading), AnswererPlayer(pair[1], VOCABULARY, reading)
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
    pair = bots(sizes=Sizes(embedding=16, hidden=64, layers=layers))
    training = Training(regime=regime, epochs=epochs, batch=8, rate=rate)
    school = School(*pair, training)
    reads = {"dialog": "marked", "round": "plain"}[regime]
    data = lessons(dialogs, images, VOCABULARY, FORMATS[reads](VOCABULARY), CPU)
    losses = [epoch.losses for epoch in school.fit(data)]
    assert losses[-1]["question"] < 0.1 * losses[0]["question"]
    assert losses[-1]["answer"] < 0.1 * losses[0]["answer"]
    human = Script(
        with_end(dialogs.questions, VOCABULARY.eos), with_end(dialogs.answers, VOCABULARY.eos), np.zeros((8, 0))
    )
    reading = FORMATS[reads](VOCABULARY)
    questioner = QuestionerPlayer(pair[0], VOCABULARY, reading)
    answerer = AnswererPlayer(pair[1], VOCABULARY, reading)
    ranker = Ranker(images)
    game = Match(
        questioner,
        answerer,
        dialogs.captions,
        images,
        dialogs.image_ids,
        1,
        human,
        Tampering(),
        lambda guess: ranker.rank(guess, np.arange(8)),
    ).finish()
    # The round regime never trains the guess after the last fact.
    assert (game.ranks[:, :10] == 0).mean() > 0.9
    game = Match(
        questioner,
        answerer,
        dialogs.captions,
        images,
        dialogs.image_ids,
        1,
        Script.silent(8),
        Tampering(),
        lambda guess: ranker.rank(guess, np.arange(8)),
    ).finish()
    spoken = [game.question_said[row].lists() == human.questions[row].lists() for row in range(8)]
    assert sum(spoken) >= 6
