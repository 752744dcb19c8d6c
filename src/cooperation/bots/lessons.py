"""Human dialogs as both bots learn from them, on the device."""

from collections.abc import Callable
from dataclasses import dataclass, fields

import torch
from torch import Tensor

from cooperation.bots.networks import Text
from cooperation.data.store import Dialogs
from cooperation.messages import Floats, Messages, concatenate, join, repeat, with_end
from cooperation.method.facts import Format
from cooperation.text import Vocabulary


@dataclass(frozen=True)
class Lessons:
    """Human dialogs, one row each.

    facts: [dialogs, 11, length], the caption first; questions: as the answerer reads them [dialogs, 10, length];
    *_inputs begin with START and *_targets end with EOS [dialogs, 10, length]; images: [dialogs, features].
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

    def of(self, dialogs: Tensor) -> "Lessons":
        """The lessons of some dialogs [rows], tokens widened to the type that embeddings want."""
        there = dialogs.to(self.images.device)
        here = dialogs.cpu()
        texts = self._each(lambda text: Text(text.tokens[there].long(), text.lengths[here]))
        return Lessons(**texts, images=self.images[there])

    def rounds(self, which: slice) -> "Lessons":
        """Some rounds of every dialog, each round with the fact before it: round r is at place r − 1."""
        return Lessons(**self._each(lambda text: text.rounds(which)), images=self.images)

    def _each(self, change: Callable[[Text], Text]) -> dict[str, Text]:
        texts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: change(text) for name, text in texts.items() if isinstance(text, Text)}


def lessons(dialogs: Dialogs, images: Floats, vocabulary: Vocabulary, reads: Format, device: torch.device) -> Lessons:
    """Write human dialogs as lessons; images [dialogs, features] belong to the dialogs in their order."""

    def text(messages: Messages) -> Text:
        return Text(torch.from_numpy(messages.tokens).to(device), torch.from_numpy(messages.lengths).long())

    def begun(messages: Messages) -> Messages:
        return join(repeat(vocabulary.start, messages.lengths.shape), messages)

    questions, answers = with_end(dialogs.questions, vocabulary.eos), with_end(dialogs.answers, vocabulary.eos)
    return Lessons(
        facts=text(concatenate([dialogs.captions[:, None], reads.fact(questions, answers)], axis=1)),
        questions=text(reads.question(questions)),
        question_inputs=text(begun(dialogs.questions)),
        question_targets=text(questions),
        answer_inputs=text(begun(dialogs.answers)),
        answer_targets=text(answers),
        images=torch.from_numpy(images).to(device),
    )
