"""The random generators that a builder's bots may draw from, so that their draws can begin anew."""

import random
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

from cooperation.api import Dialog
from cooperation.bots.calls import Calls

# How deep generators are looked for in what bots hold, and in how large collections.
DEPTH, LARGEST = 3, 100
# Between the seeds of generators, so that no two draw the same.
APART = 1_000_003


def reseed(bots: Any, seed: int) -> None:
    """Begin anew: the generators of `random`, NumPy and PyTorch, those that bots hold, and those in their module."""
    random.seed(seed)
    np.random.seed(seed)  # noqa: NPY002 - bots may draw from it
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(seed)
    module = bots if isinstance(bots, ModuleType) else sys.modules.get(type(bots).__module__)
    for number, generator in enumerate(_held([bots, module], DEPTH, set()), 1):
        _begin(generator, seed + number * APART)


def _held(values: Any, depth: int, seen: set[int]) -> Iterator[Any]:
    """Generators among values and, `depth` steps deep, in what these hold."""
    for value in values:
        if id(value) in seen:
            continue
        seen.add(id(value))
        if isinstance(value, random.Random | np.random.Generator | np.random.RandomState) or _is_torchs(value):
            yield value
        elif depth and isinstance(value, dict | list | tuple):
            if len(value) <= LARGEST:
                yield from _held(list(value.values()) if isinstance(value, dict) else value, depth - 1, seen)
        # Other modules, such as a library's, are not the bots'.
        elif (
            depth
            and hasattr(value, "__dict__")
            and not isinstance(value, type | (ModuleType if depth < DEPTH else type))
        ):
            yield from _held(list(vars(value).values()), depth - 1, seen)


def _is_torchs(value: Any) -> bool:
    return "torch" in sys.modules and isinstance(value, sys.modules["torch"].Generator)


def _begin(generator: Any, seed: int) -> None:
    if isinstance(generator, np.random.Generator):
        bits = generator.bit_generator
        bits.state = type(bits)(seed).state
    elif _is_torchs(generator):
        generator.manual_seed(seed)
    else:
        generator.seed(seed)


class RewoundCalls(Calls):
    """A builder's bots that draw the same at each call, so that what else they do can be compared."""

    def _call(self, name: str, dialogs: tuple[Dialog, ...], arguments: tuple[Any, ...]) -> Any:
        reseed(self.bots, 1)
        return super()._call(name, dialogs, arguments)
