"""The trained networks as players of the game: token messages in, token messages and guesses out."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork, State, Text, last
from cooperation.game.facts import Format
from cooperation.game.messages import Floats, Messages, widened
from cooperation.game.vocabulary import Vocabulary

# The released program says at most 19 tokens, EOS included (protocol, section 2).
TOKEN_LIMIT = 19

Method = TypeVar("Method", bound=Callable[..., Any])


def _without_gradient(method: Method) -> Method:
    @functools.wraps(method)
    def wrapped(*arguments: Any) -> Any:
        with torch.inference_mode():
            return method(*arguments)

    return wrapped  # type: ignore[return-value]


def to_text(messages: Messages, device: torch.device) -> Text:
    """Put messages of one round [dialogs, length] on the device: [dialogs, 1, length]."""
    # Of empty messages alone, too, there is a column.
    tokens = torch.from_numpy(widened(messages, 1).tokens).long().to(device)
    return Text(tokens[:, None], torch.from_numpy(messages.lengths).long()[:, None])


class _Player:
    """A network, the state of its history (two of [layers, dialogs, hidden]), and the format in which it reads."""

    state: State

    def __init__(self, network: Any, vocabulary: Vocabulary, message_format: Format) -> None:
        self.network = network
        self.vocabulary = vocabulary
        self.format = message_format
        self.device = network.embedding.weight.device

    def _text(self, messages: Messages) -> Text:
        return to_text(messages, self.device)

    def _speak(self) -> Messages:
        tokens, lengths = self.network.speak(self.state, self.vocabulary.start, self.vocabulary.eos, TOKEN_LIMIT)
        return Messages(tokens.int().cpu().numpy(), lengths.int().cpu().numpy())


class QuestionerPlayer(_Player):
    """A trained questioner; its methods are those of `game.protocols.Questioner`."""

    network: QuestionerNetwork

    def _append(self, fact: Messages) -> None:
        self.state = last(self.network.history(self._text(fact), self.state))

    @_without_gradient
    def begin(self, captions: Messages) -> None:
        self.state = self.network.zero_state(len(captions))
        self._append(captions)

    @_without_gradient
    def ask(self) -> Messages:
        return self._speak()

    @_without_gradient
    def remember(self, questions: Messages, answers: Messages) -> None:
        self._append(self.format.fact(questions, answers))

    @_without_gradient
    def guess(self) -> Floats:
        guesses: Floats = self.network.guess(self.state[0]).cpu().numpy()
        return guesses


class AnswererPlayer(_Player):
    """A trained answerer; its methods are those of `game.protocols.Answerer`."""

    network: AnswererNetwork

    @_without_gradient
    def begin(self, captions: Messages) -> None:
        self.state = self.network.zero_state(len(captions))
        self.fact = captions

    @_without_gradient
    def see(self, images: Floats) -> None:
        self.image = self.network.image_input(torch.from_numpy(images).to(self.device))

    @_without_gradient
    def hear(self, questions: Messages) -> None:
        question = self._text(self.format.question(questions))
        self.state = last(self.network.history(self.image, question, self._text(self.fact), self.state))

    @_without_gradient
    def answer(self) -> Messages:
        return self._speak()

    def remember(self, questions: Messages, answers: Messages) -> None:
        # Read in the next round, together with its question.
        self.fact = self.format.fact(questions, answers)
