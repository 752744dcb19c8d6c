"""Normalising of image features: to a common length, after standardising if asked for."""

from collections.abc import Callable, Iterable

import numpy as np

from cooperation.game.messages import Floats

Normalise = Callable[[Floats], Floats]


def l2(length: float) -> Normalise:
    """Scale vectors [images, features] to a Euclidean length; zero vectors stay zero."""

    def normalise(vectors: Floats) -> Floats:
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors * (length / np.where(norms > 0, norms, 1)).astype(np.float32)

    return normalise


def standardise(train: Iterable[Floats], length: float) -> Normalise:
    """Subtract the training images' mean, divide by their standard deviation, then scale to the given length.

    train: blocks [images, features] of the training images. A feature that is constant in them is only centred.
    """
    count, total, squares = 0, np.float64(0), np.float64(0)
    for block in train:
        count += len(block)
        total = total + block.sum(0, dtype=np.float64)
        squares = squares + np.square(block, dtype=np.float64).sum(0)
    mean = total / count
    deviation = np.sqrt(np.maximum(squares / count - mean**2, 0))
    # A smaller deviation is rounding noise of the sums.
    deviation = np.where(deviation > 1e-6 * np.abs(mean), deviation, 1)
    scale = l2(length)

    def normalise(vectors: Floats) -> Floats:
        return scale(((vectors - mean) / deviation).astype(np.float32))

    return normalise
