"""How repetitive talk is: arrays of messages in, numbers out."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from cooperation.game.messages import Messages, clean, concatenate, widened

Doubles = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Talk:
    """What was said in some dialogs, each message as a number: equal messages, equal numbers.

    questions, answers: [dialogs, rounds].
    """

    questions: Codes
    answers: Codes


def encode(*batches: Messages) -> list[Codes]:
    """Number the different messages of all batches [dialogs, rounds, length] together: [dialogs, rounds] each."""
    # Where nobody said anything, messages still have a column.
    together = widened(concatenate(batches), 1)
    tokens = clean(together.tokens, together.lengths).tokens
    rows = tokens.reshape(together.lengths.size, tokens.shape[-1])
    codes = np.unique(rows, axis=0, return_inverse=True)[1].reshape(together.lengths.shape)
    return np.split(codes.astype(np.int64), np.cumsum([len(batch) for batch in batches])[:-1])


def different(codes: Codes) -> Doubles:
    """Number of different messages of each dialog: [dialogs, rounds] → [dialogs]."""
    ordered = np.sort(codes, 1)
    return np.asarray(1.0 + (ordered[:, 1:] != ordered[:, :-1]).sum(1))


def repeated(codes: Codes) -> Doubles:
    """Percentage of each dialog's messages that had been said before in it: [dialogs, rounds] → [dialogs]."""
    return np.asarray(100 * (1 - different(codes) / codes.shape[1]))


def entropy_within(codes: Codes) -> Doubles:
    """Entropy in bits of each dialog's messages, at most log2(rounds): [dialogs, rounds] → [dialogs].

    A message that is said n times of N has probability n/N, so the mean of −log2(n/N) over messages is the entropy.
    """
    same = (codes[:, :, None] == codes[:, None, :]).mean(2)
    return np.asarray(-np.log2(same).mean(1))


def entropy(codes: Codes) -> float:
    """Entropy in bits of all messages of all dialogs together: of [dialogs, rounds]."""
    counts = np.unique(codes, return_counts=True)[1]
    shares = counts / counts.sum()
    return float(-(shares * np.log2(shares)).sum())


def agreement(mine: Codes, theirs: Codes) -> Doubles:
    """Percentage of each dialog's messages that are the same in both: two of [dialogs, rounds] → [dialogs]."""
    return np.asarray(100.0 * (mine == theirs).mean(1))


def most_frequent(codes: Codes) -> Doubles:
    """Percentage of each dialog's messages that are the most frequent one of all: [dialogs, rounds] → [dialogs]."""
    values, counts = np.unique(codes, return_counts=True)
    return np.asarray(100.0 * (codes == values[counts.argmax()]).mean(1))


def most_frequent_to(questions: Codes, answers: Codes) -> Doubles:
    """Percentage of each dialog's answers that are the most frequent one to their own question in all dialogs.

    So much would a bot match that sees no picture and knows which answer each question gets most often: two of
    [dialogs, rounds] → [dialogs].
    """
    pairs, which, counts = np.unique(
        np.stack([questions.ravel(), answers.ravel()]), axis=1, return_inverse=True, return_counts=True
    )
    # Of each question the pair that comes most often; of several the first.
    order = np.lexsort((-counts, pairs[0]))
    first = np.unique(pairs[0][order], return_index=True)[1]
    usual = np.zeros(len(counts), bool)
    usual[order[first]] = True
    return np.asarray(100.0 * usual[which.ravel()].reshape(answers.shape).mean(1))
