"""Random numbers keyed by what they are for, so that no order of drawing can change a result.

A number depends on (seed, purpose, dialog, round, position) alone: not on the batch, the shard, the other
conditions or the probability it is compared with. A higher p therefore only adds replacements, and conditions
are paired (common random numbers). The mixing function is that of SplitMix64 (Steele, Lea and Flood 2014),
applied once for each part of the key.
"""

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

_INCREMENT = np.uint64(0x9E3779B97F4A7C15)


def _mix(state: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


def _hash(seed: int, purpose: str, *keys: npt.NDArray[Any] | int) -> npt.NDArray[np.uint64]:
    digest = hashlib.blake2b(f"{seed}/{purpose}".encode(), digest_size=8).digest()
    state = np.array(int.from_bytes(digest, "little"), np.uint64)
    with np.errstate(over="ignore"):
        for key in keys:
            # + 1, since a key of 0 would leave the state's own increment as the only change.
            state = _mix(state + (np.asarray(key).astype(np.uint64) + np.uint64(1)) * _INCREMENT)
    return state


def uniform(seed: int, purpose: str, *keys: npt.NDArray[Any] | int) -> npt.NDArray[np.float64]:
    """Numbers in [0, 1), one for each combination of the keys: non-negative integers whose shapes are broadcast."""
    return np.asarray((_hash(seed, purpose, *keys) >> np.uint64(11)) * 2.0**-53)


def integers(seed: int, purpose: str, bound: int, *keys: npt.NDArray[Any] | int) -> npt.NDArray[np.int64]:
    """Integers in [0, bound), one for each combination of the keys: see `uniform`."""
    return np.asarray(uniform(seed, purpose, *keys) * bound).astype(np.int64)
