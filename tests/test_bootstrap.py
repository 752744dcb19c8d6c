import os
import subprocess
import sys

import numpy as np
import pytest
from fakes import made_result
from hypothesis import given, settings
from hypothesis import strategies as st

from cooperation.evaluation.results import write_result
from cooperation.io.files import InputError
from cooperation.reports.bootstrap import (
    _draw,
    _poisson_steps,
    allowed_threads,
    interval,
    resampled_means,
    simultaneous_margins,
)


def plain_means(values, resamples, seed):
    """The slow reference: draw rows with replacement, average."""
    generator = np.random.default_rng(seed)
    rows = len(values)
    return np.array([values[generator.integers(0, rows, rows)].mean(0) for _ in range(resamples)])


def drawn(rows, samples, seed):
    counts = np.full((samples, rows), np.nan, np.float32)
    _draw(counts, seed)
    return counts


@given(rows=st.integers(1, 300), samples=st.integers(1, 5), seed=st.integers(0, 99))
@settings(max_examples=50, deadline=None)
def test_each_sample_draws_as_many_rows_as_there_are(rows, samples, seed):
    counts = drawn(rows, samples, [seed, 0])
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
    counts = drawn(rows, samples, [3, 0])
    error = 4 / np.sqrt(counts.size if rows > 2 else samples)
    assert counts.var(0).mean() == pytest.approx(1 - 1 / rows, abs=2 * error)
    # The count 0 has probability (1 − 1/n)^n, the count 1 has (1 − 1/n)^(n−1).
    assert (counts == 0).mean() == pytest.approx((1 - 1 / rows) ** rows, abs=error)
    assert (counts == 1).mean() == pytest.approx((1 - 1 / rows) ** (rows - 1), abs=error)
    # No row is favoured: the column means of fair draws scatter by 1/√samples.
    assert counts.mean(0).std() < 1.3 * max(1, 2 / np.sqrt(rows)) / np.sqrt(samples)


def test_resampled_means_agree_with_the_plain_reference():
    values = np.random.default_rng(1).exponential(10, (25, 3))
    # So many that what is compared scatters by a fourth of the tolerances.
    ours, plain = resampled_means(values, 200_000, 5), plain_means(values, 200_000, 6)
    assert ours.mean(0) == pytest.approx(values.mean(0), abs=0.1)
    # The covariance of bootstrap means is known exactly.
    assert np.cov(ours.T) == pytest.approx(np.cov(values.T, bias=True) / 25, rel=0.05, abs=0.09)
    # A skewed sample has a skewed interval; a normal approximation would be symmetric.
    assert interval(ours) == pytest.approx(interval(plain), abs=0.15)


def test_resampled_means_of_a_constant_and_of_paired_columns():
    values = np.array([[1.0, 2.0, 50.0], [3.0, 4.0, 50.0], [9.0, 10.0, 50.0]])
    means = resampled_means(values, 500)
    assert means[:, 2] == pytest.approx(50)
    assert means[:, 1] - means[:, 0] == pytest.approx(1)


@pytest.mark.parametrize(("given", "said"), [({"seed": -1}, "--seed: -1"), ({"resamples": 0}, "--resamples: 0")])
def test_what_cannot_be_drawn_is_bad_input(given, said):
    with pytest.raises(InputError, match=said):
        resampled_means(np.ones((3, 1)), **given)


def test_resampled_means_depend_on_the_seed_but_not_on_the_threads():
    values = np.random.default_rng(1).random((40, 2))
    first = resampled_means(values, 1000, 1, threads=1)
    assert (first == resampled_means(values, 1000, 1, threads=3)).all()
    assert first.shape == (1000, 2)
    assert (first != resampled_means(values, 1000, 2)).any()


@pytest.mark.parametrize(("given", "threads"), [("3", 3), ("1", 1), ("", None), ("0", None), ("many", None)])
def test_a_jobs_number_of_threads_is_kept(given, threads, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert allowed_threads() == (threads or len(os.sched_getaffinity(0)))


def test_no_more_threads_draw_than_the_job_may_have(monkeypatch):
    from cooperation.reports import bootstrap

    asked = []

    class Pool(bootstrap.ThreadPoolExecutor):
        def __init__(self, workers):
            asked.append(workers)
            super().__init__(workers)

    monkeypatch.setattr(bootstrap, "ThreadPoolExecutor", Pool)
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    resampled_means(np.zeros((3, 1)), 300)
    assert asked == [5]


def test_the_same_bytes_for_any_number_of_threads(tmp_path):
    """Snakemake sets both variables to a job's threads."""
    ranks = np.random.default_rng(1).integers(0, 99, (301, 11))
    paths = []
    for number, name in enumerate(("none", "image", "caption", "answer")):
        paths.append(tmp_path / f"{name}.h5")
        write_result(paths[-1], made_result(ranks + number, condition=name))
    written = []
    for threads in ("1", "2", "7"):
        out = tmp_path / f"{threads}.csv"
        command = [sys.executable, "-m", "cooperation", "summarise", *paths, "--resamples", "500", "--out", out]
        given = os.environ | {"OMP_NUM_THREADS": threads, "OPENBLAS_NUM_THREADS": threads}
        subprocess.run(list(map(str, command)), check=True, env=given)
        written.append(out.read_bytes())
    assert written[0].count(b"\n") == 1 + 4 * 11
    assert written[0] == written[1] == written[2]


@pytest.mark.parametrize("words", ["summarise --help", "controls --help", "report --help"])
def test_the_threads_of_matrix_products_are_set_before_numpy_is_loaded(words):
    code = f"""
import os, sys
class Watch:
    def find_spec(self, module, *rest):
        if module == "numpy":
            print(os.environ["OPENBLAS_NUM_THREADS"])
sys.meta_path.insert(0, Watch())
sys.argv = "cooperation {words}".split()
from cooperation.cli import main
main()
"""
    given = os.environ | {"OPENBLAS_NUM_THREADS": "4"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, env=given)
    assert done.stdout.splitlines()[:1] == ["1"]


def test_simultaneous_margins_hold_together():
    """As many resamples as promised lie within all margins at once; each alone holds more often."""
    draws = np.random.default_rng(3).normal([1, 2, 3], [1, 5, 0.1], (20_000, 3))
    margins = simultaneous_margins(np.array([1.0, 2, 3]), draws)
    within = np.abs(draws - [1, 2, 3]) <= margins
    assert within.all(1).mean() == pytest.approx(0.95, abs=1e-3)
    # Three independent intervals hold together if each does in 0.95^(1/3) of all cases: 2.39 standard errors.
    assert margins / [1, 5, 0.1] == pytest.approx([2.39] * 3, abs=0.06)


def test_what_does_not_vary_has_no_margin():
    margins = simultaneous_margins(np.array([4.0, 0]), np.array([[4.0, 1], [4, -1], [4, 1], [4, -1]]))
    assert margins.tolist() == [0, 1]


def test_the_mean_of_one_dialog_has_no_interval():
    drawn = resampled_means(np.array([[3.0, 5.0]]), 10)
    assert drawn.shape == (10, 2)
    assert np.isnan(interval(drawn)).all()
