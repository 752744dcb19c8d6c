"""Image features brought to a common length, after nothing else (VisDial) or after standardising (the miniature)."""

from collections.abc import Callable, Iterable

import numpy as np

from cooperation.messages import Floats

Normalise = Callable[[Floats], Floats]


def l2(length: float) -> Normalise:
    """Scale every vector [images, features] to the given Euclidean length; a vector of zeros stays one."""

    def normalise(vectors: Floats) -> Floats:
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        return vectors * (length / np.where(norms > 0, norms, 1)).astype(np.float32)

    return normalise


def standardise(train: Iterable[Floats], length: float) -> Normalise:
    """Subtract the training images' mean, divide by their standard deviation, then scale to the given length.

    train: blocks [images, features]. A feature that is the same in all training images is only centred.
    """
    count, total, squares = 0, np.float64(0), np.float64(0)
    for block in train:
        count += len(block)
        total = total + block.sum(0, dtype=np.float64)
        squares = squares + np.square(block, dtype=np.float64).sum(0)
    mean = total / count
    deviation = np.sqrt(np.maximum(squares / count - mean**2, 0))
    # Below rounding of the sums a deviation is noise, and dividing by it would blow it up.
    deviation = np.where(deviation > 1e-6 * np.abs(mean), deviation, 1)
    scale = l2(length)

    def normalise(vectors: Floats) -> Floats:
        return scale(((vectors - mean) / deviation).astype(np.float32))

    return normalise
