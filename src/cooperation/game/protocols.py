"""What a bot must be able to do to play the game."""

from typing import Any, Protocol

from cooperation.game.messages import Floats, Messages


class Questioner(Protocol):
    """Reads a caption, asks, and guesses the image (Q-bot). One object plays one batch of dialogs.

    Its state is replaced, never changed in place, so that a shallow copy of it can play the rest of a game.
    Messages that are asked or answered end with EOS unless they were cut at the token limit.
    """

    def begin(self, captions: Messages) -> None:
        """Start a batch of dialogs from their captions [dialogs, length]: fact 0."""

    def ask(self) -> Messages:
        """Say the next question of every dialog: [dialogs, length]."""

    def remember(self, questions: Messages, answers: Messages) -> None:
        """Append the fact of this round to the history; questions, answers: [dialogs, length]."""

    def guess(self) -> Any:
        """Guess the image: what the ranker ranks, so in trained bots its feature vector, [dialogs, features]."""


class Answerer(Protocol):
    """Sees the image and answers (A-bot). One object plays one batch of dialogs; its state is as a questioner's."""

    def begin(self, captions: Messages) -> None:
        """Start a batch of dialogs from their captions [dialogs, length]: fact 0."""

    def see(self, images: Floats) -> None:
        """See these images [dialogs, features] from now on."""

    def hear(self, questions: Messages) -> None:
        """Encode this round's question of every dialog: [dialogs, length]."""

    def answer(self) -> Messages:
        """Say the answers to the questions heard last: [dialogs, length]."""

    def remember(self, questions: Messages, answers: Messages) -> None:
        """Append the fact of this round to the history; questions, answers: [dialogs, length]."""


class Bots(Protocol):
    """A questioner and an answerer who can be asked to play any number of batches."""

    @property
    def facts(self) -> str:
        """Name of the format that facts had in training, one of `facts.FORMATS`."""

    def players(self, facts: str) -> tuple[Questioner, Answerer]:
        """Both bots for one batch of dialogs; facts: the format that they read, one of `facts.FORMATS`."""
