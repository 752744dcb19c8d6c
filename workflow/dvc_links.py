"""Files that DVC linked to its cache: Snakemake rewrites what it remembers in place, which would change the cache."""

import shutil
from pathlib import Path

MEMORY = Path(".snakemake/metadata")


def unlink_memory() -> None:
    """Make what Snakemake remembers files of their own, where they are links, hard or symbolic."""
    for path in [path for path in MEMORY.rglob("*") if path.is_file()]:
        if path.is_symlink() or path.stat().st_nlink > 1:
            copy = path.with_name(f"{path.name}.partial")
            shutil.copyfile(path, copy)
            shutil.copystat(path, copy)
            copy.chmod(0o644)
            copy.replace(path)
