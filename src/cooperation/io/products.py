"""The library that multiplies float32 matrices on a processor: the faster one of two, where it is as exact.

torch multiplies by MKL. With torch's public switch `set_float32_matmul_precision("medium")` oneDNN multiplies in its
place: twice as fast on some processors, no faster on others, and in bfloat16 where a processor has AMX. So both are
tried before the first training or game on a machine. `COOPERATION_PRODUCTS=mkl` or `=onednn` chooses one.
"""

import json
import os
import platform
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from cooperation.io.files import InputError
from cooperation.io.writing import write_text

SWITCHES = {"mkl": "highest", "onednn": "medium"}
"""What `torch.set_float32_matmul_precision` calls each library."""
CHOICE = "COOPERATION_PRODUCTS"
# Two libraries' float32 products differ by some 1e-6 of the largest number, those in bfloat16 by 1e-2.
SAME = 2e-5
# oneDNN is taken where it needs at most this share of MKL's time, so that noise seldom decides.
SHARE = 0.8
# Rows of the matrices that are tried, columns at most, and how often.
ROWS, COLUMNS, TURNS = 32, 2048, 3


def use_faster_products(shapes: Sequence[tuple[int, int]]) -> None:
    """Let the faster library multiply from now on; shapes: (inputs, outputs) of the layers that matter.

    A choice is kept for the machine in the user's cache, so that the next process makes the same. Where there is a GPU
    nothing is chosen, since matrices are multiplied there. Raises `InputError` for a choice that there isn't.
    """
    chosen = os.environ.get(CHOICE, "auto")
    if chosen not in ("auto", *SWITCHES):
        raise InputError(f"{CHOICE}={chosen}: there is no such library; give mkl, onednn or auto")
    if chosen == "auto":
        chosen = "mkl" if torch.cuda.is_available() else _remembered(shapes)
    torch.set_float32_matmul_precision(SWITCHES[chosen])


def library() -> str:
    """The library that multiplies now."""
    return next(name for name, switch in SWITCHES.items() if switch == torch.get_float32_matmul_precision())


@contextmanager
def multiplying_by(name: str) -> Iterator[None]:
    """Let a library multiply meanwhile."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(SWITCHES[name])
    try:
        yield
    finally:
        torch.set_float32_matmul_precision(before)


def processor() -> str:
    """The processor's model."""
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", info.read_text()) if info.exists() else None
    return found[1] if found else platform.processor()


def faster(shapes: Sequence[tuple[int, int]]) -> str:
    """Try both libraries on products of these shapes, forward and backward; tens of milliseconds."""
    generator = torch.Generator().manual_seed(0)
    seconds, results = dict.fromkeys(SWITCHES, 0.0), dict[str, list[Tensor]]()
    before = torch.get_float32_matmul_precision()
    for inputs, outputs in (map(partial(min, COLUMNS), shape) for shape in shapes):
        rows, weight, gradient = (
            torch.randn(shape, generator=generator) for shape in ((ROWS, inputs), (outputs, inputs), (ROWS, outputs))
        )
        taken: dict[str, list[float]] = {name: [] for name in SWITCHES}
        for _ in range(TURNS):
            for name, switch in SWITCHES.items():
                torch.set_float32_matmul_precision(switch)
                start = time.perf_counter()
                made = [rows @ weight.T, gradient @ weight, gradient.T @ rows]
                taken[name].append(time.perf_counter() - start)
                results[name] = made
        for name in SWITCHES:
            seconds[name] += min(taken[name])
        pairs = zip(results["mkl"], results["onednn"], strict=True)
        if any(float((one - other).abs().max() / one.abs().max()) > SAME for one, other in pairs):
            seconds["onednn"] = float("inf")
    torch.set_float32_matmul_precision(before)
    return "onednn" if seconds["onednn"] <= SHARE * seconds["mkl"] else "mkl"


def _remembered(shapes: Sequence[tuple[int, int]]) -> str:
    """The choice that was made for these shapes on such a machine, or a new one, which is kept."""
    key = f"{processor()}, torch {torch.__version__}, threads: {torch.get_num_threads()}, {list(shapes)}"
    # Without a home, or where it can't be written, each process chooses for itself.
    with suppress(RuntimeError, OSError, ValueError, InputError):
        place = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cooperation/products.json"
        read = json.loads(place.read_text()) if place.exists() else {}
        known = read if isinstance(read, dict) else {}
        if known.get(key) not in SWITCHES:
            known[key] = faster(shapes)
            place.parent.mkdir(parents=True, exist_ok=True)
            write_text(place, json.dumps(known, indent=1))
        return str(known[key])
    return faster(shapes)
