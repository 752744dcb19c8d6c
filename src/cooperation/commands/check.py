"""Preflight: list the files that a data set needs, with those that are missing; exit code 2 if one can't be obtained.

Nothing is downloaded, but each address of a file that is to come is asked for it. No hash is computed but that of
weights in torch's cache: those that were recorded are shown.
"""

import argparse
import sys
from pathlib import Path

from cooperation.commands.settings import add_config
from cooperation.config.experiment import read_dataset
from cooperation.data.download import answers
from cooperation.data.preflight import TO_COME, FileState, belonging, disk_space, inspect
from cooperation.io.devices import say_device
from cooperation.io.files import InputError
from cooperation.io.plain_yaml import read_yaml_file
from cooperation.io.settings import mapping


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_config(parser)
    parser.add_argument("--dataset", help="one of the settings' data sets (default: the one that they choose)")
    parser.add_argument("--folder", type=Path, metavar="DIR", help="raw files (default: data/DATASET/raw)")


def run(arguments: argparse.Namespace) -> None:
    config = dict(mapping(read_yaml_file(arguments.config), str(arguments.config)))
    if arguments.dataset:
        config["dataset"] = arguments.dataset
    name, data = read_dataset(config)
    folder = arguments.folder or Path("data", name, "raw")
    inputs = inspect(name, data, folder)
    for found in inputs:
        print(_line(found))
        if found.state.startswith(TO_COME):
            for address, answer in answers(data.inputs.downloads[found.name]).items():
                print(f"  {address}: {answer}")
    notes, wrong = belonging(name, data, inputs)
    for note in notes:
        print(note)
    needed, free = disk_space(inputs, data, folder)
    if inputs:
        least = "at least " if any(found.state.startswith(TO_COME) and not found.size for found in inputs) else ""
        print(f"disk: {least}{needed:,} bytes for downloads and features, {free:,} free at {folder}")
    else:
        print(f"{name}: needs no files, they are made")
        print(f"disk: {free:,} bytes free at {folder}")
    problems = [found.problem for found in inputs if found.problem] + wrong
    try:
        say_device()
    except InputError as error:
        problems.append(str(error))
    if needed > free:
        problems.append(f"{folder}: {needed:,} bytes are needed and {free:,} are free; make room")
    for problem in problems:
        print(f"cooperation check: {problem}", file=sys.stderr)
    if problems:
        sys.exit(2)


def _line(found: FileState) -> str:
    size = f"{found.size:,} bytes" if found.size else ""
    sha256 = f"sha256 {found.sha256[:8]}…" if found.sha256 else ""
    return ", ".join(
        part for part in (f"{found.name}: {found.state}", str(found.path), size, found.holds, sha256) if part
    )
