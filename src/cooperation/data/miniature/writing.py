"""The made-up world in the files of VisDial 0.9 and COCO."""

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tqdm import tqdm

from cooperation.config.preparation import IMAGES, World
from cooperation.config.sources import SPLITS
from cooperation.data.archives import comment_of
from cooperation.data.miniature.language import Exchange, order_topics, retell, write_caption, write_dialog
from cooperation.data.miniature.pictures import draw_picture
from cooperation.data.miniature.topics import TOPICS
from cooperation.data.miniature.world import ATTRIBUTES, Scene, draw_ground_truth, generator
from cooperation.io.settings import in_words
from cooperation.io.writing import written_whole

OPTIONS = 100


def write_world(world: World, folder: Path) -> list[Path]:
    """Write `visdial_0.9_SPLIT.zip` and `SPLIT2014.zip` of both splits; the paths written.

    The same world gives the same bytes (those of JPEG depend on Pillow's version). Raises `InputError` where the file
    system refuses.
    """
    written, made_with = [], in_words("miniature", world)
    for split, ids in draw_image_ids(world).items():
        truth = draw_ground_truth(world, split)
        talk = generator(world, split, "language")
        retold = generator(world, split, "retold").random(len(ids)) < world.retold
        captions, dialogs = [], []
        for told, asked, all_of_it in zip(truth.captions, truth.dialogs, retold, strict=True):
            caption = write_caption(told, talk)
            if all_of_it:
                caption = retell(caption, told)
            captions.append(caption.text)
            order = order_topics(caption.opening, world.wander, talk)
            dialogs.append(write_dialog(asked, caption.noun, order, talk))
        document = compose(split, ids, captions, dialogs, generator(world, split, "options"))
        text = json.dumps(document, separators=(",", ":")).encode()
        texts = folder / f"visdial_0.9_{split}.zip"
        written.append(write_zip(texts, [(f"visdial_0.9_{split}.json", text)], made_with))
        drawn = draw_pictures(split, ids, truth.pictures, world.pixels, generator(world, split, "pictures"))
        written.append(write_pictures(folder, split, drawn, made_with))
    return written


def draw_image_ids(world: World) -> dict[str, npt.NDArray[np.int64]]:
    """Draw the image ids [dialogs] of both splits: none twice, in random order."""
    ids = generator(world, "train", "ids").choice(IMAGES, world.train + world.val, replace=False) + 1
    return dict(zip(SPLITS, np.split(ids, [world.train]), strict=True))


def compose(
    split: str,
    ids: npt.NDArray[np.int64],
    captions: Sequence[str],
    dialogs: Sequence[Sequence[Exchange]],
    random: np.random.Generator,
) -> dict[str, Any]:
    """Nest captions and dialogs as VisDial 0.9 does; each round has 100 distinct answer options.

    ids: [dialogs]; captions: [dialogs]; dialogs: [dialogs][10] questions with answers.
    """
    questions = _numbered(question for dialog in dialogs for question, _ in dialog)
    answers = _numbered([*(answer for dialog in dialogs for _, answer in dialog), *distractors()])
    true = np.array([[answers[answer] for _, answer in dialog] for dialog in dialogs])
    options, places = draw_options(true, len(answers), random)
    records = [
        {
            "image_id": int(image_id),
            "caption": caption,
            "dialog": [
                {
                    "question": questions[question],
                    "answer": answers[answer],
                    "answer_options": listed,
                    "gt_index": place,
                }
                for (question, answer), listed, place in zip(dialog, option_rows, place_row, strict=True)
            ],
        }
        for image_id, caption, dialog, option_rows, place_row in zip(
            ids, captions, dialogs, options.tolist(), places.tolist(), strict=True
        )
    ]
    data = {"questions": list(questions), "answers": list(answers), "dialogs": records}
    return {"version": "0.9", "split": f"{split}2014", "data": data}


def draw_options(
    true: npt.NDArray[np.int64], count: int, random: np.random.Generator
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Draw 100 distinct answers for each round, the true one among them, and its place.

    true: [dialogs, rounds] indices of the answers, `count` answers in all → [dialogs, rounds, 100], [dialogs, rounds].
    """
    shuffled = random.permuted(np.broadcast_to(np.arange(count), (*true.shape, count)), axis=-1)
    places = random.integers(OPTIONS, size=true.shape)
    now = np.argmax(shuffled == true[..., None], axis=-1)
    displaced = np.take_along_axis(shuffled, places[..., None], -1)
    np.put_along_axis(shuffled, now[..., None], displaced, -1)
    np.put_along_axis(shuffled, places[..., None], true[..., None], -1)
    return shuffled[..., :OPTIONS], places


def distractors() -> Iterator[str]:
    """Yield more answers for the options: all to every topic, and well over a hundred others."""
    for topic in TOPICS:
        for wording in topic.wordings:
            yield from wording.answers.values()
    for size in ATTRIBUTES["size"]:
        for color in ATTRIBUTES["color"]:
            yield f"{size} and {color}"
            for shape in ATTRIBUTES["shape"]:
                yield f"a {size} {color} {shape}"


def draw_pictures(
    split: str, ids: Iterable[int], scenes: Sequence[Scene], pixels: int, random: np.random.Generator
) -> dict[str, bytes]:
    """Draw a picture of each scene [dialogs]: COCO's name of its id [dialogs] → JPEG bytes."""
    drawn = (draw_picture(scene, random, pixels) for scene in scenes)
    pairs = zip(ids, drawn, strict=True)
    return {
        f"{split}2014/COCO_{split}2014_{image_id:012d}.jpg": jpeg
        for image_id, jpeg in tqdm(pairs, f"{split} pictures", len(scenes), unit=" pictures", disable=None)
    }


def write_pictures(folder: Path, split: str, drawn: Mapping[str, bytes], made_with: str) -> Path:
    """Write pictures, by their names, to `SPLIT2014.zip`; the path. made_with: see `write_zip`."""
    return write_zip(folder / f"{split}2014.zip", sorted(drawn.items()), made_with, zipfile.ZIP_STORED)


def write_zip(
    path: Path, members: Iterable[tuple[str, bytes]], made_with: str, method: int = zipfile.ZIP_DEFLATED
) -> Path:
    """Write a zip archive atomically; its bytes depend on the other arguments alone. The path written.

    made_with: the settings, in words, which its comment says: image ids alone don't show that two archives were made
    apart.
    """
    with written_whole(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        archive.comment = comment_of(made_with)
        for name, content in members:
            # ZipInfo's date is always 1980; its system would be this machine's.
            entry = zipfile.ZipInfo(name)
            entry.compress_type, entry.create_system, entry.external_attr = method, 3, 0o644 << 16
            archive.writestr(entry, content)
    return path


def _numbered(texts: Iterable[str]) -> dict[str, int]:
    """Each text once, with its index, in the order of first use."""
    return {text: at for at, text in enumerate(dict.fromkeys(texts))}
