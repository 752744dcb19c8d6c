"""The page of a test: what was played, and what came out."""

from html import escape
from pathlib import Path

from cooperation.evaluation.results import read_ranks
from cooperation.evaluation.tested import read_tested
from cooperation.io.writing import write_text

CARD = ("index.html", "card.csv")
"""What is written."""


def write_card(out: Path) -> None:
    """Write index.html and card.csv into the folder of a test; raises `InputError` where a result is not the test's."""
    tested = read_tested(out)
    tested.check_results(out)
    rows = [
        (played.file.removesuffix(".h5"), f"{read_ranks(out / played.file).percentiles[:, -1].mean():.2f}")
        for played in tested.played
        if played.file
    ]
    write_text(out / "card.csv", "\n".join(["condition,mpr", *map(",".join, rows)]) + "\n")
    items = "\n".join(f"<li>{escape(name)}: {mpr}</li>" for name, mpr in rows)
    write_text(out / "index.html", f"<!doctype html>\n<title>{escape(tested.model)}</title>\n<ul>\n{items}\n</ul>\n")
