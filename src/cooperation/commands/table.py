"""Print one of the paper's tables beside ours."""

import argparse
from pathlib import Path

from cooperation.reports import tables
from cooperation.reports.paper import TABLES, read_published
from cooperation.reports.statistics import only_dataset, read_summary, sizes


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
    given = (frame, arguments.table, dataset, sizes(summary))
    texts = {
        ".csv": lambda: tables.to_csv(frame),
        ".md": lambda: tables.to_markdown(*given),
        ".tex": lambda: tables.to_latex(*given),
        ".html": lambda: tables.to_html(*given),
    }
    tables.write_each(arguments.out, texts)
