"""How bots read questions and facts: with START and EOS around each message, or without.

The released program trains its encoders on marked messages and plays with bare ones (protocol, sections 1 and 2).
"""

from collections.abc import Callable
from dataclasses import dataclass

from cooperation.game.messages import Messages, join, repeat, shorten, without_end
from cooperation.game.vocabulary import Vocabulary


@dataclass(frozen=True)
class Format:
    """question: messages → what the question encoder reads; fact: question, answer → what the fact encoder reads.

    All are [..., length]; messages come as they were said, with EOS where it was said.
    """

    question: Callable[[Messages], Messages]
    fact: Callable[[Messages, Messages], Messages]


def marked(vocabulary: Vocabulary) -> Format:
    """START q EOS; START q EOS START a EOS: what the encoders saw in training with dialog updates."""

    def mark(messages: Messages) -> Messages:
        shape = messages.lengths.shape
        words = without_end(messages, vocabulary.eos)
        return join(repeat(vocabulary.start, shape), words, repeat(vocabulary.eos, shape))

    return Format(mark, lambda question, answer: join(mark(question), mark(answer)))


def bare(_: Vocabulary) -> Format:
    """The question as it was said; each message without its last token: what the released program does at inference."""
    return Format(lambda question: question, lambda question, answer: join(shorten(question, 1), shorten(answer, 1)))


def plain(vocabulary: Vocabulary) -> Format:
    """The words alone: training and inference of the bots that are trained with round updates."""

    def words(messages: Messages) -> Messages:
        return without_end(messages, vocabulary.eos)

    return Format(words, lambda question, answer: join(words(question), words(answer)))


FORMATS = {"marked": marked, "bare": bare, "plain": plain}
"""Name → vocabulary → format."""
