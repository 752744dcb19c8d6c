"""Human dialogs as both bots are trained on them, on the device."""

from collections.abc import Callable
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from cooperation.bots.networks import Text
from cooperation.data.store import Dialogs
from cooperation.game.facts import Format
from cooperation.game.messages import Floats, Messages, concatenate, join, repeat, with_end
from cooperation.game.vocabulary import Vocabulary


@dataclass(frozen=True)
class TrainingData:
    """Human dialogs, one row each.

    facts: [dialogs, 11, length], the caption first; questions: as the answerer encodes them [dialogs, 10, length];
    *_inputs begin with START and *_targets end with EOS [dialogs, 10, length], for teacher forcing;
    images: [dialogs, features].
    """

    facts: Text
    questions: Text
    question_inputs: Text
    question_targets: Text
    answer_inputs: Text
    answer_targets: Text
    images: Tensor

    def __len__(self) -> int:
        return len(self.images)

    def batch(self, rows: Tensor) -> "TrainingData":
        """The dialogs at some rows [batch], with tokens as int64, which embeddings take."""
        on_device = rows.to(self.images.device)
        in_memory = rows.cpu()
        texts = self._each_text(lambda text: Text(text.tokens[on_device].long(), text.lengths[in_memory]))
        return TrainingData(**texts, images=self.images[on_device])

    def rounds(self, which: slice) -> "TrainingData":
        """Some rounds of every dialog. At place r − 1 are round r's messages and the fact before it."""
        return TrainingData(**self._each_text(lambda text: text.rounds(which)), images=self.images)

    def _each_text(self, change: Callable[[Text], Text]) -> dict[str, Text]:
        texts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: change(text) for name, text in texts.items() if isinstance(text, Text)}


def training_data(
    dialogs: Dialogs, images: Floats, vocabulary: Vocabulary, message_format: Format, device: torch.device
) -> TrainingData:
    """Put human dialogs into the format that the bots are trained on, on the device.

    images: [dialogs, features], in the dialogs' order.
    """

    def text(messages: Messages) -> Text:
        return Text(torch.from_numpy(messages.tokens).to(device), torch.from_numpy(messages.lengths).long())

    def after_start(messages: Messages) -> Messages:
        return join(repeat(vocabulary.start, messages.lengths.shape), messages)

    questions, answers = with_end(dialogs.questions, vocabulary.eos), with_end(dialogs.answers, vocabulary.eos)
    return TrainingData(
        facts=text(concatenate([dialogs.captions[:, None], message_format.fact(questions, answers)], axis=1)),
        questions=text(message_format.question(questions)),
        question_inputs=text(after_start(dialogs.questions)),
        question_targets=text(questions),
        answer_inputs=text(after_start(dialogs.answers)),
        answer_targets=text(answers),
        images=torch.from_numpy(images).to(device),
    )
