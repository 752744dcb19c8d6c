"""The bootstrap: means of samples of dialogs drawn with replacement, and the intervals that they give."""

import os
from concurrent.futures import ThreadPoolExecutor
from math import exp, factorial, sqrt

import numpy as np
import numpy.typing as npt

from cooperation.io.memory import require
from cooperation.io.settings import check_seed, check_size

RESAMPLES = 10_000
LEVEL = (2.5, 97.5)
"""Percentiles of the resampled means that bound the interval."""

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
BLOCK = 256
"""Samples that one thread sums up at a time: 40 MB of counts at 40,000 dialogs."""
AT_A_TIME = 8
"""Samples whose counts are made together: few enough for a processor's cache, enough for threads to run apart."""


def resampled_means(
    values: npt.NDArray[np.floating], resamples: int = RESAMPLES, seed: int = 0, threads: int | None = None
) -> Doubles:
    """Means of `resamples` samples of the rows, drawn with replacement: [rows, columns] → [resamples, columns].

    All columns share the draws, so differences of columns are paired. Instead of 10,000 × rows indices, the number
    of times that each row is drawn is made directly (`_draw`), then one matrix product sums all columns. Values are
    centred first, so that single precision suffices. The result depends on `seed`, not on `threads` (default:
    `allowed_threads`).

    A single row says nothing of how means vary, so theirs are NaN.

    Raises `InputError` for a seed out of bounds, or no resamples.
    """
    check_seed(seed, "--seed")
    check_size(resamples, "--resamples")
    # Single precision while they are drawn, double then.
    require(12 * resamples * values.shape[1], "--resamples", "lower it")
    rows = len(values)
    if rows == 1:
        return np.full((resamples, values.shape[1]), np.nan)
    centre = values.mean(0, dtype=np.float64)
    centred = (values - centre).astype(np.float32)
    sums = np.empty((resamples, values.shape[1]), np.float32)
    blocks = [slice(start, min(start + BLOCK, resamples)) for start in range(0, resamples, BLOCK)]
    workers = threads or allowed_threads()

    def work(worker: int) -> None:
        # Used again and again, since the first use of memory takes longer than drawing does.
        counts = np.empty((BLOCK, rows), np.float32)
        for number in range(worker, len(blocks), workers):
            wanted = sums[blocks[number]]
            drawn = counts[: len(wanted)]
            _draw(drawn, [seed, number])
            np.matmul(drawn, centred, out=wanted)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(work, range(workers)))
    return np.asarray(sums / np.float64(rows) + centre)


def allowed_threads() -> int:
    """How many threads the bootstrap may take: OMP_NUM_THREADS, which Snakemake sets for each job; else all cores."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return int(given) if given.isdecimal() and int(given) else len(os.sched_getaffinity(0))


def _draw(counts: Singles, seed: list[int]) -> None:
    """Fill in how often each row is drawn in each sample of as many rows: [samples, rows] multinomial counts.

    Poisson counts, given their total, are multinomial; so rows get Poisson counts of a mean a little below 1, and the
    draws that are still missing are made one by one. A sample that has too many already is made anew.
    """
    rows = counts.shape[1]
    generator = np.random.Generator(np.random.SFC64(seed))
    steps = _poisson_steps(max(1 - 3 / sqrt(rows), 0))
    for at in range(0, len(counts), AT_A_TIME):
        _fill_poisson(counts[at : at + AT_A_TIME], steps, generator)
    # Single precision counts exactly to 16 million.
    missing = rows - counts.sum(1).astype(np.intp)
    for sample in np.flatnonzero(missing < 0):
        while missing[sample] < 0:
            _fill_poisson(counts[sample][None], steps, generator)
            missing[sample] = rows - int(counts[sample].sum())
    places = np.repeat(np.arange(len(counts)) * rows, missing)
    places += generator.integers(0, rows, len(places))
    np.add.at(counts.reshape(-1), places, np.float32(1))


def _fill_poisson(counts: Singles, steps: npt.NDArray[np.uint16], generator: np.random.Generator) -> None:
    """Fill in Poisson counts, by their inverse distribution function of 16 random bits each: [samples, rows].

    So probabilities are rounded to 1/65536.
    """
    words = -(-counts.shape[1] // 4)
    # Sample by sample, for larger arrays are given back to the system and cost more to get than to fill.
    drawn = [generator.bit_generator.random_raw(words).view(np.uint16) for _ in counts]
    uniform = np.stack(drawn)[:, : counts.shape[1]]
    tally = np.zeros(uniform.shape, np.uint8)
    for step in steps:
        tally += (uniform >= step).view(np.uint8)
    counts[:] = tally


def _poisson_steps(mean: float) -> npt.NDArray[np.uint16]:
    """Thresholds t0 ≤ t1 ≤ … such that the number of them that 16 random bits reach is Poisson distributed."""
    probabilities = [exp(-mean) * mean**k / factorial(k) for k in range(12)]
    steps = np.rint(np.cumsum(probabilities) * 2**16)
    return np.asarray(steps[steps < 2**16].astype(np.uint16))


def interval(draws: Doubles, level: tuple[float, float] = LEVEL) -> Doubles:
    """Percentile interval of resampled statistics: [resamples, …] → [2, …], low and high. level: its percentiles."""
    return np.percentile(draws, level, axis=0)


def simultaneous_margins(plain: Doubles, draws: Doubles, level: tuple[float, float] = LEVEL) -> Doubles:
    """Half widths of simultaneous intervals: plain [n] and resampled [resamples, n] statistics → [n].

    All are the same multiple of the half width that each would have alone, so large that as many of the resamples as
    the level says lie within all intervals (max-t; a standard error is no measure of draws with the tails of few
    trainings).
    """
    percentage = level[1] - level[0]
    away = np.abs(draws - plain)
    alone = np.percentile(away, percentage, axis=0)
    alone = np.where(alone > 0, alone, away.max(0))
    # What does not vary has an interval of no width.
    sizes = np.divide(away, alone, out=np.zeros_like(away), where=alone > 0)
    return np.asarray(alone * np.percentile(sizes.max(-1), percentage))
