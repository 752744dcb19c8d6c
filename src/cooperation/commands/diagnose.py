"""Find out why: swaps beside noise, who talks, the format of facts, and the readings, condition by condition."""

import argparse
import json
import os
from pathlib import Path

# As in `summarise`: the bootstrap has threads of its own.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from tqdm import tqdm

from cooperation.diagnostics import MODEL, TALKS, diagnose, listen
from cooperation.experiments import Condition
from cooperation.figures import save
from cooperation.files import InputError, write_text
from cooperation.findings import to_html, to_markdown
from cooperation.reasons import draw_why
from cooperation.results import Result, read_ranks, read_result
from cooperation.statistics import RESAMPLES, Scores


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("results", nargs="+", type=Path, help="HDF5 results of one data set, each model's `none` too")
    parser.add_argument(
        "--out",
        type=Path,
        nargs="+",
        required=True,
        help="files to write; the ending says what: .csv .md .html, or .pdf .svg .png",
    )
    parser.add_argument(
        "--resamples", type=int, default=RESAMPLES, help="bootstrap samples of the dialogs (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the bootstrap (default: %(default)s)")


def run(arguments: argparse.Namespace) -> None:
    scores, conditions, spoken = [], {}, {}
    rows = {condition: row for row, condition in TALKS.items()}
    for path in tqdm(arguments.results, "results", disable=None):
        ranks = read_ranks(path)
        score, condition = Scores.of(path, ranks), _condition(path, ranks)
        scores.append(score)
        conditions[score.model, score.condition] = condition
        if score.model == MODEL and condition in rows:
            result = read_result(path)
            spoken[rows[condition], score.seed, score.reading] = (result.question_said, result.answer_said)
    diagnostics = diagnose(scores, conditions, listen(spoken), arguments.resamples, arguments.seed)
    dataset = scores[0].dataset
    for path in arguments.out:
        if path.suffix == ".csv":
            write_text(path, diagnostics.to_csv(index=False, float_format="%.4f", lineterminator="\n"))
        elif path.suffix == ".md":
            write_text(path, to_markdown(diagnostics, dataset))
        elif path.suffix == ".html":
            write_text(path, to_html(diagnostics, dataset))
        else:
            save(draw_why(diagnostics), path)


def _condition(path: Path, result: Result) -> Condition:
    """What was done, from the result's own settings."""
    try:
        return Condition(**json.loads(result.attributes["settings"]))
    except (TypeError, ValueError) as error:
        raise InputError(f"{path}: its settings are of another version ({error}); play it again") from error
