"""Small files in the layouts of VisDial, COCO and the authors, and files that belong together, for tests."""

import io
import json
import zipfile
from pathlib import Path

import h5py
import numpy as np
from PIL import Image

from cooperation.data.identities import identity_of_dialogs, identity_of_features

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


AUTHORS_WORDS = {"yes": 3, "no": 1, "a": 2, "?": 4, "UNK": 5}


def authors_arrays(split, positions):
    """A split of `visdial_data.h5`, an image's row for each dialog.

    Dialog d says d+1 times “a” as caption; every question is “a ?”; answers are yes, and in round 10 “no a”.
    """
    count = len(positions)
    captions = np.zeros((count, 40), "u4")
    for row in range(count):
        captions[row, : row + 1] = 2
    questions, answers = np.zeros((2, count, 10, 20), "u4")
    questions[..., :2] = 2, 4
    answers[..., 0] = 3
    answers[:, 9, :2] = 1, 2
    return {
        f"cap_{split}": captions,
        f"cap_length_{split}": np.arange(1, count + 1, dtype="u4"),
        f"ques_{split}": questions,
        f"ques_length_{split}": np.full((count, 10), 2, "u4"),
        f"ans_{split}": answers,
        f"ans_length_{split}": np.tile(np.array([1] * 9 + [2], "u4"), (count, 1)),
        f"img_pos_{split}": np.array(positions),
    }


def write_hdf5(path: Path, content) -> Path:
    with h5py.File(path, "w") as file:
        for name, array in content.items():
            file[name] = array
    return path


def write_authors_files(folder: Path, data, images) -> Path:
    """`visdial_data.h5`, `data_img.h5` and `visdial_params.json`; the folder."""
    write_hdf5(folder / "visdial_data.h5", data)
    write_hdf5(folder / "data_img.h5", images)
    ind2word = {str(number): word for word, number in AUTHORS_WORDS.items()}
    write_json(folder / "visdial_params.json", {"word2ind": AUTHORS_WORDS, "ind2word": ind2word})
    return folder


def made_of(folder: Path) -> dict[str, str]:
    """What a checkpoint is made of whose bots were trained on `dialogs.h5` and `features.h5` in a folder.

    So the three files belong together.
    """
    found = [identity_of_dialogs(folder / "dialogs.h5"), identity_of_features(folder / "features.h5")]
    return {name: what for one in found for name, what in one.made_of.items() if not name.startswith("val ")}
