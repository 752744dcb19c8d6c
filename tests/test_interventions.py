"""Interventions: what they may perturb, how often, and that nothing but their key decides it."""

import sys
from dataclasses import MISSING, fields
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cooperation.config.conditions import CONDITION_KEYS, PARTS
from cooperation.game import interventions
from cooperation.game.interventions import CHANNELS, kinds, kinds_of, name_of
from cooperation.game.interventions.drop import Drop
from cooperation.game.interventions.negate import Negate
from cooperation.game.interventions.noise import Noise
from cooperation.game.interventions.replace import Replace
from cooperation.game.interventions.swap import Swap
from cooperation.game.interventions.typos import Typos, misspelt
from cooperation.game.messages import Messages, stack_rounds
from cooperation.game.place import Context, OtherDialogs, Place
from cooperation.game.vocabulary import Vocabulary, function_words
from cooperation.io.files import InputError

VOCABULARY = Vocabulary.of(["a", "ball", "is", "no", "on", "red", "sand", "the", "yes", "?", "UNK"])
IDS = VOCABULARY.ids
# Each way in which tokens are drawn: the channel, the kind, and what it does there.
REPLACE = {
    "words": ("question", Replace, "deliver"),
    "content words": ("caption", Replace, "deliver"),
    "tokens": ("question", Replace, "deliver_as_released"),
}
RANDOM = {**REPLACE, "typos": ("question", Typos, "deliver"), "drop": ("answer", Drop, "deliver")}


def said(*texts):
    return Messages.of([[*map(IDS.get, text.split()), VOCABULARY.eos] for text in texts])


def place(dialogs, seed=1, number=1, channel="question", others=None):
    return Context(seed, VOCABULARY, others).place(channel, number, np.asarray(dialogs))


def delivered(way, p, messages, **key):
    """The messages as they are heard; by default of the dialogs 0, 1, …"""
    channel, kind, does = RANDOM[way]
    key = {"dialogs": range(len(messages)), "channel": channel} | key
    return getattr(kind(p), does)(messages, place(**key))


MESSAGES = st.lists(
    st.lists(st.integers(1, VOCABULARY.size - 1), max_size=8).map(lambda words: [*words, VOCABULARY.eos]),
    min_size=1,
    max_size=6,
).map(Messages.of)


def test_a_kind_is_a_file():
    files = Path(interventions.__file__).parent.glob("[a-z]*.py")
    assert set(kinds()) == {file.stem.replace("_", "-") for file in files}
    assert kinds()["noise"] is Noise
    assert [name_of(kind) for kind in (Noise(), Replace(0.5), Swap(), Negate(), Typos(), Drop())] == [
        "noise",
        "replace",
        "swap",
        "negate",
        "typos",
        "drop",
    ]
    assert set(kinds_of("image")) == {"noise", "swap"}
    assert set(kinds_of("caption")) == set(kinds_of("question")) == {"replace", "swap", "typos", "drop"}
    assert set(kinds_of("answer")) == {"replace", "swap", "typos", "drop", "negate"}


@pytest.mark.parametrize("kind", kinds().values(), ids=kinds())
def test_a_kind_says_what_it_does_where_and_with_which_parameters(kind):
    assert kind.__doc__
    assert "(" not in kind.__doc__.split()[0], "the docstring that dataclasses make"
    assert kind.channels
    assert set(kind.channels) <= set(CHANNELS)
    for entry in fields(kind):
        assert entry.default is not MISSING
        assert entry.metadata["help"]
        # Such a key would be taken from the condition.
        assert entry.name not in (*PARTS, *CONDITION_KEYS)
    assert kind() == kind()
    assert hash(kind()) == hash(kind())


@pytest.fixture
def file_of_a_kind(tmp_path, monkeypatch):
    """Write a file of a kind that stands beside the shipped ones during one test."""
    monkeypatch.setattr(interventions, "__path__", [*interventions.__path__, str(tmp_path)])
    kinds.cache_clear()
    yield (tmp_path / "made_up.py").write_text
    del sys.modules["cooperation.game.interventions.made_up"]
    del interventions.made_up
    kinds.cache_clear()


BASE = "from cooperation.game.interventions import Kind\n"


def test_a_kind_may_build_on_another(file_of_a_kind):
    file_of_a_kind(
        "from cooperation.game.interventions.replace import Replace\nclass Half(Replace):\n    'half of the tokens'\n"
    )
    assert kinds()["made-up"].__mro__[1] is Replace
    assert len(kinds()) == 7
    assert "made-up" in kinds_of("caption")


