"""Play the scripted bots, whose outcome is known, under every intervention."""

import argparse
from pathlib import Path

from cooperation.conditions import ORACLE_CONDITIONS
from cooperation.files import InputError
from cooperation.games.oracle import play_oracles
from cooperation.games.results import write_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--out",
        type=Path,
        nargs="+",
        required=True,
        help=f"results (HDF5) to write, named after their conditions: {', '.join(ORACLE_CONDITIONS)}",
    )


def run(arguments: argparse.Namespace) -> None:
    for path in arguments.out:
        if path.stem not in ORACLE_CONDITIONS:
            raise InputError(f"{path}: no condition of the oracles; choose from {', '.join(ORACLE_CONDITIONS)}")
    results = play_oracles()
    for path in arguments.out:
        write_result(path, results[path.stem])
