"""Interventions: what they may touch, how often, and that nothing but their key decides it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cooperation.files import InputError
from cooperation.messages import Messages, stack_rounds
from cooperation.method.interventions import (
    Negate,
    NegateExact,
    Partners,
    SwapImages,
    SwapMessages,
    Where,
    function_words,
    noise,
    replace_content_words,
    replace_tokens,
    replace_words,
)
from cooperation.text import Vocabulary

VOCABULARY = Vocabulary.of(["a", "ball", "is", "no", "on", "red", "sand", "the", "yes", "?", "UNK"])
IDS = VOCABULARY.ids
KINDS = [replace_words, replace_content_words, replace_tokens]


def said(*texts):
    return Messages.of([[*map(IDS.get, text.split()), VOCABULARY.eos] for text in texts])


def where(dialogs, seed=1, number=1, channel="question"):
    return Where(seed, channel, np.asarray(dialogs), number)


MESSAGES = st.lists(
    st.lists(st.integers(1, VOCABULARY.size - 1), max_size=8).map(lambda words: [*words, VOCABULARY.eos]),
    min_size=1,
    max_size=6,
).map(Messages.of)


@pytest.mark.parametrize("kind", KINDS)
@given(messages=MESSAGES)
def test_p_0_changes_nothing(kind, messages):
    heard = kind(0.0, VOCABULARY)(messages, where(range(len(messages))))
    assert heard.lists() == messages.lists()


@pytest.mark.parametrize("kind", KINDS)
def test_p_1_draws_every_eligible_token(kind):
    # Whatever was said, the drawn tokens stand in its place: two different messages become one.
    one = kind(1.0, VOCABULARY)(said("red ball"), where([5]))
    other = kind(1.0, VOCABULARY)(said("yes sand"), where([5]))
    assert one.tokens[0, :2].tolist() == other.tokens[0, :2].tolist()


@pytest.mark.parametrize("kind", KINDS)
@given(messages=MESSAGES, low=st.floats(0, 1), high=st.floats(0, 1), seed=st.integers(0, 99))
def test_a_larger_p_only_adds(kind, messages, low, high, seed):
    low, high = sorted((low, high))
    place = where(range(len(messages)), seed)
    less, more = kind(low, VOCABULARY)(messages, place), kind(high, VOCABULARY)(messages, place)
    touched = less.tokens != messages.tokens
    assert (more.tokens[touched] == less.tokens[touched]).all()
    assert (less.lengths == more.lengths).all()
    assert (more.tokens[~messages.real] == 0).all()


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(messages=MESSAGES, seed=st.integers(0, 99), order=st.randoms())
def test_batch_and_order_do_not_matter(kind, messages, seed, order):
    tamper = kind(0.5, VOCABULARY)
    dialogs = np.arange(len(messages)) * 7
    rows = list(range(len(messages)))
    order.shuffle(rows)
    whole = tamper(messages, where(dialogs, seed)).lists()
    assert tamper(messages[np.array(rows)], where(dialogs[rows], seed)).lists() == [whole[row] for row in rows]
    assert [tamper(messages[row : row + 1], where(dialogs[row : row + 1], seed)).lists()[0] for row in rows] == [
        whole[row] for row in rows
    ]


@pytest.mark.parametrize("p", [0.2, 0.5, 0.8])
def test_the_rate_is_p(p):
    # 20,000 tokens; a drawn token equals the one that stood there with probability 1/10.
    messages = Messages(np.full((2000, 10), IDS["ball"], np.int32), np.full(2000, 10, np.int32))
    changed = (replace_words(p, VOCABULARY)(messages, where(range(2000))).tokens != messages.tokens).mean()
    rate = p * 9 / 10
    assert abs(changed - rate) < 3 * (rate * (1 - rate) / 20000) ** 0.5


def test_what_may_be_drawn_and_what_may_be_replaced():
    messages = Messages(np.tile(np.arange(1, VOCABULARY.size, dtype=np.int32), (3000, 1)), np.full(3000, 13, np.int32))
    words = replace_words(1.0, VOCABULARY)(messages, where(range(3000)))
    content = replace_content_words(1.0, VOCABULARY)(messages, where(range(3000)))
    tokens = replace_tokens(1.0, VOCABULARY)(messages, where(range(3000)))
    real = set(range(1, 11))
    markers = [VOCABULARY.start - 1, VOCABULARY.eos - 1]
    # As written: markers stay, and only real words come.
    assert (words.tokens[:, markers] == messages.tokens[:, markers]).all()
    assert set(np.unique(words.tokens[:, :11])) == real
    # Captions as written: function words and punctuation stay too.
    kept = [IDS[word] - 1 for word in ("a", "is", "on", "the", "?")] + markers
    assert (content.tokens[:, kept] == messages.tokens[:, kept]).all()
    others = [column for column in range(13) if column not in kept]
    assert all((content.tokens[:, column] != messages.tokens[:, column]).any() for column in others)
    # As released: every id but PAD, everywhere.
    assert all(set(np.unique(tokens.tokens[:, column])) == set(range(1, 14)) for column in range(13))


@pytest.mark.parametrize("field", ["seed", "round", "dialog", "channel"])
def test_seed_round_dialog_and_channel_draw_anew(field):
    messages = said(*["red ball on the sand"] * 50)
    tamper = replace_words(1.0, VOCABULARY)
    base = tamper(messages, where(range(50)))
    other = {
        "seed": where(range(50), seed=2),
        "round": where(range(50), number=2),
        "dialog": where(range(100, 150)),
        "channel": where(range(50), channel="answer"),
    }[field]
    assert (tamper(messages, other).tokens != base.tokens).mean() > 0.5


def test_negation_as_written_and_as_released():
    answers = said("yes", "no", "yes the ball is red", "the ball", "is yes no")
    negated = Negate(IDS["yes"], IDS["no"])(answers, where(range(5)))
    exact = NegateExact(IDS["yes"], IDS["no"], VOCABULARY.eos)(answers, where(range(5)))
    assert negated.lists() == said("no", "yes", "no the ball is red", "the ball", "is no yes").lists()
    assert exact.lists() == said("no", "yes", "yes the ball is red", "the ball", "is yes no").lists()
    # Cut at the limit, without EOS: two words are not exactly one.
    cut = Messages.of([[IDS["yes"], IDS["no"]]])
    assert NegateExact(IDS["yes"], IDS["no"], VOCABULARY.eos)(cut, where([0])).lists() == cut.lists()


@given(MESSAGES)
def test_negating_twice_is_nothing(messages):
    for negate in (Negate(IDS["yes"], IDS["no"]), NegateExact(IDS["yes"], IDS["no"], VOCABULARY.eos)):
        place = where(range(len(messages)))
        assert negate(negate(messages, place), place).lists() == messages.lists()


def test_noise():
    images = np.full((400, 100), 5, np.float32)
    place = where(range(400), channel="image")
    z = noise(images, place)
    assert z.shape == images.shape
    assert z.dtype == np.float32
    assert abs(z.mean() - 0.5) < 3 * (1 / 12 / z.size) ** 0.5
    assert (z >= 0).all()
    assert (z < 1).all()
    # One z a dialog, in whatever round it begins and whatever batch it is in.
    assert (noise(images[:3], where([7, 8, 9], number=5, channel="image")) == z[7:10]).all()


def test_function_words_hold_no_content():
    assert {"the", "of", "is", "?", "."} <= function_words()
    assert not {"red", "yes", "no", "two", "dog", "left"} & function_words()


@given(ids=st.lists(st.integers(0, 10**9), min_size=2, max_size=40, unique=True), seed=st.integers(0, 99))
def test_partners_are_a_permutation_that_leaves_nobody_alone(ids, seed):
    image_ids = np.array(ids)
    rows = Partners.of(image_ids, seed)(where(image_ids))
    assert sorted(rows) == list(range(len(ids)))
    assert (rows != np.arange(len(ids))).all()


def test_partners_follow_the_seed_and_there_must_be_two():
    ids = np.arange(50) * 3
    one, same, other = (Partners.of(ids, seed)(where(ids)) for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).mean() > 0.8
    with pytest.raises(InputError, match="two dialogs"):
        Partners.of(ids[:1], 1)


def test_a_swap_delivers_the_partners_message_of_the_round_in_any_batch():
    ids = np.array([30, 10, 20])
    partners = Partners.of(ids, 1)
    partner = partners(where(ids))
    # Dialog d says d·10 + round.
    spoken = stack_rounds([Messages.of([[d * 10 + number] for d in range(3)]) for number in range(1, 11)])
    swap = SwapMessages(partners, spoken)
    mine = Messages.of([[99, 99]] * 3)
    for number in (1, 10):
        heard = swap(mine, where(ids, number=number))
        assert heard.lists() == [[d * 10 + number] for d in partner]
        assert swap(mine[1:2], where(ids[1:2], number=number)).lists() == heard.lists()[1:2]
    captions = Messages.of([[1, 2, 3], [4], [5, 6]])
    heard = SwapMessages(partners, captions[:, None])(captions, where(ids, number=0, channel="caption"))
    assert heard.lists() == [captions.lists()[d] for d in partner]


def test_a_swap_shows_the_partners_image():
    ids = np.array([30, 10, 20])
    partners = Partners.of(ids, 1)
    images = np.arange(6, dtype=np.float32).reshape(3, 2)
    shown = SwapImages(partners, images)(images[:1], where(ids[:1], number=5, channel="image"))
    assert (shown == images[partners(where(ids[:1]))]).all()
    assert not (shown == images[:1]).any()
