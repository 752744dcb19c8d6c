"""A rehearsal tries the whole path on a data set's real files; nothing of it is taken for more."""

import numpy as np
import pandas as pd
import pytest
import yaml
from fakes import ROOT, made_config, write_data, write_results
from in_process import run

from cooperation.config.experiment import read
from cooperation.config.preparation import Encoding
from cooperation.config.rehearsal import DIALOGS
from cooperation.data.encoding import encode
from cooperation.data.records import VisDial
from cooperation.evaluation.results import read_result, write_result
from cooperation.io.files import InputError
from cooperation.reports.paper import LEAST, rehearsal

SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text())


@pytest.mark.parametrize(("dataset", "asked"), [("visdial_1.0", True), ("visdial_1.0_rehearsal", False)])
def test_it_has_a_name_of_its_own_and_the_same_raw_files(dataset, asked):
    real = read({**SHIPPED, "dataset": "visdial_1.0"})
    tried = read({**SHIPPED, "dataset": dataset, "rehearsal": asked})
    assert tried.dataset == "visdial_1.0_rehearsal"
    assert tried.raw(tried.dataset) == real.raw(real.dataset) == "data/visdial_1.0/raw"
    assert tried.data.inputs == real.data.inputs
    assert tried.data.steps["text"].first == DIALOGS
    assert tried.data.sizes != real.data.sizes
    paths = [game.path for game in tried.games(tried.dataset)]
    assert len(paths) == len(real.games(real.dataset))
    assert all(path.startswith("results/visdial_1.0_rehearsal/") for path in paths)


def test_where_another_data_sets_bots_play_both_are_rehearsed():
    tried = read({**SHIPPED, "dataset": "visdial_1.0_val", "rehearsal": True})
    assert tried.bots_of(tried.dataset) == "visdial_1.0_rehearsal"
    assert tried.raw("visdial_1.0_rehearsal") == "data/visdial_1.0/raw"


def test_without_texts_there_is_no_choice():
    with pytest.raises(InputError, match="rehearsal: visdial_authors has no texts to choose a few dialogs of"):
        read({**SHIPPED, "dataset": "visdial_authors", "rehearsal": True})


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_it_is_wanted_or_not(value):
    with pytest.raises(InputError, match=r"rehearsal: .* is neither true nor false"):
        read({**SHIPPED, "rehearsal": value})


def test_the_first_dialogs_are_kept():
    rows = np.arange(50, dtype=np.int32).reshape(5, 10)
    texts = [f"text {row}" for row in range(50)]
    settings = Encoding(threshold=1, first=2)
    visdial = VisDial("1", "val", texts, texts, np.array([9, 7, 5, 3, 1]), list("abcde"), rows, rows, np.array([], int))
    vocabulary, dialogs, counts = encode({"train": visdial, "val": visdial}, settings)
    assert dialogs["val"].image_ids.tolist() == [9, 7]
    assert "19" in vocabulary.words
    assert "20" not in vocabulary.words
    assert counts["val_kept"] == 2


@pytest.mark.parametrize(
    ("dataset", "queries", "candidates", "said"),
    [
        ("visdial_1.0", 1000, 10_000, False),
        ("visdial_1.0", 999, 40_000, True),
        ("visdial_0.9", 40_504, 9_999, True),
        ("miniature", 100, 100, False),
        ("miniature", 16, 16, True),
        ("visdial_1.0_rehearsal", 40_504, 40_000, True),
        ("genuine", 35, 35, False),
    ],
)
def test_few_dialogs_or_candidates_are_called_a_rehearsal(dataset, queries, candidates, said):
    assert bool(rehearsal(dataset, queries, candidates)) == said


@pytest.fixture
def reported(tmp_path, monkeypatch):
    """A function that makes the report of made-up results, after a change of one condition's."""
    monkeypatch.chdir(ROOT)

    def make(dataset, *idle):
        write_results(tmp_path / "results")
        write_data(tmp_path / "dialogs.h5")
        (tmp_path / "config.yaml").write_text(yaml.safe_dump(made_config(dataset=dataset), sort_keys=False))
        for path in (path for name in idle for path in tmp_path.glob(f"results/*/*/{name}.h5")):
            result = read_result(path)
            result.perturbed_messages[:] = 0
            path.unlink()
            write_result(path, result)
        places = {name: tmp_path / name for name in ("results", "out")}
        given = {"config": tmp_path / "config.yaml", "dialogs": tmp_path / "dialogs.h5", **places}
        run(monkeypatch, "report", *(word for name, path in given.items() for word in (f"--{name}", str(path))))
        return tmp_path / "out"

    return make


def test_an_idle_condition_is_left_out_and_named(reported, capsys):
    whole = pd.read_csv(reported("miniature") / "claims.csv")
    assert (whole["verdict"] != "not comparable").any()
    out = reported("miniature", "negation-from1")
    said = capsys.readouterr().err
    assert "round, written, negation-from1: perturbed nothing, which would look like robustness" in said
    page = (out / "index.html").read_text()
    assert "The condition negation-from1 of the model round (written) is left out" in page
    assert "negation-from1" not in set(pd.read_csv(out / "mpr.csv")["condition"])
    claims = pd.read_csv(out / "claims.csv")
    about = claims["conditions"].str.contains("negation-from1")
    assert set(claims.loc[about & (claims["model"] == "round"), "verdict"]) == {"not comparable"}
    same = claims.loc[~about, "verdict"].tolist()
    assert same == whole.loc[~about, "verdict"].tolist()


def test_idle_conditions_of_a_whole_table_leave_it_empty(reported):
    played = [path.stem for path in (reported("miniature").parent / "results/round-seed1/written").glob("n*.h5")]
    out = reported("miniature", *(name for name in played if name != "none"))
    assert (out / "table_2.md").exists()
    assert set(pd.read_csv(out / "mpr.csv").query("model == 'round'")["condition"]) == {"none"}


def test_too_little_is_judged_not_at_all(reported, monkeypatch):
    monkeypatch.setitem(LEAST, "miniature", (100_000, 100))
    out = reported("miniature")
    claims = pd.read_csv(out / "claims.csv")
    assert set(claims["verdict"]) <= {"not comparable", "about the paper itself"}
    page = (out / "index.html").read_text()
    assert "This is a rehearsal: " in page
    assert "The paper’s finding" not in page
