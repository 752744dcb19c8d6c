"""Set models that `cooperation test` tested side by side: a table and a figure."""

import argparse
import sys
from pathlib import Path

from cooperation.commands.outs import add_out_folder, check_files
from cooperation.evaluation.tested import FILE
from cooperation.io.files import InputError
from cooperation.reports.bootstrap import RESAMPLES
from cooperation.reports.drawing import save
from cooperation.reports.side_by_side import compared, figure, read_folders, table

FORMS, PICTURES = (".csv", ".md", ".html"), (".svg", ".pdf", ".png")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("tests", type=Path, nargs="+", metavar="DIR", help="folders that `cooperation test --out` made")
    parser.add_argument(
        "--resamples", type=int, default=RESAMPLES, metavar="INT", help="bootstrap samples (default: %(default)s)"
    )
    add_out_folder(parser, "folder of compared.csv, .md and .html, and the figure compared.svg, .pdf and .png")


def run(arguments: argparse.Namespace) -> None:
    files = [f"compared{ending}" for ending in (*FORMS, *PICTURES)]
    check_files(arguments.out, files)
    if gone := [path for path in arguments.tests if not path.exists()]:
        raise InputError(f"{gone[0]}: no such folder; correct its name")
    tested = [path for path in arguments.tests if (path / FILE).is_file()]
    for path in arguments.tests:
        if path not in tested:
            print(f"{path}: no {FILE}, so no test of a model; left out", file=sys.stderr)
    if not tested:
        raise InputError(f"{arguments.tests[0]}: no {FILE} there, nor in the others; run `cooperation test` first")
    resampled, numbers = compared(read_folders(tested), arguments.resamples)
    table(resampled, numbers).write([arguments.out / f"compared{ending}" for ending in FORMS])
    drawn = figure(resampled, numbers)
    for ending in PICTURES:
        save(drawn, arguments.out / f"compared{ending}")
    print(arguments.out / "compared.html")
