"""A table in its four forms: CSV with all its numbers, and Markdown, LaTeX and HTML as it is printed."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import pandas as pd

from cooperation.io.files import InputError
from cooperation.io.writing import is_null, is_stream, write_text
from cooperation.reports.paper import dataset_note, interval_of, number
from cooperation.reports.templates import environment
from cooperation.reports.trainings import Estimate

TEX = {
    **{letter: f"\\{letter}" for letter in "%&_#${}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "−": "$-$",
    "×": r"$\times$",
    "→": r"$\to$",
    "–": "--",
    "…": r"\dots{}",
    "“": "``",
    "”": "''",
}
"""What LaTeX reads otherwise, or its usual fonts lack."""
NUMBER = re.compile(r"[+-]?\d+(\.\d*)?(e[+-]?\d+)?|[+-]?(nan|inf)")
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How a text begins that spreadsheets take for a formula."""


@dataclass(frozen=True)
class Cell:
    """What is printed in one place of a table.

    text: the number or the words. small: small print below it in HTML; Markdown and LaTeX print it behind the text.
    lines: what these print instead, one for each of the table's `lines`. style: CSS classes. value: what HTML sorts by.
    """

    text: str
    small: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    style: str = ""
    value: float | None = None

    def line(self, at: int) -> str:
        """What Markdown and LaTeX print in a line of the row, counted from 0."""
        if self.lines:
            return self.lines[at]
        return " ".join((self.text, *self.small)) if at == 0 else ""


def alone(trainings: float) -> tuple[str, ...]:
    """Small print of an interval of so many trainings: that one says nothing about others."""
    return ("one training",) if trainings == 1 else ()


def number_cell(found: Estimate) -> Cell:
    """A number with its 95 % interval as small print, if it has one; an en dash where there is no number (NaN)."""
    interval = () if pd.isna(found.low) else (interval_of(found.low, found.high),)
    return Cell(number(found.value), (*interval, *alone(len(found.seeds))), value=float(found.value))


@dataclass(frozen=True)
class Column:
    """The head of a column. style: CSS classes of words, such as `text`; "" where numbers stand, which are aligned."""

    title: str
    style: str = ""


@dataclass(frozen=True)
class Block:
    """Rows under one head. The first cell of a row is its label.

    heading: what the rows are about, such as a reading. section: stands once above all blocks of the same section.
    """

    heading: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    section: str = ""


