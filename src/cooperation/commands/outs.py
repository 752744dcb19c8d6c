"""The flag --out of all commands, which is checked before a command does anything."""

import argparse
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from cooperation.io.files import check_readable
from cooperation.io.writing import check_file, check_folder, check_text, inputs_kept


def add_out_file(parser: argparse.ArgumentParser, text: str) -> None:
    """A file that is no text."""
    add_out(parser, check_file, text, required=True)


def add_out_text(parser: argparse.ArgumentParser, text: str, **more: Any) -> None:
    """A text, which a stream such as /dev/stdout takes, too; more: of `add_argument`."""
    add_out(parser, check_text, text, **more)


def add_out_folder(parser: argparse.ArgumentParser, text: str, **more: Any) -> None:
    """A folder, which may be new; more: of `add_argument`."""
    add_out(parser, check_folder, text, metavar="DIR", **{"required": True, **more})


def add_out(parser: argparse.ArgumentParser, check: Callable[[Path], object], text: str, **more: Any) -> None:
    """The flag, and what raises `InputError` where its path can't be written; more: of `add_argument`."""
    parser.add_argument("--out", type=Path, help=text, **more)
    parser.set_defaults(check_out=check)


def run_checked(arguments: argparse.Namespace) -> None:
    """Run a command, unless it can't write what --out names; nothing that its arguments name is overwritten.

    Raises `InputError` where it would be, and all that the command raises.
    """
    paths = {name: list(_paths(value)) for name, value in vars(arguments).items()}
    outs = paths.pop("out", [])
    for name, named in paths.items():
        for path in named:
            # Settings may come from another program, as in --config <(sed …).
            if name != "config" or not path.is_fifo():
                check_readable(path)
    with inputs_kept(path for named in paths.values() for path in named):
        for path in outs:
            arguments.check_out(path)
        arguments.run(arguments)


def check_files(folder: Path, names: Iterable[str]) -> None:
    """Raise `InputError` where one of the files that a command writes to a folder can't be written."""
    for name in names:
        check_file(folder / name)


def _paths(value: object) -> Iterable[Path]:
    many = value if isinstance(value, list | tuple) else [value]
    return (path for path in many if isinstance(path, Path))
