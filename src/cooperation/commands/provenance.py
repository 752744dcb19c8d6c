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
    return looked_up(path) or {"carries": NOTHING}


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
