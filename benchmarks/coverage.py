"""How often intervals over dialogs and trainings hold the truth, in made-up worlds whose truth is known."""

from itertools import product

import numpy as np
import numpy.typing as npt
import pandas as pd

from cooperation.reports.bootstrap import interval, resampled_means
from cooperation.reports.trainings import Drawn

SEEDS, SPREADS = (1, 3, 5, 10), (0.0, 2.0, 5.0)
"""How many trainings, and the standard deviation of what they add to every dialog, in points."""
DIALOGS, RESAMPLES = 200, 1000
QUANTITIES = {"MPR": (12.0, 8.0), "gap": (6.0, 8.0)}
"""Standard deviations of a dialog in all trainings and in one, in points, as the miniature's are."""
METHODS = ("dialogs", "two-level bootstrap", "Satterthwaite", "used here")
Doubles = npt.NDArray[np.float64]


def measure(worlds: int) -> pd.DataFrame:
    """A row a quantity, number of trainings and spread: the share [%] of worlds in which each interval holds zero."""
    generator, rows = np.random.default_rng(1), []
    for quantity, trainings, spread in product(QUANTITIES, SEEDS, SPREADS):
        held = np.zeros(len(METHODS))
        for _ in range(worlds):
            held += [low <= 0 <= high for low, high in intervals(made_up(quantity, trainings, spread, generator))]
        rows.append((quantity, trainings, spread, *(100 * held / worlds)))
    return pd.DataFrame(rows, columns=["of", "trainings", "SD of trainings", *METHODS])


def made_up(quantity: str, trainings: int, spread: float, generator: np.random.Generator) -> Doubles:
    """Numbers of mean zero of each dialog in each training: [dialogs, trainings]; skewed, as percentile ranks are."""
    shared, own = QUANTITIES[quantity]
    dialogs = shared * (1 - generator.exponential(1, (DIALOGS, 1)))
    return generator.normal(0, spread, (1, trainings)) + dialogs + generator.normal(0, own, (DIALOGS, trainings))


def intervals(values: Doubles) -> list[tuple[float, float]]:
    """Low and high of each of `METHODS`, of the same samples of the dialogs."""
    trainings = values.shape[1]
    means = np.concatenate([values.mean(0)[None], resampled_means(values, RESAMPLES, threads=1)])
    drawn = Drawn(tuple(range(trainings)), means.T)
    generator = np.random.default_rng(2)
    picked = generator.integers(0, trainings, (RESAMPLES, trainings))
    two_level = np.take_along_axis(means[1:], picked, 1).mean(1)
    found = [means[1:].mean(1), two_level, satterthwaite(values, generator), drawn.together[1:]]
    return [(float(low), float(high)) for low, high in map(interval, found)]


def satterthwaite(values: Doubles, generator: np.random.Generator) -> Doubles:
    """Draws of the t distribution whose degrees of freedom the two variances give."""
    variances, freedom = [], []
    for axis in (0, 1):
        means = values.mean(axis)
        if len(means) > 1:
            variances.append(means.var(ddof=1) / len(means))
            freedom.append(len(means) - 1)
    total = sum(variances)
    degrees = total**2 / sum(one**2 / number for one, number in zip(variances, freedom, strict=True))
    return values.mean() + np.sqrt(total) * generator.standard_t(degrees, RESAMPLES)
