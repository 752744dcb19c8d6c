"""Print the mean percentile ranks (MPR) of any results, with 95 % intervals."""

import argparse
from pathlib import Path

from cooperation.commands.common import add_resamples, read_scores
from cooperation.commands.outs import add_out_text
from cooperation.io.writing import write_text
from cooperation.reports.conditions import conditions_table
from cooperation.reports.metrics import to_csv
from cooperation.reports.statistics import resample, summarise


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "results", nargs="+", type=Path, help="HDF5 results of one data set, each model's `none` too, such as your own"
    )
    add_resamples(parser)
    parser.add_argument("--seed", type=int, default=0, help="seed of the bootstrap (default: %(default)s)")
    add_out_text(parser, "CSV to write, too: a row a condition and round; MPR in %%")


def run(arguments: argparse.Namespace) -> None:
    summary = summarise(resample(read_scores(arguments.results), arguments.resamples, arguments.seed))
    if arguments.out:
        write_text(arguments.out, to_csv(summary))
    print(conditions_table(summary).markdown(), end="")
