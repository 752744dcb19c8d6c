"""Trained bots in one safetensors file that describes itself: never pickle."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork
from cooperation.files import DAMAGE, InputError, reachable, sound, written_whole
from cooperation.models import UNUSABLE, Sizes
from cooperation.text import Vocabulary

# What the bots read and the format of their training facts, by training regime (protocol, section 1).
TRAINING_FORMAT = {"dialog": "marked", "round": "plain"}


@dataclass(frozen=True)
class Checkpoint:
    """Two trained networks, their vocabulary, the image ids they were trained on [dialogs], and how it came about."""

    questioner: QuestionerNetwork
    answerer: AnswererNetwork
    vocabulary: Vocabulary
    image_ids: npt.NDArray[np.int64]
    sizes: Sizes
    training: Mapping[str, Any]
    provenance: Mapping[str, Any]

    @property
    def device(self) -> torch.device:
        """Where the networks are."""
        return self.questioner.embedding.weight.device

    @property
    def facts(self) -> str:
        """Name of the format that facts had in training."""
        return TRAINING_FORMAT[self.training["regime"]]


def build(vocabulary: int, features: int, sizes: Sizes) -> tuple[QuestionerNetwork, AnswererNetwork]:
    """Fresh networks, initialised by torch's global generator."""
    return QuestionerNetwork(vocabulary, features, sizes), AnswererNetwork(vocabulary, features, sizes)


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint, whole or not at all."""
    tensors = {"image_ids": torch.from_numpy(checkpoint.image_ids)}
    for name in ("questioner", "answerer"):
        tensors |= {f"{name}.{key}": value for key, value in getattr(checkpoint, name).state_dict().items()}
    description = {
        "words": checkpoint.vocabulary.words,
        "start": checkpoint.vocabulary.start,
        "eos": checkpoint.vocabulary.eos,
        "features": checkpoint.answerer.features,
        "sizes": asdict(checkpoint.sizes),
        "training": dict(checkpoint.training),
        "provenance": dict(checkpoint.provenance),
    }
    save_tensors(path, tensors, description)


def save_tensors(path: Path, tensors: Mapping[str, Tensor], description: Mapping[str, Any]) -> None:
    """Write tensors and what they are, whole or not at all, with a checksum of both."""
    here = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(description)
    # In one, for several come in another order each time.
    raw = save(here, {"cooperation": f"{_checksum(here, text)} {text}"})
    with written_whole(path) as temporary:
        temporary.write_bytes(raw)


def load_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a safetensors file of ours and its description; anything else is refused in one line."""
    with reachable(path):
        if not path.exists():
            raise InputError(f"{path}: no such checkpoint; train the bots with snakemake or `cooperation train`")
        # Safetensors would say in words of its own that it may not.
        with path.open("rb"):
            pass
    with sound(path, *UNUSABLE, (SafetensorError, *DAMAGE)):
        with safe_open(path, "pt") as file:
            tensors = {key: file.get_tensor(key) for key in file.keys()}  # noqa: SIM118
            promised, _, text = file.metadata()["cooperation"].partition(" ")
        if _checksum(tensors, text) != promised:
            raise ValueError("its checksum is another")
        return tensors, json.loads(text)


def _checksum(tensors: Mapping[str, Tensor], text: str) -> str:
    """SHA-256 of all that a file of ours says, for safetensors keeps none."""
    found = hashlib.sha256(text.encode())
    for name, tensor in sorted(tensors.items()):
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        found.update(tensor.numpy().tobytes())
    return found.hexdigest()


def under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin so, by the rest of their names."""
    return {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}


def load_checkpoint(path: Path, device: torch.device) -> Checkpoint:
    """Read a checkpoint and build its networks on the device."""
    tensors, description = load_tensors(path)
    if "words" not in description:
        raise InputError(f"{path}: the progress of a training, not a checkpoint; end the training first")
    with sound(path, *UNUSABLE):
        vocabulary = Vocabulary(tuple(description["words"]), description["start"], description["eos"])
        sizes = Sizes(**description["sizes"])
        bots = build(vocabulary.size, description["features"], sizes)
        for name, bot in zip(("questioner", "answerer"), bots, strict=True):
            bot.load_state_dict(under(f"{name}.", tensors))
        ids = tensors["image_ids"].numpy()
        found = Checkpoint(*bots, vocabulary, ids, sizes, description["training"], description["provenance"])
    for bot in bots:
        bot.to(device).eval()
    return found
