"""VGG-16's fc7 after ReLU: 4096 numbers a picture, the features of the paper."""

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import VGG16_Weights, vgg16
from torchvision.transforms import functional
from tqdm import tqdm

from cooperation.data.archives import read_member
from cooperation.data.pictures import decode
from cooperation.devices import device
from cooperation.files import InputError, digest, reachable
from cooperation.messages import Floats
from cooperation.preparation import Extraction

FEATURES = 4096
# Below this VGG-16's five poolings leave nothing.
SMALLEST = 32
HASH_IN_NAME = re.compile(r"-([0-9a-f]{8,64})\.pth$")
IMAGENET = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
CAFFE_BGR = torch.tensor([103.939, 116.779, 123.68]).view(3, 1, 1)


def caffe(picture: Image.Image) -> Tensor:
    """The Caffe kind: the whole picture at 224×224, blue-green-red, 0–255 minus the means: [3, 224, 224]."""
    pixels: Tensor = functional.pil_to_tensor(functional.resize(picture, [224, 224]))
    return pixels.flip(0).float() - CAFFE_BGR


def small(picture: Image.Image) -> Tensor:
    """The picture at its own size with ImageNet's mean and deviation, for small made-up worlds: [3, height, width]."""
    pixels: Tensor = functional.normalize(functional.to_tensor(picture), **IMAGENET)
    return pixels


PREPROCESSINGS: Mapping[str, Callable[[Image.Image], Tensor]] = {
    # Shorter side to 256, centre 224×224, ImageNet's mean and deviation.
    "torchvision": VGG16_Weights.IMAGENET1K_V1.transforms(),
    "caffe": caffe,
    "small": small,
}


def untrained(seed: int) -> tuple[nn.Module, str]:
    """VGG-16 up to fc7 with torchvision's seeded initial weights, and the label that says so."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = vgg16()
    return _up_to_fc7(network), f"untrained, seed {seed}"


def trained(weights: Path) -> tuple[nn.Module, str]:
    """VGG-16 up to fc7 with the weights of a local file (torchvision's .pth), and the label with its hash.

    A name that ends as torchvision's do (vgg16-397923af.pth) must be followed by a hash that begins so.
    """
    if not weights.exists():
        raise InputError(f"{weights}: no such file; download {VGG16_Weights.IMAGENET1K_V1.url}")
    with reachable(weights):
        found = digest(weights)
    promised = HASH_IN_NAME.search(weights.name)
    if promised and not found.startswith(promised[1]):
        raise InputError(f"{weights}: its sha256 is {found[:8]}…, not {promised[1]}…; delete it and download it again")
    try:
        # Torch itself does not look at the checksums of its archives.
        if is_zipfile(weights) and (damaged := ZipFile(weights).testzip()):
            raise ValueError(f"{damaged} is damaged")
        # Nothing but tensors: a pickle could run programs.
        state = torch.load(weights, map_location="cpu", weights_only=True)
        with torch.device("meta"):
            network = vgg16(init_weights=False)
        network.load_state_dict(state, assign=True)
    except Exception as error:  # torch has no exception of its own for a foreign file
        reason = " ".join(str(error).split()).partition(". ")[0]
        raise InputError(f"{weights}: not the weights of VGG-16 ({reason}); download them again") from error
    return _up_to_fc7(network), f"{weights.name}, sha256 {found}"


def _up_to_fc7(network: Any) -> nn.Module:
    # classifier: linear, ReLU, dropout, linear (fc7), ReLU, …
    parts = nn.Sequential(network.features, network.avgpool, nn.Flatten(), network.classifier[:5]).eval()
    # A tenth faster on a CPU.
    return parts.to(memory_format=torch.channels_last)


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


def collate(pictures: Sequence[Tensor | InputError], path: Path) -> Tensor:
    """Stack pictures of one size: [batch, 3, height, width]; what is wrong with one is raised here."""
    tensors = []
    for picture in pictures:
        if isinstance(picture, InputError):
            raise picture
        tensors.append(picture)
    sizes = {(picture.shape[1], picture.shape[2]) for picture in tensors}
    if len(sizes) > 1 or min(min(size) for size in sizes) < SMALLEST:
        found = " and ".join(f"{width}×{height}" for height, width in sorted(sizes)[:2])
        raise InputError(
            f"{path}: pictures of {found} pixels; the preprocessing small needs one size of at least "
            f"{SMALLEST}×{SMALLEST}, choose torchvision or caffe"
        )
    return torch.stack(tensors)


@torch.inference_mode()
def extract(path: Path, names: Sequence[str], network: nn.Module, settings: Extraction) -> Floats:
    """Features of the archive's pictures in the order of `names`: [pictures, 4096]."""
    network.to(device())
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
            vectors[done : done + len(pictures)] = network(collate(pictures, path).to(device())).cpu().numpy()
            done += len(pictures)
            progress.update(len(pictures))
    return vectors
