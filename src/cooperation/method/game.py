"""The one place that knows who says what to whom and when (paper, section 2; protocol, section 2)."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt

from cooperation.messages import ROUNDS, Answerer, Floats, Messages, Questioner, Rows, concatenate, stack_rounds
from cooperation.method.interventions import Blur, Tamper, Where, keep, look

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


@dataclass
class Match:
    """A game of one batch of dialogs, as far as it has come: from the beginning, `finish` plays all of it.

    captions: [dialogs, length]; images: what the answerer sees, [dialogs, features]; dialogs: the image ids that
    randomness is keyed by; rank: guesses [dialogs, features] → ranks [dialogs].
    """

    questioner: Questioner
    answerer: Answerer
    captions: Messages
    images: Floats
    dialogs: npt.NDArray[np.int64]
    seed: int
    script: Script
    tampering: Tampering
    rank: Rank

    def __post_init__(self) -> None:
        self.caption = self.tampering.caption(self.captions, Where(self.seed, "caption", self.dialogs, 0))
        self.questioner.begin(self.caption)
        self.answerer.begin(self.caption)
        self.answerer.see(self.images)
        self.ranks = list(self.script.ranks.T) or [self.rank(self.questioner.guess())]
        self.rounds: list[tuple[Messages, Messages, Messages, Messages]] = []

    def play_round(self) -> None:
        """Play the next round."""
        number = len(self.rounds) + 1
        tampering, script = self.tampering, self.script
        tampered = number >= tampering.start

        def where(channel: str) -> Where:
            return Where(self.seed, channel, self.dialogs, number)

        if number == tampering.start:
            self.answerer.see(tampering.image(self.images, where("image")))

        scripted = number <= script.questions.lengths.shape[1]
        question = script.questions[:, number - 1] if scripted else self.questioner.ask()
        heard = tampering.question(question, where("question")) if tampered else question
        self.answerer.hear(heard)

        scripted = number <= script.answers.lengths.shape[1]
        answer = script.answers[:, number - 1] if scripted else self.answerer.answer()
        reply = tampering.answer(answer, where("answer")) if tampered else answer

        self.questioner.remember(tampering.remembered(question, heard), reply)
        self.answerer.remember(heard, tampering.remembered(answer, reply))
        if number >= len(self.ranks):
            self.ranks.append(self.rank(self.questioner.guess()))
        self.rounds.append((question, heard, answer, reply))

    def fork(self, tampering: Tampering) -> "Match":
        """The same match up to here, which goes on under another tampering: the bots are copied as they stand."""
        other = copy(self)
        other.questioner, other.answerer = copy(self.questioner), copy(self.answerer)
        other.ranks, other.rounds = list(self.ranks), list(self.rounds)
        other.tampering = tampering
        return other

    def finish(self) -> Game:
        """Play the rounds that are left."""
        while len(self.rounds) < ROUNDS:
            self.play_round()
        asked, heard, answered, replied = (stack_rounds(messages) for messages in zip(*self.rounds, strict=True))
        return Game(self.caption, asked, heard, answered, replied, np.stack(self.ranks, 1))


def play_branching(match: Match, branches: Sequence[Tampering]) -> list[Game]:
    """Finish a match, and every branch of it: tampered with from its start on, it is this match until then.

    So a branch costs its own rounds.
    """
    branched: dict[int, Game] = {}
    for number in range(1, ROUNDS + 1):
        for place, tampering in enumerate(branches):
            if tampering.start == number:
                branched[place] = match.fork(tampering).finish()
        match.play_round()
    return [match.finish(), *(branched[place] for place in range(len(branches)))]


def join_games(games: Sequence[Game]) -> Game:
    """Put batches of dialogs one below the other."""
    messages = [field.name for field in fields(Game) if field.name != "ranks"]
    joined = (concatenate([getattr(game, name) for game in games]) for name in messages)
    return Game(*joined, np.concatenate([game.ranks for game in games]))  # type: ignore[call-arg, arg-type]
