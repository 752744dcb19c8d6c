"""Play the scripted bots, whose ranks are known, under every intervention."""

import argparse
from pathlib import Path

from cooperation.evaluation.oracle import play_oracles
from cooperation.evaluation.results import write_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--out", type=Path, required=True, help="folder of the results CONDITION.h5")


def run(arguments: argparse.Namespace) -> None:
    for name, result in play_oracles().items():
        write_result(arguments.out / f"{name}.h5", result)
