"""Where results come from: the source files a command is made of, and the software that ran them."""

import hashlib
import os
import platform
import re
import subprocess
from collections.abc import Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path

from cooperation.io.files import digest

PACKAGE = Path(__file__).resolve().parents[1]
# Found line by line, for parsing all files as Python would cost each `snakemake -n` almost half a second. Imports that
# are written otherwise are refused by a test.
COMMENT = re.compile("#.*")
# What only annotations name is not needed to run.
ANNOTATIONS = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+.*\n|\n)*", re.MULTILINE)
IMPORT = re.compile(r"^\s*(?:from (\S+) import (\([^)]*\)|.*)|import (.*))", re.MULTILINE)
# Modules that are found by being in a folder.
DISCOVERY = re.compile(r'import_module\(f"([\w.]+|\{__name__\})\.\{')


def sources(*commands: str, discovered: Iterable[str] | None = None) -> list[str]:
    """The package's files that commands import, directly or not, and the data files that these name.

    discovered: of folders whose modules are found by being there, such as `interventions/`, the names of the files that
    count beside those that others import; all of them, where nothing is said. The paths are relative where they can be,
    so that what Snakemake remembers of them holds in another clone.

    Snakemake does not see the code behind a shell command: with these as inputs, games are played again after an edit
    of the bots, and not after one of the tables.
    """
    found: set[Path] = set()
    wanted = None if discovered is None else {*discovered, "__init__"}
    todo = [PACKAGE / "commands" / f"{command}.py" for command in commands]
    while todo:
        file = todo.pop()
        if file not in found:
            found.add(file)
            todo += _imported(file)
            todo += [path for path in _discovered(file) if wanted is None or path.stem in wanted]
    here = Path.cwd()
    return sorted(str(file.relative_to(here) if file.is_relative_to(here) else file) for file in found)


@cache
def _imported(file: Path) -> tuple[Path, ...]:
    """The package's files that a file imports or names."""
    if file.suffix != ".py":
        return ()
    text = file.read_text(encoding="utf-8")
    names: set[str] = set()
    for module, parts, alone in IMPORT.findall(ANNOTATIONS.sub("", COMMENT.sub("", text))):
        # `from cooperation.game import randomness` names a module, `from cooperation.game.vocabulary import X` a part.
        names |= {module, *(f"{module}.{part}" for part in re.findall(r"\w+", parts)), *re.findall(r"[\w.]+", alone)}
    modules = [path for name in names if name.startswith("cooperation.") for path in _files_of(name)]
    return (*modules, *(path for path in _data() if path.name in text))


@cache
def _files_of(name: str) -> tuple[Path, ...]:
    """The file of a module, if the name is one, and what the folders that it is in run when it is imported."""
    place = PACKAGE.parent.joinpath(*name.split("."))
    above = _files_of(name.rpartition(".")[0]) if PACKAGE in place.parent.parents else ()
    # Empty files, as most __init__.py, are left out.
    own = [path for path in (place.with_suffix(".py"), place / "__init__.py") if path.is_file() and path.stat().st_size]
    return (*(path for path in above if path.name == "__init__.py"), *own)


@cache
def _discovered(file: Path) -> list[Path]:
    """All modules of the folders that a file imports modules of by their file names."""
    text = file.read_text(encoding="utf-8") if file.suffix == ".py" else ""
    places = [
        file.parent if name == "{__name__}" else PACKAGE.parent.joinpath(*name.split("."))
        for name in DISCOVERY.findall(text)
    ]
    return [path for place in places for path in sorted(place.glob("*.py"))]


@cache
def _data() -> list[Path]:
    return [path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix not in (".py", ".pyc", ".typed")]


def code(command: str) -> str:
    """SHA-256 of all source files of a command: after an edit, what it was in the middle of must not be continued."""
    found = "".join(f"{Path(path).name} {digest(Path(path))}\n" for path in sources(command))
    return hashlib.sha256(found.encode()).hexdigest()


def inputs(**files: Path | None) -> dict[str, str]:
    """SHA-256 of each input file that is given, by its role."""
    return {name: digest(path) for name, path in files.items() if path}


@cache
def software() -> dict[str, str]:
    """Versions of Python and of the packages that numbers depend on, and the commit of this program."""
    packages = ("torch", "numpy", "h5py", "nltk")
    return {"python": platform.python_version(), **{name: version(name) for name in packages}, "commit": commit()}


def commit() -> str:
    """The git commit that the package is run from, with `-dirty` where files differ.

    `unknown` where the package is in no repository; also with git's reason, where it tells nothing of one.
    """
    try:
        # A repository that the package is only installed in, as in an environment, says nothing of it.
        if not _git("ls-files", "--", "."):
            return "unknown"
        return _git("describe", "--always", "--dirty", "--abbrev=40", "--exclude=*")
    except FileNotFoundError:
        return "unknown"
    except subprocess.CalledProcessError as error:
        reason = " ".join(error.stderr.partition("\n")[0].split())
        return "unknown" if "not a git repository" in reason else f"unknown ({reason})"
    except OSError as error:
        return f"unknown (git: {error.strerror})"


def _git(*words: str) -> str:
    """What git says of the package's folder, whichever repository its environment names, as within a hook."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_") or "CONFIG" in name}
    command = ["git", "-C", str(PACKAGE), *words]
    # In English, for its reasons are looked at.
    environment = {**own, "LC_ALL": "C"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout.strip()
