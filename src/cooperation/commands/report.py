"""Join tables and figures into one self-contained page."""

import argparse
import re
from pathlib import Path

from cooperation.data.store import read_vocabulary
from cooperation.files import InputError, write_text
from cooperation.games.results import read_result
from cooperation.reports.claims import read_verdicts
from cooperation.reports.corpus import read_statistics
from cooperation.reports.diagnostics import read_diagnostics
from cooperation.reports.page import Source, render
from cooperation.reports.paper import FIGURES, TABLES
from cooperation.reports.statistics import only_dataset, read_summary
from cooperation.reports.tables import read_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--summary", type=Path, required=True, help="CSV that `cooperation summarise` wrote")
    parser.add_argument("--tables", type=Path, nargs="*", default=[], help="CSVs of `cooperation table`: table_1.csv …")
    parser.add_argument(
        "--figures", type=Path, nargs="*", default=[], help="SVGs of `cooperation figure`: figure_1a.svg …"
    )
    parser.add_argument("--claims", type=Path, help="CSV of `cooperation claims`")
    parser.add_argument("--statistics", type=Path, help="CSV of `cooperation corpus`")
    parser.add_argument("--why", type=Path, help="CSV of `cooperation diagnose`")
    parser.add_argument("--why-figure", type=Path, help="SVG of `cooperation diagnose`")
    parser.add_argument(
        "--results",
        type=Path,
        nargs="*",
        default=[],
        help="HDF5 results, the control first: what was run, and a dialog under each condition of the first's model",
    )
    parser.add_argument(
        "--manual", type=Path, nargs="*", default=[], help="HDF5 results of `cooperation intervene`: figure_2.h5 …"
    )
    parser.add_argument("--manual-figures", type=Path, nargs="*", default=[], help="their SVGs, in the same order")
    parser.add_argument("--dialogs", type=Path, help="HDF5 file of dialogs: the words of those transcripts")
    parser.add_argument("--out", type=Path, required=True, help="HTML page to write; it needs no other file")


def run(arguments: argparse.Namespace) -> None:
    summary = read_summary(arguments.summary)
    only_dataset(summary, arguments.summary)
    tables = {int(_name(path, TABLES)): Source(path, read_table(path)) for path in arguments.tables}
    figures = {_name(path, FIGURES): Source(path, _read_text(path)) for path in arguments.figures}
    results = [Source(path, read_result(path)) for path in arguments.results]
    vocabulary = read_vocabulary(arguments.dialogs) if arguments.dialogs else None
    claims = Source(arguments.claims, read_verdicts(arguments.claims)) if arguments.claims else None
    why = Source(arguments.why, read_diagnostics(arguments.why)) if arguments.why else None
    drawn = Source(arguments.why_figure, _read_text(arguments.why_figure)) if arguments.why_figure else None
    manual = _manual(arguments.manual, arguments.manual_figures)
    counted = Source(arguments.statistics, read_statistics(arguments.statistics)) if arguments.statistics else None
    page = render(
        Source(arguments.summary, summary), tables, figures, results, vocabulary, claims, why, drawn, manual, counted
    )
    write_text(arguments.out, page)


def _name(path: Path, known: object) -> str:
    """The paper's number of the table or figure in a file named like `table_1.csv`."""
    found = re.search(r"_(\w+)$", path.stem)
    names = [str(name) for name in known]  # type: ignore[attr-defined]
    if not found or found[1] not in names:
        raise InputError(f"{path}: the name must end in _ and one of {', '.join(names)}, as in {path.suffix}")
    return found[1]


def _manual(results: list[Path], figures: list[Path]) -> list[tuple[Source, Source]]:
    """Each manual intervention's result and its figure."""
    if [path.stem for path in results] != [path.stem for path in figures]:
        raise InputError("--manual and --manual-figures must name the same figures in the same order")
    return [
        (Source(path, read_result(path)), Source(figure, _read_text(figure)))
        for path, figure in zip(results, figures, strict=True)
    ]


def _read_text(path: Path) -> str:
    if not path.exists():
        raise InputError(f"{path}: no such file; make it with `cooperation figure`")
    return path.read_text(encoding="utf-8")
