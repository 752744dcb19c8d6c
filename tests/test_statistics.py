import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from fakes import made_result, made_scores, made_summary, write_results

from cooperation.cli import main
from cooperation.files import InputError
from cooperation.games.results import read_ranks, read_result, write_result
from cooperation.reports.statistics import (
    SUMMARY,
    Scores,
    across_seeds,
    only_dataset,
    read_summary,
    refuse_several_games,
    summarise,
)


def test_summary_of_a_hand_made_world():
    """Two dialogs, 100 candidates: rank 0 is percentile 99.5, rank 10 is 89.5."""
    control = np.zeros((2, 11))
    worse = control.copy()
    worse[:, 5:] = [[10], [20]]
    rows = summarise([made_scores(control), made_scores(worse, condition="image-from5")], 300)
    assert list(rows.columns) == list(SUMMARY)
    line = rows[rows["condition"] == "image-from5"].set_index("round")
    assert line.loc[4, ["mpr", "low", "high", "gap", "gap_low", "gap_high"]].tolist() == [99.5, 99.5, 99.5, 0, 0, 0]
    assert line.loc[10, ["mpr", "low", "high"]].tolist() == pytest.approx([84.5, 79.5, 89.5], abs=1e-4)
    assert line.loc[10, ["gap", "gap_low", "gap_high"]].tolist() == pytest.approx([15, 10, 20], abs=1e-4)
    assert line.loc[10, ["queries", "candidates", "tampered_messages", "tampered_tokens"]].tolist() == [2, 100, 2, 3]
    assert (rows[rows["condition"] == "none"]["gap"] == 0).all()


def test_gap_interval_is_paired():
    """Where every dialog loses the same, the gap is certain although the MPR is not."""
    control = np.random.default_rng(2).integers(0, 80, (40, 11))
    rows = summarise([made_scores(control), made_scores(control + 4, condition="caption-p1")], 300)
    line = rows[rows["condition"] == "caption-p1"]
    assert (line["high"] - line["low"] > 5).all()
    assert line["gap_low"].to_numpy() == pytest.approx(4, abs=1e-4)
    assert line["gap_high"].to_numpy() == pytest.approx(4, abs=1e-4)


def test_several_seeds_give_their_mean_and_range():
    ranks = np.full((3, 11), 10.0)
    scores = [made_scores(ranks + 2 * seed, seed=seed) for seed in (1, 2, 3)]
    scores += [made_scores(ranks + 5 * seed, seed=seed, condition="caption-p1") for seed in (1, 2)]
    rows = across_seeds(summarise(scores, 50))
    none, caption = (
        rows[(rows["condition"] == name) & (rows["round"] == 10)].iloc[0] for name in ("none", "caption-p1")
    )
    assert (none["seed"], none["seeds"], none["mpr"], none["lowest"], none["highest"]) == ("mean", 3, 85.5, 83.5, 87.5)
    # Two seeds of the condition, so the gap is to the control of those two: losses of 3 and 6.
    assert (caption["gap"], caption["gap_lowest"], caption["gap_highest"]) == (4.5, 3, 6)
    assert len(rows) == 2 * 11


def test_the_mean_over_seeds_is_one_of_tampering_too():
    summary = summarise([made_scores(np.zeros((2, 11)), seed=seed) for seed in (1, 2, 3)], 20)
    assert set(summary["seed"]) == {"1", "2", "3", "mean"}
    assert set(summary["tampered_messages"]) == {2.0}
    assert set(summary["tampered_tokens"]) == {3.0}


def test_the_gap_of_bare_facts_is_to_the_game_with_bare_facts():
    """Bare facts cost 10, noise 5 more: the gap to what reads facts as in training would be 15."""
    ranks = np.full((4, 11), 10.0)
    lost = {"none": 0, "image": 2, "none-bare": 10, "image-bare": 15, "human": 1}
    rows = summarise([made_scores(ranks + more, condition=name) for name, more in lost.items()], 20)
    last = rows[rows["round"] == 10].set_index("condition")["gap"]
    assert last.to_dict() == pytest.approx({"none": 0, "image": 2, "none-bare": 0, "image-bare": 5, "human": 1})


def test_a_gap_without_its_control_is_refused():
    scores = [made_scores(np.zeros((2, 11)), f"{name}.h5", condition=name) for name in ("none", "human", "image-bare")]
    with pytest.raises(InputError, match=r"image-bare\.h5: no result without tampering with facts bare for its model"):
        summarise(scores, 20)


@pytest.mark.parametrize("settings", [{"chanel": "image"}, ["image"]])
def test_settings_of_another_version_are_refused(settings):
    with pytest.raises(InputError, match=r"x\.h5: its settings are of another version .*; play it again"):
        made_scores(np.zeros((2, 11)), settings=json.dumps(settings))


@pytest.mark.parametrize("other", [{"model": "round"}, {"reading": "released"}])
def test_several_models_or_readings_are_refused_where_none_is_named(other):
    ranks = np.zeros((2, 11))
    refuse_several_games([made_scores(ranks), made_scores(ranks, seed=2)])
    with pytest.raises(InputError, match=r"b\.h5: model .*, but a\.h5 has model dialog as written; give those of one"):
        refuse_several_games([made_scores(ranks, "a.h5"), made_scores(ranks, "b.h5", **other)])


