"""Players whose games have a known outcome: controls that need no training."""

import numpy as np

from cooperation.messages import Floats, Messages, clean, repeat


def _silence(dialogs: int) -> Messages:
    return Messages(np.zeros((dialogs, 0), np.int32), np.zeros(dialogs, np.int32))


class ConstantQuestioner:
    """Says nothing and always guesses the same vector: it scores 50 where dialogs and candidates are the same."""

    def __init__(self, vector: Floats) -> None:
        self.vector = vector

    def begin(self, captions: Messages) -> None:
        self.dialogs = len(captions)

    def ask(self) -> Messages:
        return _silence(self.dialogs)

    def remember(self, questions: Messages, answers: Messages) -> None:
        pass

    def guess(self) -> Floats:
        return np.repeat(self.vector[None], self.dialogs, 0)


class OracleQuestioner(ConstantQuestioner):
    """Asks which image it is and believes the answer: the number of a candidate, one digit a token.

    candidates: [candidates, features]; base: digits are the ids 1 … base.
    Before the first answer, and where the number names no candidate, it guesses the candidates' mean.
    """

    def __init__(self, candidates: Floats, base: int) -> None:
        super().__init__(candidates.mean(0))
        self.candidates, self.base = candidates, base

    def begin(self, captions: Messages) -> None:
        super().begin(captions)
        self.number = np.full(len(captions), -1)

    def remember(self, questions: Messages, answers: Messages) -> None:  # noqa: ARG002
        place = self.base ** np.arange(answers.tokens.shape[-1])
        self.number = np.where(answers.real, answers.tokens - 1, 0) @ place

    def guess(self) -> Floats:
        named = (self.number >= 0) & (self.number < len(self.candidates))
        return np.where(named[:, None], self.candidates[np.where(named, self.number, 0)], super().guess())


class OracleAnswerer:
    """Says the number of the candidate that it sees, one digit a token; see `OracleQuestioner`."""

    def __init__(self, candidates: Floats, base: int) -> None:
        self.candidates, self.base = candidates, base
        self.digits = int(np.ceil(np.log(max(len(candidates), 2)) / np.log(base)))

    def begin(self, captions: Messages) -> None:
        pass

    def see(self, images: Floats) -> None:
        distances = ((images[:, None] - self.candidates) ** 2).sum(-1)
        self.number = distances.argmin(1)

    def hear(self, questions: Messages) -> None:
        pass

    def answer(self) -> Messages:
        digits = self.number[:, None] // self.base ** np.arange(self.digits) % self.base
        return Messages((digits + 1).astype(np.int32), np.full(len(digits), self.digits, np.int32))

    def remember(self, questions: Messages, answers: Messages) -> None:
        pass


class AskingOracle(OracleQuestioner):
    """An oracle that says the question which it is told to say, one word; silence is no answer to it.

    question: the word's id.
    """

    def __init__(self, candidates: Floats, base: int, question: int) -> None:
        super().__init__(candidates, base)
        self.question = question

    def ask(self) -> Messages:
        return repeat(self.question, (self.dialogs,))

    def remember(self, questions: Messages, answers: Messages) -> None:
        super().remember(questions, answers)
        self.number = np.where(answers.lengths > 0, self.number, -1)


class HeedingOracle(OracleAnswerer):
    """An oracle that answers the question it knows, one word, whose id is `question`; to others it says nothing."""

    def __init__(self, candidates: Floats, base: int, question: int) -> None:
        super().__init__(candidates, base)
        self.question = question

    def hear(self, questions: Messages) -> None:
        self.understood = (questions.tokens[:, 0] == self.question) & (questions.lengths == 1)

    def answer(self) -> Messages:
        said = super().answer()
        return clean(said.tokens, np.where(self.understood, said.lengths, 0).astype(np.int32))
