"""Preflight: list the files that a data set needs, with those that are missing; exit code 2 if one can't be obtained.

Nothing is downloaded, but each address of a file that is to come is asked for it. No hash is computed but that of
weights in torch's cache: those that were recorded are shown.
"""

import argparse
import sys
from math import isfinite
from pathlib import Path

from cooperation.commands.settings import add_config
from cooperation.config.datasets import Dataset
from cooperation.config.experiment import read_dataset
from cooperation.data.download import answers
from cooperation.data.preflight import TO_COME, FileState, belonging, disk_space, inspect, memory
from cooperation.io.devices import say_device
from cooperation.io.files import InputError
from cooperation.io.memory import free as free_memory
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
    if not inputs:
        print(f"{name}: needs no files, they are made")
    problems = [found.problem for found in inputs if found.problem] + wrong
    little = _room(inputs, data, folder)
    try:
        say_device()
    except InputError as error:
        problems.append(str(error))
    problems += little
    for problem in problems:
        print(f"cooperation check: {problem}", file=sys.stderr)
    if problems:
        sys.exit(2)


def _room(inputs: list[FileState], data: Dataset, folder: Path) -> list[str]:
    """Say how much room on disk and in memory is needed and free; where the disk is too small."""
    needed, free = disk_space(inputs, data, folder)
    held, room = memory(inputs, data), free_memory()
    if inputs:
        least = "at least " if any(found.state.startswith(TO_COME) and not found.size for found in inputs) else ""
        print(f"disk: {least}{needed:,} bytes for downloads and features, {free:,} free at {folder}")
    else:
        print(f"disk: {free:,} bytes free at {folder}")
    if held:
        there = f"{room:,.0f} free" if isfinite(room) else "how much is free is not known"
        # No mistake: files may be downloaded on one machine and used on another.
        there += "; too little to train and play on this machine" if held > room else ""
        print(f"memory: at least {held:,} bytes for the features of a split, {there}")
    return [f"{folder}: {needed:,} bytes are needed and {free:,} are free; make room"] if needed > free else []


def _line(found: FileState) -> str:
    size = f"{found.size:,} bytes" if found.size else ""
    sha256 = f"sha256 {found.sha256[:8]}…" if found.sha256 else ""
    return ", ".join(
        part for part in (f"{found.name}: {found.state}", str(found.path), size, found.holds, sha256) if part
    )
