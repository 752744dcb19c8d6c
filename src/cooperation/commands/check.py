"""List what the chosen data set needs, what is there and what is missing; exit code 2 if something can't be obtained.

Nothing is downloaded and no hash is computed: those on record are shown.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

from cooperation.configuration import read_dataset
from cooperation.data.preflight import TO_COME, Input, gpus, inspect, room
from cooperation.files import InputError
from cooperation.plain_yaml import read_yaml
from cooperation.settings import mapping


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config",
        default="config.yaml",
        metavar="FILE",
        help="settings; - reads standard input (default: %(default)s)",
    )
    parser.add_argument("--dataset", help="one of the settings' data sets (default: the one that they choose)")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="raw files (default: data/DATASET/raw)")


def run(arguments: argparse.Namespace) -> None:
    config = dict(_settings(arguments.config))
    if arguments.dataset:
        config["dataset"] = arguments.dataset
    name, data = read_dataset(config)
    folder = arguments.folder or Path("data", name, "raw")
    inputs = inspect(name, data, folder)
    for found in inputs:
        print(_line(found))
    needed, free = room(inputs, folder)
    if inputs:
        least = "at least " if any(found.state == TO_COME and not found.size for found in inputs) else ""
        print(f"disk: {least}{needed:,} bytes for downloads and features, {free:,} free at {folder}")
    else:
        print(f"{name}: needs no files, they are made")
        print(f"disk: {free:,} bytes free at {folder}")
    print(f"GPU: {'; '.join(gpus()) or 'none seen by nvidia-smi here; without one the networks run on the CPU'}")
    problems = [found.problem for found in inputs if found.problem]
    if needed > free:
        problems.append(f"{folder}: {needed:,} bytes are needed and {free:,} are free; make room")
    for problem in problems:
        print(f"cooperation check: {problem}", file=sys.stderr)
    if problems:
        sys.exit(2)


def _line(found: Input) -> str:
    size = f"{found.size:,} bytes" if found.size else ""
    sha256 = f"sha256 {found.sha256[:8]}…" if found.sha256 else ""
    return ", ".join(
        part for part in (f"{found.name}: {found.state}", str(found.path), size, found.holds, sha256) if part
    )


def _settings(file: str) -> Any:
    if file == "-" and sys.stdin is None:
        raise InputError("-: standard input is closed; name a file")
    try:
        text = sys.stdin.buffer.read() if file == "-" else Path(file).read_bytes()
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}); run in the project's folder") from error
    return mapping(read_yaml(text, file), file)
