"""Where the networks run, and what makes them fast there."""

import ctypes
from contextlib import suppress
from functools import cache

import torch

# Options of glibc's mallopt.
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4


def keep_freed_memory() -> None:
    """Let the C library keep large freed arrays for the next ones.

    Else the system takes each back and zeroes its pages anew, a tenth of the time of an update at the paper's size.
    Libraries other than glibc go on as they do.
    """
    with suppress(AttributeError, OSError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(M_MMAP_MAX, 0)
        library.mallopt(M_TRIM_THRESHOLD, -1)


@cache
def device() -> torch.device:
    """The first GPU if there is one, else the CPU; float32 means float32 there too, not TF32."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def name_of(where: torch.device) -> str:
    """What numbers were made on, as results say it: the GPU's model, or a CPU's threads, which round differently."""
    how = torch.cuda.get_device_name(where) if where.type == "cuda" else f"threads: {torch.get_num_threads()}"
    return f"{where.type}, {how}"
