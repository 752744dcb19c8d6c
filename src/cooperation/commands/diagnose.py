"""Find out why: swaps beside noise, who talks, the format of facts, and the readings, condition by condition."""

import argparse
from pathlib import Path

from cooperation.commands.common import add_results, read_scores
from cooperation.games.results import read_result
from cooperation.reports.diagnostics import MODEL, TALKS, diagnose, listen
from cooperation.reports.figures import save
from cooperation.reports.findings import to_html, to_markdown
from cooperation.reports.reasons import draw_why
from cooperation.reports.statistics import sizes_of
from cooperation.reports.tables import csv_text, write_each


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_results(parser, "one data set, each model's `none` too")
    parser.add_argument(
        "--out",
        type=Path,
        nargs="+",
        required=True,
        help="files to write; the ending says what: .csv .md .html, or .pdf .svg .png",
    )


def run(arguments: argparse.Namespace) -> None:
    scores = read_scores(arguments.results)
    rows = {condition: row for row, condition in TALKS.items()}
    spoken = {}
    for score in scores:
        if score.model == MODEL and score.done in rows:
            result = read_result(score.path)
            spoken[rows[score.done], score.seed, score.reading] = (result.question_said, result.answer_said)
    diagnostics = diagnose(scores, listen(spoken), arguments.resamples, arguments.seed)
    dataset, size = scores[0].dataset, sizes_of(scores)
    texts = {
        ".csv": lambda: csv_text(diagnostics),
        ".md": lambda: to_markdown(diagnostics, dataset, size),
        ".html": lambda: to_html(diagnostics, dataset, size),
    }
    drawings = [path for path in arguments.out if path.suffix not in texts]
    write_each((path for path in arguments.out if path.suffix in texts), texts)
    for path in drawings:
        save(draw_why(diagnostics, size), path)
