"""How long `cooperation encode` takes on files of VisDial 0.9's size, and how much memory; run it by hand.

    python benchmarks/encoding.py FOLDER

Writes two made-up files of 82,783 and 40,504 dialogs into FOLDER (about 1 GB) and encodes them. The texts have
VisDial's lengths and share of distinct questions and answers (46 % and 41 %), no more; words are drawn by Zipf's law.
"""

import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

SPLITS = {"train": 82_783, "val": 40_504}


def texts(count: int, mean_length: float, random: np.random.Generator) -> list[str]:
    """Different texts with about VisDial's number of words."""
    words = np.array([f"word{number}" for number in range(20_000)] + ["isn't", "he's", "cannot"])
    lengths = 1 + random.poisson(mean_length - 1, count)
    drawn = words[(random.zipf(1.3, lengths.sum()) - 1) % len(words)]
    return [" ".join(part) for part in np.split(drawn, np.cumsum(lengths)[:-1])]


def write(path: Path, split: str, count: int, random: np.random.Generator) -> None:
    """One made-up VisDial file."""
    questions, answers = texts(int(4.6 * count), 6, random), texts(int(4.1 * count), 3, random)
    captions = texts(count, 11, random)
    with path.open("w") as file:
        file.write(f'{{"version": "0.9", "split": "{split}", "data": {{"questions": {json.dumps(questions)}, ')
        file.write(f'"answers": {json.dumps(answers)}, "dialogs": [')
        for image, caption in enumerate(captions):
            options = random.integers(len(answers), size=(10, 100))
            truths = random.integers(100, size=10)
            asked = random.integers(len(questions), size=10).tolist()
            rounds = [
                {"question": q, "answer": row[t], "answer_options": row, "gt_index": t}
                for q, row, t in zip(asked, options.tolist(), truths.tolist(), strict=True)
            ]
            dialog = {"image_id": image, "caption": caption, "dialog": rounds}
            file.write(("," if image else "") + json.dumps(dialog))
        file.write("]}}")


def main() -> None:
    """Write the files where they are missing, encode them, print seconds and peak memory."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    paths = {split: folder / f"visdial_0.9_{split}.json" for split in SPLITS}
    for split, path in paths.items():
        if not path.exists():
            write(path, split, SPLITS[split], np.random.default_rng(len(split)))
    files = [word for split, path in paths.items() for word in (f"--{split}", str(path))]
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "cooperation", "encode", *files, "--out", str(folder / "dialogs.h5")], check=True
    )
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    print(f"{time.perf_counter() - start:.0f} s, at most {peak:.2f} GiB")


if __name__ == "__main__":
    main()
