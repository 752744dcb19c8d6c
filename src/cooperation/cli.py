"""The command `cooperation`: one subcommand for each step from raw files to the report."""

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
from cooperation.commands.outs import run_checked
from cooperation.io.files import InputError, out_of_memory, refusal
from cooperation.io.surroundings import provide
from cooperation.io.text import visible

# Only the chosen command's module is imported, so a table never waits for torch.
COMMANDS = {
    "check": "list what a data set needs, what is there and what is missing",
    "miniature": "make the made-up world: dialogs and pictures in the layout of VisDial 0.9 and COCO",
    "genuine": "make stand-in pictures for VisDial 1.0 dialogs",
    "download": "download one file, checked, or accept the one that is there",
    "encode": "turn the dialogs of a source into token ids, one HDF5 file",
    "extract": "run VGG-16 over pictures (fc7, 4096 features a picture)",
    "normalise": "join and normalise features, one HDF5 file",
    "verify": "compare a data set's dialogs and features with the settings",
    "train": "train the questioner and the answerer",
    "conform": "check whether bots of your own keep to the rules of the game",
    "compare": "set tested models side by side",
    "test": "test bots of your own: whether they keep to the rules, all conditions, and one page of it",
    "play": "play the game under each of some conditions and rank every guess",
    "intervene": "play one dialog without and with a manual intervention",
    "summarise": "print the mean percentile ranks of any results, with 95 % intervals",
    "scripted": "play scripted bots whose outcome is known",
    "controls": "compare worlds and bots of known ground truth with what is expected of them",
    "confirm": "fail where a control has another outcome than expected",
    "provenance": "show where files come from: commit, versions, settings, inputs, device",
    "report": "make every table, figure and claim from the results, and one page of all",
}
LOWER = {
    "extract": "--batch or --workers",
    "train": "--batch, --hidden, --embedding or --layers",
    "play": "--batch or --candidates",
    "intervene": "--candidates",
    "miniature": "--pixels, --train or --val",
    "summarise": "--resamples",
    "controls": "--resamples",
    "report": "--resamples",
}
"""What takes less memory, by command."""


def main() -> None:
    """Run the command that the command line names; bad input is one line on standard error and exit code 2."""
    provide()
    # Figures are drawn without a window. A backend that a notebook asks for need not be there. Read by matplotlib.
    os.environ["MPLBACKEND"] = "agg"
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
    chosen = next((word for word in sys.argv[1:] if not word.startswith("-")), None)
    who = f"cooperation {chosen or ''}".rstrip()
    try:
        arguments = _arguments(chosen)
        run_checked(arguments)
        # What can't be written is found out here, before Python would at its end.
        print(end="", flush=True)
    except BrokenPipeError:
        if not stat.S_ISFIFO(os.fstat(sys.stdout.fileno()).st_mode):
            raise
        # The reader, such as `| head`, has seen enough; the code is a shell's.
        _end(141)
    except (InputError, OSError) as error:
        refused = refusal(error, error.filename or "a file") if isinstance(error, OSError) else error
        if refused is None:
            raise
        print(f"{who}: {visible(str(refused))}", file=sys.stderr)
        _end(2)
    except (MemoryError, RuntimeError) as error:
        if not out_of_memory(error):
            raise
        lower = LOWER.get(chosen or "", "what is done at a time")
        print(f"{who}: not enough memory; lower {lower}, or take a machine with more", file=sys.stderr)
        _end(2)
    except KeyboardInterrupt:
        print(f"{who}: stopped; the same command goes on", file=sys.stderr)
        # The code that a shell gives.
        sys.exit(130)


def _end(code: int) -> NoReturn:
    """End; what stdout holds and can't take goes nowhere, or Python would complain of it at its end."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _arguments(chosen: str | None) -> argparse.Namespace:
    """The command line, as the chosen command's parser reads it; `run` is what to do with it."""
    parser = argparse.ArgumentParser(prog="cooperation", description=__doc__)
    parser.add_argument("--version", action="version", version=__version__)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, summary in COMMANDS.items():
        command = subparsers.add_parser(
            name, help=summary.replace("%", "%%"), description=f"{summary[0].upper()}{summary[1:]}."
        )
        if name == chosen:
            module = _module(name)
            module.add_arguments(command)
            command.set_defaults(run=module.run)
    return parser.parse_args()


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
