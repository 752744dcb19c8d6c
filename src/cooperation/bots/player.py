"""The trained networks as players of the game: token messages in, token messages and guesses out."""

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import torch

from cooperation.bots import recurrent
from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork, Text
from cooperation.messages import Floats, Messages, widened
from cooperation.method.facts import Format
from cooperation.text import Vocabulary

# The released program says at most 19 tokens, EOS included (protocol, section 2).
LIMIT = 19

Method = TypeVar("Method", bound=Callable[..., Any])


def _without_gradient(method: Method) -> Method:
    @functools.wraps(method)
    def wrapped(*arguments: Any) -> Any:
        with torch.inference_mode():
            return method(*arguments)

    return wrapped  # type: ignore[return-value]


def to_text(messages: Messages, device: torch.device) -> Text:
    """Messages of one round [dialogs, length] on the device: [dialogs, 1, length]."""
    # A batch of empty messages still has a column.
    tokens = torch.from_numpy(widened(messages, 1).tokens).long().to(device)
    return Text(tokens[:, None], torch.from_numpy(messages.lengths).long()[:, None])


class _Player:
    """A bot, its history's state and how it reads."""

    state: recurrent.State

    def __init__(self, network: Any, vocabulary: Vocabulary, reads: Format) -> None:
        self.network = network.eval()
        self.vocabulary = vocabulary
        self.reads = reads
        self.device = network.embedding.weight.device

    def _text(self, messages: Messages) -> Text:
        return to_text(messages, self.device)

    def _say(self) -> Messages:
        tokens, lengths = self.network.speak(self.state, self.vocabulary.start, self.vocabulary.eos, LIMIT)
        return Messages(tokens.int().cpu().numpy(), lengths.int().cpu().numpy())

    def _zero_state(self, batch: int) -> recurrent.State:
        return recurrent.zero_state(self.network.history_encoder, batch)


def _last(states: recurrent.State) -> recurrent.State:
    return states[0][:, :, -1], states[1][:, :, -1]


class QuestionerPlayer(_Player):
    """A trained questioner; see `messages.Questioner`."""

    network: QuestionerNetwork

    def _append(self, fact: Messages) -> None:
        self.state = _last(self.network.history(self._text(fact), self.state))

    @_without_gradient
    def begin(self, captions: Messages) -> None:
        self.state = self._zero_state(len(captions))
        self._append(captions)

    @_without_gradient
    def ask(self) -> Messages:
        return self._say()

    @_without_gradient
    def remember(self, questions: Messages, answers: Messages) -> None:
        self._append(self.reads.fact(questions, answers))

    @_without_gradient
    def guess(self) -> Floats:
        guesses: Floats = self.network.guess(self.state[0]).cpu().numpy()
        return guesses


class AnswererPlayer(_Player):
    """A trained answerer; see `messages.Answerer`."""

    network: AnswererNetwork

    @_without_gradient
    def begin(self, captions: Messages) -> None:
        self.state = self._zero_state(len(captions))
        self.fact = captions

    @_without_gradient
    def see(self, images: Floats) -> None:
        self.image = self.network.image_gates(torch.from_numpy(images).to(self.device))

    @_without_gradient
    def hear(self, questions: Messages) -> None:
        question = self._text(self.reads.question(questions))
        self.state = _last(self.network.history(self.image, question, self._text(self.fact), self.state))

    @_without_gradient
    def answer(self) -> Messages:
        return self._say()

    def remember(self, questions: Messages, answers: Messages) -> None:
        self.fact = self.reads.fact(questions, answers)
