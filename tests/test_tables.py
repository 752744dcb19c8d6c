import numpy as np
import pytest
from fakes import PAPERS, ROOT, STANDS_FOR, made_scores, made_summary

from cooperation.reports.paper import number, read_published, signed
from cooperation.reports.statistics import resample, sizes, summarise
from cooperation.reports.tables import compare, paper_table

PUBLISHED = read_published(ROOT / "paper" / "published.csv", PAPERS)


@pytest.fixture(scope="module")
def summary():
    return made_summary()


def made(summary, which, stands_for=STANDS_FOR):
    return paper_table(PUBLISHED, summary, which, stands_for)


def test_numbers_are_printed_as_in_the_paper():
    assert [number(value) for value in (93.14, 50, -0.02, -1.0, float("nan"))] == ["93.1", "50.0", "0.0", "−1.0", "–"]
    assert [signed(value) for value in (0.04, -0.04, 1.26, -2.5, float("nan"))] == ["0.0", "0.0", "+1.3", "−2.5", "–"]


def test_table_1_has_the_papers_rows_and_columns_and_our_numbers(summary):
    table = compare(PUBLISHED, summary, 1, STANDS_FOR).loc["dialog"]
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
    table = compare(PUBLISHED, summary, 2, STANDS_FOR).loc["round"].xs("written")
    assert list(table.columns) == [str(k) for k in range(1, 11)]
    printed = table.xs("ours", level="quantity").notna().sum(axis=1).to_dict()
    assert printed == {"8": 3, "6": 5, "4": 7, "2": 9, "0": 10}
    lines = summary[(summary["model"] == "round") & (summary["reading"] == "written")]
    first = lines[(lines["condition"] == "negation-from1") & (lines["round"] == 1)]
    assert table.loc[("0", "ours"), "1"] == first["mpr"].item()


def test_a_condition_that_was_not_played_stays_visible(summary):
    less = summary[summary["condition"] != "caption-p1"]
    text = made(less, 1).markdown()
    (line,) = [line for line in text.splitlines() if "| Round 1 " in line][:1]
    assert [cell.strip() for cell in line.split("|")[2:5]] == ["paper", "93.1", "93.1"]
    following = text.splitlines()[text.splitlines().index(line) + 1]
    assert [cell.strip() for cell in following.split("|")][5] == "–"
    assert made(summary[summary["model"] == "dialog"], 2) is None
    assert made(summary, 1, {"dialog": ("other",)}) is None
    assert made(summary, 1, {}) is None


def test_csv_has_every_number(summary):
    for which, model, names in (
        (1, "dialog", {"row": "Gap @10", "column": "Captions"}),
        (2, "round", {"row": "0", "column": "10"}),
    ):
        table = made(summary, which)
        frame = compare(PUBLISHED, summary, which, STANDS_FOR)
        lines = [line.split(",") for line in table.csv().splitlines()]
        assert lines[0] == ["model", "reading", "row", "quantity", *frame.columns]
        assert len(lines) == 1 + len(frame)
        ours = frame.loc[(model, "released", names["row"], "ours"), names["column"]]
        (found,) = [line for line in lines if line[:4] == [model, "released", names["row"], "ours"]]
        assert float(found[4 + list(frame.columns).index(names["column"])]) == pytest.approx(ours, abs=1e-4)


def test_latex_has_a_tabular_a_reading(summary):
    text = made(summary, 2).latex()
    assert text.count(r"\begin{") == text.count(r"\end{") == 3
    assert text.count(r"\toprule") == text.count(r"\bottomrule") == 2
    assert r"MPR [\%]" in text
    assert r"$\times$" in text
    assert not set("−×–“”") & set(text)
    rows = [line for line in text.splitlines() if line.endswith(r"\\") and "&" in line]
    assert {line.count("&") for line in rows} == {11}
    assert len(rows) == 2 * (1 + 5 * 3)


def test_every_form_says_what_it_is(summary):
    table = made(summary, 1)
    for text in (table.markdown(), table.latex(), table.html()):
        assert "30 queries" in text
        assert "not expected to match" in text
        assert "seed 1" in text
        assert "as in the released program" in text
        assert "dialog" in text


def test_html_shows_paper_ours_interval_and_difference():
    rows = summarise(resample([made_scores(np.zeros((2, 11)))], 20)).assign(dataset="<b>")
    page = made(rows, 1).html()
    assert "<b>99.5</b><small>[99.5, 99.5]</small>" in page
    assert "<small>93.1 (+6.4)</small>" in page
    assert "&lt;b&gt;" in page
    assert "…" not in page.split("<tbody>")[1]
    assert page.count('scope="row"') == 11


def test_several_seeds_show_their_range():
    scores = [made_scores(np.full((2, 11), float(seed)), seed=seed) for seed in (2, 4)]
    rows = summarise(resample(scores, 20))
    assert sizes(rows) == "2 queries × 100 candidates, mean of seeds 2, 4. Intervals are over dialogs and trainings."
    assert "95.5…97.5" in made(rows, 1).html()


def test_models_that_stand_for_the_same_one_stand_side_by_side():
    ranks = np.zeros((4, 11))
    scores = [made_scores(ranks + lost, model=model) for model, lost in (("w1", 1), ("w10", 3), ("unused", 9))]
    rows = summarise(resample(scores, 20))
    stands_for = {"dialog": ("w10", "w1", "not-played"), "round": ("round",)}
    table = made(rows, 1, stands_for)
    assert [block.section for block in table.blocks] == ["Model “w10”", "Model “w1”"]
    frame = table.frame.set_index(["model", "reading", "row", "quantity"])["None"]
    assert frame["w10", "written", "Round 3", "ours"] == pytest.approx(96.5)
    assert frame["w1", "written", "Round 3", "ours"] == pytest.approx(98.5)
    assert frame["w1", "written", "Round 3", "paper"] == frame["w10", "written", "Round 3", "paper"] == 92.7
    assert set(table.frame["model"]) == {"w1", "w10"}
    assert made(rows, 2, stands_for) is None
