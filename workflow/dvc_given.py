"""Files of the user's own, wherever they lie, for DVC: their names and hashes, as dvc.yaml's first stage keeps them.

DVC can't read which files config.yaml names, and would not see that one of them is another by now; Snakemake does.
"""

import hashlib
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))

from cooperation.config.experiment import read
from cooperation.io.files import InputError, digest
from cooperation.io.plain_yaml import read_if_there

KNOWN = Path(".snakemake/given.json")
"""Path → size, time and hash of large files, so that they are read once."""


def main() -> None:
    """Print a line for each file of the chosen data set, and of the one that its bots are trained on."""
    experiment = read(read_if_there("config.yaml"))
    paths = set()
    for name in {experiment.dataset, experiment.bots_of(experiment.dataset)}:
        inputs = experiment.datasets[name].inputs
        paths |= {file for *_, file in inputs.used() if "/" in file} | set(inputs.copies.values())
    known = json.loads(KNOWN.read_text()) if KNOWN.exists() else {}
    now = {path: hashed(Path(path), known.get(path)) for path in sorted(paths)}
    KNOWN.parent.mkdir(exist_ok=True)
    KNOWN.write_text(json.dumps(now))
    print("SHA-256 and path of files of yours that config.yaml names:")
    for path, (*_, found) in now.items():
        print(f"{found}  {path}")


def hashed(path: Path, known: list | None) -> list:
    """Size, time and SHA-256 of a file; of a folder, of the names and sizes in it; known: what it was before."""
    if not path.exists():
        return [0, 0, "missing"]
    if path.is_dir():
        files = sorted((str(one.relative_to(path)), one.stat().st_size) for one in path.rglob("*") if one.is_file())
        return [0, 0, hashlib.sha256(json.dumps(files).encode()).hexdigest()]
    found = path.stat()
    same = known is not None and known[:2] == [found.st_size, found.st_mtime_ns]
    return known if same else [found.st_size, found.st_mtime_ns, digest(path)]


if __name__ == "__main__":
    try:
        main()
    except InputError as error:
        sys.exit(f"config.yaml: {error}")
