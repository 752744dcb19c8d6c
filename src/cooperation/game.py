"""The one place that knows who says what to whom and when (paper, section 2; protocol, section 2)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from cooperation.interventions import Blur, Tamper, Where, keep, look
from cooperation.messages import ROUNDS, Answerer, Floats, Messages, Questioner, Rows, concatenate, stack_rounds

Rank = Callable[[Floats], npt.NDArray[np.float64]]
Remembered = Callable[[Messages, Messages], Messages]


def own(said: Messages, heard: Messages) -> Messages:  # noqa: ARG001
    """A bot remembers what it said itself, whatever was delivered (paper, section 3)."""
    return said


def delivered(said: Messages, heard: Messages) -> Messages:  # noqa: ARG001
    """A bot's own history, too, gets what was delivered (as released)."""
    return heard


@dataclass(frozen=True)
class Tampering:
    """Everything that is done to a game; the default does nothing.

    The caption is tampered with before the game and read by both bots; question, answer and image from round
    `start` on. remembered: what a bot's own history holds of a message it said.
    """

    caption: Tamper = keep
    question: Tamper = keep
    answer: Tamper = keep
    image: Blur = look
    start: int = 1
    remembered: Remembered = own


@dataclass(frozen=True)
class Script:
    """Messages that are said instead of the bots' own, and ranks that are known already, for the first rounds.

    questions, answers: [dialogs, first rounds, length], as said, EOS included; they may cover different numbers
    of rounds. ranks: [dialogs, first ranks], from round 0 on.
    """

    questions: Messages
    answers: Messages
    ranks: npt.NDArray[np.float64]

    def __getitem__(self, rows: Rows) -> "Script":
        """The script of some dialogs."""
        return Script(self.questions[rows], self.answers[rows], self.ranks[rows])

    @classmethod
    def silent(cls, dialogs: int) -> "Script":
        """Nothing is given: the bots say everything."""
        nothing = Messages(np.zeros((dialogs, 0, 1), np.int32), np.zeros((dialogs, 0), np.int32))
        return cls(nothing, nothing, np.zeros((dialogs, 0)))


@dataclass(frozen=True)
class Game:
    """What was said, what was heard, and the ranks: messages [dialogs, 10, length], ranks [dialogs, 11]."""

    caption_heard: Messages
    question_said: Messages
    question_heard: Messages
    answer_said: Messages
    answer_heard: Messages
    ranks: npt.NDArray[np.float64]


def play(
    questioner: Questioner,
    answerer: Answerer,
    captions: Messages,
    images: Floats,
    dialogs: npt.NDArray[np.int64],
    seed: int,
    script: Script,
    tampering: Tampering,
    rank: Rank,
) -> Game:
    """Play one batch of dialogs for ten rounds.

    captions: [dialogs, length]; images: what the answerer sees, [dialogs, features]; dialogs: the image ids that
    randomness is keyed by; rank: guesses [dialogs, features] → ranks [dialogs].
    """
    caption = tampering.caption(captions, Where(seed, "caption", dialogs, 0))
    questioner.begin(caption)
    answerer.begin(caption)
    answerer.see(images)
    ranks = list(script.ranks.T)
    if not ranks:
        ranks.append(rank(questioner.guess()))
    rounds: list[tuple[Messages, Messages, Messages, Messages]] = []
    for number in range(1, ROUNDS + 1):
        tampered = number >= tampering.start
        if number == tampering.start:
            answerer.see(tampering.image(images, Where(seed, "image", dialogs, number)))

        scripted = number <= script.questions.lengths.shape[1]
        question = script.questions[:, number - 1] if scripted else questioner.ask()
        heard = tampering.question(question, Where(seed, "question", dialogs, number)) if tampered else question
        answerer.hear(heard)

        scripted = number <= script.answers.lengths.shape[1]
        answer = script.answers[:, number - 1] if scripted else answerer.answer()
        reply = tampering.answer(answer, Where(seed, "answer", dialogs, number)) if tampered else answer

        questioner.remember(tampering.remembered(question, heard), reply)
        answerer.remember(heard, tampering.remembered(answer, reply))
        if number >= len(ranks):
            ranks.append(rank(questioner.guess()))
        rounds.append((question, heard, answer, reply))
    asked, asked_heard, answered, answered_heard = (stack_rounds(messages) for messages in zip(*rounds, strict=True))
    return Game(caption, asked, asked_heard, answered, answered_heard, np.stack(ranks, 1))


def join_games(games: Sequence[Game]) -> Game:
    """Put batches of dialogs one below the other."""
    messages = [field.name for field in fields(Game) if field.name != "ranks"]
    joined = (concatenate([getattr(game, name) for game in games]) for name in messages)
    return Game(*joined, np.concatenate([game.ranks for game in games]))  # type: ignore[call-arg, arg-type]
