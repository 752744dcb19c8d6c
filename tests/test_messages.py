import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cooperation.game.facts import bare, marked, plain
from cooperation.game.messages import Messages, concatenate, join, shorten, stack_rounds, with_end, without_end
from cooperation.game.vocabulary import Vocabulary

LISTS = st.lists(st.lists(st.integers(1, 9), max_size=6), min_size=1, max_size=5)
VOCABULARY = Vocabulary.of("abcdefghi")
START, EOS = VOCABULARY.start, VOCABULARY.eos


def grouped(rounds, size):
    return stack_rounds([Messages.of(one[:size]) for one in rounds])


@given(LISTS, LISTS, LISTS)
def test_join_is_list_addition(one, two, three):
    size = min(map(len, (one, two, three)))
    joined = join(*(Messages.of(part[:size]) for part in (one, two, three)))
    assert joined.lists() == [a + b + c for a, b, c in zip(one, two, three, strict=False)][:size]
    assert (joined.tokens[~joined.real] == 0).all()


@given(LISTS, LISTS)
def test_rounds_are_stacked_and_taken_apart(one, two):
    size = min(len(one), len(two))
    rounds = grouped([one, two], size)
    assert rounds[:, 0].lists() == one[:size]
    assert rounds[:, 1].lists() == two[:size]
    assert join(rounds, rounds)[:, 1].lists() == [words + words for words in two[:size]]


@given(LISTS, LISTS)
def test_concatenate(one, two):
    assert concatenate([Messages.of(one), Messages.of(two)]).lists() == one + two


@given(LISTS)
def test_ends(lists):
    ended = with_end(Messages.of(lists), EOS)
    assert ended.lists() == [[*words, EOS] for words in lists]
    assert without_end(ended, EOS).lists() == lists
    assert without_end(Messages.of(lists), EOS).lists() == lists
    assert shorten(ended, 2).lists() == [[*words, EOS][:-2] for words in lists]


def test_shapes_must_fit():
    with pytest.raises(ValueError, match="do not fit"):
        Messages(np.zeros((2, 3), np.int32), np.zeros(3, np.int32))


def test_formats_of_a_fact():
    # One finished, one cut at the limit (no EOS), one whose EOS was perturbed into a word.
    question = Messages.of([[1, 2, EOS], [1, 2, 3], [1, 2, 9]])
    answer = Messages.of([[4, EOS], [4, EOS], [EOS]])
    assert bare(VOCABULARY).fact(question, answer).lists() == [[1, 2, 4], [1, 2, 4], [1, 2]]
    assert bare(VOCABULARY).question(question).lists() == question.lists()
    assert plain(VOCABULARY).fact(question, answer).lists() == [[1, 2, 4], [1, 2, 3, 4], [1, 2, 9]]
    assert plain(VOCABULARY).question(question).lists() == [[1, 2], [1, 2, 3], [1, 2, 9]]
    assert marked(VOCABULARY).fact(question, answer).lists() == [
        [START, 1, 2, EOS, START, 4, EOS],
        [START, 1, 2, 3, EOS, START, 4, EOS],
        [START, 1, 2, 9, EOS, START, EOS],
    ]
    assert marked(VOCABULARY).question(question).lists()[0] == [START, 1, 2, EOS]


@given(LISTS, st.data())
def test_cut_keeps_the_first_tokens(lists, data):
    lengths = [data.draw(st.integers(0, len(words))) for words in lists]
    cut = Messages.of(lists).cut(np.array(lengths))
    assert cut.lists() == [words[:length] for words, length in zip(lists, lengths, strict=True)]
    assert (cut.tokens[~cut.real] == 0).all()
    assert (cut.tokens.dtype, cut.lengths.dtype) == (np.int32, np.int32)


@given(LISTS, st.integers(1, 9), st.integers(1, 9))
def test_tokens_are_replaced_where_it_is_said(lists, old, new):
    messages = Messages.of(lists)
    replaced = messages.replaced(messages.tokens == old, new)
    assert replaced.lists() == [[new if word == old else word for word in words] for words in lists]
    assert messages.lists() == lists
