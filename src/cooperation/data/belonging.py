"""Whether dialogs and pictures of a data set belong together, by their ids alone: seconds before hours are spent."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from cooperation.config.sources import SPLITS, picture_role
from cooperation.data.archives import Picture, find_pictures, foreign, listed
from cooperation.data.pictures import decode
from cooperation.data.volumes import shape
from cooperation.io.files import InputError

Ids = npt.NDArray[np.int64]
Paths = Mapping[str, tuple[Path, ...]]
"""Role → paths of its files."""
PUBLISHED = {"train": 82_783, "val": 40_504}
"""Dialogs of each split of VisDial 0.9, which the paper used."""
CUT_SHORT = 167126
"""A picture of train2014 that is cut short in older copies of that archive."""


@dataclass(frozen=True)
class Content:
    """What files of VisDial's JSON and of pictures hold.

    names: role → path, for messages; dialogs: role → image ids; pictures: split → image id → split that COCO names. A
    source's roles of dialogs are the splits, or `dialogs` for a file of both that is divided by their pictures.
    """

    names: Mapping[str, Path]
    dialogs: Mapping[str, Ids]
    pictures: Mapping[str, Mapping[int, str]]

    @classmethod
    def of(cls, texts: Paths, pictures: Paths, dialog_ids: Callable[[Path], list[int]]) -> "Content":
        """Look into the files; dialog_ids: of a reader. Raises `InputError` for a file that can't be read."""
        texts = {role: paths for role, paths in texts.items() if paths}
        ids = {role: [image for path in paths for image in dialog_ids(path)] for role, paths in texts.items()}
        return cls(
            {role: paths[0] for role, paths in (*texts.items(), *pictures.items())},
            {role: np.array(found, np.int64) for role, found in ids.items()},
            {split: listed(pictures[picture_role(split)], split) for split in SPLITS},
        )

    def ids(self, split: str) -> Ids:
        """Ids [pictures] of a split's pictures."""
        return np.array(list(self.pictures[split]), np.int64)

    def of_split(self, split: str) -> Ids:
        """Ids [dialogs] of a split: those in its own file, or those about its pictures in a file of both."""
        if split in self.dialogs:
            return self.dialogs[split]
        ids = self.dialogs["dialogs"]
        return ids[np.isin(ids, self.ids(split))]

    def counts(self) -> dict[str, int]:
        """Split → how many dialogs it will have."""
        return {split: len(self.of_split(split)) for split in SPLITS}

    def mistakes(self) -> Iterator[str]:
        """What does not belong together, one line each: nothing where all does."""
        if "dialogs" in self.dialogs:
            for split, found in self.pictures.items():
                yield from foreign(found, [self.names[picture_role(split)]], split)
        yield from self._both(self.ids("train"), self.ids("val"), *map(picture_role, SPLITS))
        if set(SPLITS) <= set(self.dialogs):
            yield from self._both(self.dialogs["train"], self.dialogs["val"], *SPLITS)
        for role in self.dialogs:
            yield from self._without_picture(role)
        for split in SPLITS:
            if not len(self.of_split(split)):
                yield f"{self.names[picture_role(split)]}: no dialog is about a picture of {split}; give other pictures"

    def _without_picture(self, role: str) -> Iterator[str]:
        ids = self.dialogs[role]
        distinct, times = np.unique(ids, return_counts=True)
        for image in distinct[times > 1][:1]:
            yield f"{self.names[role]}: two dialogs are about image {image}; give each dialog once"
        # In a file of both splits, the dialogs of a split that has a file of its own need no picture.
        splits = [role] if role in SPLITS else [] if {*self.dialogs} & {*SPLITS} else SPLITS
        there = np.concatenate([self.ids(split) for split in splits]) if splits else ids
        missing = np.setdiff1d(ids, there)
        for image in missing[:1]:
            where = " nor ".join(str(self.names[picture_role(split)]) for split in splits)
            yield (
                f"{self.names[role]}: image {image} is not in {where} ({len(missing):,} of {len(distinct):,} images "
                "missing); give the pictures that these dialogs are about"
            )

    def _both(self, one: Ids, other: Ids, role: str, other_role: str) -> Iterator[str]:
        both = np.intersect1d(one, other)
        for image in both[:1]:
            yield (
                f"{self.names[role]} and {self.names[other_role]}: image {image} is in both ({len(both):,} images); "
                "give each to one split"
            )


def cut_short(paths: tuple[Path, ...]) -> str:
    """What is wrong with the picture that some copies of train2014 have cut short; "" where nothing is."""
    for path in paths:
        if shape(path) == "file":
            continue
        picture = find_pictures([path]).get(CUT_SHORT)
        if picture is not None and (error := _undecodable(picture)):
            return (
                f"{error}, as in older copies of train2014.zip; get the archive again, or leave its dialog out: "
                "`extraction: {damaged: skip}` in config.yaml"
            )
    return ""


def _undecodable(picture: Picture) -> str:
    try:
        decode(picture.read(), str(picture))
    except InputError as error:
        return str(error).rpartition("; ")[0]
    return ""