@pytest.mark.parametrize(("text", "said"), [("", "0 kinds"), ("class A(Kind): ''\nclass B(Kind): ''\n", "2 kinds")])
def test_a_file_without_a_kind_or_with_two_is_a_bug(file_of_a_kind, text, said):
    file_of_a_kind(BASE + text)
    with pytest.raises(TypeError, match=rf"made_up\.py: {said}; a file holds one"):
        kinds()


@pytest.mark.parametrize("kind", [Replace, Typos, Drop])
@pytest.mark.parametrize("p", [0.0, -0.1, 1.5, float("nan")])
def test_a_probability_is_above_0_and_at_most_1(kind, p):
    with pytest.raises(InputError, match=r"p: .* out of bounds; choose a number above 0 and at most 1"):
        kind(p)
    assert kind() == kind(1.0)


@pytest.mark.parametrize("way", RANDOM)
@given(messages=MESSAGES)
def test_the_smallest_p_changes_nothing(way, messages):
    assert delivered(way, 1e-300, messages).lists() == messages.lists()


@pytest.mark.parametrize("way", REPLACE)
def test_p_1_draws_every_eligible_token(way):
    # Whatever was said, the drawn tokens stand in its place: two different messages become one.
    one = delivered(way, 1.0, said("red ball"), dialogs=[5])
    other = delivered(way, 1.0, said("yes sand"), dialogs=[5])
    assert one.tokens[0, :2].tolist() == other.tokens[0, :2].tolist()


@pytest.mark.parametrize("way", RANDOM)
@given(messages=MESSAGES, low=st.floats(1e-9, 1), high=st.floats(1e-9, 1), seed=st.integers(0, 99))
def test_a_larger_p_only_adds(way, messages, low, high, seed):
    low, high = sorted((low, high))
    less, more = (delivered(way, p, messages, seed=seed) for p in (low, high))
    touched = less.tokens != messages.tokens
    assert (more.tokens[touched] == less.tokens[touched]).all()
    if way == "drop":
        assert all(
            heard.lengths[row] in (0, messages.lengths[row]) for heard in (less, more) for row in range(len(heard))
        )
        assert (more.lengths <= less.lengths).all()
    else:
        assert less.lengths.tolist() == more.lengths.tolist() == messages.lengths.tolist()
    for heard in (less, more):
        assert (heard.tokens[~heard.real] == 0).all()


@pytest.mark.parametrize("way", RANDOM)
@settings(deadline=None)
@given(messages=MESSAGES, seed=st.integers(0, 99), order=st.randoms())
def test_batch_and_order_do_not_matter(way, messages, seed, order):
    dialogs = np.arange(len(messages)) * 7
    rows = list(range(len(messages)))
    order.shuffle(rows)
    whole = delivered(way, 0.5, messages, dialogs=dialogs, seed=seed).lists()
    shuffled = delivered(way, 0.5, messages[np.array(rows)], dialogs=dialogs[rows], seed=seed)
    assert shuffled.lists() == [whole[row] for row in rows]
    alone = [delivered(way, 0.5, messages[row : row + 1], dialogs=dialogs[row : row + 1], seed=seed) for row in rows]
    assert [one.lists()[0] for one in alone] == [whole[row] for row in rows]


