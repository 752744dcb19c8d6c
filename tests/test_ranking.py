"""The fast ranks against the plain definition, which is computed by hand."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cooperation.evaluation import ranking
from cooperation.evaluation.ranking import Ranker, plain_ranks
from cooperation.io.files import InputError
from cooperation.io.products import SWITCHES


@pytest.fixture(params=SWITCHES, autouse=True, scope="module")
def library(request):
    """Either library may multiply."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(SWITCHES[request.param])
    yield
    torch.set_float32_matmul_precision(before)


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
def test_ranks_are_those_of_the_definition(seed, candidates, guesses, features, grid):
    generator = np.random.default_rng(seed)
    pool = unit(generator, candidates, features)
    guess = unit(generator, guesses, features)
    if grid:
        # Many exact ties: small whole numbers.
        pool, guess = np.round(2 * pool), np.round(2 * guess)
    truth = generator.integers(candidates, size=guesses)
    found = Ranker(pool).rank(guess, truth)
    assert found.tolist() == plain_ranks(guess, pool, truth).tolist()


def test_blocks_do_not_matter(monkeypatch):
    generator = np.random.default_rng(0)
    # Small whole numbers, so that some are equally near in every block.
    pool, guess = np.round(2 * unit(generator, 50, 8)), np.round(2 * unit(generator, 30, 8))
    truth = np.arange(30)
    expected = plain_ranks(guess, pool, truth).tolist()
    assert Ranker(pool).rank(guess, truth).tolist() == expected
    monkeypatch.setattr(ranking, "GUESSES", 7)
    monkeypatch.setattr(ranking, "CANDIDATES", 16)
    monkeypatch.setattr(ranking, "EIGHTS", 1)
    assert Ranker(pool).rank(guess, truth).tolist() == expected


def test_near_ties_are_measured_in_float64():
    # Candidates that differ by less than the rounding of float32 products.
    generator = np.random.default_rng(1)
    base = unit(generator, 1, 4096)
    pool = np.concatenate([base + np.float32(1e-6) * unit(generator, 40, 4096), unit(generator, 40, 4096)])
    guess = np.repeat(base, 40, 0)
    truth = np.arange(40)
    expected = plain_ranks(guess, pool, truth).tolist()
    assert Ranker(pool).rank(guess, truth).tolist() == expected


@pytest.mark.parametrize("outside", [0, 1e-3, 1.0], ids=["in the space", "nearly", "outside"])
@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), vectors=st.integers(1, 5), uneven=st.booleans())
def test_a_basis_of_guesses_changes_no_rank(outside, seed, vectors, uneven):
    # Guesses that are linear combinations of a few vectors, and guesses that are not.
    generator = np.random.default_rng(seed)
    pool, basis = unit(generator, 40, 30), generator.normal(size=(vectors, 30))
    if uneven:
        # Some features vary far less than others, some not at all; a vector may come twice.
        basis *= 10.0 ** generator.integers(-8, 1, 30) * generator.integers(0, 2, 30)
        basis[-1] = basis[0]
    guess = (generator.normal(size=(40, vectors)) @ basis + outside * unit(generator, 40, 30)).astype(np.float32)
    found = Ranker(pool, guess_basis=basis).rank(guess, np.arange(40))
    assert found.tolist() == plain_ranks(guess, pool, np.arange(40)).tolist()


@pytest.mark.parametrize("hidden", [False, True], ids=["even", "the features with most weight miss a vector"])
def test_few_pairs_are_measured_in_float64(hidden, monkeypatch):
    generator = np.random.default_rng(2)
    pool, basis = unit(generator, 500, 300), generator.normal(size=(20, 300))
    if hidden:
        basis[0, :60], basis[1:, 60:] = 0, 0
    guess = (generator.normal(size=(500, 20)) @ basis).astype(np.float32)
    ranker, pairs = Ranker(pool, guess_basis=basis), []
    measure = ranker._measure
    monkeypatch.setattr(ranker, "_measure", lambda *given: pairs.append(len(given[1])) or measure(*given))
    found = ranker.rank(guess, np.arange(500))
    assert found.tolist() == plain_ranks(guess, pool, np.arange(500)).tolist()
    # Of a quarter of a million.
    assert sum(pairs) < 500


@pytest.mark.parametrize(("features", "vectors"), [(4096, 513), (512, 33), (1024, 257)])
@pytest.mark.parametrize("kind", ["normal", "rectified", "sparse", "nearly equal"])
def test_errors_of_scores_lie_well_within_the_margin(kind, features, vectors):
    """The margin is probable, not proven: so the differences of scores are compared with those in float64."""
    generator = np.random.default_rng(0)
    drawn = generator.normal(size=(200, features))
    pool = {
        "normal": drawn,
        "rectified": np.maximum(drawn + generator.normal(size=features) - 0.5, 0),
        "sparse": np.where(generator.random(drawn.shape) < 0.1, np.abs(drawn), 0),
        "nearly equal": np.abs(drawn[:1]) + 1e-3 * drawn,
    }[kind]
    pool = (8 * pool / np.linalg.norm(pool, axis=1, keepdims=True)).astype(np.float32)
    basis = np.concatenate([generator.uniform(-1, 1, (vectors - 1, features)), pool.mean(0)[None]])
    moved = np.tanh(generator.normal(size=(100, vectors - 1))) @ basis[:-1]
    guess = (pool.mean(0) + 2 * moved / np.linalg.norm(moved, axis=1, keepdims=True)).astype(np.float32)
    exact = (pool.astype(float) ** 2).sum(1) - 2 * guess.astype(float) @ pool.astype(float).T
    for guess_basis in (None, basis):
        ranker = Ranker(pool, guess_basis=guess_basis)
        rows, margin = ranker._rows_and_margin(torch.from_numpy(guess))
        scores = (rows @ ranker.columns.T).double().numpy()
        true = np.arange(100)[:, None]
        difference, wanted = (each - np.take_along_axis(each, true, 1) for each in (scores, exact))
        assert (np.abs(difference - wanted).max(1) < 0.5 * margin.numpy()).all()
        assert margin.max() < 1e-4 * 8**2


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
    guess = np.zeros((4, 1), np.float32)
    found = plain_ranks(guess, pool, np.arange(4))
    assert found.tolist() == Ranker(pool).rank(guess, np.arange(4)).tolist() == [0.5, 0.5, 2, 3]
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
def test_features_that_are_not_finite_are_refused(bad):
    pool = np.eye(3, dtype=np.float32)
    broken = pool.copy()
    broken[1, 1] = bad
    with pytest.raises(InputError, match="candidates' features hold NaN"):
        Ranker(broken)
    with pytest.raises(InputError, match="diverged"):
        Ranker(pool).rank(broken, np.arange(3))
