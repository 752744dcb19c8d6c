"""What an answerer would get right that never sees a picture: baselines, learnt from the training dialogs."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from cooperation.data.store import Dialogs
from cooperation.game.messages import Messages

SAMPLE = 2000
"""Validation questions whose nearest training question is looked for."""
SEED = 0
Key = bytes
"""A message's real tokens."""


@dataclass(frozen=True)
class Blind:
    """Answers by question, and the most frequent one of all, from dialogs to learn from.

    usual: question → its most frequent answer; always: of all answers.
    """

    usual: dict[Key, Key]
    always: Key

    @classmethod
    def of(cls, dialogs: Dialogs) -> "Blind":
        """Learn from dialogs; of several equally frequent answers the first."""
        everything, answers = Counter[Key](), defaultdict[Key, Counter[Key]](Counter)
        for question, answer in zip(keys(dialogs.questions), keys(dialogs.answers), strict=True):
            answers[question][answer] += 1
            everything[answer] += 1
        return cls(
            {asked: said.most_common(1)[0][0] for asked, said in answers.items()}, everything.most_common(1)[0][0]
        )

    def nearest(self, questions: list[Key]) -> list[Key]:
        """The answer to the known question that shares most words with each (by the cosine), the first of several."""
        known = list(self.usual)
        words = [np.unique(np.frombuffer(one, np.int32)) for one in known]
        sizes = np.array([len(one) for one in words])
        together = np.concatenate(words)
        order = np.argsort(together, kind="stable")
        # The questions that have a word stand one after another.
        together, owners = together[order], np.repeat(np.arange(len(known)), sizes)[order]
        found = []
        for question in questions:
            asked = np.unique(np.frombuffer(question, np.int32))
            bounds = np.searchsorted(together, [asked, asked + 1]).T
            having = np.concatenate([owners[:0], *(owners[begin:end] for begin, end in bounds)])
            shared = np.bincount(having, minlength=len(known))
            likeness = shared / np.sqrt(np.maximum(sizes, 1))
            found.append(self.usual[known[int(likeness.argmax())]])
        return found


def keys(messages: Messages) -> list[Key]:
    """Each message of [dialogs, rounds, length] as bytes that are the same where its words are."""
    rows = messages.tokens.reshape(messages.lengths.size, -1).astype(np.int32)
    return [row[:length].tobytes() for row, length in zip(rows, messages.lengths.ravel().tolist(), strict=True)]


def blind_answers(train: Dialogs, val: Dialogs) -> dict[str, float]:
    """Shares of the answers of `val` that a blind answerer gives word by word who learnt from `train`.

    usual_answer: who always says the most frequent answer. usual_answer_to_question: the most frequent one to the same
    question, or of all where it is new. nearest_answer: the most frequent one to the question that shares most words,
    in a sample of `SAMPLE` rounds.
    """
    if not len(train) or not len(val):
        return {}
    blind, questions, answers = Blind.of(train), keys(val.questions), keys(val.answers)
    taken = np.random.default_rng(SEED).permutation(len(questions))[:SAMPLE].tolist()
    said = {
        "usual_answer": [blind.always] * len(questions),
        "usual_answer_to_question": [blind.usual.get(question, blind.always) for question in questions],
    }
    right = {name: _share(guessed, answers) for name, guessed in said.items()}
    nearest = blind.nearest([questions[at] for at in taken])
    return right | {"nearest_answer": _share(nearest, [answers[at] for at in taken])}


def _share(guessed: Sequence[Key], answers: Sequence[Key]) -> float:
    return sum(mine == theirs for mine, theirs in zip(guessed, answers, strict=True)) / len(answers)
