"""Compare worlds and bots of known ground truth with what is expected of them."""

import argparse
from pathlib import Path

import pandas as pd

from cooperation.commands.common import add_resamples, read_scores
from cooperation.commands.settings import add_config, read_settings
from cooperation.config.conditions import ORACLE_CONDITIONS
from cooperation.reports.controls import compare, controls_table, read_expected, resample_worlds


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    parser.add_argument(
        "--out", type=Path, nargs="+", required=True, help="files to write; the ending says what: .csv .md .tex .html"
    )


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """What was played, and what is expected."""
    add_config(parser)
    parser.add_argument("--results", type=Path, required=True, help="folder of the results: WORLD/…, scripted/…")
    parser.add_argument("--expected", type=Path, required=True, help="what must come out: workflow/controls.csv")
    add_resamples(parser)


def run(arguments: argparse.Namespace) -> None:
    found, size = compared(arguments)
    controls_table(found, size).write(arguments.out)


def compared(arguments: argparse.Namespace) -> tuple[pd.DataFrame, str]:
    """Each expectation with what was found (`reports.controls.compare`), and the worlds' sizes in words."""
    expected, experiment = read_expected(arguments.expected), read_settings(arguments.config)
    scripted = [Path("scripted", f"{name}.h5") for name in ORACLE_CONDITIONS]
    played = [Path(game.path).relative_to("results") for world in experiment.worlds for game in experiment.games(world)]
    scores = read_scores(arguments.results / path for path in (*played, *scripted))
    worlds = resample_worlds(scores, arguments.resamples, experiment.bootstrap_seed)
    return compare(expected, worlds), " ".join(f"{name}: {world.size}" for name, world in worlds.items())
