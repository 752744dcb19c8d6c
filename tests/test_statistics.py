import json

import numpy as np
import pandas as pd
import pytest
from fakes import condition_of, made_resampled, made_result, made_scores, made_summary, write_results

from cooperation.cli import main
from cooperation.evaluation.results import read_ranks, read_result, write_result
from cooperation.io.files import InputError
from cooperation.reports.scores import Scores
from cooperation.reports.statistics import across_seeds, resample, sizes, summarise

COLUMNS = [
    *("dataset", "model", "seed", "reading", "condition", "settings", "round", "mpr", "low", "high"),
    *("gap", "gap_low", "gap_high", "seeds", "lowest", "highest", "gap_lowest", "gap_highest", "queries", "candidates"),
    *("mrr", "hits_1", "hits_5", "hits_10", "perturbed_messages", "perturbed_tokens", "resamples"),
]


def summary_of(scores, resamples=20):
    return summarise(resample(scores, resamples))


def test_summary_of_a_hand_made_world():
    """Two dialogs, 100 candidates: rank 0 is percentile 99.5, rank 10 is 89.5."""
    baseline = np.zeros((2, 11))
    worse = baseline.copy()
    worse[:, 5:] = [[10], [20]]
    rows = summary_of([made_scores(baseline), made_scores(worse, condition="image-from5")], 300)
    assert list(rows.columns) == COLUMNS
    line = rows[rows["condition"] == "image-from5"].set_index("round")
    assert line.loc[4, ["mpr", "low", "high", "gap", "gap_low", "gap_high"]].tolist() == [99.5, 99.5, 99.5, 0, 0, 0]
    assert line.loc[10, ["mpr", "low", "high"]].tolist() == pytest.approx([84.5, 79.5, 89.5], abs=1e-4)
    assert line.loc[10, ["gap", "gap_low", "gap_high"]].tolist() == pytest.approx([15, 10, 20], abs=1e-4)
    assert line.loc[10, ["queries", "candidates", "perturbed_messages", "perturbed_tokens"]].tolist() == [2, 100, 2, 3]
    assert (rows[rows["condition"] == "none"]["gap"] == 0).all()
    # Places 11 and 21, and the first one.
    assert line.loc[10, ["mrr", "hits_1", "hits_10"]].tolist() == pytest.approx([50 / 11 + 50 / 21, 0, 0])
    assert line.loc[4, ["mrr", "hits_1", "hits_10"]].tolist() == [100, 100, 100]


def test_gap_interval_is_paired():
    """Where every dialog loses the same, the gap is certain although the MPR is not."""
    baseline = np.random.default_rng(2).integers(0, 80, (40, 11))
    rows = summary_of([made_scores(baseline), made_scores(baseline + 4, condition="caption-p1")], 300)
    line = rows[rows["condition"] == "caption-p1"]
    assert (line["high"] - line["low"] > 5).all()
    assert line["gap_low"].to_numpy() == pytest.approx(4, abs=1e-4)
    assert line["gap_high"].to_numpy() == pytest.approx(4, abs=1e-4)


def test_several_seeds_give_their_mean_and_range():
    ranks = np.full((3, 11), 10.0)
    scores = [made_scores(ranks + 2 * seed, seed=seed) for seed in (1, 2, 3)]
    scores += [made_scores(ranks + 5 * seed, seed=seed, condition="caption-p1") for seed in (1, 2)]
    rows = across_seeds(summary_of(scores, 50))
    none, caption = (
        rows[(rows["condition"] == name) & (rows["round"] == 10)].iloc[0] for name in ("none", "caption-p1")
    )
    assert (none["seed"], none["seeds"], none["mpr"], none["lowest"], none["highest"]) == ("mean", 3, 85.5, 83.5, 87.5)
    # Two seeds of the condition, so the gap is to the baseline of those two: losses of 3 and 6.
    assert (caption["gap"], caption["gap_lowest"], caption["gap_highest"]) == (4.5, 3, 6)
    assert len(rows) == 2 * 11


def test_no_interval_of_an_mpr_reaches_beyond_100():
    """Two trainings far apart allow nearly anything, but a gap alone may be more."""
    scores = [
        made_scores(np.full((3, 11), 5.0) + more + 20 * seed, seed=seed, condition=name)
        for seed in (0, 1)
        for name, more in (("none", 0), ("caption-p1", 9 * seed))
    ]
    rows = across_seeds(summary_of(scores, 500))
    assert (rows["high"].max(), rows["low"].min()) == (100, 0)
    assert rows["gap_high"].max() > 40


def test_the_mean_over_seeds_is_one_of_what_was_perturbed_too():
    summary = summary_of([made_scores(np.zeros((2, 11)), seed=seed) for seed in (1, 2, 3)], 20)
    assert set(summary["seed"]) == {"1", "2", "3", "mean"}
    assert set(summary["perturbed_messages"]) == {2.0}
    assert set(summary["perturbed_tokens"]) == {3.0}


