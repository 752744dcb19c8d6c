"""COCO's captions: about five of each picture, one of which a dialog of VisDial begins with."""

import json
import re
from pathlib import Path
from typing import Any

from cooperation.data import volumes
from cooperation.io.files import InputError, parse_errors

MEMBER = re.compile(r"captions_val\w*\.json$")
"""COCO's annotations hold several files; dialogs are played about pictures of its val split."""


def read_captions(path: Path) -> dict[int, tuple[str, ...]]:
    """Image id → captions, in the order of the file: COCO's `captions_val2014.json`, bare, in its archive or a folder.

    Raises `InputError` where it is missing, damaged, or not of COCO's captions.
    """
    names = volumes.names(path)
    if volumes.shape(path) != "file":
        names = [name for name in names if MEMBER.search(name)]
    if len(names) != 1:
        raise InputError(f"{path}: holds {len(names)} files captions_val….json instead of one; give COCO's annotations")
    with parse_errors(path, "not JSON or cut short", "download it again"):
        given = json.loads(volumes.read(path, names[0]).decode("utf-8-sig"))
    found: dict[int, list[str]] = {}
    for annotation in _list(given, path):
        image, caption = (
            annotation.get(key) if isinstance(annotation, dict) else None for key in ("image_id", "caption")
        )
        if type(image) is not int or not isinstance(caption, str):
            raise InputError(f"{path}: {annotation!r:.80} is no caption of an image; give COCO's captions_val2014.json")
        found.setdefault(image, []).append(caption)
    return {image: tuple(captions) for image, captions in found.items()}


def _list(given: Any, path: Path) -> list[Any]:
    annotations = given.get("annotations") if isinstance(given, dict) else None
    if not isinstance(annotations, list):
        raise InputError(f"{path}: has no list “annotations”; give COCO's captions_val2014.json")
    return annotations
