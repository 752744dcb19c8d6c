"""Trained bots in one safetensors file that describes itself (no pickle, which could run code)."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from cooperation.bots.building import build
from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork
from cooperation.config.training import UNUSABLE, Sizes, Training
from cooperation.game.vocabulary import UNKNOWN, Vocabulary
from cooperation.io.files import DAMAGE, InputError, at, file_errors, parse_errors
from cooperation.io.identity import Identity, named
from cooperation.io.origin import write_origin
from cooperation.io.settings import checked, mapping
from cooperation.io.tensors import bytes_of, header_of, write_tensors
from cooperation.io.writing import written_whole

# The format in which the bots of a training regime read messages while they are trained: its name in
# `game.facts.FORMATS` (protocol, section 1).
TRAINING_FORMAT = {"dialog": "marked", "round": "plain"}


@dataclass(frozen=True)
class Checkpoint:
    """Two trained networks and all that is needed to use them.

    image_ids: those of the dialogs that they were trained on [dialogs]. training: the settings of `Training`, by name.
    made_of: what they were trained on (`vocabulary`, `train dialogs`, `features`, `train images`; see `io.identity`).
    provenance: device, hashes of the inputs, and the epochs' losses.
    """

    questioner: QuestionerNetwork
    answerer: AnswererNetwork
    vocabulary: Vocabulary
    image_ids: npt.NDArray[np.int64]
    sizes: Sizes
    training: Mapping[str, Any]
    made_of: Mapping[str, str]
    provenance: Mapping[str, Any]

    @property
    def device(self) -> torch.device:
        """Where the networks are."""
        return self.questioner.embedding.weight.device

    @property
    def facts(self) -> str:
        """Name of the format that facts had in training."""
        return TRAINING_FORMAT[self.training["regime"]]

    def identity(self, place: Path) -> Identity:
        """What the checkpoint in the file `place` is made of, and what was made.

        `bots`: the weights; `training`: how they were trained, without the seed; and what is in `made_of`.
        """
        weights = _checksum(self.tensors(), json.dumps([self.vocabulary.words, asdict(self.sizes)]))
        settings = {**self.training, **asdict(self.sizes)}
        how = ", ".join(f"{name} {value}" for name, value in settings.items() if name != "seed")
        seed = self.training.get("seed")
        bots = {"training": how, "bots": named(f"{how}, seed {seed}", weights, settings)}
        return Identity(place, {**self.made_of, **bots})

    def tensors(self) -> dict[str, Tensor]:
        """The weights of both networks by name, in main memory."""
        bots = {"questioner": self.questioner, "answerer": self.answerer}
        return {
            f"{name}.{key}": value.detach().cpu().contiguous()
            for name, bot in bots.items()
            for key, value in bot.state_dict().items()
        }


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint, whole or not at all, and beside it its origin."""
    tensors = {"image_ids": torch.from_numpy(checkpoint.image_ids), **checkpoint.tensors()}
    description = {
        "words": checkpoint.vocabulary.words,
        "start": checkpoint.vocabulary.start,
        "eos": checkpoint.vocabulary.eos,
        "features": checkpoint.answerer.features,
        "sizes": asdict(checkpoint.sizes),
        "training": dict(checkpoint.training),
        "made_of": dict(checkpoint.made_of),
        "provenance": dict(checkpoint.provenance),
    }
    save_tensors(path, tensors, description)
    write_origin(path)


def load_checkpoint(path: Path, device: torch.device) -> Checkpoint:
    """Read a checkpoint and build its networks on the device.

    Raises `InputError` where there is none, or the file is damaged, of another program or a training's progress.
    """
    tensors, description = load_tensors(path)
    if "words" not in description:
        raise InputError(f"{path}: the progress of a training, not a checkpoint; end the training first")
    if "made_of" not in description:
        raise InputError(f"{path}: of an earlier version, it does not say what the bots were trained on; train again")
    with parse_errors(path, *UNUSABLE), at(path):
        vocabulary = _vocabulary(description)
        sizes = checked(Sizes, description["sizes"], "sizes")
        training = mapping(description["training"], "training")
        for key in ("regime", "seed"):
            if key not in training:
                raise ValueError(f"training: does not say the {key}")
        checked(Training, training, "training")
        ids = _checked_tensors(tensors)
        bots = _empty(vocabulary.size, description["features"], sizes, tensors)
        for name, bot in zip(("questioner", "answerer"), bots, strict=True):
            bot.load_state_dict(strip_prefix(f"{name}.", tensors))
        about = (mapping(description[key], key) for key in ("made_of", "provenance"))
        found = Checkpoint(*bots, vocabulary, ids, sizes, training, *about)
    for bot in bots:
        bot.to(device).eval()
    return found


