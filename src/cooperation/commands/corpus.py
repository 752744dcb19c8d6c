"""Count what the dialogs of a data set are made of, beside what the paper states of its own."""

import argparse
from pathlib import Path

from cooperation.data.hdf5 import read_attributes
from cooperation.data.store import read_vocabulary
from cooperation.reports import corpus
from cooperation.reports.claims import read_claims
from cooperation.reports.tables import csv_text, write_each


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dialogs", type=Path, required=True, help="HDF5 file of dialogs, with its counts")
    parser.add_argument("--claims", type=Path, required=True, help="the paper's statements: paper/claims.csv")
    parser.add_argument("--dataset", required=True, help="name of the data set")
    parser.add_argument(
        "--out", type=Path, nargs="+", required=True, help="files to write; the ending says what: .csv .md .html"
    )


def run(arguments: argparse.Namespace) -> None:
    counts = read_attributes(arguments.dialogs)
    words = len(read_vocabulary(arguments.dialogs).words)
    statistics = corpus.describe(counts, words, read_claims(arguments.claims))
    texts = {
        ".csv": lambda: csv_text(statistics),
        ".md": lambda: corpus.to_markdown(statistics, arguments.dataset),
        ".html": lambda: corpus.to_html(statistics, arguments.dataset),
    }
    write_each(arguments.out, texts)
