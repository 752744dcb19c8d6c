"""Where the networks run."""

from functools import cache

import torch


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
