"""Play the scripted bots, whose ranks are known, under every intervention."""

import argparse

from cooperation.commands.outs import add_out_folder, check_files
from cooperation.config.conditions import ORACLE_CONDITIONS, ORACLE_WORLDS
from cooperation.evaluation.oracle import play_oracles
from cooperation.evaluation.results import write_result


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_out_folder(parser, "folder of the results WORLD/CONDITION.h5")


def run(arguments: argparse.Namespace) -> None:
    check_files(arguments.out, (f"{world}/{name}.h5" for world in ORACLE_WORLDS for name in ORACLE_CONDITIONS))
    for world in ORACLE_WORLDS:
        for name, result in play_oracles(world).items():
            write_result(arguments.out / world / f"{name}.h5", result)
