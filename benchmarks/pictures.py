"""Is it as fast to read pictures from a zip archive as from a folder, and what do worker processes bring?

    python benchmarks/pictures.py FOLDER_OF_JPEGS

Copies the JPEGs of the folder (named as COCO's) to an archive of COCO's size (82,783 members) and times reading
alone and reading, decoding and torchvision's preprocessing, in pictures a second.
"""

import sys
import tempfile
import time
import zipfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from torch.utils.data import DataLoader

from cooperation.archives import picture_names, read_member
from cooperation.vgg import Pictures

MEMBERS = 82_783
TIMED = 400


def rate(pictures: Iterable[Any]) -> float:
    """Pictures a second that come out of an iterable."""
    start = time.perf_counter()
    count = sum(1 for _ in pictures)
    return count / (time.perf_counter() - start)


def main() -> None:
    """Print one line a way of reading."""
    photos = sorted(Path(sys.argv[1]).glob("*.jpg"))
    with tempfile.TemporaryDirectory() as scratch:
        archive, folder = Path(scratch) / "train2014.zip", Path(scratch) / "train2014"
        folder.mkdir()
        with zipfile.ZipFile(archive, "w") as file:
            for number in range(MEMBERS):
                raw = photos[number % len(photos)].read_bytes() if number < TIMED else b""
                file.writestr(f"train2014/COCO_train2014_{number:012d}.jpg", raw)
                if number < TIMED:
                    (folder / f"COCO_train2014_{number:012d}.jpg").write_bytes(raw)
        for path in (archive, folder):
            start = time.perf_counter()
            names = list(picture_names(path).values())[:TIMED]
            print(f"{path.name}: listing {time.perf_counter() - start:.1f} s")
            read_member(path, names[0])  # opens the archive
            print(f"{path.name}: reading {rate(map(read_member, [path] * TIMED, names)):,.0f} pictures/s")
            for workers in (0, 2):
                pictures = DataLoader(Pictures(path, names, "torchvision"), None, num_workers=workers)
                print(f"{path.name}: decoding with {workers} workers {rate(pictures):,.0f} pictures/s")


if __name__ == "__main__":
    main()
