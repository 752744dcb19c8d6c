"""Training, epoch by epoch, with progress that a killed run continues from."""

import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from cooperation.bots.checkpoint import load_tensors, save_tensors, under
from cooperation.bots.lessons import Lessons
from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork, spread_embeddings
from cooperation.bots.updates import DialogUpdates, RoundUpdates
from cooperation.files import InputError
from cooperation.messages import Rows
from cooperation.models import Training

# Losses stay on the device, where they cost a GPU's queue nothing. To look at them is to wait for it, so that is
# done once in so many batches and before progress is saved; since each batch has its own, the bad one is known then.
CHECKED_EVERY = 100
# A loss has exploded that is so many times what it was at first. Bots that learn are never near.
EXPLODED = 1000


@dataclass(frozen=True)
class Epoch:
    """Mean losses of one epoch."""

    number: int
    losses: Mapping[str, float]


@dataclass(frozen=True)
class Keeping:
    """Where progress is saved: after each epoch, and within one when so many minutes have passed."""

    path: Path
    minutes: float = 10


class AnotherTrainingError(InputError):
    """Progress of other settings, networks, lessons or code."""


class School:
    """Two networks, the way they learn, and how far they are.

    subject: what identifies the lessons, the networks and the code; progress with another subject is not continued.
    history: the epochs so far. losses: those of each batch of the epoch that is going on.
    """

    def __init__(
        self, questioner: QuestionerNetwork, answerer: AnswererNetwork, training: Training, subject: str = ""
    ) -> None:
        self.training, self.subject = training, subject
        self.questioner, self.answerer = questioner, answerer
        if training.regime == "round":
            spread_embeddings(questioner)
            spread_embeddings(answerer)
        updates: dict[str, type[DialogUpdates | RoundUpdates]] = {"dialog": DialogUpdates, "round": RoundUpdates}
        self.updates = updates[training.regime](questioner, answerer, training)
        self.history: list[Epoch] = []
        self.losses: list[dict[str, Tensor]] = []

    def fit(self, lessons: Lessons, image_ids: Rows | None = None, keeping: Keeping | None = None) -> Iterator[Epoch]:
        """Train for what is left; yield a record after each epoch, when progress is saved.

        image_ids: [dialogs], by which a batch is named where a loss is no number or explodes: an `InputError`.
        Progress that is there then is from before.
        """
        self.questioner.train()
        self.answerer.train()
        saved = time.monotonic()
        while len(self.history) < self.training.epochs:
            batches = self._batches(len(lessons))
            names = [rows if image_ids is None else image_ids[rows] for rows in batches]
            for rows in batches[len(self.losses) :]:
                self.losses.append(self.updates.update(lessons.of(torch.from_numpy(rows))))
                if keeping and time.monotonic() - saved >= 60 * keeping.minutes:
                    self._check(names)
                    self.save(keeping.path)
                    saved = time.monotonic()
                elif len(self.losses) % CHECKED_EVERY == 0:
                    self._check_losses(names)
            self._check(names)
            self.history.append(Epoch(len(self.history) + 1, self._means()))
            self.losses = []
            if keeping:
                self.save(keeping.path)
                saved = time.monotonic()
            yield self.history[-1]

    def _batches(self, dialogs: int) -> list[Rows]:
        """All batches of the epoch that is going on: they follow from the seed and its number."""
        order = {"dialog": shuffled_batches, "round": drawn_batches}[self.training.regime]
        return list(order(dialogs, self.training.batch, self.training.seed, len(self.history)))

    def _table(self) -> Tensor:
        """The losses of the epoch so far: [batches, losses]."""
        return torch.stack([torch.stack(list(losses.values())) for losses in self.losses])

    def _means(self) -> dict[str, float]:
        return dict(zip(self.losses[0], self._table().double().mean(0).tolist(), strict=True))

    def _check(self, names: list[Rows]) -> None:
        """Nothing may be saved whose losses or weights are no numbers."""
        self._check_losses(names)
        # The last batch's own loss is from before its update.
        if not bool(torch.stack([tensor.isfinite().all() for tensor in self._tensors().values()]).all()):
            raise self._diverged(len(self.losses) - 1, names, "a weight is no number after it")

    def _check_losses(self, names: list[Rows]) -> None:
        table = self._table().double().cpu()
        first = torch.tensor(list(self.history[0].losses.values())) if self.history else table[0]
        good = table.isfinite() & (table <= EXPLODED * (first + 1))
        if not bool(good.all()):
            number, which = torch.nonzero(~good)[0].tolist()
            raise self._diverged(number, names, f"the {list(self.losses[0])[which]} loss is {table[number, which]:g}")

    def _diverged(self, number: int, names: list[Rows], what: str) -> InputError:
        batch = ", ".join(map(str, names[number][:5])) + (", …" if len(names[number]) > 5 else "")
        return InputError(
            f"epoch {len(self.history) + 1}, batch {number + 1} of {len(names)} (images {batch}): {what}; "
            "look for what is odd in these dialogs and features, or lower the rate"
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
        """Write weights, optimisers, the epochs so far and the losses of this one, whole or not at all.

        No random numbers are drawn in an epoch but the order of the batches, which follows from the seed.
        """
        tensors = self._tensors()
        if self.losses:
            tensors["losses"] = self._table()
        names = list(self.losses[0]) if self.losses else []
        history = [asdict(epoch) for epoch in self.history]
        save_tensors(path, tensors, {**self._described(), "history": history, "losses": names})

    def load(self, path: Path) -> None:
        """Continue from what `save` wrote under the same settings; or raise `AnotherTrainingError`."""
        tensors, described = load_tensors(path)
        history, names = described.pop("history", None), described.pop("losses", None)
        if described != self._described():
            raise AnotherTrainingError(f"{path}: progress of another training; delete it to start afresh")
        for name, module in (("questioner", self.questioner), ("answerer", self.answerer)):
            module.load_state_dict(under(f"{name}/", tensors))
        for name, optimiser in self.updates.optimisers.items():
            state: dict[int, dict[str, Any]] = {}
            for key, value in under(f"optimiser/{name}/", tensors).items():
                number, moment = key.split("/")
                state.setdefault(int(number), {})[moment] = value
            optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
        self.history = [Epoch(**epoch) for epoch in history]
        device = self.questioner.embedding.weight.device
        self.losses = [dict(zip(names, losses.to(device), strict=True)) for losses in tensors.get("losses", ())]

    def _described(self) -> dict[str, Any]:
        return {"training": asdict(self.training), "subject": self.subject}


def shuffled_batches(dialogs: int, batch: int, seed: int, epoch: int) -> Iterator[Rows]:
    """Batches that are fixed once and shuffled as batches (dialog updates): rows of dialogs, every dialog once."""
    fixed = np.random.default_rng([seed, 0]).permutation(dialogs)
    starts = np.arange(0, dialogs, batch)
    for start in np.random.default_rng([seed, 1, epoch]).permutation(starts):
        yield fixed[start : start + batch]


def drawn_batches(dialogs: int, batch: int, seed: int, epoch: int) -> Iterator[Rows]:
    """Batches that are drawn with replacement (round updates): rows of dialogs, as many batches as a pass has."""
    generator = np.random.default_rng([seed, 2, epoch])
    for _ in range(-(-dialogs // batch)):
        yield generator.integers(dialogs, size=min(batch, dialogs))
