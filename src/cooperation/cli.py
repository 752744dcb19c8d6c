"""The command `cooperation`: one subcommand a step, or several steps one after another in one process."""

import argparse
import gc
import io
import os
import signal
import stat
import sys
import time
from contextlib import suppress
from importlib import import_module
from threading import Thread
from types import ModuleType
from typing import NoReturn

from cooperation import __version__
from cooperation.files import InputError, refusal
from cooperation.text import visible

# Only the chosen command's module is imported, so a table never waits for torch.
COMMANDS = {
    "check": "list what a data set needs, what is there and what is missing",
    "miniature": "make the made-up world: dialogs and pictures in the layout of VisDial 0.9 and COCO",
    "genuine": "make a data set of VisDial 1.0 dialogs and stand-in pictures",
    "download": "download one file, checked, or accept the one that is there",
    "encode": "tokenise VisDial JSON into one HDF5 file of dialogs",
    "adopt": "turn the authors' preprocessed dialogs into our file of dialogs",
    "extract": "run VGG-16 over the images of an archive (fc7, 4096 numbers an image)",
    "normalise": "join extracted features into one normalised file",
    "train": "train the questioner and the answerer",
    "play": "play the game under each of some conditions and rank every guess",
    "intervene": "play one dialog without and with a manual intervention",
    "summarise": "average the ranks of all conditions into one table",
    "metrics": "pick the numbers that `dvc metrics` compares between versions",
    "table": "print one of the paper's tables beside ours",
    "figure": "draw one of the paper's figures",
    "claims": "check the paper's statements against the results",
    "diagnose": "find out why: swaps beside noise, who talks, the format of facts, the readings",
    "corpus": "count dialogs, words, lengths, yes and no of a data set",
    "weights": "compare bots trained with different weights of the image loss",
    "scripted": "play scripted bots whose outcome is known",
    "controls": "set what was found beside what was expected where the truth is known",
    "confirm": "fail where what was found is not what was expected",
    "provenance": "say where files come from: commit, versions, settings, inputs, device, time",
    "report": "join tables and figures into one page",
}
# What a step ends with that another follows: starting Python and importing packages takes longer than a short step.
THEN = "then"


def main() -> None:
    """Run the steps that the command line names; bad input is one line on standard error and exit code 2."""
    # Threads that spin while they wait slow each other down where jobs share cores. Read when torch is imported.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    # The bootstrap has threads of its own; matrix products that start more of them wait for each other (three times
    # slower). Read when NumPy is imported; Snakemake sets it to the number of the job's threads.
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    if runner := os.environ.get("COOPERATION_RUNNER"):
        Thread(target=_end_with, args=[int(runner)], daemon=True).start()
    if isinstance(sys.stdout, io.TextIOWrapper):
        # A terminal that lacks a letter gets its number.
        sys.stdout.reconfigure(errors="backslashreplace")
    who, steps = "cooperation", []
    try:
        # All are read before the first begins.
        for words in _steps(sys.argv[1:]):
            chosen = next((word for word in words if not word.startswith("-")), None)
            who = f"cooperation {chosen or ''}".rstrip()
            steps.append(_arguments(chosen, words))
        for number, arguments in enumerate(steps, 1):
            who = f"cooperation {arguments.command}" + (f", step {number} of {len(steps)}" if len(steps) > 1 else "")
            arguments.run(arguments)
        # What can't be written is found out here, before Python would at its end.
        print(end="", flush=True)
    except BrokenPipeError:
        if not stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode):
            raise
        # The reader, such as `| head`, has seen enough. As a shell says it.
        _end(141)
    except (InputError, OSError) as error:
        refused = refusal(error, error.filename or "a file") if isinstance(error, OSError) else error
        if refused is None:
            raise
        print(f"{who}: {visible(str(refused))}", file=sys.stderr)
        _end(2)
    except KeyboardInterrupt:
        print(f"{who}: stopped; the same command goes on", file=sys.stderr)
        # As a shell says it.
        sys.exit(130)


def _end(code: int) -> NoReturn:
    """End; what stdout holds and can't take goes nowhere, or Python would complain of it at its end."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _steps(words: list[str]) -> list[list[str]]:
    """The words of each step."""
    ends = [place for place, word in enumerate(words) if word == THEN]
    steps = [words[start:end] for start, end in zip([0, *(end + 1 for end in ends)], [*ends, len(words)], strict=True)]
    if ends and not all(steps):
        raise InputError(f"a command is missing before or after {THEN!r}; a value that is this word is --FLAG={THEN}")
    return steps


def _arguments(chosen: str | None, words: list[str]) -> argparse.Namespace:
    """The words of a step, as the chosen command's parser reads them; `run` is what to do with them."""
    parser = argparse.ArgumentParser(
        prog="cooperation",
        description=__doc__,
        epilog=f"COMMAND … {THEN} COMMAND … runs several in one process, until one of them fails; "
        f"a value that is this word is --FLAG={THEN}.",
    )
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = subparsers.add_parser(name, help=summary, description=f"{summary[0].upper()}{summary[1:]}.")
        if name == chosen:
            module = _module(name)
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser.parse_args(words)


def _module(command: str) -> ModuleType:
    # Packages make more than a hundred thousand objects, which stay to the end. Looking for garbage among them, while
    # they are made, later and at the end, takes a third as long again as importing torch.
    gc.disable()
    try:
        return import_module(f"cooperation.commands.{command}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("cooperation"):
            raise
        print(
            f"cooperation {command}: {sys.executable} lacks the package {error.name}; `make` builds an environment "
            "that has all, and `. .venv/bin/activate` enters it",
            file=sys.stderr,
        )
        sys.exit(2)
    finally:
        gc.freeze()
        gc.enable()


def _end_with(runner: int) -> None:
    """End this process when the one that runs the workflow has ended.

    Killed by SIGKILL it ends none of its jobs, and the next run would meet them at the same files.
    """
    with suppress(ProcessLookupError):
        while True:
            # One of another user is as alive.
            with suppress(PermissionError):
                os.kill(runner, 0)
            time.sleep(1)
    os.kill(os.getpid(), signal.SIGTERM)
