"""The two ways in which the authors train the bots: one update a dialog, or one a round (protocol, section 1)."""

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork, State, last
from cooperation.bots.training_data import TrainingData
from cooperation.config.training import Training
from cooperation.game.messages import ROUNDS

Losses = dict[str, Tensor]
"""`question`, `answer` and `image`: scalars."""


def mixed_precision(precision: str, batch: TrainingData) -> torch.autocast:
    """Compute matrix products in `float32` or, for speed, in `bfloat16`; losses and weights stay float32."""
    return torch.autocast(batch.images.device.type, torch.bfloat16, enabled=precision == "bfloat16")


def teacher_forced(questioner: QuestionerNetwork, answerer: AnswererNetwork, batch: TrainingData) -> Losses:
    """The losses of a batch under teacher forcing, summed over its dialogs (protocol, section 1).

    `question` and `answer` are token cross-entropies; `image` is the sum over the ten rounds of the Frobenius norm of
    (image − guess) over the batch.
    """
    size = len(batch)
    asking = questioner.history(batch.facts, questioner.zero_state(size))  # two of [L, B, 11, H]
    guesses = questioner.guess(asking[0][:, :, 1:])  # [B, 10, F]
    before = batch.facts.rounds(slice(ROUNDS))
    seen = answerer.image_input(batch.images)
    answering = answerer.history(seen, batch.questions, before, answerer.zero_state(size))  # two of [L, B, 10, H]
    asked_from = asking[0][:, :, :ROUNDS], asking[1][:, :, :ROUNDS]
    return {
        "question": questioner.language_loss(asked_from, batch.question_inputs, batch.question_targets.tokens),
        "answer": answerer.language_loss(answering, batch.answer_inputs, batch.answer_targets.tokens),
        "image": (batch.images[:, None] - guesses).square().sum((0, 2)).sqrt().sum(),
    }


class DialogUpdates:
    """One update of both bots together for a batch of dialogs: Table 1 and Figures 1."""

    def __init__(self, questioner: QuestionerNetwork, answerer: AnswererNetwork, training: Training) -> None:
        self.bots = nn.ModuleDict({"questioner": questioner, "answerer": answerer})
        self.questioner, self.answerer = questioner, answerer
        self.training = training
        self.optimisers = {"both": torch.optim.Adam(self.bots.parameters(), training.rate, fused=True)}

    def update(self, batch: TrainingData) -> Losses:
        """Take one step on a batch; return its losses from before the step, for each dialog."""
        optimiser = self.optimisers["both"]
        with mixed_precision(self.training.precision, batch):
            sums = teacher_forced(self.questioner, self.answerer, batch)
        losses = {name: loss / len(batch) for name, loss in sums.items()}
        optimiser.zero_grad()
        total = losses["question"] + losses["answer"] + self.training.image_weight * losses["image"]
        total.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(self.bots.parameters(), 5)
        optimiser.step()
        return {name: loss.detach() for name, loss in losses.items()}


class RoundUpdates:
    """One update for each round, the bots apart, language and image apart: Table 2.

    The history's state is carried from round to round as a value: no gradient goes through it.
    """

    def __init__(self, questioner: QuestionerNetwork, answerer: AnswererNetwork, training: Training) -> None:
        self.questioner, self.answerer = questioner, answerer
        self.training = training
        self.optimisers = {
            "question": torch.optim.Adam(questioner.parameters(), training.rate, fused=True),
            "image": torch.optim.Adam(questioner.parameters(), training.rate, fused=True),
            "answer": torch.optim.Adam(answerer.parameters(), training.rate, fused=True),
        }

    def update(self, batch: TrainingData) -> Losses:
        """Take ten steps on a batch, a round each.

        Returns the rounds' mean losses: those of languages for each token, that of the image for each dialog.
        """
        asking, answering = self.questioner.zero_state(len(batch)), self.answerer.zero_state(len(batch))
        rounds: list[Losses] = []
        for place in range(ROUNDS):
            one_round = batch.rounds(slice(place, place + 1))
            question, image, asking = self._update_questioner(one_round, asking)
            answer, answering = self._update_answerer(one_round, answering)
            rounds.append({"question": question, "answer": answer, "image": image})
        return {name: torch.stack([losses[name] for losses in rounds]).mean() for name in rounds[0]}

    def _update_questioner(self, one_round: TrainingData, state: State) -> tuple[Tensor, Tensor, State]:
        targets = one_round.question_targets
        with mixed_precision(self.training.precision, one_round):
            states = self.questioner.history(one_round.facts, state)  # two of [L, B, 1, H]
            summed = self.questioner.language_loss(states, one_round.question_inputs, targets.tokens)
        question = summed / targets.lengths.sum()
        guesses = self.questioner.guess(states[0][:, :, 0])  # [B, F]
        image = (one_round.images - guesses).square().sum(1).sqrt().mean()
        # Both gradients before either step, since both go through the same weights.
        question_gradients = self._gradients("question", question, retain_graph=True)
        image_gradients = self._gradients("image", image)
        self._step("question", question_gradients)
        self._step("image", image_gradients)
        return question.detach(), image.detach(), _carried(states)

    def _update_answerer(self, one_round: TrainingData, state: State) -> tuple[Tensor, State]:
        targets = one_round.answer_targets
        with mixed_precision(self.training.precision, one_round):
            seen = self.answerer.image_input(one_round.images)
            states = self.answerer.history(seen, one_round.questions, one_round.facts, state)  # two of [L, B, 1, H]
            summed = self.answerer.language_loss(states, one_round.answer_inputs, targets.tokens)
        answer = summed / targets.lengths.sum()
        self._step("answer", self._gradients("answer", answer))
        return answer.detach(), _carried(states)

    def _parameters(self, name: str) -> list[nn.Parameter]:
        return self.optimisers[name].param_groups[0]["params"]  # type: ignore[no-any-return]

    def _gradients(self, name: str, loss: Tensor, *, retain_graph: bool = False) -> tuple[Tensor | None, ...]:
        return torch.autograd.grad(loss, self._parameters(name), retain_graph=retain_graph, allow_unused=True)

    def _step(self, name: str, gradients: tuple[Tensor | None, ...]) -> None:
        for parameter, gradient in zip(self._parameters(name), gradients, strict=True):
            # The fused Adam takes every gradient for contiguous, and misreads one that is not.
            parameter.grad = None if gradient is None else gradient.contiguous()
        clip_grad_value_(self._parameters(name), 5)
        self.optimisers[name].step()


def _carried(states: State) -> State:
    """The last round's state, without its gradient: two of [L, B, H]."""
    hidden, cell = last(states)
    return hidden.detach(), cell.detach()
