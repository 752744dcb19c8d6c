"""The files that a report consists of. Needs the standard library alone, since the Snakefile asks for them."""

from cooperation.config.experiment import PUBLISHED, Experiment
from cooperation.io.files import InputError
from cooperation.reports.figures import figures_of
from cooperation.reports.played import played_rows, plays_unperturbed

SUMMARY, METRICS, PAGE, MANIFEST = "mpr.csv", "metrics.json", "index.html", "manifest.json"
TABLE_ENDINGS = ("csv", "md", "html")
PAPER_TABLE_ENDINGS = ("csv", "md", "tex", "html")
FIGURE_ENDINGS = ("pdf", "svg", "png")


def products(experiment: Experiment) -> list[str]:
    """The names of all files that `cooperation report` writes.

    Raises `InputError` where a table in `paper/` cannot be read.
    """
    files = [name for table in tables_of(experiment) for name in table_files(table)]
    files += [name for figure in figures_of(experiment) for name in figure_files(figure)]
    return [SUMMARY, METRICS, *files, PAGE, MANIFEST]


def tables_of(experiment: Experiment) -> list[str]:
    """The names of all tables: the paper's, of which at least one intervention is played, and others."""
    others = ["claims", "statistics", *(["diagnostics", "models"] if plays_unperturbed(experiment) else [])]
    return [*(f"table_{number}" for number in paper_tables(experiment)), *others]


def paper_tables(experiment: Experiment) -> list[int]:
    """The numbers of the paper's tables of which at least one intervention is played; raises as `products`."""
    tables = {row["table"] for row in played_rows(experiment, PUBLISHED, "table")}
    for table in tables:
        if not table.isdecimal():
            raise InputError(f"{PUBLISHED}: {table!r} is not the number of a table; correct it")
    return sorted(map(int, tables))


def table_files(table: str) -> list[str]:
    """The files of a table, such as `table_1`; only the paper's are written for LaTeX."""
    endings = PAPER_TABLE_ENDINGS if table.startswith("table_") else TABLE_ENDINGS
    return [f"{table}.{ending}" for ending in endings]


def figure_files(figure: str) -> list[str]:
    """The files of a figure, such as `1a`."""
    return [f"figure_{figure}.{ending}" for ending in FIGURE_ENDINGS]
