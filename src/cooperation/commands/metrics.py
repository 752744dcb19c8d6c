"""Pick the mean percentile ranks that are compared between versions: each condition's at the start, early and late."""

import argparse
import json
from pathlib import Path

from cooperation.files import write_text
from cooperation.reports.statistics import across_seeds, only_dataset, read_summary

ROUNDS = (0, 1, 10)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--summary", type=Path, required=True, help="CSV that `cooperation summarise` wrote")
    parser.add_argument(
        "--out", type=Path, required=True, help=f"JSON to write: MPR in %% after rounds {', '.join(map(str, ROUNDS))}"
    )


def run(arguments: argparse.Namespace) -> None:
    summary = read_summary(arguments.summary)
    only_dataset(summary, arguments.summary)
    summary = across_seeds(summary)
    found: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for row in summary[summary["round"].isin(ROUNDS)].itertuples():
        conditions = found.setdefault(str(row.model), {}).setdefault(str(row.reading), {})
        conditions.setdefault(str(row.condition), {})[f"round {row.round}"] = float(str(row.mpr))
    write_text(arguments.out, json.dumps(found, indent=1) + "\n")
