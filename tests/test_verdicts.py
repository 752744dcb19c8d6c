"""Verdicts of a range, and how many of them stand together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cooperation.reports.trainings import Drawn, Estimate, estimated
from cooperation.reports.verdicts import discoveries, doubt, judge

NONE = float("nan")


@pytest.mark.parametrize(
    ("low", "high", "at_least", "at_most", "verdict", "reason"),
    [
        (1, 2, 0, NONE, "holds", "inside"),
        (0, 0, 0, NONE, "fails", "outside"),
        (-1, 2, 0, NONE, "undecided", "reaches"),
        (-2, -1, 0, NONE, "fails", "outside"),
        (0.1, 0.2, NONE, 0.3, "holds", "inside"),
        (0.1, 0.4, NONE, 0.3, "undecided", "reaches"),
        (92, 93, 91.6, 93.6, "holds", "inside"),
        (91, 94, 91.6, 93.6, "undecided", "reaches"),
        (94, 95, 91.6, 93.6, "fails", "outside"),
    ],
)
def test_verdicts(low, high, at_least, at_most, verdict, reason):
    middle = (low + high) / 2
    for seeds in ((), (1, 2)):
        found, why = judge(Estimate(middle, low, high, seeds, (middle,) * len(seeds)), at_least, at_most)
        assert found == verdict
        assert reason in why


@pytest.mark.parametrize("middle", [-9.0, 0.0, 9.0])
def test_one_training_is_never_enough(middle):
    found, why = judge(Estimate(middle, middle, middle, (3,), (middle,)), -1, 1)
    assert found == "undecided"
    assert "one training, seed 3" in why


@pytest.mark.parametrize(("other", "middle", "where"), [(5.0, 0.0, "inside"), (0.0, 5.0, "outside")])
def test_every_training_must_agree(other, middle, where):
    found, why = judge(Estimate(middle, middle - 0.5, middle + 0.5, (1, 2, 4), (middle, other, middle)), -1, 1)
    assert found == "undecided"
    assert why == f"the interval lies {where} the range, but not every training: seed 2"


@given(low=st.floats(-5, 5), width=st.floats(0, 5), grow=st.floats(0, 5))
def test_a_wider_interval_never_makes_a_claim_hold(low, width, grow):
    wide, narrow = (judge(Estimate(low, low - more, low + width + more), -1, 1)[0] for more in (grow, 0))
    assert wide in ("undecided", narrow)


def test_what_no_training_moves_is_judged_by_its_value():
    for value, verdict in ((0.9, "fails"), (0.8, "holds")):
        assert judge(estimated(Drawn.stated(value)), 0.75, 0.85)[0] == verdict


def test_doubt_is_the_share_of_samples_beyond_the_edge():
    """Twice, for the interval leaves out as many on the other side."""
    samples = np.concatenate([np.full(30, -1.0), np.arange(1, 971) / 100])
    drawn = Drawn((), np.concatenate([[5.0], samples])[None, :, None, None])
    assert doubt("level", drawn, 0, NONE) == pytest.approx(0.06, abs=0.002)
    assert doubt("level", drawn, -2, NONE) == 2 / 1001
    # The edge lies in the middle of all samples: nothing decides.
    assert doubt("level", drawn, float(np.median(samples)), NONE) == pytest.approx(1, abs=0.01)


def test_discoveries_by_hand():
    """Benjamini and Yekutieli: p · 3 · (1 + 1/2 + 1/3) / rank, none above that of a larger p, at most 1."""
    assert discoveries([0.02, 0.001, 0.9]) == pytest.approx([0.02 * 5.5 / 2, 0.001 * 5.5, 1])
    assert discoveries([0.01, 0.01]) == pytest.approx([0.015, 0.015])
    assert len(discoveries([])) == 0


def test_wrong_discoveries_are_as_rare_as_said():
    """A fifth of the numbers differ from zero; of what stands at 5 %, no more than that is wrong on average."""
    generator = np.random.default_rng(4)
    shares = []
    for _ in range(300):
        truths = np.repeat([4.0, 0.0], [10, 40])
        away = np.abs(generator.normal(truths, 1))
        p = [float((np.abs(NORMAL) >= size).mean()) for size in away]
        stand = discoveries(p) <= 0.05
        shares.append((stand & (truths == 0)).sum() / max(stand.sum(), 1))
    assert np.mean(shares) <= 0.05


NORMAL = np.random.default_rng(5).normal(0, 1, 20_000)
