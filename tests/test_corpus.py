"""The statistics of the dialogs: what is counted, what is unknown, and the paper's own numbers beside."""

import re

import pytest
from fakes import PAPERS, ROOT
from in_process import run
from small_files import authors_arrays, document, write_authors_files, write_json

from cooperation.data.store import read_vocabulary
from cooperation.io.hdf5 import read_attributes
from cooperation.reports.claims import read_claims
from cooperation.reports.corpus import STATISTICS, describe, statistics_table

CLAIMS = read_claims(ROOT / "paper" / "claims.csv", PAPERS)


def described(path):
    return describe(read_attributes(path), len(read_vocabulary(path).words), CLAIMS)


def printed(found):
    """Statistic → the texts of its row."""
    (block,) = statistics_table(found, "x").blocks
    return {label.text: [cell.text for cell in cells] for label, *cells in block.rows}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Statistics of two training dialogs and one of validation."""
    train, val = document("train", (7, 3)), document("val", (5,))
    train["data"]["questions"][0] = " ".join(["long"] * 30)
    val["data"]["answers"][2] = ""
    for name, content in (("t", train), ("v", val)):
        write_json(tmp_path / f"{name}.json", content)
    files = ["--train", tmp_path / "t.json", "--val", tmp_path / "v.json", "--out", tmp_path / "d.h5"]
    run(monkeypatch, "encode", "visdial", *files, "--threshold", 2)
    return described(tmp_path / "d.h5")


def test_what_is_counted(made):
    found = made.set_index("statistic")
    lines = {name: tuple(row) for name, row in zip(found.index, found[["train", "val"]].to_numpy(), strict=True)}
    assert lines["Dialogs read"] == lines["Dialogs kept"] == (2, 1)
    assert lines["Dialogs refused"] == (0, 0)
    assert lines["Rounds"] == (20, 10)
    assert lines["Mean length of captions"] == (5, 5)
    # Question 0, of 31 tokens, is asked in rounds 1, 4, 7 and 10 of both training dialogs.
    assert lines["Questions cut at the longest length"] == (8, 0)
    assert lines["Empty answers"] == (0, 2)
    # Answers are yes, no, "he's not" (empty in validation), "Yes, it is", can't tell, twice.
    assert lines["Answers that are exactly yes or no"] == pytest.approx((40, 40))
    assert lines["Answers that begin with yes or no"] == pytest.approx((60, 60))
    assert lines["Words in the vocabulary, UNK included"][0] == lines["Words in the vocabulary, UNK included"][1] > 10
    assert found.loc["Tokens that are UNK", "train"] == 0 < found.loc["Tokens that are UNK", "val"] < 50


def test_the_papers_numbers_stand_beside(made):
    found = made.set_index("statistic")
    for name in ("Answers that are exactly yes or no", "Answers that begin with yes or no"):
        assert tuple(found.loc[name, ["paper_train", "paper_val"]]) == (37, 45)
    others = found[~found.index.str.startswith("Answers that")]
    assert others[["paper_train", "paper_val"]].isna().all(axis=None)


def test_they_are_printed_with_their_units(made):
    table = statistics_table(made, "x")
    text = table.markdown()
    assert "The dialogs of “x”" in text
    assert re.search(r"\| Answers that are exactly yes or no +\| +40\.0 % \| +40\.0 % \| +37\.0 % \| +45\.0 % \|", text)
    assert re.search(r"\| Mean length of captions +\| +5\.00 tokens \|", text)
    page = table.html()
    assert '<th scope="row">Questions cut at the longest length</th><td>8</td><td>0</td><td>–</td><td>–</td>' in page
    assert page.count("<tr>") == len(STATISTICS) + 1


def test_what_the_authors_files_do_not_tell_stays_open(tmp_path, monkeypatch):
    data = authors_arrays("train", [0, 1, 2]) | authors_arrays("val", [1, 0])
    write_authors_files(tmp_path, data, {"images_train": [[1.0]] * 3, "images_val": [[1.0]] * 2})
    names = {"data": "visdial_data.h5", "params": "visdial_params.json", "images": "data_img.h5"}
    flags = [word for name, file in names.items() for word in (f"--{name}", tmp_path / file)]
    run(monkeypatch, "encode", "authors", *flags, "--out", tmp_path / "d.h5")
    found = printed(described(tmp_path / "d.h5"))
    assert found["Answers cut at the longest length"][0] == "–"
    assert found["Answers that are exactly yes or no"][1] == "90.0 %"
    assert found["Rounds"][0] == "30"


def test_large_numbers_can_be_read():
    counts = {"train_kept": 82_783, "train_tokens": 0}
    found = {name: texts[0] for name, texts in printed(describe(counts, 8_845, CLAIMS)).items()}
    assert (found["Dialogs kept"], found["Rounds"]) == ("82,783", "827,830")
    assert found["Words in the vocabulary, UNK included"] == "8,845"
    assert found["Tokens that are UNK"] == "–"
