"""Where results come from: the source files a command is made of, and the software that ran them."""

import hashlib
import platform
import re
import subprocess
from functools import cache
from importlib.metadata import version
from pathlib import Path

from cooperation.files import digest

PACKAGE = Path(__file__).resolve().parent
# Found line by line, for parsing all files as Python would cost each `snakemake -n` almost half a second. Imports that
# are written otherwise are refused by a test.
COMMENT = re.compile("#.*")
IMPORT = re.compile(r"^\s*(?:from (\S+) import (\([^)]*\)|.*)|import (.*))", re.MULTILINE)


def sources(*commands: str) -> list[str]:
    """The package's files that commands import, directly or not, and the data files beside them.

    The paths are relative where they can be, so that what Snakemake remembers of them holds in another clone.

    Snakemake does not see the code behind a shell command: declared as inputs, an edited bot replays the games and
    an edited table none.
    """
    found: set[Path] = set()
    todo = [PACKAGE / "commands" / f"{command}.py" for command in commands]
    while todo:
        file = todo.pop()
        if file not in found:
            found.add(file)
            todo += _imported(file)
    here = Path.cwd()
    return sorted(str(file.relative_to(here) if file.is_relative_to(here) else file) for file in found)


@cache
def _imported(file: Path) -> tuple[Path, ...]:
    if file.suffix != ".py":
        return ()
    text = file.read_text(encoding="utf-8")
    names: set[str] = set()
    for module, parts, alone in IMPORT.findall(COMMENT.sub("", text)):
        # `from cooperation import randomness` names a module, `from cooperation.text import X` is in one.
        names |= {module, *(f"{module}.{part}" for part in re.findall(r"\w+", parts)), *re.findall(r"[\w.]+", alone)}
    places = [PACKAGE.parent.joinpath(*name.split(".")) for name in names if name.startswith("cooperation.")]
    modules = [path for place in places if (path := place.with_suffix(".py")).is_file()]
    return (*modules, *(path for path in _data() if path.name in text))


@cache
def _data() -> list[Path]:
    return [path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc", ".typed")]


def code(command: str) -> str:
    """SHA-256 of all that a command is made of: another, and what it was in the middle of is not to be continued."""
    found = "".join(f"{Path(path).name} {digest(Path(path))}\n" for path in sources(command))
    return hashlib.sha256(found.encode()).hexdigest()


def inputs(**files: Path | None) -> dict[str, str]:
    """SHA-256 of each input file that is given, by what it is to the command."""
    return {name: digest(path) for name, path in files.items() if path}


def software() -> dict[str, str]:
    """Versions of Python and of the packages that numbers depend on, and the commit of this program."""
    packages = ("torch", "numpy", "h5py", "nltk")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}, "commit": commit()}


def commit() -> str:
    """The git commit that the package is run from, with `-dirty` where files differ; `unknown` outside of git."""
    command = ["git", "-C", str(PACKAGE), "describe", "--always", "--dirty", "--abbrev=40", "--exclude=*"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
