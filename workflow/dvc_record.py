"""Refuses to make DVC's record smaller by accident: it stands before and behind snakemake in dvc.yaml.

DVC records what lies in the folders when a stage ends. Where a colleague pulled a part of them, the rest would be gone
from dvc.lock, and for everybody once that is pushed.
"""

import base64
import json
import subprocess
import sys
from collections.abc import Container
from pathlib import Path, PurePath

MEMORY = ".snakemake/metadata"
"""What Snakemake remembers: a file for each output, whose name is the output's path in base64."""
ORIGIN = ".origin.json"
SHOWN = 3


def main() -> None:
    """Exit with 1 and what to pull where files that dvc.lock records are neither here nor made by Snakemake."""
    changes = json.loads(said("dvc", "data", "status", "--granular", "--json")).get("uncommitted", {})
    away = [path for path in changes.get("deleted", ()) if not path.endswith("/")]
    making = planned() if away else ()
    # Of a folder that was never pulled nothing is known where there is no network.
    unknown = changes.get("unknown", [])
    lost = [path for path in away if is_lost(path, making)] + unknown
    if lost:
        places = (MEMORY if path.startswith(MEMORY) else PurePath(path).parts[0] for path in away + unknown)
        shown = ", ".join(sorted(lost, key=lambda path: path.startswith(MEMORY))[:SHOWN])
        sys.exit(
            f"dvc.lock records {len(lost)} files that are not here and that snakemake would not make: {shown} …\n"
            "Nothing is recorded, since everybody would lose them.\n"
            f"They come with: dvc pull {' '.join(dict.fromkeys(places))}\n"
            "Where they are no longer wanted, this records what is here: dvc commit --force"
        )


def is_lost(path: str, making: Container[str]) -> bool:
    """Whether a file that is recorded and not here would be missing; making: the outputs that Snakemake makes.

    Where Snakemake does not remember an output that is here, it makes another in its place; so that is a loss, too.
    """
    if not path.startswith(MEMORY):
        # Which program made a file is written with it.
        return path.removesuffix(ORIGIN) not in making
    # Long names are divided into folders, which begin with @.
    name = "".join(part.removeprefix("@") for part in PurePath(path).relative_to(MEMORY).parts)
    return Path(base64.urlsafe_b64decode(name).decode()).exists()


def planned() -> set[str]:
    """The outputs that a run makes."""
    rows = (line.split("\t") for line in said("snakemake", "--summary").splitlines())
    return {row[0] for row in rows if row[-1] == "update pending"}


def said(*command: str) -> str:
    """What a command prints; where it fails, its errors are printed and this ends, too."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else sys.exit(done.stdout + done.stderr)


if __name__ == "__main__":
    main()
