"""How repetitive talk is, against examples counted by hand and slow references."""

from collections import Counter
from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cooperation.game.messages import Messages, stack_rounds
from cooperation.reports import talk

CODES = arrays(np.int64, st.tuples(st.integers(1, 6), st.just(10)), elements=st.integers(0, 4))


def slow_entropy(messages):
    counts = Counter(messages).values()
    return -sum(count / len(messages) * log2(count / len(messages)) for count in counts)


def test_counted_by_hand():
    # Four rounds: a b a a; and all different.
    codes = np.array([[7, 3, 7, 7], [0, 1, 2, 3]])
    assert talk.different(codes).tolist() == [2, 4]
    assert talk.repeated(codes).tolist() == [50, 0]
    assert talk.entropy_within(codes) == pytest.approx([0.75 * log2(4 / 3) + 0.25 * 2, 2])
    assert talk.agreement(codes, np.array([[7, 7, 7, 7], [4, 4, 4, 4]])).tolist() == [75, 0]
    # 3 and 7 stand in both rows; 7 is the most frequent of all.
    assert talk.most_frequent(codes).tolist() == [75, 0]
    # Question 1 gets 3 three times and 7 twice, question 2 gets 7 once and 8 twice.
    questions, answers = np.array([[1, 1, 1, 2], [1, 1, 2, 2]]), np.array([[3, 3, 7, 7], [7, 3, 8, 8]])
    assert talk.most_frequent_to(questions, answers).tolist() == [50, 75]


@given(CODES)
def test_against_slow_references(codes):
    lists = codes.tolist()
    assert talk.different(codes).tolist() == [len(set(row)) for row in lists]
    again = [sum(row[turn] in row[:turn] for turn in range(10)) for row in lists]
    assert talk.repeated(codes) == pytest.approx([10 * count for count in again])
    assert talk.entropy_within(codes) == pytest.approx([slow_entropy(row) for row in lists], abs=1e-12)
    asked = codes % 3
    usual = {}
    for question, answer in zip(asked.ravel(), codes.ravel(), strict=True):
        usual.setdefault(question, Counter())[answer] += 1
    matched = sum(counts.most_common(1)[0][1] for counts in usual.values())
    assert talk.most_frequent_to(asked, codes).sum() == pytest.approx(10 * matched)
    assert talk.entropy(codes) == pytest.approx(slow_entropy([code for row in lists for code in row]), abs=1e-12)


MESSAGE = st.lists(st.integers(1, 3), max_size=4)


@given(
    st.lists(st.lists(MESSAGE, min_size=2, max_size=2), min_size=1, max_size=5), st.integers(0, 3), st.integers(0, 9)
)
def test_equal_messages_have_equal_numbers_whatever_their_padding(dialogs, spare, rubbish):
    rounds = [Messages.of([dialog[turn] for dialog in dialogs]) for turn in range(2)]
    first = stack_rounds(rounds)
    # The same messages again, wider, and with something behind their ends.
    tokens = np.pad(first.tokens, ((0, 0), (0, 0), (0, spare)), constant_values=rubbish)
    one, other = talk.encode(first, Messages(tokens, first.lengths))
    assert (one == other).all()
    said = [tuple(message) for dialog in dialogs for message in dialog]
    pairs = set(zip(one.ravel().tolist(), said, strict=True))
    assert len(pairs) == len({code for code, _ in pairs}) == len(set(said))
