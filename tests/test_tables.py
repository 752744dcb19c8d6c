from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fakes import made_scores, made_summary

from cooperation.commands import table as command
from cooperation.files import InputError
from cooperation.reports.paper import number, read_published, signed
from cooperation.reports.statistics import sizes, summarise
from cooperation.reports.tables import compare, read_table, to_csv, to_html, to_latex, to_markdown

PUBLISHED = read_published(Path(__file__).parents[1] / "paper" / "published.csv")


@pytest.fixture(scope="module")
def summary():
    return made_summary()


def test_numbers_are_printed_as_in_the_paper():
    assert [number(value) for value in (93.14, 50, -0.02, -1.0, float("nan"))] == ["93.1", "50.0", "0.0", "−1.0", "–"]
    assert [signed(value) for value in (0.04, -0.04, 1.26, -2.5, float("nan"))] == ["0.0", "0.0", "+1.3", "−2.5", "–"]


def test_table_1_has_the_papers_rows_and_columns_and_our_numbers(summary):
    table = compare(PUBLISHED, summary, 1)
    assert list(table.columns) == ["None", "Images", "Captions", "Answers", "Questions"]
    rows = list(dict.fromkeys(table.index.get_level_values("row")))
    assert rows == [f"Round {k}" for k in range(1, 11)] + ["Gap @10"]
    lines = summary[(summary["model"] == "dialog") & (summary["reading"] == "released") & (summary["round"] == 10)]
    ours = lines[lines["condition"] == "caption-p1"].iloc[0]
    cell = table.xs("released")["Captions"]
    assert cell["Round 10", "paper"] == 52.5
    assert cell["Round 10", "ours"] == ours["mpr"]
    assert cell["Round 10", "difference"] == pytest.approx(ours["mpr"] - 52.5)
    assert (cell["Round 10", "low"], cell["Round 10", "high"]) == (ours["low"], ours["high"])
    assert cell["Gap @10", "ours"] == ours["gap"]
    assert (cell["Gap @10", "low"], cell["Gap @10", "highest"]) == (ours["gap_low"], ours["gap_highest"])


def test_table_2_prints_a_row_from_its_start_round_on(summary):
    table = compare(PUBLISHED, summary, 2).xs("written")
    assert list(table.columns) == [str(k) for k in range(1, 11)]
    printed = table.xs("ours", level="quantity").notna().sum(axis=1).to_dict()
    assert printed == {"8": 3, "6": 5, "4": 7, "2": 9, "0": 10}
    lines = summary[(summary["model"] == "round") & (summary["reading"] == "written")]
    first = lines[(lines["condition"] == "negation-from1") & (lines["round"] == 1)]
    assert table.loc[("0", "ours"), "1"] == first["mpr"].item()


def test_a_condition_that_was_not_played_stays_visible(summary):
    less = summary[summary["condition"] != "caption-p1"]
    text = to_markdown(compare(PUBLISHED, less, 1), 1, "miniature", "")
    (line,) = [line for line in text.splitlines() if "| Round 1 " in line][:1]
    assert [cell.strip() for cell in line.split("|")[2:5]] == ["paper", "93.1", "93.1"]
    following = text.splitlines()[text.splitlines().index(line) + 1]
    assert [cell.strip() for cell in following.split("|")][5] == "–"
    with pytest.raises(InputError, match="none of the conditions of Table 2"):
        compare(PUBLISHED, summary[summary["model"] == "dialog"], 2)


def test_csv_is_read_as_it_was_written(summary, tmp_path):
    for which in (1, 2):
        table = compare(PUBLISHED, summary, which)
        (tmp_path / "table.csv").write_text(to_csv(table))
        pd.testing.assert_frame_equal(read_table(tmp_path / "table.csv"), table, atol=1e-4)


def test_latex_is_balanced_and_escaped(summary):
    text = to_latex(compare(PUBLISHED, summary, 2), 2, "miniature", "30 queries × 100 candidates, 50 % of them.")
    assert text.count(r"\begin{") == text.count(r"\end{") == 3
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 2
    assert r"MPR [\%]" in text
    assert r"$\times$" in text
    assert not set("−×–“”") & set(text)
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and "&" in line]
    assert {line.count("&") for line in rows} == {11}
    assert len(rows) == 2 * (1 + 5 * 3)


def test_every_rendering_says_what_it_is(summary):
    table = compare(PUBLISHED, summary, 1)
    for render in (to_markdown, to_latex, to_html):
        text = render(table, 1, "miniature", sizes(summary))
        assert "30 queries" in text
        assert "not expected to match" in text
        assert "seed 1" in text
        assert "as in the released program" in text


def test_html_shows_paper_ours_interval_and_difference():
    rows = summarise([made_scores(np.zeros((2, 11)))], 20)
    page = to_html(compare(PUBLISHED, rows, 1), 1, "<b>", sizes(rows))
    assert "<b>99.5</b><small>[99.5, 99.5]</small>" in page
    assert "<small>93.1 (+6.4)</small>" in page
    assert "&lt;b&gt;" in page
    assert "…" not in page.split("<tbody>")[1]
    assert page.count('scope="row"') == 11


def test_several_seeds_show_their_range():
    scores = [made_scores(np.full((2, 11), float(seed)), seed=seed) for seed in (2, 4)]
    rows = summarise(scores, 20)
    assert sizes(rows) == "2 queries × 100 candidates, mean of seeds 2, 4."
    assert "95.5…97.5" in to_html(compare(PUBLISHED, rows, 1), 1, "miniature", "")


def test_command_refuses_an_unknown_ending(summary, tmp_path):
    import argparse

    path = tmp_path / "mpr.csv"
    summary.to_csv(path, index=False)
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    published = Path(__file__).parents[1] / "paper" / "published.csv"
    good = ["1", "--summary", str(path), "--published", str(published), "--out", str(tmp_path / "table_1.md")]
    command.run(parser.parse_args(good))
    assert (tmp_path / "table_1.md").read_text().startswith("**Table 1**")
    with pytest.raises(InputError, match=r"x\.docx: unknown ending; choose \.csv, \.md, \.tex or \.html"):
        command.run(parser.parse_args([*good, str(tmp_path / "x.docx")]))
