"""Ranks against a full distance vector in float64, one guess at a time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cooperation.files import InputError
from cooperation.games import ranking
from cooperation.games.ranking import Ranker


def slow_rank(guess, candidates, truth):
    distance = ((guess.astype(float) - candidates) ** 2).sum(1)
    equal = (distance == distance[truth]).sum() - 1
    return (distance < distance[truth]).sum() + equal / 2


def unit(generator, *shape):
    vectors = generator.normal(size=shape).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    candidates=st.integers(1, 60),
    guesses=st.integers(1, 20),
    features=st.integers(1, 40),
    grid=st.booleans(),
)
def test_equals_the_slow_reference(seed, candidates, guesses, features, grid):
    generator = np.random.default_rng(seed)
    pool = unit(generator, candidates, features)
    guess = unit(generator, guesses, features)
    if grid:
        # Many exact ties: small whole numbers.
        pool, guess = np.round(2 * pool), np.round(2 * guess)
    truth = generator.integers(candidates, size=guesses)
    found = Ranker(pool).rank(guess, truth)
    assert found.tolist() == [slow_rank(one, pool, row) for one, row in zip(guess, truth, strict=True)]


def test_blocks_do_not_matter(monkeypatch):
    generator = np.random.default_rng(0)
    # Small whole numbers, so that some are equally near in every block.
    pool, guess = np.round(2 * unit(generator, 50, 8)), np.round(2 * unit(generator, 30, 8))
    truth = np.arange(30)
    expected = [slow_rank(one, pool, row) for row, one in enumerate(guess)]
    assert Ranker(pool).rank(guess, truth).tolist() == expected
    monkeypatch.setattr(ranking, "GUESSES", 7)
    monkeypatch.setattr(ranking, "CANDIDATES", 16)
    monkeypatch.setattr(ranking, "EIGHTS", 1)
    assert Ranker(pool).rank(guess, truth).tolist() == expected


def test_near_ties_are_measured_again():
    # Candidates that differ by less than float32 can tell once they are multiplied.
    generator = np.random.default_rng(1)
    base = unit(generator, 1, 4096)
    pool = np.concatenate([base + np.float32(1e-6) * unit(generator, 40, 4096), unit(generator, 40, 4096)])
    guess = np.repeat(base, 40, 0)
    truth = np.arange(40)
    expected = [slow_rank(one, pool, row) for one, row in zip(guess, truth, strict=True)]
    assert Ranker(pool).rank(guess, truth).tolist() == expected


@pytest.mark.parametrize("outside", [0, 1e-3, 1.0], ids=["true", "nearly", "false"])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), vectors=st.integers(1, 5), uneven=st.booleans())
def test_a_span_changes_no_rank(outside, seed, vectors, uneven):
    # Guesses that are sums of multiples of a few vectors, and guesses that are said to be but aren't.
    generator = np.random.default_rng(seed)
    pool, span = unit(generator, 40, 30), generator.normal(size=(vectors, 30))
    if uneven:
        # Some features tell far less than others of where a guess lies, some nothing; a vector may come twice.
        span *= 10.0 ** generator.integers(-8, 1, 30) * generator.integers(0, 2, 30)
        span[-1] = span[0]
    guess = (generator.normal(size=(40, vectors)) @ span + outside * unit(generator, 40, 30)).astype(np.float32)
    found = Ranker(pool, span=span).rank(guess, np.arange(40))
    assert found.tolist() == [slow_rank(one, pool, row) for row, one in enumerate(guess)]


@pytest.mark.parametrize("hidden", [False, True], ids=["each tells something", "those that tell most leave one out"])
def test_few_pairs_are_measured_exactly(hidden, monkeypatch):
    generator = np.random.default_rng(2)
    pool, span = unit(generator, 500, 300), generator.normal(size=(20, 300))
    if hidden:
        span[0, :60], span[1:, 60:] = 0, 0
    guess = (generator.normal(size=(500, 20)) @ span).astype(np.float32)
    ranker, pairs = Ranker(pool, span=span), []
    measured = ranker._exact
    monkeypatch.setattr(ranker, "_exact", lambda *given: pairs.append(len(given[1])) or measured(*given))
    found = ranker.rank(guess, np.arange(500))
    some = range(0, 500, 25)
    assert [found[row] for row in some] == [slow_rank(guess[row], pool, row) for row in some]
    # Of a quarter of a million.
    assert sum(pairs) < 500


def test_many_nearer_candidates_are_counted():
    # More than a byte counts, and in every place of eight.
    pool = np.arange(20_000, dtype=np.float32)[:, None]
    found = Ranker(pool).rank(np.zeros((3, 1), np.float32), np.array([19_999, 2041, 8193]))
    assert found.tolist() == [19_999, 2041, 8193]


def percentiles(ranks, candidates):
    return 100 * (1 - (ranks + 0.5) / candidates)


def test_hand_computed():
    # Guess 0; candidates at 1, 1, 2, 3: the tied two share rank ½.
    pool = np.array([[1], [-1], [2], [3]], np.float32)
    found = Ranker(pool).rank(np.zeros((4, 1), np.float32), np.arange(4))
    assert found.tolist() == [0.5, 0.5, 2, 3]
    assert percentiles(found, 4).tolist() == [75, 75, 37.5, 12.5]


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10**6), copies=st.integers(1, 3))
def test_a_constant_guesser_scores_50(seed, copies):
    generator = np.random.default_rng(seed)
    pool = np.repeat(unit(generator, 20, 5), copies, 0)
    found = Ranker(pool).rank(np.repeat(unit(generator, 1, 5), len(pool), 0), np.arange(len(pool)))
    assert percentiles(found, len(pool)).mean() == pytest.approx(50, abs=1e-9)


def test_all_candidates_equal():
    pool = np.ones((9, 3), np.float32)
    assert Ranker(pool).rank(np.zeros((9, 3), np.float32), np.arange(9)).tolist() == [4] * 9


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_none_are_refused(bad):
    pool = np.eye(3, dtype=np.float32)
    broken = pool.copy()
    broken[1, 1] = bad
    with pytest.raises(InputError, match="candidates' features hold NaN"):
        Ranker(broken)
    with pytest.raises(InputError, match="diverged"):
        Ranker(pool).rank(broken, np.arange(3))
