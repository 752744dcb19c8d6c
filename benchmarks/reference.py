"""The same as the package computes, as plainly as can be: what it is compared with, in speed and in the tests.

One dialog, round and message at a time, stock `nn.LSTM`s, a full vector of distances and a full sort. `stock_losses`
is how such programs are usually written: a batch of dialogs, round by round, with stock LSTMs on packed sequences.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.rnn import pack_padded_sequence

from cooperation.bots.lessons import Lessons
from cooperation.bots.networks import AnswererNetwork, Bot, QuestionerNetwork, Text
from cooperation.bots.player import LIMIT
from cooperation.data.store import Dialogs
from cooperation.messages import ROUNDS, Floats, Rows
from cooperation.text import Vocabulary

State = tuple[Tensor, Tensor] | None


def stock_history(answerer: AnswererNetwork) -> nn.LSTM:
    """The answerer's history as one stock LSTM over [image, question, fact]; gradients reach the answerer's weights."""
    mine = answerer.history_encoder
    size, inputs = mine.hidden_size, answerer.features + mine.input_size
    stock = nn.LSTM(inputs, size, mine.num_layers, batch_first=True, device=mine.weight_ih_l0.device)
    stock.load_state_dict(
        {**mine.state_dict(), "weight_ih_l0": torch.cat([answerer.image_encoder.weight, mine.weight_ih_l0], 1)}
    )
    return stock


def read(lstm: nn.LSTM, bot: Bot, ids: list[int]) -> Tensor:
    """Top layer's last hidden state of one message: [1, hidden]; zeros where it has no token."""
    if not ids:
        return bot.embedding.weight.new_zeros(1, lstm.hidden_size)
    tokens = torch.tensor([ids], device=bot.embedding.weight.device)
    return lstm(bot.embedding(tokens))[1][0][-1]  # type: ignore[no-any-return]


def losses(
    questioner: QuestionerNetwork, answerer: AnswererNetwork, words: Vocabulary, dialogs: Dialogs, images: Floats
) -> dict[str, Tensor]:
    """What `updates.teacher_forced` gives, for facts with their markers: sums over the dialogs."""
    start, eos = words.start, words.eos
    question_loss = answer_loss = torch.zeros(())
    errors = torch.zeros(ROUNDS)
    history = stock_history(answerer)
    for row in range(len(dialogs)):
        questions, answers = dialogs.questions[row].lists(), dialogs.answers[row].lists()
        facts = dialogs.captions[row : row + 1].lists()
        facts += [[start, *q, eos, start, *a, eos] for q, a in zip(questions, answers, strict=True)]
        image = torch.from_numpy(images[row])
        _, asking = questioner.history_encoder(read(questioner.fact_encoder, questioner, facts[0])[None])
        answering: State = None
        for number in range(ROUNDS):
            question_loss = question_loss + _said(questioner, questions[number], asking, words)
            asked = read(answerer.question_encoder, answerer, [start, *questions[number], eos])
            fact = read(answerer.fact_encoder, answerer, facts[number])
            _, answering = history(torch.cat([image[None], asked, fact], 1)[None], answering)
            answer_loss = answer_loss + _said(answerer, answers[number], answering, words)
            fact = read(questioner.fact_encoder, questioner, facts[number + 1])
            _, asking = questioner.history_encoder(fact[None], asking)
            error = (image - questioner.regressor(asking[0][-1, 0])).square().sum()
            errors = errors + torch.nn.functional.one_hot(torch.tensor(number), ROUNDS) * error
    return {"question": question_loss, "answer": answer_loss, "image": errors.sqrt().sum()}


def _said(bot: Bot, ids: list[int], state: State, words: Vocabulary) -> Tensor:
    """Cross-entropy of one message, word by word."""
    loss = torch.zeros(())
    for word, following in zip([words.start, *ids], [*ids, words.eos], strict=True):
        output, state = bot.decoder(bot.embedding(torch.tensor([[word]])), state)
        loss = loss - bot.generator(output[0, 0]).log_softmax(0)[following]
    return loss


@dataclass(frozen=True)
class Talk:
    """One dialog: what the bots said, EOS included, and the questioner's guesses [11, features]."""

    questions: list[list[int]]
    answers: list[list[int]]
    guesses: Floats


