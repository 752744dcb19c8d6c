"""What answerers would get right that see no picture, against a plain and slow reference."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cooperation.data import blind
from cooperation.data.store import Dialogs
from cooperation.game.messages import Messages, stack_rounds

words = st.lists(st.integers(1, 5), max_size=4)
talks = st.lists(st.lists(st.tuples(words, words), min_size=2, max_size=2), min_size=1, max_size=5)


def dialogs(talk):
    """Dialogs of [(question, answer), …] each."""
    rounds = list(zip(*talk, strict=True))
    questions, answers = (stack_rounds([Messages.of([turn[at] for turn in one]) for one in rounds]) for at in (0, 1))
    return Dialogs(np.arange(len(talk)), Messages.of([[1]] * len(talk)), questions, answers)


def usual(answers):
    """The most frequent, of several the first that came."""
    counts = Counter(map(tuple, answers))
    return max(counts, key=lambda answer: counts[answer])


def reference(train, val):
    pairs = [turn for dialog in train for turn in dialog]
    asked = list(dict.fromkeys(tuple(question) for question, _ in pairs))
    to = {question: usual([answer for other, answer in pairs if tuple(other) == question]) for question in asked}
    always = usual([answer for _, answer in pairs])

    def like(question, other):
        mine, theirs = set(question), set(other)
        return len(mine & theirs) / max(len(theirs), 1) ** 0.5

    said = {"usual_answer": [], "usual_answer_to_question": [], "nearest_answer": []}
    for question, answer in (turn for dialog in val for turn in dialog):
        nearest = max(asked, key=lambda other: like(question, other))
        said["usual_answer"].append(always == tuple(answer))
        said["usual_answer_to_question"].append(to.get(tuple(question), always) == tuple(answer))
        said["nearest_answer"].append(to[nearest] == tuple(answer))
    return {name: np.mean(right) for name, right in said.items()}


@settings(max_examples=60, deadline=None)
@given(talks, talks)
def test_as_the_reference(train, val):
    assert blind.blind_answers(dialogs(train), dialogs(val)) == pytest.approx(reference(train, val))


def test_by_hand():
    train = [[([1, 2], [4]), ([1, 2], [5])], [([1, 2], [5]), ([3], [4])], [([3], [4]), ([2], [1])]]
    # Asked before; new, nearest to [3]; new, no word in common with any, so the first question's.
    val = [[([1, 2], [5]), ([3, 4], [4])], [([5], [5]), ([3], [1])]]
    found = blind.blind_answers(dialogs(train), dialogs(val))
    assert found == {"usual_answer": 0.25, "usual_answer_to_question": 0.5, "nearest_answer": 0.75}


def test_the_nearest_is_looked_for_in_a_sample(monkeypatch):
    talk = [[([1], [1]), ([2], [2])]] * 3
    monkeypatch.setattr(blind, "SAMPLE", 2)
    assert blind.blind_answers(dialogs(talk), dialogs(talk))["nearest_answer"] == 1
    assert blind.blind_answers(dialogs(talk), dialogs(talk)[np.zeros(0, int)]) == {}
