"""The game: who says what to whom, and when (paper, section 2; protocol, section 2)."""

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from cooperation.game.interventions import Kind
from cooperation.game.messages import ROUNDS, Floats, Messages, Rows, concatenate, stack_rounds
from cooperation.game.place import Context, Place
from cooperation.game.protocols import Answerer, Questioner
from cooperation.game.readings import Reading, own

Rank = Callable[[Any], npt.NDArray[np.float64]]
ChangeMessages = Callable[[Messages, Place], Messages]
ChangeImages = Callable[[Floats, Place], Floats]


def unchanged(messages: Messages, place: Place) -> Messages:  # noqa: ARG001
    """Deliver messages [dialogs, length] as they were said."""
    return messages


def unchanged_images(images: Floats, place: Place) -> Floats:  # noqa: ARG001
    """Show the images [dialogs, features] as they are."""
    return images


@dataclass(frozen=True)
class Perturbation:
    """Everything that is done to a game; the default does nothing.

    The caption is perturbed before the game, for both bots; question, answer and image from round `start` on.
    remember: a bot's message as said and as delivered → what its own history holds.
    """

    caption: ChangeMessages = unchanged
    question: ChangeMessages = unchanged
    answer: ChangeMessages = unchanged
    image: ChangeImages = unchanged_images
    start: int = 1
    remember: Callable[[Messages, Messages], Messages] = own

    @classmethod
    def of(cls, reading: Reading, channel: str, kind: Kind | None, start: int = 1) -> "Perturbation":
        """What a kind does to a channel under a reading; nothing where there is no kind."""
        if kind is None:
            return cls(remember=reading.remember)
        change = kind.show if channel == "image" else reading.deliver(kind)
        return cls(start=start, remember=reading.remember, **{channel: change})  # type: ignore[arg-type]


@dataclass(frozen=True)
class Script:
    """Messages that take the place of the bots' own in the first rounds, and ranks that are known already.

    questions, answers: [dialogs, rounds, length], as said, EOS included; the numbers of rounds may differ. ranks:
    [dialogs, ranks], from round 0 on.
    """

    questions: Messages
    answers: Messages
    ranks: npt.NDArray[np.float64]

    def __getitem__(self, rows: Rows) -> "Script":
        """The script of some dialogs; rows: [dialogs]."""
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


@dataclass(frozen=True)
class Batch:
    """Dialogs that are played together.

    image_ids: [dialogs], by which randomness is keyed; captions: [dialogs, length]; images: what the answerer sees,
    [dialogs, features].
    """

    image_ids: npt.NDArray[np.int64]
    captions: Messages
    images: Floats


@dataclass
class Match:
    """A game of one batch of dialogs, as far as it was played; `open` begins it, `finish` plays the rest.

    rank: guesses, as `Questioner.guess` gives them → ranks [dialogs]. caption: as delivered, [dialogs, length]. ranks:
    [dialogs] of each guess so far. rounds: the messages [dialogs, length] of each round so far: question said and
    heard, answer said and heard.
    """

    questioner: Questioner
    answerer: Answerer
    batch: Batch
    script: Script
    perturbation: Perturbation
    context: Context
    rank: Rank
    caption: Messages = field(default_factory=lambda: Messages.of([]))
    ranks: list[npt.NDArray[np.float64]] = field(default_factory=list)
    rounds: list[tuple[Messages, Messages, Messages, Messages]] = field(default_factory=list)

    def open(self) -> None:
        """Deliver caption and images, and rank the guess by caption alone."""
        self.caption = self.perturbation.caption(self.batch.captions, self._place("caption", 0))
        self.questioner.begin(self.caption)
        self.answerer.begin(self.caption)
        self.answerer.see(self.batch.images)
        self.ranks = list(self.script.ranks.T) or [self.rank(self.questioner.guess())]

    def _place(self, channel: str, number: int) -> Place:
        return self.context.place(channel, number, self.batch.image_ids)

    def play_round(self) -> None:
        """Play the next round."""
        number = len(self.rounds) + 1
        perturbation, script = self.perturbation, self.script
        perturbed = number >= perturbation.start
        if number == perturbation.start:
            self.answerer.see(perturbation.image(self.batch.images, self._place("image", number)))

        scripted = number <= script.questions.lengths.shape[1]
        question = script.questions[:, number - 1] if scripted else self.questioner.ask()
        heard = perturbation.question(question, self._place("question", number)) if perturbed else question
        self.answerer.hear(heard)

        scripted = number <= script.answers.lengths.shape[1]
        answer = script.answers[:, number - 1] if scripted else self.answerer.answer()
        reply = perturbation.answer(answer, self._place("answer", number)) if perturbed else answer

        self.questioner.remember(perturbation.remember(question, heard), reply)
        self.answerer.remember(heard, perturbation.remember(answer, reply))
        if number >= len(self.ranks):
            self.ranks.append(self.rank(self.questioner.guess()))
        self.rounds.append((question, heard, answer, reply))

    def fork(self, perturbation: Perturbation) -> "Match":
        """Copy the match, bots included, as far as it was played; the copy goes on under another perturbation."""
        other = copy(self)
        other.questioner, other.answerer = copy(self.questioner), copy(self.answerer)
        other.ranks, other.rounds = list(self.ranks), list(self.rounds)
        other.perturbation = perturbation
        return other

    def finish(self) -> Game:
        """Play the rounds that are left, all of them where the match has not begun."""
        if not self.ranks:
            self.open()
        while len(self.rounds) < ROUNDS:
            self.play_round()
        asked, heard, answered, replied = (stack_rounds(messages) for messages in zip(*self.rounds, strict=True))
        return Game(self.caption, asked, heard, answered, replied, np.stack(self.ranks, 1))


def play_branching(match: Match, branches: Sequence[Perturbation]) -> list[Game]:
    """Play a match, and each branch of it, which is the same match until its perturbation starts.

    So only the rounds from there on are played again. Returns the match's game, then the branches' in their order.
    """
    match.open()
    branched: dict[int, Game] = {}
    for number in range(1, ROUNDS + 1):
        for place, perturbation in enumerate(branches):
            if perturbation.start == number:
                branched[place] = match.fork(perturbation).finish()
        match.play_round()
    return [match.finish(), *(branched[place] for place in range(len(branches)))]


def join_games(games: Sequence[Game]) -> Game:
    """Join the games of several batches, dialog after dialog."""
    messages = [field.name for field in fields(Game) if field.name != "ranks"]
    joined = (concatenate([getattr(game, name) for game in games]) for name in messages)
    return Game(*joined, np.concatenate([game.ranks for game in games]))  # type: ignore[call-arg, arg-type]
