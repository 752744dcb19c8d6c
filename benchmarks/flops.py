"""How many floating-point operations the work takes at least: two a weight and token, nothing for padding.

Backward costs twice as much as forward. Element-wise operations, softmax and the optimiser are left out; so is that
messages may be repeated, or begin alike, and then need not be computed twice.
"""

from dataclasses import dataclass

from cooperation.bots.lessons import Lessons
from cooperation.messages import ROUNDS
from cooperation.models import Sizes


@dataclass(frozen=True)
class Shape:
    """The sizes of the bots."""

    vocabulary: int
    features: int
    sizes: Sizes

    def lstm(self, inputs: int) -> int:
        """One step of an LSTM with so many inputs."""
        hidden, layers = self.sizes.hidden, self.sizes.layers
        return 2 * 4 * hidden * (inputs + hidden) + (layers - 1) * 2 * 4 * hidden * 2 * hidden

    def reading(self) -> int:
        """One token through an encoder."""
        return self.lstm(self.sizes.embedding)

    def saying(self) -> int:
        """One token through a decoder and the layer that scores all words."""
        return self.reading() + 2 * self.sizes.hidden * self.vocabulary

    def remembering(self) -> int:
        """One round of the answerer's history; the image's share is counted by `seeing`."""
        return self.lstm(2 * self.sizes.hidden)

    def seeing(self) -> int:
        """The image's share of the answerer's gates, once a dialog."""
        return 2 * self.features * 4 * self.sizes.hidden

    def guessing(self) -> int:
        """One guess of an image's features."""
        return 2 * self.features * self.sizes.hidden


def game(shape: Shape, facts: int, questions: int, said: int, dialogs: int, guesses: int) -> int:
    """Ten rounds: tokens of facts (both bots' readings together), of questions that are read, of what is said."""
    asked = (ROUNDS + 1) * shape.lstm(shape.sizes.hidden)
    answered = ROUNDS * shape.remembering() + shape.seeing()
    tokens = (facts + questions) * shape.reading() + said * shape.saying()
    return tokens + dialogs * (asked + answered + guesses * shape.guessing())


def training(shape: Shape, batch: Lessons) -> int:
    """One update of both bots."""
    lengths = batch.facts.lengths
    facts = int(lengths.sum()) + int(lengths[:, :ROUNDS].sum())
    said = int(batch.question_inputs.lengths.sum()) + int(batch.answer_inputs.lengths.sum())
    return 3 * game(shape, facts, int(batch.questions.lengths.sum()), said, len(batch), guesses=ROUNDS)


def playing(shape: Shape, captions: int, questions: int, answers: int, dialogs: int) -> int:
    """Games whose bots say so many tokens in all, EOS included: each is said once and read up to three times.

    A question is read by the answerer and, with the answer, in both bots' facts; START and EOS are read, too.
    The answerer doesn't read the last fact.
    """
    markers = dialogs * ROUNDS
    fact = questions + answers + 2 * markers
    return game(
        shape,
        2 * captions + fact + fact * (ROUNDS - 1) // ROUNDS,
        questions + markers,
        questions + answers,
        dialogs,
        guesses=ROUNDS + 1,
    )


def ranking(guesses: int, candidates: int, features: int) -> int:
    """Distances of all guesses to all candidates, by one matrix product."""
    return 2 * guesses * candidates * features


# VGG-16 up to fc7 on a picture of 224 × 224: 15.3 G multiplications and additions in convolutions, 0.12 G in fc6, fc7.
PICTURE = 2 * (15_346_630_656 + 25_088 * 4096 + 4096 * 4096)
