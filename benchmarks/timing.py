"""How fast, in a way that a noisy machine does not tilt: contestants take turns, and a matrix product runs among them.

Rates of different runs cannot be compared; ratios of what took turns in one run can, and so can shares of the rate
that large matrix products (GEMM) reached meanwhile.
"""

import ctypes
import os
import re
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from statistics import median

import torch

from cooperation.io.products import processor

Run = Callable[[], object]
FORGET_PEAK = Path("/proc/self/clear_refs")
GEMM = 2048
"""Rows and columns of the matrices whose product measures the machine."""
GEMM_FLOP = 2 * GEMM**3
PRECISIONS = ("float32", "bfloat16")


def log(text: str) -> None:
    """Say what is going on."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


def seconds(run: Run) -> float:
    """Seconds that a call takes, a GPU's part included."""
    wait = torch.cuda.synchronize if torch.cuda.is_available() else lambda: None
    wait()
    start = time.perf_counter()
    run()
    wait()
    return time.perf_counter() - start


def take_turns(contestants: Mapping[str, Run], turns: int) -> dict[str, list[float]]:
    """Seconds of every turn of each contestant."""
    rounds = [{name: seconds(run) for name, run in contestants.items()} for _ in range(turns)]
    return {name: [taken[name] for taken in rounds] for name in contestants}


def ratio(slow: list[float], fast: list[float]) -> float:
    """Median of the ratios of each turn, so that a turn that was disturbed disturbs both."""
    return median(one / other for one, other in zip(slow, fast, strict=True))


def gemm(precision: torch.dtype, device: torch.device | str = "cpu") -> Run:
    """A matrix product of `GEMM_FLOP`, to take turns with others."""
    left, right = (torch.randn(GEMM, GEMM, device=device).to(precision) for _ in range(2))
    return lambda: left @ right


def gemm_rates(device: torch.device | str = "cpu") -> tuple[dict[str, float], str]:
    """FLOP/s of matrix products by themselves, by precision, and the same in words."""
    runs = {name: gemm(getattr(torch, name), device) for name in PRECISIONS}
    rates = {name: GEMM_FLOP / median(taken) for name, taken in take_turns(runs, 9).items()}
    shown = ", ".join(f"{rate / 1e9:,.0f} GFLOP/s in {name}" for name, rate in rates.items())
    return rates, f"matrix products (GEMM) of {GEMM} × {GEMM}: {shown}"


def memory(which: str, process: int | str = "self") -> int:
    """Bytes that a process has now (VmRSS) or had at most (VmHWM); 0 where it has ended, or the system is not Linux."""
    with suppress(OSError):
        found = re.search(rf"{which}:\s*(\d+)", Path(f"/proc/{process}/status").read_text())
        return int(found[1]) * 1024 if found else 0
    return 0


def seconds_and_memory(run: Run) -> tuple[float, int]:
    """Seconds of a call, and bytes that it needs at most beyond what the process has before; Linux only, else 0."""
    # Or what one call has left behind would do for the next, which would seem to need none.
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
    with suppress(OSError):
        FORGET_PEAK.write_text("5")
    before = memory("VmRSS")
    return seconds(run), memory("VmHWM") - before


def machine() -> str:
    """What all rates depend on."""
    threads = f"{torch.get_num_threads()} threads" if torch.get_num_threads() > 1 else "one thread"
    return f"{processor()}, {os.cpu_count()} cores, {threads}, torch {torch.__version__}"
