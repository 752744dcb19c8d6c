"""Training, epoch by epoch, with progress that a killed run continues from."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cooperation.bots.checkpoint import load_tensors, save_tensors, strip_prefix
from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork
from cooperation.bots.training_data import TrainingData
from cooperation.bots.updates import DialogUpdates, RoundUpdates
from cooperation.config.training import UNUSABLE_PROGRESS, Training
from cooperation.game.messages import Rows
from cooperation.io.files import InputError, parse_errors

# Losses stay on the device: reading one synchronises with the GPU. So they are checked once in so many batches and
# before progress is saved; each batch keeps its own, so that the bad one is known then.
CHECK_EVERY = 100
# A loss that is so many times its first value has exploded. Training that works is never near.
EXPLOSION = 1000


@dataclass(frozen=True)
class Epoch:
    """Mean losses of one epoch."""

    number: int
    losses: Mapping[str, float]


@dataclass(frozen=True)
class ProgressFile:
    """Where progress is saved: after each epoch, and within one when so many minutes have passed."""

    path: Path
    minutes: float = 10


class AnotherTrainingError(InputError):
    """The progress is that of other settings, networks, training data or code."""


class Trainer:
    """Two networks, their updates, and how far the training is.

    fingerprint: what identifies training data, networks and code; progress with another one is not continued.
    history: the epochs so far. losses: those of each batch of the epoch in progress, as scalars on the device.
    """

    def __init__(
        self, questioner: QuestionerNetwork, answerer: AnswererNetwork, training: Training, fingerprint: str = ""
    ) -> None:
        self.training, self.fingerprint = training, fingerprint
        self.questioner, self.answerer = questioner, answerer
        updates: dict[str, type[DialogUpdates | RoundUpdates]] = {"dialog": DialogUpdates, "round": RoundUpdates}
        self.updates = updates[training.regime](questioner, answerer, training)
        self.history: list[Epoch] = []
        self.losses: list[dict[str, Tensor]] = []

    def fit(
        self, data: TrainingData, image_ids: Rows | None = None, progress: ProgressFile | None = None
    ) -> Iterator[Epoch]:
        """Train for the epochs that are left; yield a record after each, once its progress is saved.

        image_ids: [dialogs], which name a batch in messages (else its rows do). Raises `InputError` where a loss is
        not finite or explodes, or a weight is not finite; the progress file is then an earlier, good one.
        """
        self.questioner.train()
        self.answerer.train()
        saved = time.monotonic()
        while len(self.history) < self.training.epochs:
            batches = self._batches(len(data))
            ids = [rows if image_ids is None else image_ids[rows] for rows in batches]
            for rows in batches[len(self.losses) :]:
                self.losses.append(self.updates.update(data.batch(torch.from_numpy(rows))))
                if progress and time.monotonic() - saved >= 60 * progress.minutes:
                    self._check(ids)
                    self.save(progress.path)
                    saved = time.monotonic()
                elif len(self.losses) % CHECK_EVERY == 0:
                    self._check_losses(ids)
            self._check(ids)
            self.history.append(Epoch(len(self.history) + 1, self._mean_losses()))
            self.losses = []
            if progress:
                self.save(progress.path)
                saved = time.monotonic()
            yield self.history[-1]

    def _batches(self, dialogs: int) -> list[Rows]:
        """All batches of the epoch in progress: they follow from the seed and its number."""
        order = {"dialog": shuffled_batches, "round": drawn_batches}[self.training.regime]
        return list(order(dialogs, self.training.batch, self.training.seed, len(self.history)))

    def _loss_table(self) -> Tensor:
        """The losses of the epoch in progress: [batches, losses]."""
        return torch.stack([torch.stack(list(losses.values())) for losses in self.losses])

    def _mean_losses(self) -> dict[str, float]:
        return dict(zip(self.losses[0], self._loss_table().double().mean(0).tolist(), strict=True))

    def _check(self, ids: list[Rows]) -> None:
        """Nothing may be saved whose losses or weights are not finite."""
        self._check_losses(ids)
        # The last batch's own loss is from before its update.
        if not bool(torch.stack([tensor.isfinite().all() for tensor in self._tensors().values()]).all()):
            raise self._diverged(len(self.losses) - 1, ids, "a weight is not finite after it")

    def _check_losses(self, ids: list[Rows]) -> None:
        table = self._loss_table().double().cpu()
        first = torch.tensor(list(self.history[0].losses.values())) if self.history else table[0]
        good = table.isfinite() & (table <= EXPLOSION * (first + 1))
        if not bool(good.all()):
            number, which = torch.nonzero(~good)[0].tolist()
            raise self._diverged(number, ids, f"the {list(self.losses[0])[which]} loss is {table[number, which]:g}")

    def _diverged(self, number: int, ids: list[Rows], what: str) -> InputError:
        batch = ", ".join(map(str, ids[number][:5])) + (", …" if len(ids[number]) > 5 else "")
        return InputError(
            f"epoch {len(self.history) + 1}, batch {number + 1} of {len(ids)} (images {batch}): {what}; "
            "check these dialogs and features, or lower the learning rate"
        )

    def _tensors(self) -> dict[str, Tensor]:
        """Weights and the optimisers' moments."""
        tensors: dict[str, Tensor] = {}
        for name, module in (("questioner", self.questioner), ("answerer", self.answerer)):
            tensors |= {f"{name}/{key}": value for key, value in module.state_dict().items()}
        for name, optimiser in self.updates.optimisers.items():
            for number, moments in optimiser.state_dict()["state"].items():
                tensors |= {f"optimiser/{name}/{number}/{key}": value for key, value in moments.items()}
        return tensors

    def save(self, path: Path) -> None:
        """Write weights, optimisers, the epochs so far and the losses of the one in progress, whole or not at all.

        There is no random state to keep: an epoch draws only the order of its batches, which follows from the seed.
        """
        tensors = self._tensors()
        if self.losses:
            tensors["losses"] = self._loss_table()
        names = list(self.losses[0]) if self.losses else []
        history = [asdict(epoch) for epoch in self.history]
        save_tensors(path, tensors, {**self._identity(), "history": history, "losses": names})

    def load(self, path: Path) -> None:
        """Continue from what `save` wrote.

        Raises `AnotherTrainingError` where settings or fingerprint differ, `InputError` where the file is damaged.
        """
        tensors, described = load_tensors(path, UNUSABLE_PROGRESS)
        history, names = described.pop("history", None), described.pop("losses", None)
        if described != self._identity():
            raise AnotherTrainingError(f"{path}: progress of another training; delete it to start afresh")
        with parse_errors(path, *UNUSABLE_PROGRESS):
            self._continue(tensors, history, names)

    def _continue(self, tensors: Mapping[str, Tensor], history: Any, names: Any) -> None:
        for name, module in (("questioner", self.questioner), ("answerer", self.answerer)):
            module.load_state_dict(strip_prefix(f"{name}/", tensors))
        for name, optimiser in self.updates.optimisers.items():
            state: dict[int, dict[str, Any]] = {}
            for key, value in strip_prefix(f"optimiser/{name}/", tensors).items():
                number, moment = key.split("/")
                state.setdefault(int(number), {})[moment] = value
            optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
        self.history = [Epoch(**epoch) for epoch in history]
        device = self.questioner.embedding.weight.device
        self.losses = [dict(zip(names, losses.to(device), strict=True)) for losses in tensors.get("losses", ())]

    def _identity(self) -> dict[str, Any]:
        return {"training": asdict(self.training), "fingerprint": self.fingerprint}


def shuffled_batches(dialogs: int, batch: int, seed: int, epoch: int) -> Iterator[Rows]:
    """Batches of dialog updates: fixed once and shuffled as batches (protocol, section 1).

    Yields rows of dialogs [batch]; every dialog comes once, and the last fixed batch may be smaller.
    """
    fixed = np.random.default_rng([seed, 0]).permutation(dialogs)
    starts = np.arange(0, dialogs, batch)
    for start in np.random.default_rng([seed, 1, epoch]).permutation(starts):
        yield fixed[start : start + batch]


def drawn_batches(dialogs: int, batch: int, seed: int, epoch: int) -> Iterator[Rows]:
    """Batches of round updates: drawn with replacement (protocol, section 1).

    Yields rows of dialogs [batch], as many batches as a pass over all dialogs has.
    """
    generator = np.random.default_rng([seed, 2, epoch])
    for _ in range(-(-dialogs // batch)):
        yield generator.integers(dialogs, size=min(batch, dialogs))
