import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cooperation.game.randomness import integers, uniform


@given(st.integers(0, 2**63 - 1), st.text(max_size=8), st.integers(0, 2**40), st.integers(0, 10))
def test_a_number_depends_on_its_own_key_alone(seed, purpose, dialog, number):
    dialogs = np.array([3, dialog, 7])
    together = uniform(seed, purpose, dialogs[:, None], number, np.arange(5))
    alone = uniform(seed, purpose, dialog, number, np.arange(5))
    assert together.shape == (3, 5)
    assert together[1].tolist() == alone.tolist()
    assert ((together >= 0) & (together < 1)).all()


def test_every_part_of_the_key_matters():
    draws = [
        uniform(1, "a", 2, 3, 4),
        uniform(2, "a", 2, 3, 4),
        uniform(1, "b", 2, 3, 4),
        uniform(1, "a", 3, 2, 4),
        uniform(1, "a", 2, 4, 3),
        uniform(1, "a", 0, 0, 0),
        uniform(1, "a", 0, 0, 1),
    ]
    assert len({float(draw) for draw in draws}) == len(draws)


def test_numbers_are_even_and_neighbours_unrelated():
    numbers = uniform(1, "x", np.arange(300)[:, None], np.arange(300))
    counts, _ = np.histogram(numbers, bins=20, range=(0, 1))
    # Chi-squared with 19 degrees of freedom: 43.8 is passed once in a thousand seeds; the seed is fixed.
    assert ((counts - 4500) ** 2 / 4500).sum() < 43.8
    for other in (np.roll(numbers, 1, 0), np.roll(numbers, 1, 1)):
        assert abs(np.corrcoef(numbers.ravel(), other.ravel())[0, 1]) < 0.015
    found = integers(1, "x", 7, np.arange(7000))
    assert set(found.tolist()) == set(range(7))
