"""Preflight: which files a data set needs, and whether each is there, can be downloaded, or is missing.

It takes seconds and comes before hours of work.
"""

import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from cooperation.config.datasets import Dataset
from cooperation.config.inputs import FEATURES, IDS, Inputs, absent, ready
from cooperation.config.preparation import Download
from cooperation.config.sources import SPLITS, picture_role
from cooperation.data.archives import content_in_words, is_picture, listed
from cooperation.data.belonging import PUBLISHED, Content, cut_short
from cooperation.data.captions import read_captions
from cooperation.data.download import cached, record_of
from cooperation.data.given import described
from cooperation.data.reading import reader_of
from cooperation.data.volumes import as_published, beside, names, only
from cooperation.io.files import InputError, recorded_digest, size_of

# fc7 as extracted and as normalised: 4096 numbers of 4 bytes.
COPIES = 2
FEATURE_BYTES = COPIES * 4096 * 4
# Of COCO's JPEG files.
MEAN_PICTURE = 163_000
TO_COME = "to be downloaded"
# Data sets whose counts are the paper's.
PAPERS = ("visdial_0.9", "visdial_1.0")
ELSEWHERE = "delete it or move it away"
PICTURE_ROLES = tuple(map(picture_role, SPLITS))


@dataclass(frozen=True)
class FileState:
    """A file that is needed, and its state.

    name: of a raw file, else the role of the user's; role: what it is needed for; state: in words; size: bytes, 0 where
    unknown; to_come: bytes still to be downloaded; sha256: as recorded when it was checked, "" where it was not; holds:
    its content in words; pictures: how many it holds, 0 where unknown; problem: why it can be neither used nor
    obtained, "" if it can.
    """

    name: str
    role: str
    path: Path
    state: str
    size: int = 0
    to_come: int = 0
    sha256: str = ""
    holds: str = ""
    pictures: int = 0
    problem: str = ""


@dataclass(frozen=True)
class FileUse:
    """A file and what it is used for.

    role: see `config.sources.Source`; path: where it is or will be; key: of its path in config.yaml; origin: size and
    hash, where known; describe: the reader's description of its content; array: name of the array of given features.
    """

    name: str
    role: str
    path: Path
    key: str
    origin: Download
    describe: Callable[[str, Path], str]
    array: str = ""


def inspect(name: str, data: Dataset, folder: Path) -> list[FileState]:
    """Look at every file that a data set needs and does not make itself.

    name: the data set's; folder: where its raw files are or will be.
    """
    inputs = data.inputs
    array = inputs.arrays.get("--array", "")
    describe = getattr(reader_of(data.source), "describe", lambda _role, _path: "")
    found = []
    for role, key, file in inputs.used():
        if file in inputs.downloads:
            copy = f"datasets.{name}.files.{file}"
            use = FileUse(file, role, folder / file, copy, inputs.downloads[file], describe)
            found.append(_downloaded(use, inputs))
        elif file not in inputs.made:
            use = FileUse(role, role, Path(file), f"datasets.{name}.{key}", Download(()), describe, array)
            found.append(_given(use))
    return found


def _given(use: FileUse, state: str = "found") -> FileState:
    """A file of the user's."""
    if not use.path.exists():
        return FileState(use.name, use.role, use.path, "missing", problem=absent(use.path, use.key))
    return _found(use, state, f"correct its path as {use.key}")


def _downloaded(use: FileUse, inputs: Inputs) -> FileState:
    """A raw file that is, was or will be downloaded, or linked to."""
    if use.path.exists():
        return _found(use, "found", ELSEWHERE)
    if ready(use.path).exists():
        return FileState(use.name, use.role, use.path, "deleted after its check")
    if use.name in inputs.copies:
        return _given(replace(use, path=Path(inputs.copies[use.name])), "found, to be linked to")
    if (unpacked := beside(use.path) or cached(use.name, use.origin.sha256)) is not None:
        return _found(replace(use, path=unpacked), "found, to be linked to", ELSEWHERE)
    begun = size_of(use.path.with_name(f".{use.name}.part"))
    # Another job may just have finished it.
    if not begun and use.path.exists():
        return _found(use, "found", ELSEWHERE)
    size = use.origin.size
    share = f" of {size:,} ({begun / size:.0%})" if size else ""
    state = f"{TO_COME}, {begun:,} bytes{share} are there" if begun else TO_COME
    return FileState(use.name, use.role, use.path, state, size, max(size - begun, 0))


