"""Where the networks run."""

from functools import cache

import torch


@cache
def device() -> torch.device:
    """The first GPU if there is one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
