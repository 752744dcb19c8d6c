"""The bootstrap: means of samples of dialogs drawn with replacement, and the intervals that they give."""

import os
from concurrent.futures import ThreadPoolExecutor
from math import exp, factorial, sqrt

import numpy as np
import numpy.typing as npt

RESAMPLES = 10_000
LEVEL = (2.5, 97.5)
"""Percentiles of the resampled means that bound the interval."""

SIMULTANEOUS = LEVEL[1] - LEVEL[0]
"""Percentage of the resamples that lie within all of several intervals at once."""

Doubles = npt.NDArray[np.float64]
Singles = npt.NDArray[np.float32]
BLOCK = 128
"""Samples that one thread draws at a time: 20 MB of counts at 40,000 dialogs."""


def resampled_means(
    values: npt.NDArray[np.floating], resamples: int = RESAMPLES, seed: int = 0, threads: int | None = None
) -> Doubles:
    """Means of `resamples` samples of the rows, drawn with replacement: [rows, columns] → [resamples, columns].

    All columns share the draws, so differences of columns are paired. Instead of 10,000 × rows indices, the number
    of times that each row is drawn is made directly (`_draws`), then one matrix product sums all columns. Values are
    centred first, so that single precision suffices. The result depends on `seed`, not on `threads` (default:
    `allowed_threads`).
    """
    rows = len(values)
    centre = values.mean(0, dtype=np.float64)
    centred = (values - centre).astype(np.float32)
    sizes = [min(BLOCK, resamples - start) for start in range(0, resamples, BLOCK)]

    def block(number: int) -> Singles:
        return np.asarray(_draws(rows, sizes[number], [seed, number]) @ centred)

    with ThreadPoolExecutor(threads or allowed_threads()) as pool:
        sums = np.concatenate(list(pool.map(block, range(len(sizes)))))
    return np.asarray(sums / np.float64(rows) + centre)


def allowed_threads() -> int:
    """How many threads the bootstrap may take: OMP_NUM_THREADS, which Snakemake sets for each job; else all cores."""
    given = os.environ.get("OMP_NUM_THREADS", "")
    return int(given) if given.isdecimal() and int(given) else len(os.sched_getaffinity(0))


def _draws(rows: int, samples: int, seed: list[int]) -> Singles:
    """How often each of `rows` rows is drawn in each sample of size `rows`: [samples, rows] multinomial counts.

    Poisson counts, given their total, are multinomial; so rows get Poisson counts (inverse distribution function
    over 16 random bits, so probabilities are rounded to 1/65536) of a mean a little below 1, and the draws that are
    still missing are made one by one. A sample that has too many already is made anew.
    """
    generator = np.random.Generator(np.random.SFC64(seed))
    bits = generator.bit_generator
    steps = _poisson_steps(max(1 - 2 / sqrt(rows), 0))
    counts = np.zeros((samples, rows), np.float32)
    tally = np.empty(rows, np.uint8)
    for sample in counts:
        missing = -1
        while missing < 0:
            uniform = bits.random_raw((rows + 3) // 4).view(np.uint16)[:rows]
            tally[:] = 0
            for step in steps:
                np.add(tally, (uniform >= step).view(np.uint8), out=tally)
            missing = rows - int(tally.sum(dtype=np.uint32))
        sample[:] = tally
        np.add.at(sample, generator.integers(0, rows, missing), np.float32(1))
    return counts


def _poisson_steps(mean: float) -> npt.NDArray[np.uint16]:
    """Thresholds t0 ≤ t1 ≤ … such that the number of them that 16 random bits reach is Poisson distributed."""
    probabilities = [exp(-mean) * mean**k / factorial(k) for k in range(12)]
    steps = np.rint(np.cumsum(probabilities) * 2**16)
    return np.asarray(steps[steps < 2**16].astype(np.uint16))


def interval(draws: Doubles) -> Doubles:
    """95 % percentile interval of resampled statistics: [resamples, …] → [2, …], low and high."""
    return np.percentile(draws, LEVEL, axis=0)


def simultaneous_margins(plain: Doubles, draws: Doubles) -> Doubles:
    """Half widths of 95 % intervals that hold together: plain [n] and resampled [resamples, n] statistics → [n].

    They are as many standard errors wide as that 95 % of the resamples lie within all of them (max-t).
    """
    errors = draws.std(0)
    away = np.abs(draws - plain)
    # What does not vary has an interval of no width.
    sizes = np.divide(away, errors, out=np.zeros_like(away), where=errors > 0)
    return np.asarray(errors * np.percentile(sizes.max(-1), SIMULTANEOUS))
