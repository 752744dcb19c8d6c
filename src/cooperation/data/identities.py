"""What files of dialogs and of features are made of: their own content, for `io.identity`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cooperation.data.archives import MADE_UP, made_up
from cooperation.data.store import FIRST_ROW, MADE_BY, splits_of_features
from cooperation.io.hdf5 import Verified, opened, read_attributes, shape_of
from cooperation.io.identity import Identity, named


def identity_of_dialogs(path: Path) -> Identity:
    """What a file of dialogs is made of: `vocabulary`, `train dialogs`, `val dialogs`; how they were made up, if so.

    A split's dialogs are its arrays and what was counted in its texts. Raises `InputError` as `opened`.
    """
    with opened(path) as file:
        verified = Verified(file)
        sums, attributes = verified.sums, verified.attributes
        words = shape_of(file, "words")[0]
        made_of = {"vocabulary": named(f"{words:,} words", sums["words"])}
        for split in FIRST_ROW:
            if f"image_id_{split}" in file:
                arrays = {name: total for name, total in sums.items() if name.endswith(f"_{split}")}
                counts = {name: value for name, value in attributes.items() if name.startswith(f"{split}_")}
                count = shape_of(file, f"image_id_{split}")[0]
                made_of[f"{split} dialogs"] = named(f"{count:,} dialogs", arrays, counts)
    return Identity(path, made_of | _made_up(attributes))


def identity_of_features(path: Path) -> Identity:
    """What a file of normalised features is made of: `features` (how they were made), `train images`, `val images`.

    Features that were standardised follow from the train images, too. It also says how the pictures were made up, if
    they were. Raises `InputError` as `opened`.
    """
    with opened(path) as file:
        verified = Verified(file)
        sums, attributes = verified.sums, verified.attributes
        how: dict[str, str | None] = {name: str(attributes.get(name)) for name in (*MADE_BY, "normalisation", "length")}
        if how["normalisation"] == "standardise":
            how["train images"] = sums.get("images_train")
        text = f"{how['preprocessing']}, {how['normalisation']}, length {how['length']}"
        made_of = {"features": named(text, how)}
        for split in splits_of_features(file):
            count = shape_of(file, f"images_{split}")[0]
            made_of[f"{split} images"] = named(f"{count:,} images", sums[f"images_{split}"], sums[f"image_id_{split}"])
    return Identity(path, made_of | _made_up(attributes))


def identity_of_pictures(paths: Sequence[Path]) -> Identity:
    """How the pictures of archives and folders (at least one) were made up, if they say it; raises as `made_up`."""
    settings = made_up(paths)
    return Identity(paths[0], {MADE_UP: settings} if settings else {})


def settings_of_dialogs(path: Path) -> dict[str, str]:
    """How a file of dialogs says that it was made, without what was counted. Raises `InputError` as `opened`."""
    counted = (*(f"{split}_" for split in FIRST_ROW), "files")
    return {name: str(value) for name, value in read_attributes(path).items() if not name.startswith(counted)}


def _made_up(attributes: Mapping[str, Any]) -> dict[str, str]:
    return {MADE_UP: str(attributes["made_up"])} if "made_up" in attributes else {}
