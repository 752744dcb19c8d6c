"""Whether a GPU says, guesses and ranks what the CPU does; without one, the CPU stands in. Runs without pytest, too."""

import sys
from pathlib import Path

import numpy as np
import torch

sys.path.append(str(Path(__file__).parent.parent / "benchmarks"))

from made_up import Sample, Size

from cooperation.bots.updates import teacher_forced
from cooperation.config.training import Sizes, Training
from cooperation.io.devices import device

# Relative difference of losses, and difference of guesses of length about 1, that another order of adding up makes.
TOLERANCE = 1e-4
DIALOGS = 64


def outcome(sample):
    """Losses of all dialogs, a game, and its guesses [11, dialogs, features]."""
    guesses, ranker = [], sample.ranker()

    def rank(guess):
        guesses.append(guess)
        return ranker.rank(guess, np.arange(len(guess)))

    with torch.no_grad():
        losses = teacher_forced(sample.questioner, sample.answerer, *sample.batches())
    return losses, sample.match(rank=rank).finish(), np.stack(guesses)


def alike(one, other):
    """Which messages are the same: [dialogs, rounds]."""
    pairs = ((one[row].lists(), other[row].lists()) for row in range(DIALOGS))
    return np.array([[a == b for a, b in zip(*pair, strict=True)] for pair in pairs])


def close(what, difference, allowed):
    print(f"{what}: {difference:.2g} (allowed: {allowed:g})")
    assert difference <= allowed, f"the GPU differs from the CPU: {what}"


def test_a_gpu_plays_and_ranks_as_the_cpu():
    sample = Sample.of(Size(200, 64, Sizes(24, 48, 2), learnt=DIALOGS), DIALOGS)
    updates, (batch,) = sample.updates(Training(rate=0.02)), sample.batches()
    for _ in range(20):
        updates.update(batch)
    losses, game, guesses = outcome(sample)
    its_losses, its_game, its_guesses = outcome(sample.on(device()))
    for name, loss in losses.items():
        close(f"{name} loss", abs(float(its_losses[name] / loss) - 1), TOLERANCE)
    same = [alike(game.question_said, its_game.question_said), alike(game.answer_said, its_game.answer_said)]
    # A word can be a near tie, and what follows it differs then.
    close("messages that differ", 1 - float(np.mean(same)), 0.01)
    rows = np.logical_and(*same).all(1)
    close("guesses after the same talk", float(np.abs(guesses - its_guesses)[:, rows].max()), TOLERANCE)
    close("ranks that differ after the same talk", float((game.ranks != its_game.ranks)[rows].mean()), 0.01)


if __name__ == "__main__":
    test_a_gpu_plays_and_ranks_as_the_cpu()
