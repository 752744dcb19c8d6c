"""Compare worlds and bots of known ground truth with what is expected of them."""

import argparse
from pathlib import Path

import pandas as pd

from cooperation.commands.common import add_resamples, read_games, read_scores
from cooperation.commands.outs import add_out_text
from cooperation.commands.settings import add_config, read_settings
from cooperation.config.conditions import ORACLE_CONDITIONS, ORACLE_WORLDS
from cooperation.config.interventions import read_interventions
from cooperation.io.files import InputError
from cooperation.io.writing import keep
from cooperation.reports.controls import compare, controls_table, read_expected, resample_worlds
from cooperation.reports.needed import check_condition
from cooperation.reports.scores import Scores


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_inputs(parser)
    text = "files to write; the ending says what: .csv .md .tex .html"
    add_out_text(parser, text, nargs="+", required=True)


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """What was played, and what is expected."""
    add_config(parser)
    parser.add_argument("--results", type=Path, required=True, help="folder of the results: WORLD/…")
    parser.add_argument("--expected", type=Path, required=True, help="what must come out: workflow/controls.csv")
    parser.add_argument("--interventions", type=Path, required=True, help="what its labels mean: interventions.csv")
    add_resamples(parser)


def run(arguments: argparse.Namespace) -> None:
    found, size = compared(arguments)
    controls_table(found, size).write(arguments.out)


def compared(arguments: argparse.Namespace) -> tuple[pd.DataFrame, str]:
    """Each expectation with what was found (`reports.controls.compare`), and the worlds' sizes in words."""
    expected, interventions = read_expected(arguments.expected), read_interventions(str(arguments.interventions))
    experiment = read_settings(arguments.config)
    scripted = [Path(world, f"{name}.h5") for world in ORACLE_WORLDS for name in ORACLE_CONDITIONS]
    played = [Path(game.path).relative_to("results") for world in experiment.worlds for game in experiment.games(world)]
    keep(arguments.results / path for path in (*played, *scripted))
    scores = [
        score for world in experiment.worlds for score in read_games(experiment, world, arguments.results / world)
    ]
    scores += [score for world in ORACLE_WORLDS for score in _read_scripted(arguments.results, world)]
    worlds = resample_worlds(scores, arguments.resamples, experiment.bootstrap_seed)
    return compare(expected, interventions, worlds), " ".join(f"{name}: {world.size}" for name, world in worlds.items())


def _read_scripted(results: Path, world: str) -> list[Scores]:
    """What the scripted bots of a world played. Raises `InputError` where a file is not of its name's condition."""
    scores = read_scores(results / world / f"{name}.h5" for name in ORACLE_CONDITIONS)
    for score, (name, condition) in zip(scores, ORACLE_CONDITIONS.items(), strict=True):
        if (score.dataset, score.condition) != (world, name):
            raise InputError(
                f"{score.path}: is of {score.condition!r} on {score.dataset!r}, not of the scripted bots' {name!r} on "
                f"{world!r}; play them again with `cooperation scripted`"
            )
        check_condition(score, condition)
    return scores
