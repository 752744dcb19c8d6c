"""Small files in the layouts of VisDial and COCO, for the tests that read them."""

import io
import json
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image

QUESTIONS = ["is it red", "what color is the man's shirt", "is he smiling"]
ANSWERS = ["yes", "no", "he's not", "Yes, it is", "can't tell", *(f"option {number}" for number in range(100))]


def dialog(image_id, rounds=10, caption="a man on a horse"):
    """A dialog whose round r asks question r and is answered with answer r, both in turn."""
    return {
        "image_id": image_id,
        "caption": caption,
        "dialog": [
            {
                "question": number % len(QUESTIONS),
                "answer": number % 5,
                "answer_options": list(range(100)),
                "gt_index": number % 5,
            }
            for number in range(rounds)
        ],
    }


def document(split="train", images=(7, 3)):
    """VisDial JSON with one dialog an image."""
    dialogs = [dialog(image) for image in images]
    return {
        "version": "0.9",
        "split": split,
        "data": {"questions": [*QUESTIONS], "answers": [*ANSWERS], "dialogs": dialogs},
    }


def write_json(path: Path, content) -> Path:
    path.write_text(json.dumps(content))
    return path


def write_zip(path: Path, members) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


def picture(seed=0, width=40, height=36) -> Image.Image:
    """A picture of smooth random colours, so that JPEG keeps it."""
    coarse = np.random.default_rng(seed).integers(0, 256, (4, 4, 3), np.uint8)
    return Image.fromarray(coarse).resize((width, height), Image.Resampling.BILINEAR)


def jpeg(image: Image.Image, **options) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, options.pop("format", "JPEG"), **options)
    return buffer.getvalue()


def album(path: Path, pictures, split="train") -> Path:
    """An archive of JPEG bytes by image id."""
    return write_zip(
        path, {f"{split}2014/COCO_{split}2014_{image:012d}.jpg": content for image, content in pictures.items()}
    )
