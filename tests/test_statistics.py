import numpy as np
import pytest
from fakes import made_result, made_scores, made_summary
from hypothesis import given, settings
from hypothesis import strategies as st

from cooperation.files import InputError
from cooperation.results import read_ranks, read_result, write_result
from cooperation.statistics import (
    SUMMARY,
    Scores,
    _draws,
    _poisson_steps,
    across_seeds,
    interval,
    only_dataset,
    read_summary,
    resampled_means,
    summarise,
)


def plain_means(values, resamples, seed):
    """The slow reference: draw rows with replacement, average."""
    generator = np.random.default_rng(seed)
    rows = len(values)
    return np.array([values[generator.integers(0, rows, rows)].mean(0) for _ in range(resamples)])


@given(rows=st.integers(1, 300), samples=st.integers(1, 5), seed=st.integers(0, 99))
@settings(max_examples=50, deadline=None)
def test_each_sample_draws_as_many_rows_as_there_are(rows, samples, seed):
    counts = _draws(rows, samples, [seed, 0])
    assert counts.shape == (samples, rows)
    assert (counts.sum(1) == rows).all()
    assert (counts == counts.round()).all()
    assert counts.min() >= 0


def test_poisson_steps_are_the_distribution_function():
    steps = np.append(_poisson_steps(0.9), 2**16) / 2**16
    # P(X ≤ 0), P(X ≤ 1), P(X ≤ 2) of a Poisson variable of mean 0.9, by hand.
    assert steps[:3] == pytest.approx([0.40657, 0.77248, 0.93714], abs=1e-5)


@pytest.mark.parametrize("rows", [2, 30, 4000])
def test_draws_are_multinomial(rows):
    """Mean 1, variance 1 − 1/n, correlation −1/(n − 1) between rows: what drawing n of n with replacement gives."""
    samples = 40_000 if rows < 100 else 1000
    counts = _draws(rows, samples, [3, 0])
    error = 4 / np.sqrt(counts.size if rows > 2 else samples)
    assert counts.var(0).mean() == pytest.approx(1 - 1 / rows, abs=2 * error)
    # The count 0 has probability (1 − 1/n)^n, the count 1 has (1 − 1/n)^(n−1).
    assert (counts == 0).mean() == pytest.approx((1 - 1 / rows) ** rows, abs=error)
    assert (counts == 1).mean() == pytest.approx((1 - 1 / rows) ** (rows - 1), abs=error)
    # No row is favoured: the column means of fair draws scatter by 1/√samples.
    assert counts.mean(0).std() < 1.3 * max(1, 2 / np.sqrt(rows)) / np.sqrt(samples)


def test_resampled_means_agree_with_the_plain_reference():
    values = np.random.default_rng(1).exponential(10, (25, 3))
    ours, plain = resampled_means(values, 20_000, 5), plain_means(values, 20_000, 6)
    assert ours.mean(0) == pytest.approx(values.mean(0), abs=0.1)
    # The covariance of bootstrap means is known exactly; its error from 20,000 samples is below 3/√20,000.
    assert np.cov(ours.T) == pytest.approx(np.cov(values.T, bias=True) / 25, rel=0.05, abs=0.09)
    # A skewed sample has a skewed interval; a normal approximation would be symmetric.
    assert interval(ours) == pytest.approx(interval(plain), abs=0.15)


def test_resampled_means_of_a_constant_and_of_paired_columns():
    values = np.array([[1.0, 2.0, 50.0], [3.0, 4.0, 50.0], [9.0, 10.0, 50.0]])
    means = resampled_means(values, 500)
    assert means[:, 2] == pytest.approx(50)
    assert means[:, 1] - means[:, 0] == pytest.approx(1)


def test_resampled_means_depend_on_the_seed_but_not_on_the_threads():
    values = np.random.default_rng(1).random((40, 2))
    first = resampled_means(values, 1000, 1, threads=1)
    assert (first == resampled_means(values, 1000, 1, threads=3)).all()
    assert first.shape == (1000, 2)
    assert (first != resampled_means(values, 1000, 2)).any()


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


def test_one_seed_is_reported_as_it_is():
    summary = made_summary(50)
    assert across_seeds(summary).equals(summary)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"condition": "none"}, r"b\.h5: the same condition as a\.h5"),
        ({"condition": "image-from1", "candidates": 50}, "50 candidates, but a.h5 has miniature with 100"),
        ({"condition": "image-from1", "dataset": "genuine"}, "summarise them apart"),
        ({"condition": "image-from1", "seed": 2}, "no result of `none` for its model, seed and reading"),
        ({"condition": "image-from1", "reading": "released"}, "no result of `none`"),
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
