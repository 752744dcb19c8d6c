"""A table in its four forms."""

import numpy as np
import pandas as pd
import pytest

from cooperation.io.files import InputError
from cooperation.reports.table import Block, Cell, Column, Table, number_cell
from cooperation.reports.trainings import Estimate

COLUMNS = (Column("Row", "claim"), Column("A"), Column("Words", "text source"))
ROWS = (
    (Cell("first"), number_cell(Estimate(3.04, 2.1, 4.0, (1, 2), (3.0, 3.1))), Cell("a|b & 5 %", style="verdict")),
    (Cell("<b>"), number_cell(Estimate(float("nan"), float("nan"), float("nan"))), Cell("–")),
)


def made(**changes):
    given = {
        "name": "table_9",
        "title": "Table 9",
        "blocks": (
            Block("Reading written", COLUMNS, ROWS, "Model x"),
            Block("Reading released", COLUMNS, ROWS, "Model x"),
        ),
        "frame": pd.DataFrame({"a": ["first", "<b>"], "value": [3.04, np.nan]}),
        "dataset": "miniature",
        "size": "5 queries × 9 candidates.",
        "legend": "What the small print is.",
    }
    return Table(**{**given, **changes})


def test_csv_has_all_numbers():
    assert made().csv() == "a,value\nfirst,3.0400\n<b>,\n"


def test_markdown_aligns_numbers_and_keeps_bars():
    lines = made(findings=("One.", "Two.")).markdown().splitlines()
    assert lines[0] == "**Table 9**"
    assert lines[2] == "Data set miniature: 5 queries × 9 candidates."
    assert "not expected to match" in lines[4]
    assert lines[6:8] == ["- One.", "- Two."]
    assert [line for line in lines if line.startswith("*")][1:] == [
        "**Model x**",
        "*Reading written*",
        "*Reading released*",
    ]
    table = [line for line in lines if line.startswith("|")]
    assert table[:4] == [
        "| Row   |              A | Words      |",
        "|:------|---------------:|:-----------|",
        r"| first | 3.0 [2.1, 4.0] | a\|b & 5 % |",
        "| <b>   |              – | –          |",
    ]
    assert len(table) == 8
    assert "small print" not in "\n".join(lines)


def test_a_row_may_have_lines_where_there_is_no_small_print():
    rows = ((Cell("r", lines=("r", "")), Cell("2.0", ("[1, 3]",), ("5.0", "2.0")), Cell("")),)
    table = made(lines=("paper", "ours"), blocks=(Block("", COLUMNS, rows),))
    assert table.markdown().splitlines()[-4:] == [
        "| Row   |       |   A | Words   |",
        "|:------|:------|----:|:--------|",
        "| r     | paper | 5.0 |         |",
        "|       | ours  | 2.0 |         |",
    ]
    assert "r & paper & 5.0 &  \\\\\n & ours & 2.0 &  \\\\\n" in table.latex()
    assert "<b>2.0</b><small>[1, 3]</small>" in table.html()


def test_latex_is_balanced_and_escaped():
    text = made().latex()
    assert text.count(r"\begin{") == text.count(r"\end{") == 3
    assert r"a\textbar{}b \& 5 \%" in text
    assert r"\begin{tabular}{lrl}" in text
    assert r"\label{tab:9}" in text
    assert text.index(r"\textbf{Model x}") < text.index("Reading written") < text.index("Reading released")
    assert not set("−×–“”") & set(text)


def test_html_escapes_and_says_what_the_small_print_is():
    text = made(dataset="<i>").html()
    assert "<title>Table 9, &lt;i&gt;</title>" in text
    assert '<th scope="row" class="claim">&lt;b&gt;</th><td data-value="nan">–</td>' in text
    assert '<td data-value="3.04"><b>3.0</b><small>[2.1, 4.0]</small></td>' in text
    assert '<td class="text source verdict">a|b &amp; 5 %</td>' in text
    assert "What the small print is." in text
    assert text.count("<caption>") == text.count("<table>") == 2
    assert "<script>" not in text
    sortable = made(sortable=True).html()
    assert sortable.count('<table class="sortable">') == 2
    assert "<script>" in sortable


def test_the_ending_says_what_is_written(tmp_path):
    paths = [tmp_path / f"t{ending}" for ending in (".csv", ".md", ".tex", ".html")]
    made().write(paths)
    assert [path.read_text()[:8] for path in paths] == ["a,value\n", "**Table ", "% needs ", "<!DOCTYP"]
    with pytest.raises(InputError, match=r"t\.pdf: unknown ending; choose \.csv, \.md, \.tex or \.html"):
        made().write([tmp_path / "t.pdf"])


def test_latex_reads_every_letter_as_itself():
    rows = ((Cell("a"), Cell(r"50 % of $3 & {x_1}^2 ~ a\b #1 <b> | − → …")),)
    text = made(blocks=(Block("", (Column("R"), Column("T", "text")), rows),)).latex()
    expected = (
        r"50 \% of \$3 \& \{x\_1\}\textasciicircum{}2 \textasciitilde{} a\textbackslash{}b \#1 "
        r"\textless{}b\textgreater{} \textbar{} $-$ $\to$ \dots{}"
    )
    assert f"a & {expected} \\\\" in text


@pytest.mark.parametrize("text", ["=1+1", "+cmd|' /C calc'!A0", "-x", "@SUM(A1)", "\tx", "-", "=nan"])
def test_a_spreadsheet_takes_no_text_for_a_formula(text):
    (_, line, _) = made(frame=pd.DataFrame({"a": [text], "value": [-3.0]})).csv().split("\n")
    assert line.strip('"') == f"'{text},-3.0000"


@pytest.mark.parametrize("text", ["-3", "+2.5", "-1.5e-05 -2 3", "a=b", "", "-nan"])
def test_numbers_stay_numbers(text):
    assert made(frame=pd.DataFrame({"a": [text]})).csv().splitlines()[1].strip('"') == text
