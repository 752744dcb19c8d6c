"""The files that a report consists of. Needs the standard library alone, since the Snakefile asks for them."""

from cooperation.config.experiment import PUBLISHED, Experiment
from cooperation.io.files import InputError
from cooperation.reports.figures import figures_of
from cooperation.reports.played import is_played, plays_unperturbed, read_rows

SUMMARY, METRICS, PAGE = "mpr.csv", "metrics.json", "index.html"
TABLE_ENDINGS = ("csv", "md", "html")
PAPER_TABLE_ENDINGS = ("csv", "md", "tex", "html")
FIGURE_ENDINGS = ("pdf", "svg", "png")


def products(experiment: Experiment) -> list[str]:
    """The names of all files that `cooperation report` writes.

    Raises `InputError` where a table in `paper/` cannot be read.
    """
    files = [name for table in tables_of(experiment) for name in table_files(table)]
    files += [name for figure in figures_of(experiment) for name in figure_files(figure)]
    return [SUMMARY, METRICS, *files, PAGE]


def tables_of(experiment: Experiment) -> list[str]:
    """The names of all tables: the paper's, of which at least one condition is played, and others."""
    others = ["claims", "statistics", *(["diagnostics", "models"] if plays_unperturbed(experiment) else [])]
    return [*(f"table_{number}" for number in paper_tables(experiment)), *others]


def paper_tables(experiment: Experiment) -> list[int]:
    """The numbers of the paper's tables of which at least one condition is played; raises as `products`."""
    rows = read_rows(PUBLISHED, ("table", "model", "condition"))
    for row in rows:
        if not row["table"].isdecimal():
            raise InputError(f"{PUBLISHED}: {row['table']!r} is not the number of a table; correct it")
    return sorted({int(row["table"]) for row in rows if is_played(experiment, row["model"], row["condition"])})


def table_files(table: str) -> list[str]:
    """The files of a table, such as `table_1`; only the paper's are written for LaTeX."""
    endings = PAPER_TABLE_ENDINGS if table.startswith("table_") else TABLE_ENDINGS
    return [f"{table}.{ending}" for ending in endings]


def figure_files(figure: str) -> list[str]:
    """The files of a figure, such as `1a`."""
    return [f"figure_{figure}.{ending}" for ending in FIGURE_ENDINGS]
