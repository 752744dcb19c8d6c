"""Training, epoch by epoch, with progress that a killed run continues from."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from torch import Tensor

from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork, spread_embeddings
from cooperation.checkpoint import load_tensors
from cooperation.files import InputError, written_whole
from cooperation.lessons import Lessons
from cooperation.messages import Rows
from cooperation.models import Training
from cooperation.updates import DialogUpdates, RoundUpdates


@dataclass(frozen=True)
class Epoch:
    """Mean losses of one epoch."""

    number: int
    losses: Mapping[str, float]


class School:
    """Two networks, the way they learn, and how far they are.

    subject: what identifies the lessons and the networks; progress with another subject is not continued.
    history: the epochs so far.
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

    def fit(self, lessons: Lessons) -> Iterator[Epoch]:
        """Train for the epochs that are left; yield a record after each."""
        order = {"dialog": shuffled_batches, "round": drawn_batches}[self.training.regime]
        self.questioner.train()
        self.answerer.train()
        while len(self.history) < self.training.epochs:
            sums: dict[str, Tensor] = {}
            batches = order(len(lessons), self.training.batch, self.training.seed, len(self.history))
            count = 0
            for rows in batches:
                count += 1
                losses = self.updates.update(lessons.of(torch.from_numpy(rows).to(lessons.images.device)))
                for name, loss in losses.items():
                    sums[name] = sums.get(name, 0) + loss
            means = {name: float(total) / count for name, total in sums.items()}
            bad = [name for name, mean in means.items() if not np.isfinite(mean)]
            if bad:
                raise InputError(
                    f"epoch {len(self.history) + 1}: the {bad[0]} loss is no number; lower the rate and train again"
                )
            self.history.append(Epoch(len(self.history) + 1, means))
            yield self.history[-1]

    def save(self, path: Path) -> None:
        """Write weights, optimisers and the epochs so far, whole or not at all."""
        tensors: dict[str, Tensor] = {}
        for name, module in (("questioner", self.questioner), ("answerer", self.answerer)):
            tensors |= {f"{name}/{key}": value for key, value in module.state_dict().items()}
        for name, optimiser in self.updates.optimisers.items():
            for number, moments in optimiser.state_dict()["state"].items():
                tensors |= {f"optimiser/{name}/{number}/{key}": value for key, value in moments.items()}
        with written_whole(path) as temporary:
            described = {**self._described(), "history": [asdict(epoch) for epoch in self.history]}
            save_file(tensors, temporary, {"cooperation": json.dumps(described)})

    def load(self, path: Path) -> None:
        """Continue from what `save` wrote under the same settings."""
        tensors, described = load_tensors(path)
        history = described.pop("history", None)
        if described != self._described():
            raise InputError(f"{path}: progress of another training ({described}); delete it to start afresh")
        for name, module in (("questioner", self.questioner), ("answerer", self.answerer)):
            module.load_state_dict(_under(f"{name}/", tensors))
        for name, optimiser in self.updates.optimisers.items():
            state: dict[int, dict[str, Any]] = {}
            for key, value in _under(f"optimiser/{name}/", tensors).items():
                number, moment = key.split("/")
                state.setdefault(int(number), {})[moment] = value
            optimiser.load_state_dict({**optimiser.state_dict(), "state": state})
        self.history = [Epoch(**epoch) for epoch in history]

    def _described(self) -> dict[str, Any]:
        return {"training": asdict(self.training), "subject": self.subject}


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}


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
