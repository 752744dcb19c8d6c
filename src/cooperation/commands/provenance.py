"""Show where files come from, and whether a report's are as they were written.

Dialogs, features, checkpoints and results carry settings, seeds, device and hashes of their inputs; which commit and
versions made the latter two stands beside them. What a report's files were made of is said by its manifest.json.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import yaml

from cooperation.config.training import UNUSABLE
from cooperation.evaluation.results import read_ranks
from cooperation.io.files import InputError, digest, parse_errors
from cooperation.io.hdf5 import SUMS, Verified, content, opened
from cooperation.io.origin import read_origin
from cooperation.io.tensors import read_header
from cooperation.reports.manifest import looked_up
from cooperation.reports.products import MANIFEST

NOTHING = (
    "nothing: only dialogs, features, checkpoints and results (.h5, .safetensors) carry where they come from, and a "
    f"report's {MANIFEST}, which is not in this folder, says it of the report's files"
)
FOREIGN = "nothing: another program made it"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files", nargs="+", type=Path, help="dialogs, features, checkpoints, results or files of a report"
    )


def run(arguments: argparse.Namespace) -> None:
    for path in arguments.files:
        if path.is_dir():
            raise InputError(f"{path}: is a folder; name files in it")
        if not path.is_file():
            raise InputError(f"{path}: no such file; correct its name, or make it with snakemake if a rule makes it")
        made_by = {"made by": found} if (found := read_origin(path)) else {}
        shown = {f"{path}": {"sha256": digest(path), **made_by, **carried(path)}}
        print(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=120), end="")


def carried(path: Path) -> dict[str, Any]:
    """What a file carries of where it comes from, or its report's manifest says of it, by its ending.

    Raises `InputError` for a file that is damaged or not of the kind that its ending names.
    """
    if path.suffix == ".h5":
        return _of_arrays(path)
    if path.suffix == ".safetensors":
        return _of_tensors(path)
    report = looked_up(path)
    return {**report, **_beside(path, report)} if report else {"carries": NOTHING}


def _beside(path: Path, report: dict[str, Any]) -> dict[str, str]:
    """Whether the results in the project that a report lies in are those that it was made of, by their content."""
    folder = path.absolute().parent.parent.parent / "results" / str(report.get("dataset"))
    made_of = report.get("results", {})
    there = {name: folder / name for name in made_of if (folder / name).is_file()}
    others = [name for name, file in there.items() if read_ranks(file).identity(file).of("game") != made_of[name]]
    if not there:
        return {}
    said = f"others than the report's, so it is of another run: {', '.join(others)}" if others else "the report's"
    return {f"results in {folder.parent.name}/{folder.name}": said}


def _of_arrays(path: Path) -> dict[str, Any]:
    with opened(path) as file:
        found = Verified(file).attributes if SUMS in file.attrs else None
        arrays = content(file)
    if found is None:
        return {"carries": FOREIGN, "arrays": arrays}
    # Some attributes of results are JSON.
    parsed = {name: json.loads(value) if str(value)[:2] == '{"' else value for name, value in found.items()}
    return {"carries": parsed, "arrays": arrays}


def _of_tensors(path: Path) -> dict[str, Any]:
    # Not `checkpoint.load_tensors`, which waits for torch.
    with parse_errors(path, *UNUSABLE):
        header = read_header(path)
        found = json.loads(header["__metadata__"]["cooperation"].partition(" ")[2])
        # The number of words and dialogs, not all of them.
        words = {"words": len(found.pop("words"))} if "words" in found else {}
        dialogs = {"dialogs": header["image_ids"]["shape"][0]} if "image_ids" in header else {}
    return {"carries": found | words | dialogs}
