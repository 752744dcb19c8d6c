"""What a data set needs, looked at in seconds, before hours are spent: there, to be downloaded, or missing."""

import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from cooperation.configuration import ARCHIVES, Dataset, absent, ready
from cooperation.data.archives import picture_names, read_json_text
from cooperation.data.hdf5 import opened, shape_of
from cooperation.data.store import PARTS
from cooperation.files import InputError, size_of, sound
from cooperation.preparation import Source

# fc7 as extracted and as normalised: 4096 numbers of 4 bytes.
FEATURE_BYTES = 2 * 4096 * 4
# Of COCO's JPEG files.
MEAN_PICTURE = 163_000
TO_COME = "to be downloaded"
ELSEWHERE = "delete it or move it away"


@dataclass(frozen=True)
class Input:
    """One file that is needed.

    state: in words; size: bytes, 0 where unknown; to_come: bytes that are still to be downloaded; sha256: as recorded
    when it was checked; holds: what is in it, in words; pictures: how many are in it, 0 where unknown; problem: why it
    can be neither used nor obtained, "" if it can.
    """

    name: str
    path: Path
    state: str
    size: int = 0
    to_come: int = 0
    sha256: str = ""
    holds: str = ""
    pictures: int = 0
    problem: str = ""


def inspect(name: str, data: Dataset, folder: Path) -> list[Input]:
    """Look at every file that a data set needs; `folder` is where its raw files are or will be."""
    if data.source == "visdial":
        return [_download(file, data, folder, f"datasets.{name}.files.{file}") for file in data.downloads]
    return [_given(file, Path(path), Source(()), f"datasets.{name}.files.{file}") for file, path in data.files.items()]


def _given(name: str, path: Path, source: Source, key: str, state: str = "found") -> Input:
    if not path.exists():
        return Input(name, path, "missing", problem=absent(path, key))
    return _found(name, path, source, state, f"correct its path as {key}")


def _download(name: str, data: Dataset, folder: Path, key: str) -> Input:
    source, path = data.downloads[name], folder / name
    if path.exists():
        return _found(name, path, source, "found", ELSEWHERE)
    if ready(path).exists():
        return Input(name, path, "deleted after its check")
    if name in data.files:
        return _given(name, Path(data.files[name]), source, key, "found, to be linked to")
    begun = size_of(path.with_name(f".{name}.part"))
    # Another job may just have finished it.
    if not begun and path.exists():
        return _found(name, path, source, "found", ELSEWHERE)
    return Input(name, path, TO_COME, source.size, max(source.size - begun, 0))


def _found(name: str, path: Path, source: Source, state: str, remedy: str) -> Input:
    size = path.stat().st_size
    record = path.with_name(path.name + ".sha256")
    sha256 = "".join(record.read_text(errors="replace").split()[:1]) if record.exists() else ""
    holds, pictures, problem = "", 0, ""
    if source.size and size != source.size:
        problem = f"{path}: {size:,} bytes instead of {source.size:,}; {remedy}"
    elif sha256 and not sha256.startswith(source.sha256):
        problem = f"{path}: its sha256 is {sha256}, published is {source.sha256}; {remedy}"
    else:
        try:
            if name in ARCHIVES[2:]:
                pictures = len(picture_names(path))
                holds = f"{pictures:,} pictures"
            elif name in CONTENTS:
                holds = CONTENTS[name](path)
        except InputError as error:
            problem = str(error)
    return Input(name, path, state, size, 0, sha256, holds, pictures, problem)


def _dialogs(path: Path) -> str:
    key = '"image_id"'
    return f"{read_json_text(path).count(key):,} dialogs"


def _tokens(path: Path) -> str:
    with opened(path) as file:
        names = [f"{part}_{split}" for split in ("train", "val") for part in PARTS.values()]
        return ", ".join(f"{name} {'×'.join(map(str, shape_of(file, name)))}" for name in names)


def _vectors(path: Path) -> str:
    with opened(path) as file:
        return ", ".join(
            f"{name} {'×'.join(map(str, shape_of(file, name)))}" for name in ("images_train", "images_val")
        )


def _words(path: Path) -> str:
    with sound(path, "no 'word2ind' of words and ids", "give visdial_params.json"):
        return f"{len(json.loads(read_json_text(path))['word2ind']):,} words"


CONTENTS: Mapping[str, Callable[[Path], str]] = {
    **dict.fromkeys((*ARCHIVES[:2], "dialogs"), _dialogs),
    "data": _tokens,
    "images": _vectors,
    "params": _words,
}


def room(inputs: list[Input], folder: Path) -> tuple[int, int]:
    """Bytes that are needed for downloads and features, and bytes that are free where `folder` is."""
    needed = sum(found.to_come for found in inputs)
    if not (folder.parent / "features.h5").exists():
        extracted = sum(size_of(shard) for shard in folder.parent.glob("fc7_*.h5"))
        needed += max(sum(_feature_bytes(found) for found in inputs) - extracted, 0)
    place = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    return needed, shutil.disk_usage(place).free


def _feature_bytes(found: Input) -> int:
    """Bytes of the features that are made of a file."""
    if found.name == "images":
        return found.size
    if found.name not in ARCHIVES[2:]:
        return 0
    return (found.pictures or found.size // MEAN_PICTURE) * FEATURE_BYTES


def gpus() -> list[str]:
    """Names and memory of the GPUs that NVIDIA's driver sees."""
    command = ["nvidia-smi", "--query-gpu=name,memory.total", "--format=csv,noheader"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20)
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in done.stdout.splitlines() if line.strip()]
