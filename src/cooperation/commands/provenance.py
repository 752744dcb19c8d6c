"""Say where files come from: what is written in them, and what Snakemake remembers of the job that made them."""

import argparse
import csv
import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml
from safetensors import SafetensorError, safe_open

from cooperation.data.hdf5 import SUMS, Ours, content, opened
from cooperation.files import DAMAGE, InputError, digest, sound
from cooperation.models import UNUSABLE

# Relative to the project's folder, as are the names of files in it.
RECORDS = Path(".snakemake", "metadata")
# Columns of Snakemake's benchmark files, and what they are called here.
MEASURED = {"s": "wall_time_s", "cpu_time": "cpu_time_s", "max_rss": "peak_memory_mb"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("files", nargs="+", type=Path, help="dialogs, features, checkpoints, results or reports")


def run(arguments: argparse.Namespace) -> None:
    for path in arguments.files:
        if path.is_dir():
            raise InputError(f"{path}: is a folder; name files in it")
        if not path.is_file():
            raise InputError(f"{path}: no such file; correct its name, or make it with snakemake if a rule makes it")
        shown = {f"{path}": {"sha256": digest(path), **inside(path), **remembered(path)}}
        print(yaml.safe_dump(shown, sort_keys=False, allow_unicode=True, width=120), end="")


def inside(path: Path) -> dict[str, Any]:
    """What the file says of itself, by the kind that its name tells."""
    if path.suffix == ".h5":
        return _of_arrays(path)
    if path.suffix == ".safetensors":
        return _of_tensors(path)
    return {"says": "nothing, for only dialogs, features, checkpoints and results (.h5, .safetensors) say more"}


def _of_arrays(path: Path) -> dict[str, Any]:
    with opened(path) as file:
        found = Ours(file).attributes if SUMS in file.attrs else {"nothing": "another program made it"}
        arrays = content(file)
    # Some attributes of results are JSON.
    said = {name: json.loads(value) if str(value)[:2] == '{"' else value for name, value in found.items()}
    return {"says": said, "arrays": arrays}


def _of_tensors(path: Path) -> dict[str, Any]:
    # Not `checkpoint.load_tensors`, which waits for torch.
    with sound(path, *UNUSABLE, (SafetensorError, *DAMAGE)), safe_open(path, "numpy") as file:
        said = json.loads(file.metadata()["cooperation"].partition(" ")[2])
        sizes = {name: file.get_slice(name).get_shape() for name in file.keys()}  # noqa: SIM118
    # Thousands of words and dozens of weights say nothing of where they come from.
    words = {"words": len(said.pop("words"))} if "words" in said else {}
    dialogs = {"dialogs": sizes["image_ids"][0]} if "image_ids" in sizes else {}
    return {"says": said | words | dialogs}


def remembered(path: Path) -> dict[str, Any]:
    """Snakemake's record of the job that made a file, where there is one.

    When and how long a job ran is not in the files themselves, for the same settings and seed give the same bytes.
    """
    for folder in path.absolute().parents:
        record = record_of(folder, path.absolute().relative_to(folder))
        if record.is_file():
            try:
                return {"made": _job(folder, json.loads(record.read_bytes()))}
            except (ValueError, LookupError):
                return {"made": "not known: Snakemake's record of it is cut short or of another version"}
        if (folder / RECORDS).is_dir():
            break
    return {"made": "without Snakemake, or where its records (.snakemake/metadata) did not come along"}


def record_of(folder: Path, name: Path) -> Path:
    """Where Snakemake keeps its record of a file: its name in base 64, in folders where that is too long for a name."""
    word = urlsafe_b64encode(str(name).encode()).decode()
    parts = [word[start : start + 254] for start in range(0, len(word), 254)]
    return folder.joinpath(RECORDS, *(f"@{part}" for part in parts[:-1]), parts[-1])


def _job(folder: Path, record: Mapping[str, Any]) -> dict[str, Any]:
    sums = record.get("input_checksums") or {}
    files = [name for name in record["input"] if Path(name).suffix != ".py" and not name.startswith("src/")]
    began, ended = record["starttime"], record["endtime"]
    return {
        "rule": record["rule"],
        # One a line: the steps of a process (cli.THEN).
        "commands": record["shellcmd"].split(" then "),
        "inputs": {name: sums.get(name, "checksum not recorded").removeprefix("sha256:") for name in files},
        "source_files": len(record["input"]) - len(files),
        "began": datetime.fromtimestamp(began, UTC).isoformat(" ", "seconds"),
        "wall_time_s": round(ended - began, 1),
        "log": list(record["log"]),
        **_measured([folder / log for log in record["log"]]),
    }


def _measured(logs: list[Path]) -> dict[str, float]:
    """What Snakemake measured of the job, in a table beside its log."""
    found = {}
    for table in (log.with_suffix(".tsv") for log in logs):
        if table.is_file():
            with table.open(encoding="utf-8") as lines:
                for row in csv.DictReader(lines, delimiter="\t"):
                    found = {name: float(row[key]) for key, name in MEASURED.items() if _number(row.get(key))}
    return found


def _number(text: str | None) -> bool:
    return bool(text) and str(text).replace(".", "", 1).isdecimal()