@dataclass(frozen=True)
class Table:
    """One or several blocks of rows, and what must be known to read them.

    name: of its files, without ending. frame: all numbers, as the CSV has them. size: queries × candidates, in words.
    legend: what the small print of a cell is. findings: sentences that follow from the numbers. lines: names of the
    lines that a row has in Markdown and LaTeX, if it has several. sortable: whether a click on a column's head sorts.
    """

    name: str
    title: str
    blocks: tuple[Block, ...]
    frame: pd.DataFrame
    dataset: str = ""
    caption: str = ""
    size: str = ""
    legend: str = ""
    findings: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    sortable: bool = False

    @property
    def about(self) -> str:
        """The data set and how large it is, in words."""
        return f"Data set {self.dataset}: {self.size}".removesuffix(": ") if self.dataset else self.size

    @property
    def note(self) -> str:
        """What must be known of the data set; "" where nothing must."""
        return dataset_note(self.dataset) if self.dataset else ""

    @property
    def sections(self) -> list[tuple[str, list[Block]]]:
        """Title and blocks of each section."""
        return [(title, list(blocks)) for title, blocks in groupby(self.blocks, key=lambda block: block.section)]

    def csv(self) -> str:
        """All numbers, four decimals. Texts that a spreadsheet would take for a formula begin with an apostrophe."""
        frame = self.frame.map(lambda cell: f"'{cell}" if isinstance(cell, str) and _is_formula(cell) else cell)
        return frame.to_csv(index=False, float_format="%.4f", lineterminator="\n")

    def markdown(self) -> str:
        """Title and notes, then a Markdown table for each block."""
        title = f"**{self.title}**" + (f": {self.caption}" if self.caption else "")
        parts = [title, self.about, self.note, "\n".join(f"- {finding}" for finding in self.findings)]
        for section, blocks in self.sections:
            parts.append(f"**{section}**" if section else "")
            for block in blocks:
                parts += [f"*{block.heading}*" if block.heading else "", self._markdown_rows(block)]
        return "\n\n".join(filter(None, parts)) + "\n"

    def _markdown_rows(self, block: Block) -> str:
        escaped = [[text.replace("|", r"\|") for text in row] for row in self._rows(block)]
        align = ["left" if words else "right" for words in self._of_words(block)]
        frame = pd.DataFrame(escaped, columns=self._head(block))
        return str(frame.to_markdown(index=False, disable_numparse=True, colalign=align))

    def latex(self) -> str:
        r"""A `table` environment (package booktabs) with a tabular for each block."""
        caption = _tex(" ".join(filter(None, (self.caption or self.title, self.about, self.note, *self.findings))))
        label = self.name.removeprefix("table_")
        parts = [r"% needs \usepackage{booktabs}", r"\begin{table}", r"\centering\small"]
        parts += [rf"\caption{{{caption}}}", rf"\label{{tab:{label}}}"]
        for section, blocks in self.sections:
            parts += [r"\par\medskip", rf"\textbf{{{_tex(section)}}}"] if section else []
            for block in blocks:
                parts += [r"\par\medskip", rf"{_tex(block.heading)}\par\smallskip"] if block.heading else []
                parts.append(self._tabular(block))
        return "\n".join([*parts, r"\end{table}", ""])

    def _tabular(self, block: Block) -> str:
        columns = "".join("l" if words else "r" for words in self._of_words(block))
        lines = [rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
        lines += [" & ".join(map(_tex, self._head(block))) + r" \\", r"\midrule"]
        for at, row in enumerate(self._rows(block)):
            if self.lines and at and at % len(self.lines) == 0:
                lines.append(r"\addlinespace")
            lines.append(" & ".join(map(_tex, row)) + r" \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])

    def html(self) -> str:
        """A self-contained page of this table. (The macro `table` in macros.html.j2 makes what another page embeds.)"""
        return environment().get_template("table.html.j2").render(shown=self)

    def write(self, paths: Iterable[Path]) -> None:
        """Write to each path the form that its ending names, to a stream Markdown.

        Raises `InputError` for an ending that names none.
        """
        forms = {".csv": self.csv, ".md": self.markdown, ".tex": self.latex, ".html": self.html}
        for path in paths:
            form = self.markdown if not path.suffix and (is_stream(path) or is_null(path)) else forms.get(path.suffix)
            if form is None:
                *others, last = forms
                raise InputError(f"{path}: unknown ending; choose {', '.join(others)} or {last}")
            write_text(path, form())

    def _head(self, block: Block) -> list[str]:
        first, *others = (column.title for column in block.columns)
        return [first, *([""] if self.lines else []), *others]

    def _of_words(self, block: Block) -> list[bool]:
        """Whether words stand in each column that is printed as text, or numbers."""
        return [True, *([True] if self.lines else []), *(bool(column.style) for column in block.columns[1:])]

    def _rows(self, block: Block) -> Iterator[list[str]]:
        """The rows as texts; several for each row of a table with `lines`."""
        for label, *cells in block.rows:
            for at, name in enumerate(self.lines or ("",)):
                names = [name] if self.lines else []
                yield [label.line(at), *names, *(cell.line(at) for cell in cells)]


def _is_formula(text: str) -> bool:
    if not text.startswith(FORMULA):
        return False
    # Numbers, and several with blanks between them, are what they are.
    return any(not NUMBER.fullmatch(word) for word in text.split() or [text])


def _tex(text: str) -> str:
    return "".join(TEX.get(letter, letter) for letter in text)