def test_one_seed_is_reported_as_it_is():
    summary = made_summary(50)
    assert across_seeds(summary).equals(summary)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"condition": "none"}, r"b\.h5: the same condition as a\.h5"),
        ({"condition": "image-from1", "candidates": 50}, "50 candidates, but a.h5 has miniature with 100"),
        ({"condition": "image-from1", "dataset": "genuine"}, "summarise them apart"),
        ({"condition": "image-from1", "seed": 2}, "no result without tampering for its model, seed and reading"),
        ({"condition": "image-from1", "reading": "released"}, "no result without tampering"),
    ],
)
def test_results_that_do_not_belong_together_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        summarise([made_scores(np.zeros((2, 11)), "a.h5"), made_scores(np.zeros((2, 11)), "b.h5", **changes)])


def test_other_dialogs_and_no_results_are_refused():
    with pytest.raises(InputError, match=r"b\.h5: other dialogs than a\.h5"):
        summarise([
            made_scores(np.zeros((2, 11)), "a.h5"),
            made_scores(np.zeros((3, 11)), "b.h5", condition="caption-p1"),
        ])  # fmt: skip
    with pytest.raises(InputError, match="no results given"):
        summarise([])


def test_scores_need_no_transcripts(tmp_path):
    result = made_result(np.arange(22).reshape(2, 11))
    write_result(tmp_path / "none.h5", result)
    ranks = read_ranks(tmp_path / "none.h5")
    assert len(ranks.answer_said) == 0
    whole, light = (Scores.of(tmp_path, read) for read in (read_result(tmp_path / "none.h5"), ranks))
    assert (whole.percentiles == light.percentiles).all()
    assert (whole.key, whole.image_ids.tolist()) == (light.key, result.image_ids.tolist())


def test_a_summary_is_read_as_it_was_written(tmp_path):
    summary = made_summary(50, seeds=(1, 2))
    path = tmp_path / "mpr.csv"
    summary.to_csv(path, index=False)
    read = read_summary(path)
    assert read.equals(summary.astype(SUMMARY))
    assert only_dataset(read, path) == "miniature"
    read.loc[0, "dataset"] = "genuine"
    with pytest.raises(InputError, match=r"2 data sets \(genuine, miniature\)"):
        only_dataset(read, path)


@pytest.mark.parametrize("words", ["metrics", "table 1 --published paper/published.csv", "figure 1a", "report"])
def test_a_summary_of_nothing_is_refused(words, tmp_path, monkeypatch, capsys):
    path, out = tmp_path / "mpr.csv", tmp_path / ("found.svg" if "figure" in words else "found.html")
    made_summary(50).iloc[:0].to_csv(path, index=False)
    monkeypatch.chdir(Path(__file__).parents[1])
    monkeypatch.setattr("sys.argv", ["cooperation", *words.split(), "--summary", str(path), "--out", str(out)])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    said = capsys.readouterr().err
    assert f"{path}: no rows" in said
    assert said.count("\n") == 1
    assert not out.exists()


def test_queries_and_candidates_stand_beside_every_mpr(tmp_path, monkeypatch):
    results = write_results(tmp_path / "results", dialogs=7)
    data = Path(__file__).parents[1] / "paper"
    csv, published = tmp_path / "mpr.csv", ("--published", data / "published.csv")
    weighed = tmp_path / "weighed.h5"
    write_result(weighed, made_result(np.ones((7, 11)), training='{"image_weight": 1}'))
    expected = tmp_path / "controls.csv"
    expected.write_text(
        "world,statement,quantity,conditions,rounds,at_least,at_most\nminiature,x,level,none,10,0,100\n"
    )
    drawn = tmp_path / "figure_1a.svg"
    commands = {
        "mpr.csv": ("summarise", *results),
        "table_1.md": ("table", 1, "--summary", csv, *published),
        "table_1.tex": ("table", 1, "--summary", csv, *published),
        "table_1.html": ("table", 1, "--summary", csv, *published),
        "figure_1a.svg": ("figure", "1a", "--summary", csv),
        "claims.md": ("claims", *results, "--claims", data / "claims.csv", *published),
        "claims.html": ("claims", *results, "--claims", data / "claims.csv", *published),
        "diagnostics.md": ("diagnose", *results),
        "diagnostics.html": ("diagnose", *results),
        "weights.md": ("weights", weighed),
        "controls.md": ("controls", weighed, "--expected", expected),
        "index.html": ("report", "--summary", csv, "--figures", drawn),
    }
    for name, words in commands.items():
        more = ("--resamples", 10) if words[0] in ("summarise", "claims", "diagnose", "weights", "controls") else ()
        monkeypatch.setattr("sys.argv", ["cooperation", *map(str, (*words, *more, "--out", tmp_path / name))])
        main()
        text = (tmp_path / name).read_text(encoding="utf-8")
        if name == "mpr.csv":
            assert pd.read_csv(csv)[["queries", "candidates"]].drop_duplicates().to_numpy().tolist() == [[7, 100]]
        else:
            assert re.search(r"7 queries (×|\$\\times\$) 100 candidates", text), name
