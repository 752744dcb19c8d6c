"""Scripted players: bots without networks, whose games have a known outcome.

They are the known ground truth that the game, the interventions and the statistics are checked against. There are
two kinds. The constant questioner ignores everything, so its mean percentile rank must be 50. The oracles cooperate
perfectly over the same channels as trained bots: the answerer says the number of the image that it sees, in digits
that are words of the vocabulary, and the questioner guesses the candidate of that number. So its guess is right as
long as the answer arrives unperturbed, and wrong or uninformed where an intervention changes the answer or the image.
The oracles that ask and check the question depend on the question channel, too.

The methods are those of `game.protocols`.
"""

import numpy as np
import numpy.typing as npt

from cooperation.game.messages import Floats, Messages, clean, repeat


def _silence(dialogs: int) -> Messages:
    """A message of no tokens in each dialog: [dialogs, 0]."""
    return Messages(np.zeros((dialogs, 0), np.int32), np.zeros(dialogs, np.int32))


class ConstantQuestioner:
    """Says nothing and always guesses the same vector [features].

    Its mean percentile rank is 50 where every candidate is the true image of as many dialogs.
    """

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
    """Takes the answer as the number of a candidate and guesses that candidate; says nothing itself.

    candidates: [candidates, features]. base: of the numbers; the token ids 1 … base are the digits 0 … base − 1, the
    least significant first. Before the first answer, and where a number is that of no candidate, it guesses the
    candidates' mean. It forgets all answers but the last.
    """

    def __init__(self, candidates: Floats, base: int) -> None:
        super().__init__(candidates.mean(0))
        self.candidates, self.base = candidates, base

    def begin(self, captions: Messages) -> None:
        super().begin(captions)
        self.number = np.full(len(captions), -1)

    def remember(self, questions: Messages, answers: Messages) -> None:  # noqa: ARG002
        place_values = self.base ** np.arange(answers.tokens.shape[-1])
        self.number = np.where(answers.real, answers.tokens - 1, 0) @ place_values

    def guess(self) -> Floats:
        known = (self.number >= 0) & (self.number < len(self.candidates))
        return np.where(known[:, None], self.candidates[np.where(known, self.number, 0)], super().guess())


class OracleAnswerer:
    """Says the number of the candidate nearest to the image that it sees, whatever the question.

    candidates, base: as for `OracleQuestioner`. All numbers have the same number of digits.
    """

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


class AskingOracleQuestioner(OracleQuestioner):
    """An `OracleQuestioner` that always asks the same question, the single token `question`.

    It guesses the candidates' mean after an answer of no tokens.
    """

    def __init__(self, candidates: Floats, base: int, question: int) -> None:
        super().__init__(candidates, base)
        self.question = question

    def ask(self) -> Messages:
        return repeat(self.question, (self.dialogs,))

    def remember(self, questions: Messages, answers: Messages) -> None:
        super().remember(questions, answers)
        self.number = np.where(answers.lengths > 0, self.number, -1)


class LeakingOracleQuestioner(AskingOracleQuestioner):
    """An `AskingOracleQuestioner` that knows something of the pictures before it hears a word.

    pictures: the number of each dialog's true picture, [dialogs]; of it the last digit leaks. It guesses between the
    mean of the candidates whose numbers end so and what it was told.
    """

    def __init__(self, candidates: Floats, base: int, question: int, pictures: npt.NDArray[np.int64]) -> None:
        super().__init__(candidates, base, question)
        last = np.arange(len(candidates)) % base
        self.leaked = np.stack([candidates[last == digit].mean(0) for digit in range(base)])[pictures % base]

    def guess(self) -> Floats:
        return self.leaked + super().guess()


class ListeningOracleAnswerer(OracleAnswerer):
    """An `OracleAnswerer` that answers only the question `question`, a single token; to others it says nothing."""

    def __init__(self, candidates: Floats, base: int, question: int) -> None:
        super().__init__(candidates, base)
        self.question = question

    def hear(self, questions: Messages) -> None:
        self.understood = (questions.tokens[:, 0] == self.question) & (questions.lengths == 1)

    def answer(self) -> Messages:
        said = super().answer()
        return clean(said.tokens, np.where(self.understood, said.lengths, 0).astype(np.int32))