def _found(use: FileUse, state: str, remedy: str) -> FileState:
    sha256, size, holds, problem = recorded_digest(use.path), 0, "", ""
    try:
        size = size_of(use.path) if use.path.is_file() else 0
        published = as_published(use.path, use.name)
        if published and use.origin.size and size != use.origin.size:
            problem = f"{use.path}: {size:,} bytes instead of {use.origin.size:,}; {remedy}"
        elif published and sha256 and not sha256.startswith(use.origin.sha256):
            mend = f"{remedy}, and {record_of(use.path).name} too"
            problem = f"{use.path}: its sha256 is {sha256}, published is {use.origin.sha256}; {mend}"
        else:
            holds = _holds(use)
    except InputError as error:
        problem = str(error)
    counted = use.role in PICTURE_ROLES and holds.endswith(" pictures")
    pictures = int(holds.split()[0].replace(",", "")) if counted else 0
    return FileState(use.name, use.role, use.path, state, size, 0, sha256, holds, pictures, problem)


def _holds_texts(use: FileUse) -> str:
    if use.role == "captions":
        return f"captions of {len(read_captions(use.path)):,} pictures"
    found = use.describe(use.role, use.path)
    if use.origin.holds and found.endswith(" dialogs"):
        content_in_words(use.path, use.name, use.origin.holds)
    return found


def _holds(use: FileUse) -> str:
    """What a file holds, in words. Raises `InputError` where it can't be used for its role."""
    if use.role == FEATURES:
        return "{:,} images × {:,} features".format(*described(use.path, use.array)[1])
    if use.role == IDS:
        return ""
    if use.role == "weights":
        return "" if as_published(use.path, "x.pth") else only(use.path, ".pth")
    if use.role not in PICTURE_ROLES:
        return _holds_texts(use)
    split = SPLITS[PICTURE_ROLES.index(use.role)]
    if any(map(is_picture, names(use.path))):
        return content_in_words(use.path, use.name, use.origin.holds)
    return f"{len(listed([use.path], split)):,} names of pictures"


def belonging(name: str, data: Dataset, inputs: list[FileState]) -> tuple[list[str], list[str]]:
    """Notes, and what does not belong together, of the dialogs and pictures of a data set that are all there.

    name: the data set's; inputs: as `inspect` found them. Nothing is known where a file is to come, damaged or foreign,
    or the reader does not say which images dialogs are about.
    """
    roles = (*data.inputs.source.texts, *PICTURE_ROLES)
    looked = {role: [one for one in inputs if one.role == role] for role in roles}
    dialog_ids = getattr(reader_of(data.source), "dialog_ids", None)
    if (
        dialog_ids is None
        or data.inputs.features
        or not all(looked[role] or role in data.inputs.source.optional for role in roles)
    ):
        return [], []
    there = {role: tuple(one.path for one in found) for role, found in looked.items()}
    if any(one.problem or not one.path.exists() for found in looked.values() for one in found):
        return [], []
    content = Content.of(
        {role: there[role] for role in data.inputs.source.texts},
        {role: there[role] for role in PICTURE_ROLES},
        dialog_ids,
    )
    notes = []
    for split, count in content.counts().items():
        published = f" (the paper's: {PUBLISHED[split]:,})" if name in PAPERS else ""
        notes.append(f"{split}: {count:,} dialogs{published}, {len(content.pictures[split]):,} pictures")
    skipped = data.steps["extraction"].damaged == "skip"
    bad = "" if skipped else cut_short(there[PICTURE_ROLES[0]])
    return notes, [*content.mistakes(), *([bad] if bad else [])]


def disk_space(inputs: list[FileState], data: Dataset, folder: Path) -> tuple[int, int]:
    """Bytes that downloads and features still need, and bytes that are free on the disk of `folder`."""
    needed = sum(found.to_come for found in inputs)
    if not (folder.parent / "features.h5").exists():
        extracted = sum(size_of(shard) for shard in folder.parent.glob("fc7_*.h5"))
        needed += max(sum(_feature_bytes(found, data) for found in inputs) - extracted, 0)
    place = next(path for path in (folder.absolute(), *folder.absolute().parents) if path.exists())
    return needed, shutil.disk_usage(place).free


def memory(inputs: list[FileState], data: Dataset) -> int:
    """Bytes that training and play need at least: the features of one split, once."""
    of_role: dict[str, int] = {}
    for found in inputs:
        of_role[found.role] = of_role.get(found.role, 0) + _feature_bytes(found, data) // COPIES
    return max(of_role.values(), default=0)


def _feature_bytes(found: FileState, data: Dataset) -> int:
    """Bytes on disk of the features that are made of a file."""
    if found.role in (data.inputs.source.features, FEATURES):
        return found.size
    if found.role not in PICTURE_ROLES:
        return 0
    return (found.pictures or found.size // MEAN_PICTURE) * FEATURE_BYTES
