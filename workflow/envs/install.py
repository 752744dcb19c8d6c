"""Install what `make` needs into .venv: `installed` for the workflow, `extras` for sharing, a cluster and the tests.

Run by any Python, which may be an old one or lack everything.
"""

import fcntl
import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

PYTHON = (3, 11)
# Those that scripts of an environment, its search path or Snakemake read as something else.
FORBIDDEN = set('"$`\\:{}\n')
NEEDS = {
    "installed": ("requirements.txt", "Installing Python packages into .venv: 5.5 GB with PyTorch, minutes"),
    "extras": (
        "requirements-extras.txt",
        "Installing what tests, clusters and shared results need into .venv: a minute",
    ),
}
# A user's own settings of pip that lead elsewhere than into the environment.
ELSEWHERE = ("PIP_TARGET", "PIP_PREFIX", "PIP_ROOT", "PYTHONPATH", "PYTHONHOME")


def problem(folder):
    """What keeps an environment from being made in a folder, in a line; "" where nothing does."""
    if sys.version_info[:2] < PYTHON:
        return "Python 3.11 or newer is needed: make PYTHON=/path/to/python3.11"
    odd = sorted(FORBIDDEN.intersection(str(folder)))
    if odd:
        return f"{folder}: its path has {' '.join(odd)!r}, which Python's environments or Snakemake misread; move it"
    return ""


@contextmanager
def alone(folder):
    """Wait until no other `make` installs into the same environment; the lock ends with its process."""
    folder.mkdir(exist_ok=True)
    with (folder / "lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("Another make installs into .venv: waiting for it", file=sys.stderr, flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        except OSError:
            # Not every file system has locks.
            pass
        yield


def run(*words):
    """Run a command in which pip installs into the environment; its failure ends this program."""
    own = {name: value for name, value in os.environ.items() if name not in ELSEWHERE}
    # What pip.conf says of `user` counts less; setuptools writes this folder's path in the encoding of the locale.
    own |= {"PIP_USER": "0", "LC_ALL": "C.UTF-8"}
    code = subprocess.run(words, env=own, check=False).returncode
    if code:
        sys.exit(code)


def install(what, environment=Path(".venv")):
    """Bring the environment up to date, unless another process has."""
    needs, text = NEEDS[what]
    stamp, python = environment / what, environment / "bin/python"
    with alone(environment):
        newest = max(Path(name).stat().st_mtime for name in (needs, "pyproject.toml"))
        if stamp.exists() and stamp.stat().st_mtime >= newest:
            return
        print(f"{text}, without a word until it is done", file=sys.stderr, flush=True)
        if what == "installed":
            run(sys.executable, "-m", "venv", environment)
        run(python, "-m", "pip", "install", "--quiet", "--require-hashes", "-r", needs)
        if what == "installed":
            run(python, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation", "-e", ".")
            lead_to_sources(environment)
        stamp.touch()


def lead_to_sources(environment):
    """Say by a relative path where the package's sources are.

    Python 3.11 does not start in the locale C where setuptools has written a path with letters beyond ASCII.
    """
    for path in environment.glob("lib/python*/site-packages/__editable__*.pth"):
        path.write_text(os.path.relpath("src", path.parent) + "\n")


if __name__ == "__main__":
    if found := problem(Path.cwd()):
        sys.exit(found)
    install(sys.argv[1])