def test_the_gap_of_bare_facts_is_to_the_game_with_bare_facts():
    """Bare facts cost 10, noise 5 more: the gap to what reads facts as in training would be 15."""
    ranks = np.full((4, 11), 10.0)
    lost = {"none": 0, "image": 2, "none-bare": 10, "image-bare": 15, "human": 1}
    rows = summary_of([made_scores(ranks + more, condition=name) for name, more in lost.items()], 20)
    last = rows[rows["round"] == 10].set_index("condition")["gap"]
    assert last.to_dict() == pytest.approx({"none": 0, "image": 2, "none-bare": 0, "image-bare": 5, "human": 1})


def test_a_gap_without_its_baseline_is_refused():
    scores = [made_scores(np.zeros((2, 11)), f"{name}.h5", condition=name) for name in ("none", "human", "image-bare")]
    with pytest.raises(
        InputError, match=r"image-bare\.h5: no result without perturbation with facts bare for its model"
    ):
        summary_of(scores, 20)


@pytest.mark.parametrize("settings", [{"chanel": "image"}, ["image"]])
def test_settings_of_another_version_are_refused(settings):
    with pytest.raises(InputError, match=r"x\.h5: its settings are of another version .*; play it again"):
        made_scores(np.zeros((2, 11)), settings=json.dumps(settings))


def test_one_seed_is_reported_as_it_is():
    summary = made_summary(50)
    assert across_seeds(summary).equals(summary)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"condition": "none"}, r"b\.h5: the same condition as a\.h5"),
        ({"condition": "image-from1", "candidates": 50}, "50 candidates, but a.h5 has miniature with 100"),
        ({"condition": "image-from1", "dataset": "genuine"}, "report them apart"),
        ({"condition": "image-from1", "seed": 2}, "no result without perturbation for its model, seed and reading"),
        ({"condition": "image-from1", "reading": "released"}, "no result without perturbation"),
    ],
)
def test_results_that_do_not_belong_together_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        summary_of([made_scores(np.zeros((2, 11)), "a.h5"), made_scores(np.zeros((2, 11)), "b.h5", **changes)])


def test_other_dialogs_and_no_results_are_refused():
    with pytest.raises(InputError, match=r"b\.h5: other dialogs than a\.h5"):
        resample([
            made_scores(np.zeros((2, 11)), "a.h5"),
            made_scores(np.zeros((3, 11)), "b.h5", condition="caption-p1"),
        ])  # fmt: skip
    with pytest.raises(InputError, match="no results given"):
        resample([])


def test_scores_need_no_transcripts(tmp_path):
    result = made_result(np.arange(22).reshape(2, 11))
    write_result(tmp_path / "none.h5", result)
    ranks = read_ranks(tmp_path / "none.h5")
    assert len(ranks.answer_said) == 0
    whole, light = (Scores.of(tmp_path, read) for read in (read_result(tmp_path / "none.h5"), ranks))
    assert (whole.percentiles == light.percentiles).all()
    assert (whole.key, whole.image_ids.tolist()) == (light.key, result.image_ids.tolist())


def test_games_are_found_by_condition():
    ranks = np.random.default_rng(3).integers(0, 50, (20, 11))
    lost = {"none": 0, "image": 2, "none-bare": 10, "image-bare": 15}
    scores = [
        made_scores(ranks + more + seed, condition=name, seed=seed) for name, more in lost.items() for seed in (0, 2)
    ]
    found = resample(scores, 50)
    assert (found.models, found.readings, found.resamples) == (["dialog"], ["written"], 50)
    image = found.mpr("dialog", "written", condition_of("image"))
    assert (image.seeds, image.means.shape) == ((0, 2), (2, 51, 11))
    assert image.each == pytest.approx(np.array([97.5, 95.5])[:, None] - ranks.mean(0))
    assert image.together[0] == pytest.approx(99.5 - 3 - ranks.mean(0))
    assert found.mpr("dialog", "released", condition_of("image")) is None
    assert found.mpr("dialog", "written", condition_of("caption")) is None
    for name, lost in (("image", 2), ("image-bare", 5)):
        gap = found.gap("dialog", "written", condition_of(name))
        assert gap.means == pytest.approx(np.full((2, 51, 11), lost), abs=1e-4)
    assert found.gap("dialog", "written", condition_of("answer")) is None


def test_other_numbers_of_the_dialogs_are_paired_with_the_ranks():
    scores = [made_scores(np.random.default_rng(3).integers(0, 50, (20, 11)))]
    found = resample(scores, 50, seed=7)
    assert found.means_of(scores[0].percentiles + 3) == pytest.approx(found.means[0] + 3, abs=1e-4)


def test_sizes_are_said_in_words():
    one = "30 queries × 100 candidates, seed 1. Intervals are over dialogs, of one training."
    assert made_resampled(20).size == sizes(made_summary(20)) == one
    two = "30 queries × 100 candidates, mean of seeds 2, 10. Intervals are over dialogs and trainings."
    assert made_resampled(20, seeds=(2, 10)).size == sizes(made_summary(20, seeds=(2, 10))) == two


def test_queries_and_candidates_stand_beside_every_mpr(tmp_path, monkeypatch):
    results, csv = write_results(tmp_path / "results", dialogs=7), tmp_path / "mpr.csv"
    words = ["summarise", *results, "--resamples", 10, "--out", csv]
    monkeypatch.setattr("sys.argv", ["cooperation", *map(str, words)])
    main()
    assert pd.read_csv(csv)[["queries", "candidates"]].drop_duplicates().to_numpy().tolist() == [[7, 100]]