def _vocabulary(description: Mapping[str, Any]) -> Vocabulary:
    """The words of a checkpoint; raises `ValueError` where they or the ids of the markers can't be what bots learn."""
    words, markers = description["words"], (description["start"], description["eos"])
    if not (isinstance(words, list) and words and all(isinstance(word, str) for word in words)):
        raise ValueError("words: no list of words")
    if len(set(words)) < len(words) or UNKNOWN not in words:
        raise ValueError(f"words: one is there twice, or {UNKNOWN} is none of them")
    # The released program gives START the id of the last word.
    if markers not in ((len(words), len(words) + 1), (len(words) + 1, len(words) + 2)):
        raise ValueError(f"start and eos: {markers} do not follow {len(words)} words")
    return Vocabulary(tuple(words), *markers)


def _checked_tensors(tensors: Mapping[str, Tensor]) -> npt.NDArray[np.int64]:
    """The image ids; raises `ValueError` where they are none, or a weight is no number of the type of all weights."""
    for name, tensor in tensors.items():
        if name != "image_ids" and (tensor.dtype != torch.float32 or not bool(tensor.isfinite().all())):
            raise ValueError(f"{name}: not all are finite numbers in float32")
    ids: npt.NDArray[np.int64] = tensors["image_ids"].numpy()
    if ids.dtype != np.int64 or ids.ndim != 1:
        raise ValueError(f"image_ids: {ids.dtype} {ids.shape} are no ids")
    return ids


def _empty(
    words: int, features: Any, sizes: Sizes, tensors: Mapping[str, Tensor]
) -> tuple[QuestionerNetwork, AnswererNetwork]:
    """Networks for these tensors; raises `ValueError` where they are claimed to be larger than these."""
    room = sum(tensor.numel() for tensor in tensors.values())
    if type(features) is not int or not 0 < features <= room:
        raise ValueError(f"features: {features!r} are no image features of these weights")
    if sizes.layers > len(tensors) or 2 * sizes.layers * sizes.hidden**2 + words * sizes.embedding > room:
        raise ValueError(f"{sizes} are more than its {room:,} weights")
    return build(words, features, sizes)


def save_tensors(path: Path, tensors: Mapping[str, Tensor], description: Mapping[str, Any]) -> None:
    """Write named tensors of any shapes and their description, with a checksum of both, whole or not at all."""
    in_memory = {name: tensor.detach().cpu() for name, tensor in sorted(tensors.items())}
    arrays, text = {name: tensor.numpy() for name, tensor in in_memory.items()}, json.dumps(description)
    with written_whole(path) as temporary, temporary.open("wb") as file:
        write_tensors(file, arrays, {"cooperation": f"{_checksum(in_memory, text)} {text}"})


def load_tensors(path: Path, unusable: tuple[str, str] = UNUSABLE) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `save_tensors` wrote: named tensors in main memory, and their description.

    unusable: error message and remedy for another file.

    Raises `InputError` where there is no such file, or it is damaged or not by `save_tensors`.
    """
    with file_errors(path):
        if not path.exists():
            raise InputError(f"{path}: no such checkpoint; train the bots with snakemake or `cooperation train`")
    with parse_errors(path, *unusable, (SafetensorError, *DAMAGE)):
        # Not mapped into memory, which not every file system can.
        raw = path.read_bytes()
        recorded, _, text = header_of(raw)["__metadata__"]["cooperation"].partition(" ")
        tensors = load(raw)
        del raw
        if _checksum(tensors, text) != recorded:
            raise ValueError("the checksum differs from the recorded one")
        description = json.loads(text)
        if not isinstance(description, dict):
            raise TypeError("its description has no keys")
        return tensors, description


def _checksum(tensors: Mapping[str, Tensor], text: str) -> str:
    """SHA-256 of tensors and description, since safetensors has no checksum."""
    found = hashlib.sha256(text.encode())
    for name, tensor in sorted(tensors.items()):
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        found.update(bytes_of(tensor.numpy()))
    return found.hexdigest()


def strip_prefix(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The tensors whose names begin with the prefix, under the rest of their names."""
    return {key.removeprefix(prefix): value for key, value in tensors.items() if key.startswith(prefix)}
