"""The device that networks run on, and settings that make them fast there."""

import ctypes
from contextlib import suppress
from functools import cache

import torch

from cooperation.io.memory import free
from cooperation.io.products import library

# Options of glibc's mallopt.
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
ROOMY = 16e9
"""Bytes: twice what training at the paper's size takes with all that is kept."""


def keep_freed_memory() -> None:
    """Let the C library keep large freed arrays for the next ones.

    Otherwise the system takes each back and zeroes its pages anew: up to a tenth of the time of an update at the
    paper's size. What is kept is in pieces, and grows by gigabytes; so it is not where less than `ROOMY` is free.
    C libraries other than glibc are left as they are.
    """
    if free() < ROOMY:
        return
    with suppress(AttributeError, OSError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_MAX, 0)
        library.mallopt(M_TRIM_THRESHOLD, -1)


@cache
def device() -> torch.device:
    """The first GPU if there is one, else the CPU; matrix products in float32 are so on a GPU, too, not in TF32."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def name_of(where: torch.device) -> str:
    """A device's name in results: the GPU's model, or what rounding on a CPU depends on."""
    if where.type == "cuda":
        return f"{where.type}, {torch.cuda.get_device_name(where)}"
    return f"{where.type}, threads: {torch.get_num_threads()}, float32 products: {library()}"
