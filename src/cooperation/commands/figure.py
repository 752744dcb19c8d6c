"""Draw one of the paper's figures."""

import argparse
from pathlib import Path

from cooperation.figures import draw, save
from cooperation.paper import FIGURES
from cooperation.statistics import only_dataset, read_summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("figure", choices=FIGURES, help="name of the figure in the paper")
    parser.add_argument("--summary", type=Path, required=True, help="CSV that `cooperation summarise` wrote")
    parser.add_argument(
        "--out", type=Path, nargs="+", required=True, help="files to write; the ending says what: .pdf .svg .png"
    )


def run(arguments: argparse.Namespace) -> None:
    summary = read_summary(arguments.summary)
    only_dataset(summary, arguments.summary)
    figure = draw(summary, arguments.figure)
    for path in arguments.out:
        save(figure, path)
