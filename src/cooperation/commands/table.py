"""Print one of the paper's tables beside ours."""

import argparse
from pathlib import Path

from cooperation import tables
from cooperation.files import InputError, write_text
from cooperation.paper import TABLES, read_published
from cooperation.statistics import only_dataset, read_summary, sizes

RENDER = {".md": tables.to_markdown, ".tex": tables.to_latex, ".html": tables.to_html}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("table", type=int, choices=TABLES, help="number of the table in the paper")
    parser.add_argument("--summary", type=Path, required=True, help="CSV that `cooperation summarise` wrote")
    parser.add_argument("--published", type=Path, required=True, help="the paper's values: paper/published.csv")
    parser.add_argument(
        "--out", type=Path, nargs="+", required=True, help="files to write; the ending says what: .csv .md .tex .html"
    )


def run(arguments: argparse.Namespace) -> None:
    summary = read_summary(arguments.summary)
    dataset = only_dataset(summary, arguments.summary)
    frame = tables.compare(read_published(arguments.published), summary, arguments.table)
    for path in arguments.out:
        if path.suffix == ".csv":
            write_text(path, tables.to_csv(frame))
        elif path.suffix in RENDER:
            write_text(path, RENDER[path.suffix](frame, arguments.table, dataset, sizes(summary)))
        else:
            raise InputError(f"{path}: unknown ending; choose .csv, .md, .tex or .html")
