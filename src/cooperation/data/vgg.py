"""VGG-16's fc7 after ReLU: 4096 features a picture, as in the paper."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset
from torchvision.models import VGG16_Weights, vgg16
from torchvision.transforms import functional
from tqdm import tqdm

from cooperation.config.preparation import HASH, Extraction, untrained_weights
from cooperation.data.archives import Picture
from cooperation.data.pictures import DamagedError, decode
from cooperation.data.volumes import as_published, only, read
from cooperation.game.messages import Floats
from cooperation.io.devices import device
from cooperation.io.files import InputError, digest, file_errors, parse_errors, refusal

FEATURES = 4096
# VGG-16 halves width and height five times.
SMALLEST = 32
SKIP = "--damaged skip (`extraction: {damaged: skip}` in config.yaml)"
HASH_IN_NAME = re.compile(r"-([0-9a-f]{8,64})\.pth$")
IMAGENET = {"mean": [0.485, 0.456, 0.406], "std": [0.229, 0.224, 0.225]}
CAFFE_BGR = torch.tensor([103.939, 116.779, 123.68]).view(3, 1, 1)


def caffe(picture: Image.Image) -> Tensor:
    """As Caffe's VGG-16 expects it: the whole picture at 224×224, blue-green-red, 0–255 minus means: [3, 224, 224]."""
    pixels: Tensor = functional.pil_to_tensor(functional.resize(picture, [224, 224]))
    return pixels.flip(0).float() - CAFFE_BGR


def small(picture: Image.Image) -> Tensor:
    """The picture at its own size, with ImageNet's mean and deviation, for small pictures: [3, height, width]."""
    pixels: Tensor = functional.normalize(functional.to_tensor(picture), **IMAGENET)
    return pixels


PREPROCESSINGS: Mapping[str, Callable[[Image.Image], Tensor]] = {
    # Shorter side to 256, centre 224×224, ImageNet's mean and deviation.
    "torchvision": VGG16_Weights.IMAGENET1K_V1.transforms(),
    "caffe": caffe,
    "small": small,
}


def untrained(seed: int) -> tuple[nn.Module, str]:
    """VGG-16 up to fc7 with torchvision's seeded initial weights, and their label."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = vgg16()
    return _up_to_fc7(network), untrained_weights(seed)


def trained(weights: Path) -> tuple[nn.Module, str]:
    """VGG-16 up to fc7 with the weights of a local file (torchvision's .pth), and the label with its SHA-256.

    It may stand in a folder or a zip archive. A name like torchvision's (vgg16-397923af.pth) states how the hash
    begins. Raises `InputError` for a file that is missing, damaged or foreign, or whose name states another hash.
    """
    if not weights.exists():
        raise InputError(f"{weights}: no such file; download {VGG16_Weights.IMAGENET1K_V1.url}")
    name = weights.name
    if as_published(weights, "x.pth"):
        raw: Path | BytesIO = weights
        with file_errors(weights):
            found = digest(weights)
    else:
        name = only(weights, ".pth")
        content = read(weights, name)
        raw, found = BytesIO(content), sha256(content).hexdigest()
    promised = HASH_IN_NAME.search(name)
    if promised and not found.startswith(promised[1]):
        raise InputError(f"{weights}: its sha256 is {found[:8]}…, not {promised[1]}…; delete it and download it again")
    with parse_errors(weights, "not the weights of VGG-16", "download them again", (Exception,)):
        # Torch itself does not compare the checksums of its archives.
        if is_zipfile(raw) and (damaged := ZipFile(raw).testzip()):
            raise ValueError(f"{damaged} is damaged")
        if isinstance(raw, BytesIO):
            raw.seek(0)
        # Nothing but tensors: a pickle could run programs.
        state = torch.load(raw, map_location="cpu", weights_only=True)
        with torch.device("meta"):
            network = vgg16(init_weights=False)
        network.load_state_dict(state, assign=True)
        # Half precision would go no further than the first picture.
        network.float()
    return _up_to_fc7(network), f"{weights.name}{HASH}{found}"


def _up_to_fc7(network: Any) -> nn.Module:
    # classifier: linear, ReLU, dropout, linear (fc7), ReLU, …
    parts = nn.Sequential(network.features, network.avgpool, nn.Flatten(), network.classifier[:5]).eval()
    # A tenth faster on a CPU.
    return parts.to(memory_format=torch.channels_last)


class Pictures(Dataset[Floats | InputError]):
    """Preprocessed pictures, in their order.

    They are arrays: tensors go from process to process through shared memory, of which containers have little, and take
    an open file each.
    """

    def __init__(self, pictures: Sequence[Picture], preprocessing: str) -> None:
        self.pictures = pictures
        self.prepare = PREPROCESSINGS[preprocessing]

    def __len__(self) -> int:
        return len(self.pictures)

    def __getitem__(self, position: int) -> Floats | InputError:
        """One picture [3, height, width], or its error: raised in a worker, it would arrive as a page of text."""
        picture = self.pictures[position]
        try:
            prepared: Floats = self.prepare(decode(picture.read(), str(picture))).numpy()
        except InputError as error:
            return error
        except OSError as error:
            return refusal(error, str(picture)) or InputError(f"{picture}: {error}")
        return prepared


def collate(pictures: Sequence[Floats | InputError], place: Path) -> Tensor:
    """Stack pictures of one size: [batch, 3, height, width].

    place: named in the message. Raises the error of a picture, and `InputError` where they differ in size or are too
    small.
    """
    tensors = []
    for picture in pictures:
        if isinstance(picture, DamagedError):
            raise InputError(f"{picture}, or leave its dialog out: {SKIP}")
        if isinstance(picture, InputError):
            raise picture
        tensors.append(torch.from_numpy(picture))
    sizes = {(picture.shape[1], picture.shape[2]) for picture in tensors}
    if len(sizes) > 1 or min(min(size) for size in sizes) < SMALLEST:
        found = " and ".join(f"{width}×{height}" for height, width in sorted(sizes)[:2])
        raise InputError(
            f"{place}: pictures of {found} pixels; the preprocessing small needs one size of at least "
            f"{SMALLEST}×{SMALLEST}, choose torchvision or caffe"
        )
    return torch.stack(tensors)


@contextmanager
def _worker_errors(workers: int) -> Iterator[None]:
    """What keeps processes from decoding pictures, in one line with a remedy."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        # torch's own words for a process that was killed, or could not be started.
        if not workers or not (isinstance(error, OSError) or "worker" in f"{error}"):
            raise
        reason = " ".join(f"{error}".split())
        raise InputError(
            f"{workers} processes that decode pictures do not run ({reason}); take fewer (--workers 0 needs none, "
            "`extraction: {workers: 0}` in config.yaml)"
        ) from error


@torch.inference_mode()
def extract(pictures: Sequence[Picture], network: nn.Module, settings: Extraction) -> Iterator[Floats]:
    """Yield the features of the pictures in their order, a batch at a time: [≤ settings.batch, 4096].

    Raises `InputError` at a picture that cannot be read, decoded or stacked.
    """
    network.to(device())
    batches = DataLoader(
        Pictures(pictures, settings.preprocessing), settings.batch, collate_fn=list, num_workers=settings.workers
    )
    with (
        _worker_errors(settings.workers),
        tqdm(total=len(pictures), desc="extract", unit="picture", disable=None) as progress,
    ):
        for batch in batches:
            yield network(collate(batch, pictures[0].archive).to(device())).cpu().numpy()
            progress.update(len(batch))
