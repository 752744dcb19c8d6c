"""The two ways in which the authors train the bots: one update a dialog, or a round (protocol, section 1)."""

import torch
from torch import Tensor, nn
from torch.nn.utils import clip_grad_norm_, clip_grad_value_

from cooperation.bots.lessons import Lessons
from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork
from cooperation.bots.recurrent import State, zero_state
from cooperation.messages import ROUNDS
from cooperation.models import Training

Losses = dict[str, Tensor]


def _between(states: State, which: slice) -> State:
    return states[0][:, :, which], states[1][:, :, which]


def products_in(precision: str, batch: Lessons) -> torch.autocast:
    """Make matrix products in `float32` or, for speed, in `bfloat16`; states, losses and weights stay float32."""
    return torch.autocast(batch.images.device.type, torch.bfloat16, enabled=precision == "bfloat16")


def teacher_forced(questioner: QuestionerNetwork, answerer: AnswererNetwork, batch: Lessons) -> Losses:
    """The three sums of a batch: `question`, `answer` (token cross-entropies) and `image`.

    The image's is the sum over the ten rounds of the Frobenius norm of (image − guess) over the batch.
    """
    size = len(batch)
    asking = questioner.history(batch.facts, zero_state(questioner.history_encoder, size))
    guesses = questioner.guess(asking[0][:, :, 1:])
    seen = answerer.image_gates(batch.images)
    before = batch.facts.rounds(slice(ROUNDS))
    answering = answerer.history(seen, batch.questions, before, zero_state(answerer.history_encoder, size))
    return {
        "question": questioner.language_loss(
            _between(asking, slice(ROUNDS)), batch.question_inputs, batch.question_targets.tokens
        ),
        "answer": answerer.language_loss(answering, batch.answer_inputs, batch.answer_targets.tokens),
        "image": (batch.images[:, None] - guesses).square().sum((0, 2)).sqrt().sum(),
    }


class DialogUpdates:
    """One update of both bots a batch of dialogs: Table 1 and Figures 1."""

    def __init__(self, questioner: QuestionerNetwork, answerer: AnswererNetwork, training: Training) -> None:
        self.bots = nn.ModuleDict({"questioner": questioner, "answerer": answerer})
        self.questioner, self.answerer = questioner, answerer
        self.training = training
        self.optimisers = {"both": torch.optim.Adam(self.bots.parameters(), training.rate, fused=True)}

    def update(self, batch: Lessons) -> Losses:
        """Learn from a batch; its losses a dialog."""
        optimiser = self.optimisers["both"]
        with products_in(self.training.precision, batch):
            sums = teacher_forced(self.questioner, self.answerer, batch)
        losses = {name: loss / len(batch) for name, loss in sums.items()}
        optimiser.zero_grad()
        total = losses["question"] + losses["answer"] + self.training.image_weight * losses["image"]
        total.backward()  # type: ignore[no-untyped-call]
        clip_grad_norm_(self.bots.parameters(), 5)
        optimiser.step()
        return {name: loss.detach() for name, loss in losses.items()}


class RoundUpdates:
    """One update a round, the bots apart, language and image apart: Table 2.

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

    def update(self, batch: Lessons) -> Losses:
        """Learn from a batch round by round; its mean losses: a token's for the languages, a round's for the image."""
        asking = zero_state(self.questioner.history_encoder, len(batch))
        answering = zero_state(self.answerer.history_encoder, len(batch))
        rounds: list[Losses] = []
        for number in range(ROUNDS):
            lesson = batch.rounds(slice(number, number + 1))
            question, image, asking = self._ask(lesson, asking)
            answer, answering = self._answer(lesson, answering)
            rounds.append({"question": question, "answer": answer, "image": image})
        return {name: torch.stack([losses[name] for losses in rounds]).mean() for name in rounds[0]}

    def _ask(self, lesson: Lessons, state: State) -> tuple[Tensor, Tensor, State]:
        tokens = lesson.question_targets.lengths.sum()
        with products_in(self.training.precision, lesson):
            states = self.questioner.history(lesson.facts, state)
            said = self.questioner.language_loss(states, lesson.question_inputs, lesson.question_targets.tokens)
        question = said / tokens
        guesses = self.questioner.guess(states[0][:, :, 0])
        image = (lesson.images - guesses).square().sum(1).sqrt().mean()
        # Both gradients before either step, for they go through the same weights.
        of_question = self._gradients("question", question, retain_graph=True)
        of_image = self._gradients("image", image)
        self._step("question", of_question)
        self._step("image", of_image)
        return question.detach(), image.detach(), _carried(states)

    def _answer(self, lesson: Lessons, state: State) -> tuple[Tensor, State]:
        tokens = lesson.answer_targets.lengths.sum()
        with products_in(self.training.precision, lesson):
            seen = self.answerer.image_gates(lesson.images)
            states = self.answerer.history(seen, lesson.questions, lesson.facts, state)
            said = self.answerer.language_loss(states, lesson.answer_inputs, lesson.answer_targets.tokens)
        answer = said / tokens
        self._step("answer", self._gradients("answer", answer))
        return answer.detach(), _carried(states)

    def _parameters(self, name: str) -> list[nn.Parameter]:
        return self.optimisers[name].param_groups[0]["params"]  # type: ignore[no-any-return]

    def _gradients(self, name: str, loss: Tensor, *, retain_graph: bool = False) -> tuple[Tensor | None, ...]:
        return torch.autograd.grad(loss, self._parameters(name), retain_graph=retain_graph, allow_unused=True)

    def _step(self, name: str, gradients: tuple[Tensor | None, ...]) -> None:
        for parameter, gradient in zip(self._parameters(name), gradients, strict=True):
            parameter.grad = gradient
        clip_grad_value_(self._parameters(name), 5)
        self.optimisers[name].step()


def _carried(states: State) -> State:
    return states[0][:, :, -1].detach(), states[1][:, :, -1].detach()
