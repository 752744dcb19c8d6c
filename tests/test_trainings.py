"""Intervals over dialogs and trainings, against plain references."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cooperation.reports.bootstrap import resampled_means
from cooperation.reports.trainings import Drawn, Estimate, common, estimated

RESAMPLES = 20_000


def constant(values, seeds=None, resamples=RESAMPLES):
    """Trainings in which every sample of the dialogs gives the same."""
    means = np.repeat(np.array(values, float)[:, None], 1 + resamples, 1)
    return Drawn(tuple(seeds or range(len(values))), means)


@pytest.mark.parametrize(
    ("values", "quantile"), [([70, 90], 12.706), ([72, 90, 84], 4.303), ([1, 2, 3, 4, 9], 2.776), (range(10), 2.262)]
)
def test_trainings_alone_give_the_interval_of_student(values, quantile):
    """The quantiles of t are those of the printed tables, with one degree of freedom less than trainings."""
    found = estimated(constant(values))
    half = quantile * np.std(values, ddof=1) / np.sqrt(len(values))
    assert found.value == np.mean(values)
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half), abs=0.03 * half)
    assert found.each == tuple(values)


def test_both_sources_of_variance_add():
    """Many trainings: t is normal, so the variances of the mean over dialogs and over trainings add."""
    generator = np.random.default_rng(1)
    trainings = generator.normal(0, 1, 50)
    dialogs = generator.normal(0, 0.3, RESAMPLES)
    means = np.concatenate([trainings[:, None], trainings[:, None] + dialogs], 1)
    found = estimated(Drawn(tuple(range(50)), means))
    half = 1.96 * np.sqrt(trainings.var(ddof=1) / 50 + 0.3**2)
    assert (found.high - found.low) / 2 == pytest.approx(half, rel=0.04)


def test_one_training_has_the_interval_of_its_dialogs():
    samples = np.random.default_rng(1).normal(90, 1, 1000)
    found = estimated(Drawn((4,), np.concatenate([[90.0], samples])[None]))
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(samples, [2.5, 97.5])))


def test_gaps_are_paired_in_trainings_too():
    """Trainings far apart, in each of which the condition costs the same."""
    baseline = constant([70, 90, 84])
    gap = baseline - constant([66, 86, 80])
    assert estimated(gap) == Estimate(4, 4, 4, (0, 1, 2), (4, 4, 4))
    assert estimated(baseline).high - estimated(baseline).low > 40


def test_only_trainings_that_both_have_are_compared():
    first, second = constant([70, 90, 84], (1, 2, 3)), constant([80, 60], (3, 1))
    assert common(first, second) == (1, 3)
    assert (first - second).each.tolist() == [10, 4]
    assert (first - second).seeds == (1, 3)
    assert common(first, constant([1], (9,))) == ()


def test_what_no_training_moves_has_no_seeds():
    found = estimated(Drawn.stated(0.9))
    assert (found.value, found.seeds, found.each) == (0.9, (), ())
    assert np.isnan([found.low, found.high]).all()
    assert common(Drawn.stated(3.0)) == ()


@given(shift=st.floats(-50, 50), scale=st.floats(0.1, 10))
def test_intervals_move_with_their_numbers(shift, scale):
    plain, moved = (estimated(one) for one in (constant([1, 5, 9]), constant([shift + scale * x for x in (1, 5, 9)])))
    assert moved.low == pytest.approx(shift + scale * plain.low, abs=1e-6)
    assert moved.high == pytest.approx(shift + scale * plain.high, abs=1e-6)


def test_a_side_of_a_bound_is_that_of_the_interval_and_of_every_training():
    assert Estimate(3, 1, 5, (1, 2), (2, 4)).above(0)
    assert not Estimate(3, -1, 5, (1, 2), (2, 4)).above(0)
    assert not Estimate(3, 1, 5, (1, 2), (-1, 7)).above(0)
    assert not Estimate(3, 1, 5, (1, 2), (-1, 7)).excludes_zero
    assert Estimate(-3, -5, -1, (1, 2), (-2, -4)).below(0)
    assert not Estimate(3, 1, 5).above(float("nan"))


def test_an_mpr_lies_between_0_and_100():
    found = Estimate(90, 60, 120, (1, 2), (85, 95)).within(0, 100)
    assert found == Estimate(90, 60, 100, (1, 2), (85, 95))
    assert np.isnan(estimated(Drawn.stated(5.0)).within(0, 100).low)


def test_an_estimate_in_a_table_is_read_back():
    for found in (Estimate(3, 1, 5, (1, 10), (2.5, 3.5)), Estimate(3, 3, 3)):
        assert Estimate.of(found.cells) == found


@pytest.mark.parametrize("trainings", [3, 10])
@pytest.mark.parametrize("spread", [0, 5])
def test_intervals_hold_the_truth_as_often_as_they_say(trainings, spread):
    """Fresh dialogs and trainings each time; docs/intervals.md has many more."""
    generator = np.random.default_rng(8)
    held = 0
    for _ in range(200):
        values = (
            generator.normal(0, spread, trainings)
            + generator.normal(0, 9, (100, 1))
            + generator.normal(0, 9, (100, trainings))
        )
        means = np.concatenate([values.mean(0)[None], resampled_means(values, 400, threads=1)])
        found = estimated(Drawn(tuple(range(trainings)), means.T))
        held += found.low <= 0 <= found.high
    # 95 % of 200 is 190; four standard deviations below would be 178.
    assert held >= 182