@pytest.mark.parametrize("p", [0.2, 0.5, 0.8])
# 20,000 tokens; a drawn token equals the one that stood there with probability 1/10. A misspelt “ball” is no word.
@pytest.mark.parametrize(("way", "seen"), [("words", 0.9), ("typos", 1.0), ("drop", 1.0)])
def test_the_rate_is_p(way, seen, p):
    width = 1 if way == "drop" else 10
    messages = Messages(
        np.full((20000 // width, width), IDS["ball"], np.int32), np.full(20000 // width, width, np.int32)
    )
    changed = (delivered(way, p, messages).tokens != messages.tokens).mean()
    rate = p * seen
    assert abs(changed - rate) < 3 * (rate * (1 - rate) / 20000) ** 0.5


def test_what_may_be_drawn_and_what_may_be_replaced():
    messages = Messages(np.tile(np.arange(1, VOCABULARY.size, dtype=np.int32), (3000, 1)), np.full(3000, 13, np.int32))
    words, content, tokens = (delivered(way, 1.0, messages) for way in REPLACE)
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
    # As released, captions are no exception.
    released = delivered("tokens", 1.0, messages, channel="caption")
    assert all(set(np.unique(released.tokens[:, column])) == set(range(1, 14)) for column in range(13))


@pytest.mark.parametrize("field", ["seed", "round", "dialog", "channel"])
def test_seed_round_dialog_and_channel_draw_anew(field):
    messages = said(*["red ball on the sand"] * 50)
    base = delivered("words", 1.0, messages)
    other = {
        "seed": {"seed": 2},
        "round": {"number": 2},
        "dialog": {"dialogs": range(100, 150)},
        "channel": {"channel": "answer"},
    }[field]
    assert (delivered("words", 1.0, messages, **other).tokens != base.tokens).mean() > 0.5


@pytest.mark.parametrize("field", ["seed", "round", "dialog", "channel"])
def test_another_key_loses_other_messages(field):
    messages = said(*["red ball"] * 400)
    base = delivered("drop", 0.5, messages).lengths
    other = {
        "seed": {"seed": 2},
        "round": {"number": 2},
        "dialog": {"dialogs": range(1000, 1400)},
        "channel": {"channel": "question"},
    }[field]
    # Independent coins differ in half of the messages.
    assert abs((delivered("drop", 0.5, messages, **other).lengths != base).mean() - 0.5) < 3 * (0.25 / 400) ** 0.5


def test_negation_as_written_and_as_released():
    answers = said("yes", "no", "yes the ball is red", "the ball", "is yes no")
    here = place(range(5), channel="answer")
    written = Negate().deliver(answers, here)
    released = Negate().deliver_as_released(answers, here)
    assert written.lists() == said("no", "yes", "no the ball is red", "the ball", "is no yes").lists()
    assert released.lists() == said("no", "yes", "yes the ball is red", "the ball", "is yes no").lists()
    # Cut at the limit, without EOS: two words are not exactly one.
    cut = Messages.of([[IDS["yes"], IDS["no"]]])
    assert Negate().deliver_as_released(cut, place([0])).lists() == cut.lists()
    for short in (Messages.of([[IDS["yes"]]]), Messages.of([[]])):
        assert Negate().deliver_as_released(short, place([0])).lists() == short.lists()


def test_a_vocabulary_without_yes_can_not_be_negated():
    here = Context(1, Vocabulary.of(["no", "red", "UNK"])).place("answer", 1, np.arange(1))
    for deliver in (Negate().deliver, Negate().deliver_as_released):
        with pytest.raises(InputError, match="kind negate: “yes” is not in the vocabulary"):
            deliver(Messages.of([[1]]), here)


@given(MESSAGES)
def test_negating_twice_is_nothing(messages):
    here = place(range(len(messages)), channel="answer")
    for negate in (Negate().deliver, Negate().deliver_as_released):
        assert negate(negate(messages, here), here).lists() == messages.lists()


def test_the_typos_of_known_words():
    text = "a ball is no on red sand the yes ? UNK"
    heard = Typos().deliver(said(text), place([3]))
    # “on” and “no” are each other's misspelling; a letter alone has none; the others are words that nobody knows.
    assert heard.lists() == said("a UNK UNK on no UNK UNK UNK UNK ? UNK").lists()
    assert heard.lengths.tolist() == said(text).lengths.tolist()


@pytest.mark.parametrize(
    ("word", "where", "typo"),
    [
        ("ball", 0.0, "abll"),
        ("ball", 0.49, "abll"),
        ("ball", 0.5, "blal"),
        ("ball", 0.999, "blal"),
        ("on", 0.7, "no"),
        ("aab", 0.0, "aba"),
        ("sand", 0.4, "snad"),
        ("a", 0.5, "a"),
        ("aaa", 0.9, "aaa"),
    ],
)
def test_two_letters_that_differ_are_exchanged(word, where, typo):
    assert misspelt(word, where) == typo


@given(word=st.text(max_size=8), where=st.floats(0, 1, exclude_max=True))
def test_a_typo_has_the_letters_of_its_word(word, where):
    typo = misspelt(word, where)
    differ = [at for at in range(len(word)) if word[at] != typo[at]]
    assert sorted(typo) == sorted(word)
    if len(set(word)) > 1:
        first, second = differ
        assert second == first + 1
    else:
        assert differ == []


def test_every_pair_of_letters_is_exchanged_as_often():
    vocabulary = Vocabulary.of(["bca", "cab", "abc", "UNK", "acb", "bac"])
    dialogs = np.arange(4000)
    here = Context(1, vocabulary).place("answer", 1, dialogs)
    heard = Typos().deliver(Messages.of([[vocabulary.ids["abc"]]] * len(dialogs)), here)
    words, counts = np.unique([vocabulary.decode(row) for row in heard.lists()], return_counts=True)
    assert words.tolist() == ["acb", "bac"]
    assert abs(counts[0] / len(dialogs) - 0.5) < 3 * (0.25 / len(dialogs)) ** 0.5


@given(MESSAGES)
def test_markers_have_no_typos(messages):
    heard = Typos().deliver(messages, place(range(len(messages))))
    marked = np.isin(messages.tokens, [0, VOCABULARY.start, VOCABULARY.eos])
    assert (heard.tokens[marked] == messages.tokens[marked]).all()
    assert set(np.unique(heard.tokens[~marked])) <= {IDS[word] for word in ("a", "no", "on", "?", "UNK")}


def test_what_is_dropped_has_no_tokens_and_the_rest_all():
    answers = said("yes", "the ball is red", "no")
    assert Drop().deliver(answers, place(range(3), channel="answer")).lists() == [[], [], []]
    messages = said(*["red", "the ball is red"] * 100)
    heard = delivered("drop", 0.5, messages).lists()
    kept = [row for row in range(200) if heard[row]]
    assert 0 < len(kept) < 200
    assert [heard[row] for row in kept] == [messages.lists()[row] for row in kept]


@pytest.mark.parametrize("kind", [Typos(0.5), Drop(0.5), Swap()])
def test_kinds_that_the_paper_lacks_are_the_same_as_released(kind):
    messages = said(*["red ball on the sand"] * 20)
    others = OtherDialogs.of(np.arange(20), np.zeros((20, 1), np.float32), {"question": messages[:, None]}, 1)
    here = place(range(20), others=others)
    assert kind.deliver_as_released(messages, here).lists() == kind.deliver(messages, here).lists()


def test_noise():
    images = np.full((400, 100), 5, np.float32)
    z = Noise().show(images, place(range(400), channel="image"))
    assert z.shape == images.shape
    assert z.dtype == np.float32
    assert abs(z.mean() - 0.5) < 3 * (1 / 12 / z.size) ** 0.5
    assert (z >= 0).all()
    assert (z < 1).all()
    # One z a dialog, in whatever round it begins and whatever batch it is in.
    assert (Noise().show(images[:3], place([7, 8, 9], number=5, channel="image")) == z[7:10]).all()


def test_function_words_hold_no_content():
    assert {"the", "of", "is", "?", "."} <= function_words()
    assert not {"red", "yes", "no", "two", "dog", "left"} & function_words()


def others_of(image_ids, seed=1, images=None, **said_there):
    return OtherDialogs.of(image_ids, images, said_there, seed)


@given(ids=st.lists(st.integers(0, 10**9), min_size=2, max_size=40, unique=True), seed=st.integers(0, 99))
def test_partners_are_a_permutation_that_leaves_nobody_alone(ids, seed):
    image_ids = np.array(ids)
    rows = others_of(image_ids, seed).partners_of(image_ids)
    assert sorted(rows) == list(range(len(ids)))
    assert (rows != np.arange(len(ids))).all()


def test_partners_follow_the_seed_and_there_must_be_two():
    ids = np.arange(50) * 3
    one, same, other = (others_of(ids, seed).partners_of(ids) for seed in (1, 1, 2))
    assert (one == same).all()
    assert (one != other).mean() > 0.8
    with pytest.raises(InputError, match="two dialogs"):
        others_of(ids[:1])


def test_a_swap_delivers_the_partners_message_of_the_round_in_any_batch():
    ids = np.array([30, 10, 20])
    # Dialog d says d·10 + round.
    spoken = stack_rounds([Messages.of([[d * 10 + number] for d in range(3)]) for number in range(1, 11)])
    captions = Messages.of([[1, 2, 3], [4], [5, 6]])
    others = others_of(ids, question=spoken, caption=captions[:, None])
    partner = others.partners_of(ids)
    mine = Messages.of([[99, 99]] * 3)
    for number in (1, 10):
        heard = Swap().deliver(mine, place(ids, number=number, others=others))
        assert heard.lists() == [[d * 10 + number] for d in partner]
        alone = Swap().deliver(mine[1:2], place(ids[1:2], number=number, others=others))
        assert alone.lists() == heard.lists()[1:2]
    heard = Swap().deliver(captions, place(ids, number=0, channel="caption", others=others))
    assert heard.lists() == [captions.lists()[d] for d in partner]


def test_a_swap_shows_the_partners_image():
    ids = np.array([30, 10, 20])
    images = np.arange(6, dtype=np.float32).reshape(3, 2)
    others = others_of(ids, images=images)
    shown = Swap().show(images[:1], place(ids[:1], number=5, channel="image", others=others))
    assert (shown == images[others.partners_of(ids[:1])]).all()
    assert not (shown == images[:1]).any()


def test_a_kind_must_say_that_it_uses_other_dialogs():
    alone = Place(1, "answer", 1, np.arange(2), VOCABULARY)
    for used in (alone.partners_messages, alone.partners_images):
        with pytest.raises(ValueError, match="uses_other_dialogs = True"):
            used()
