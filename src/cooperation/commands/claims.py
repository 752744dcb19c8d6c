"""Check the paper's statements against the results."""

import argparse
from pathlib import Path

from cooperation.commands.common import add_results, read_scores
from cooperation.data.hdf5 import read_attributes
from cooperation.games.results import read_ranks
from cooperation.reports.claims import (
    check,
    dialog_evidence,
    game_evidence,
    manual_evidence,
    paper_evidence,
    read_claims,
)
from cooperation.reports.paper import dataset_note, read_published
from cooperation.reports.statistics import readings, sizes_of
from cooperation.reports.tables import claims_to_html, claims_to_markdown, csv_text, write_each


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_results(parser, "one data set, each model's `none` too")
    parser.add_argument("--claims", type=Path, required=True, help="the statements: paper/claims.csv")
    parser.add_argument("--published", type=Path, required=True, help="the paper's values: paper/published.csv")
    parser.add_argument("--dialogs", type=Path, help="HDF5 file of dialogs, with its shares of yes and no")
    parser.add_argument(
        "--manual", type=Path, nargs="*", default=[], help="HDF5 results of `cooperation intervene`, every reading's"
    )
    parser.add_argument(
        "--out", type=Path, nargs="+", required=True, help="files to write; the ending says what: .csv .md .html"
    )


def run(arguments: argparse.Namespace) -> None:
    claims = read_claims(arguments.claims)
    scores = read_scores(arguments.results)
    evidence = game_evidence(scores, arguments.resamples, arguments.seed)
    names = readings({score.reading for score in scores})
    given = {"paper": paper_evidence(read_published(arguments.published)), "dialogs": {}}
    if arguments.dialogs:
        given["dialogs"] = dialog_evidence(read_attributes(arguments.dialogs))
    for model, found in given.items():
        evidence |= {(model, reading, name): drawn for reading in names for name, drawn in found.items()}
    evidence |= manual_evidence([read_ranks(path) for path in arguments.manual])
    dataset = scores[0].dataset
    verdicts = check(claims, evidence, names, dataset)
    note = " ".join(part for part in (sizes_of(scores), dataset_note(dataset)) if part)
    texts = {
        ".csv": lambda: csv_text(verdicts),
        ".md": lambda: claims_to_markdown(verdicts, note),
        ".html": lambda: claims_to_html(verdicts, dataset, note),
    }
    write_each(arguments.out, texts)
