"""VGG-16's fc7 after ReLU: 4096 numbers a picture, the features of the paper."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import VGG16_Weights, vgg16
from torchvision.transforms import functional
from tqdm import tqdm

from cooperation.archives import read_member
from cooperation.files import InputError
from cooperation.messages import Floats
from cooperation.pictures import decode
from cooperation.settings import setting

FEATURES = 4096
IMAGENET = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
CAFFE_BGR = torch.tensor([103.939, 116.779, 123.68]).view(3, 1, 1)


def caffe(picture: Image.Image) -> Tensor:
    """The Caffe kind: the whole picture at 224×224, blue-green-red, 0–255 minus the means: [3, 224, 224]."""
    resized = functional.resize(picture, [224, 224])
    return functional.pil_to_tensor(resized).flip(0).float() - CAFFE_BGR


def small(picture: Image.Image) -> Tensor:
    """The picture at its own size with ImageNet's mean and deviation, for small made-up worlds: [3, height, width]."""
    return functional.normalize(functional.to_tensor(picture), **IMAGENET)


PREPROCESSINGS: Mapping[str, Callable[[Image.Image], Tensor]] = {
    # Shorter side to 256, centre 224×224, ImageNet's mean and deviation.
    "torchvision": VGG16_Weights.IMAGENET1K_V1.transforms(),
    "caffe": caffe,
    "small": small,
}


@dataclass(frozen=True)
class Extraction:
    """How pictures become features."""

    preprocessing: str = setting(
        "torchvision", "what is done to a picture before VGG-16 sees it", tuple(PREPROCESSINGS)
    )
    batch: int = setting(64, "pictures that go through VGG-16 together")
    workers: int = setting(0, "processes that decode pictures; 0 decodes in the main one")
    device: str = setting("auto", "where VGG-16 runs; auto takes a GPU where there is one", ("auto", "cpu", "cuda"))


def untrained(seed: int) -> tuple[nn.Module, str]:
    """VGG-16 up to fc7 with torchvision's seeded initial weights, and the label that says so."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = vgg16()
    return _up_to_fc7(network), f"untrained, seed {seed}"


def trained(weights: Path) -> tuple[nn.Module, str]:
    """VGG-16 up to fc7 with the weights of a local file (torchvision's .pth), and the label with its hash."""
    try:
        with weights.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        state = torch.load(weights, map_location="cpu", weights_only=True)
        with torch.device("meta"):
            network = vgg16(init_weights=False)
        network.load_state_dict(state, assign=True)
    except Exception as error:  # torch.load has no exception of its own for a damaged file
        reason = str(error).strip().splitlines()[0]
        raise InputError(f"{weights}: not the weights of VGG-16 ({reason}); download them again") from error
    return _up_to_fc7(network), f"{weights.name}, sha256 {digest}"


def _up_to_fc7(network: Any) -> nn.Module:
    # classifier: linear, ReLU, dropout, linear (fc7), ReLU, …
    return nn.Sequential(network.features, network.avgpool, nn.Flatten(), network.classifier[:5]).eval()


class Pictures(Dataset[Tensor | InputError]):
    """Preprocessed pictures of an archive, in the order of `names`."""

    def __init__(self, path: Path, names: Sequence[str], preprocessing: str) -> None:
        self.path = path
        self.names = names
        self.prepare = PREPROCESSINGS[preprocessing]

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, position: int) -> Tensor | InputError:
        """One picture, or what is wrong with it: an exception would cross processes as a page of text."""
        name = self.names[position]
        try:
            return self.prepare(decode(read_member(self.path, name), f"{self.path}, {name}"))
        except InputError as error:
            return error


def collate(pictures: Sequence[Tensor | InputError]) -> Tensor:
    """Stack pictures of one size: [batch, 3, height, width]."""
    tensors = []
    for picture in pictures:
        if isinstance(picture, InputError):
            raise picture
        tensors.append(picture)
    if len({tensor.shape for tensor in tensors}) > 1:
        raise InputError("pictures of different sizes; choose the preprocessing torchvision or caffe")
    return torch.stack(tensors)


@torch.inference_mode()
def extract(path: Path, names: Sequence[str], network: nn.Module, settings: Extraction) -> Floats:
    """Features of the archive's pictures in the order of `names`: [pictures, 4096]."""
    device = settings.device
    if device == "auto":
        device = "cuda" if torch.cuda.is_available() else "cpu"
    network.to(device)
    batches = DataLoader(
        Pictures(path, names, settings.preprocessing),
        settings.batch,
        collate_fn=list,
        num_workers=settings.workers,
    )
    vectors = np.empty((len(names), FEATURES), np.float32)
    done = 0
    with tqdm(total=len(names), desc="extract", unit="picture", disable=None) as progress:
        for pictures in batches:
            vectors[done : done + len(pictures)] = network(collate(pictures).to(device)).cpu().numpy()
            done += len(pictures)
            progress.update(len(pictures))
    return vectors