@torch.inference_mode()
def talks(
    questioner: QuestionerNetwork, answerer: AnswererNetwork, words: Vocabulary, dialogs: Dialogs, images: Floats
) -> Iterator[Talk]:
    """Play the game without tampering, greedily, facts with their markers, one dialog after the other."""
    start, eos = words.start, words.eos
    history = stock_history(answerer)
    for row in range(len(dialogs)):
        fact = dialogs.captions[row : row + 1].lists()[0]
        image = torch.from_numpy(images[row : row + 1]).to(answerer.image_encoder.weight.device)
        questions, answers, guesses = [], [], []
        asking: State = None
        answering: State = None
        for number in range(ROUNDS + 1):
            _, asking = questioner.history_encoder(read(questioner.fact_encoder, questioner, fact)[None], asking)
            guesses.append(questioner.regressor(asking[0][-1, 0]).cpu().numpy())
            if number == ROUNDS:
                break
            questions.append(_speak(questioner, asking, words))
            asked = [start, *(word for word in questions[-1] if word != eos), eos]
            seen = [read(answerer.question_encoder, answerer, asked), read(answerer.fact_encoder, answerer, fact)]
            _, answering = history(torch.cat([image, *seen], 1)[None], answering)
            answers.append(_speak(answerer, answering, words))
            fact = [*asked, start, *(word for word in answers[-1] if word != eos), eos]
        yield Talk(questions, answers, np.stack(guesses))


def _speak(bot: Bot, state: State, words: Vocabulary) -> list[int]:
    said: list[int] = []
    while len(said) < LIMIT and words.eos not in said:
        word = torch.tensor([[said[-1] if said else words.start]], device=bot.embedding.weight.device)
        output, state = bot.decoder(bot.embedding(word), state)
        said.append(int(bot.generator(output[0, 0]).argmax()))
    return said


def ranks(guesses: Floats, candidates: Floats, truth: Rows) -> npt.NDArray[np.float64]:
    """Ranks from 0, ties shared, by all distances of each guess in float64, sorted."""
    found = np.empty(len(guesses))
    for number, (guess, row) in enumerate(zip(guesses, truth, strict=True)):
        distances = np.square(guess.astype(np.float64) - candidates).sum(1)
        ordered = np.sort(distances)
        nearer = np.searchsorted(ordered, distances[row])
        found[number] = (nearer + np.searchsorted(ordered, distances[row], "right") - 1) / 2
    return found


def ranks_by_matrix(guesses: Tensor, candidates: Tensor, truth: Tensor) -> Tensor:
    """Ranks as programs of this kind make them: all distances at once in float32, all sorted, ties by position."""
    order = torch.cdist(guesses, candidates).argsort(1)
    return (order == truth[:, None]).int().argmax(1)


def stock_losses(questioner: QuestionerNetwork, answerer: AnswererNetwork, batch: Lessons) -> dict[str, Tensor]:
    """The same sums, a batch of dialogs round by round, the padding cut off by packing and by `ignore_index`."""
    history = stock_history(answerer)
    question_loss = answer_loss = image_loss = torch.zeros(())
    _, asking = questioner.history_encoder(_read_batch(questioner.fact_encoder, questioner, batch.facts, 0))
    answering: State = None
    for number in range(ROUNDS):
        question_loss = question_loss + _said_batch(
            questioner, batch.question_inputs, batch.question_targets, number, asking
        )
        asked = _read_batch(answerer.question_encoder, answerer, batch.questions, number)
        fact = _read_batch(answerer.fact_encoder, answerer, batch.facts, number)
        _, answering = history(torch.cat([batch.images[:, None], asked, fact], 2), answering)
        answer_loss = answer_loss + _said_batch(answerer, batch.answer_inputs, batch.answer_targets, number, answering)
        fact = _read_batch(questioner.fact_encoder, questioner, batch.facts, number + 1)
        _, asking = questioner.history_encoder(fact, asking)
        image_loss = image_loss + (batch.images - questioner.regressor(asking[0][-1])).square().sum().sqrt()
    return {"question": question_loss, "answer": answer_loss, "image": image_loss}


def _read_batch(lstm: nn.LSTM, bot: Bot, messages: Text, number: int) -> Tensor:
    """Top layer's last hidden states of one round's messages: [batch, 1, hidden]."""
    embedded = bot.embedding(messages.tokens[:, number])
    packed = pack_padded_sequence(embedded, messages.lengths[:, number].cpu(), True, enforce_sorted=False)
    return lstm(packed)[1][0][-1][:, None]  # type: ignore[no-any-return]


def _said_batch(bot: Bot, inputs: Text, targets: Text, number: int, state: State) -> Tensor:
    outputs, _ = bot.decoder(bot.embedding(inputs.tokens[:, number]), state)
    scores = bot.generator(outputs).flatten(0, 1)
    return cross_entropy(scores, targets.tokens[:, number].flatten(), ignore_index=0, reduction="sum")
