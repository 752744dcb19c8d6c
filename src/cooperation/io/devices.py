"""The device that networks run on, and settings that make them fast there."""

import ctypes
import os
import re
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import MappingProxyType

import torch

from cooperation.io.files import InputError
from cooperation.io.memory import free
from cooperation.io.products import library

# Options of glibc's mallopt.
M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
CHOICE = "COOPERATION_DEVICE"
"""The variable that chooses the device, whatever was granted."""
GRANTS = (CHOICE, "SLURM_JOB_GPUS", "SLURM_STEP_GPUS", "CUDA_VISIBLE_DEVICES")
"""Variables by which a GPU is asked for, or a cluster says that it gave one."""
NO_GPU = ("", "-1", "NoDevFiles", "void")
"""Values by which they say that there is none."""
DRIVERS = MappingProxyType({"11": "450 or newer", "12": "525 or newer", "13": "580 or newer"})
"""The driver that each CUDA needs, by its major version (NVIDIA, CUDA Compatibility, minor version compatibility)."""
LOADED = Path("/proc/driver/nvidia/version")
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
        system = ctypes.CDLL(None)
        system.mallopt(M_MMAP_MAX, 0)
        system.mallopt(M_TRIM_THRESHOLD, -1)


@cache
def device() -> torch.device:
    """The first GPU if torch can use one, else the CPU; COOPERATION_DEVICE=cpu or =cuda chooses.

    Matrix products in float32 are so on a GPU, too, not in TF32. Raises `InputError` with torch's reason where a GPU
    was asked for or granted and can't be used: the work of minutes would take hours on the CPU, without a word.
    """
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    chosen = os.environ.get(CHOICE, "")
    if chosen not in ("", "cpu", "cuda"):
        raise InputError(f"{CHOICE}={chosen}: choose cpu or cuda, or leave it out for a GPU where there is one")
    if chosen == "cpu":
        return torch.device("cpu")
    reason = unusable()
    if reason and (asked := granted()):
        raise InputError(f"{asked}: torch can't use that GPU: {reason}; mend this, or choose {CHOICE}=cpu")
    return torch.device("cpu" if reason else "cuda")


def granted() -> str:
    """The variable, with its value, by which a job was given a GPU; "" where none was."""
    found = ((name, os.environ.get(name, "")) for name in GRANTS)
    return next((f"{name}={value}" for name, value in found if value not in NO_GPU), "")


@cache
def unusable() -> str:
    """Why torch computes on no GPU, in its words, with the driver that is there and the one needed; "" if it does."""
    try:
        torch.ones(1, device="cuda").sum().item()
    except (RuntimeError, AssertionError) as error:
        words = " ".join(f"{error}".split()).partition(". ")[0].removesuffix(".")
    else:
        return ""
    cuda = torch.version.cuda
    if cuda is None:
        return f"{words} (torch {torch.__version__})"
    needed = DRIVERS.get(cuda.partition(".")[0], f"one for CUDA {cuda}")
    return f"{words} (driver: {driver() or 'none found'}; torch {torch.__version__} needs {needed})"


def driver() -> str:
    """The version of NVIDIA's driver; "" where none is found."""
    with suppress(OSError):
        if found := re.search(r"\d+\.\d+(\.\d+)?", LOADED.read_text()):
            return found[0]
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    with suppress(OSError, subprocess.SubprocessError):
        said = subprocess.run(command, capture_output=True, text=True, check=True, timeout=20).stdout
        return next(iter(said.split()), "")
    return ""


def name_of(where: torch.device) -> str:
    """A device's name in results: the GPU's model, or what rounding on a CPU depends on."""
    if where.type == "cuda":
        return f"{where.type}, {torch.cuda.get_device_name(where)}"
    return f"{where.type}, threads: {torch.get_num_threads()}, float32 products: {library()}"


def say_device(note: str = "") -> None:
    """Print the device that is computed on, the first line of a log; and why it is not the GPU that a driver promises.

    note: what is said behind it. Raises `InputError` as `device`.
    """
    where = device()
    idle = where.type == "cpu" and os.environ.get(CHOICE) != "cpu" and driver()
    print(f"device: {name_of(where)}" + (f"; no GPU: {unusable()}" if idle else "") + note, flush=True)
