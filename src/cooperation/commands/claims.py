"""Check the paper's statements against the results."""

import argparse
import os
from pathlib import Path

# As in `summarise`: the bootstrap has threads of its own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tqdm import tqdm

from cooperation.claims import (
    answer_shares,
    check,
    dialog_evidence,
    game_evidence,
    manual_evidence,
    paper_evidence,
    read_claims,
)
from cooperation.files import InputError, write_text
from cooperation.paper import dataset_note, read_published
from cooperation.results import read_ranks
from cooperation.statistics import RESAMPLES, Scores, readings
from cooperation.store import read_dialogs, read_vocabulary
from cooperation.tables import claims_to_html, claims_to_markdown


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", nargs="+", type=Path, help="HDF5 results of one data set, each model's `none` too")
    parser.add_argument("--claims", type=Path, required=True, help="the statements: paper/claims.csv")
    parser.add_argument("--published", type=Path, required=True, help="the paper's values: paper/published.csv")
    parser.add_argument("--dialogs", type=Path, help="HDF5 file of dialogs, for the shares of yes and no")
    parser.add_argument(
        "--manual", type=Path, nargs="*", default=[], help="HDF5 results of `cooperation intervene`, every reading's"
    )
    parser.add_argument(
        "--out", type=Path, nargs="+", required=True, help="files to write; the ending says what: .csv .md .html"
    )
    parser.add_argument(
        "--resamples", type=int, default=RESAMPLES, help="bootstrap samples of the dialogs (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the bootstrap (default: %(default)s)")


def run(arguments: argparse.Namespace) -> None:
    claims = read_claims(arguments.claims)
    scores = [Scores.of(path, read_ranks(path)) for path in tqdm(arguments.results, "results", disable=None)]
    sampling = (arguments.resamples, arguments.seed)
    evidence = game_evidence(scores, *sampling)
    names = readings({score.reading for score in scores})
    given = {"paper": paper_evidence(read_published(arguments.published)), "dialogs": {}}
    if arguments.dialogs:
        vocabulary = read_vocabulary(arguments.dialogs)
        for split in ("train", "val"):
            shares = answer_shares(read_dialogs(arguments.dialogs, split).answers, vocabulary)
            given["dialogs"] |= dialog_evidence(split, shares, *sampling)
    for model, found in given.items():
        evidence |= {(model, reading, name): drawn for reading in names for name, drawn in found.items()}
    evidence |= manual_evidence([read_ranks(path) for path in arguments.manual])
    dataset = scores[0].dataset
    verdicts = check(claims, evidence, names, dataset)
    for path in arguments.out:
        if path.suffix == ".csv":
            write_text(path, verdicts.to_csv(index=False, float_format="%.4f", lineterminator="\n"))
        elif path.suffix == ".md":
            write_text(path, claims_to_markdown(verdicts, dataset_note(dataset)))
        elif path.suffix == ".html":
            write_text(path, claims_to_html(verdicts, dataset, dataset_note(dataset)))
        else:
            raise InputError(f"{path}: unknown ending; choose .csv, .md or .html")
