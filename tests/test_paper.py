import csv
from pathlib import Path

import pytest
from fakes import PAPERS

from cooperation.config.conditions import Condition
from cooperation.io.files import InputError
from cooperation.reports.paper import dataset_note, family, read_columns, read_figures, read_published

PUBLISHED = Path(__file__).parents[1] / "paper" / "published.csv"


def test_published_tables_have_every_printed_number():
    published = read_published(PUBLISHED, PAPERS)
    assert published.groupby("table").size().to_dict() == {1: 11 * 5, 2: 3 + 5 + 7 + 9 + 10}


@pytest.mark.parametrize(
    ("table", "row", "column", "condition", "number", "value"),
    [
        (1, "Round 1", "Captions", "caption-p1", 1, 50.0),
        (1, "Round 10", "Questions", "question-from1-p1", 10, 89.6),
        (1, "Round 2", "None", "none", 2, 93.2),
        (1, "Gap @10", "Answers", "answer-from1-p1", 10, 0.8),
        (2, "0", "1", "negation-from1", 1, 94.8),
        (2, "8", "8", "negation-from8", 8, 94.3),
        (2, "0", "10", "negation-from1", 10, 93.7),
    ],
)
def test_published_numbers_name_the_condition_that_ours_come_from(table, row, column, condition, number, value):
    published = read_published(PUBLISHED, PAPERS)
    (found,) = published[
        (published["table"] == table) & (published["row"] == row) & (published["column"] == column)
    ].to_dict("records")
    assert (found["condition"], found["round"], found["value"]) == (condition, number, value)
    assert found["quantity"] == ("gap" if row.startswith("Gap") else "mpr")
    assert found["model"] == {1: "dialog", 2: "round"}[table]


def test_gaps_as_printed_follow_from_the_cells_but_for_the_answers():
    published = read_published(PUBLISHED, PAPERS)
    last = published[(published["table"] == 1) & (published["round"] == 10)]
    cells, gaps = (last[last["quantity"] == name].set_index("column")["value"] for name in ("mpr", "gap"))
    recomputed = (cells["None"] - cells).round(1)
    assert (recomputed - gaps).round(1).to_dict() == {
        "None": 0.0, "Images": 0.0, "Captions": 0.0, "Answers": 0.1, "Questions": 0.0
    }  # fmt: skip


def test_published_refuses_other_files(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_published(tmp_path / "missing.csv", PAPERS)
    with pytest.raises(InputError, match="no column 'table'"):
        (tmp_path / "other.csv").write_text("a,b\n1,2\n")
        read_published(tmp_path / "other.csv", PAPERS)
    rows = list(csv.reader(PUBLISHED.open()))
    rows[1][-1] = "high"
    with (tmp_path / "typo.csv").open("w") as file:
        csv.writer(file).writerows(rows)
    with pytest.raises(InputError, match=r"typo\.csv: not a table of this kind \(could not convert.*high"):
        read_published(tmp_path / "typo.csv", PAPERS)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("a,b\nx,1\ny,1.5\n", "line 3: b is 1.5;"),
        ("a,b\n\nx,1\n  \ny,1.5\nz,3\n", "line 5: b is 1.5;"),
        ('\n\na,b\n"x\nx",1\n\ny,1.5\n', "line 7: b is 1.5;"),
        ("a,b\nx,1\n,2\n", "line 3: a is nan;"),
    ],
)
def test_a_wrong_cell_is_found_where_the_editor_shows_it(tmp_path, text, place):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(InputError) as caught:
        read_columns(tmp_path / "t.csv", {"a": "str", "b": "int64"})
    assert f"t.csv: {place} make it again" in str(caught.value)


def test_note_only_where_numbers_cannot_match():
    for name in ("visdial_0.9", "visdial_authors"):
        assert dataset_note(name) == ""
        assert family(name) == "visdial"
    assert family("visdial_1.0") == "visdial"
    assert "VisDial 1.0’s text, v0.9’s split" in dataset_note("visdial_1.0")
    assert family("visdial_1.0_val") == "visdial_1.0_val"
    assert "not expected to match" in dataset_note("miniature")
    assert "means nothing" in dataset_note("genuine")
    assert "control-nothing" in dataset_note("control-nothing")


def test_figures_start_with_the_baseline_and_name_each_other():
    figures = read_figures(PUBLISHED.with_name("figures.csv"), PAPERS)
    assert all(figure.lines[0].condition == Condition() for figure in figures.values())
    assert {name: figure.siblings for name, figure in figures.items()} == {"1a": ("1b",), "1b": ("1a",)}
    assert [line.label for line in figures["1b"].lines] == ["None", "Image", "Question", "Answer"]
    assert {line.model for figure in figures.values() for line in figure.lines} == {"dialog"}
    assert figures["1a"].title == "Caption: MPR when a token in the caption is replaced by another with probability p"


def test_a_figure_needs_a_title(tmp_path):
    path = tmp_path / "figures.csv"
    path.write_text("figure,title,model,condition,label\n1a,T,dialog,none,None\n1b,,dialog,none,None\n")
    with pytest.raises(InputError, match=r"figures\.csv: Figure 1b has no title"):
        read_figures(path, PAPERS)
