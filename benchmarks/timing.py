"""How fast, in a way that a noisy machine doesn't tilt: contestants take turns, and a matrix product runs among them.

Rates of different runs can't be compared; ratios of what took turns in one run can, and so can shares of the rate
that large matrix products (GEMM) reached meanwhile.
"""

import ctypes
import platform
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from statistics import median

import torch

STATUS, CLEAR = Path("/proc/self/status"), Path("/proc/self/clear_refs")
GEMM = 2048
"""Rows and columns of the matrices whose product measures the machine."""


def synchronised(run: Callable[[], object]) -> float:
    """Seconds that a call takes, a GPU's part included."""
    waits = torch.cuda.is_available()
    if waits:
        torch.cuda.synchronize()
    start = time.perf_counter()
    run()
    if waits:
        torch.cuda.synchronize()
    return time.perf_counter() - start


def take_turns(contestants: Mapping[str, Callable[[], object]], turns: int) -> dict[str, list[float]]:
    """Seconds of every turn of each contestant."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    for _ in range(turns):
        for name, run in contestants.items():
            seconds[name].append(synchronised(run))
    return seconds


def ratio(slow: list[float], fast: list[float]) -> float:
    """Median of the ratios of each turn, so that a turn that was disturbed disturbs both."""
    return median(one / other for one, other in zip(slow, fast, strict=True))


def gemm(precision: torch.dtype = torch.float32, device: torch.device | str = "cpu") -> Callable[[], object]:
    """A matrix product of `GEMM_FLOP`, to take turns with others."""
    left, right = (torch.randn(GEMM, GEMM, device=device).to(precision) for _ in range(2))
    return lambda: left @ right


GEMM_FLOP = 2 * GEMM**3


def gemm_rate(seconds: list[float]) -> float:
    """FLOP/s of the products that `gemm` made."""
    return GEMM_FLOP / median(seconds)


def extra_memory(run: Callable[[], object]) -> int:
    """Bytes that a call needs at most at a time, beyond what the process has before; Linux only, else 0."""
    if not CLEAR.exists():
        return 0
    give_back_freed_memory()
    CLEAR.write_text("5")  # forgets the peak so far
    before = _status("VmRSS")
    run()
    return _status("VmHWM") - before


def give_back_freed_memory() -> None:
    """Or what one call has left behind would do for the next, which would seem to need none."""
    with suppress(AttributeError, OSError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)


def _status(name: str) -> int:
    line = next(line for line in STATUS.read_text().splitlines() if line.startswith(name + ":"))
    return int(line.split()[1]) * 1024


class Neighbours:
    """What other guests of the same hardware take meanwhile; Linux only, else nothing."""

    def __init__(self) -> None:
        self.before = self._ticks()

    def share(self) -> float:
        """Of the processor time that was wanted on this machine, the share that went to others (steal)."""
        user, nice, system, *_, interrupts, quick, steal = (
            now - then for now, then in zip(self._ticks(), self.before, strict=True)
        )
        return steal / max(user + nice + system + interrupts + quick + steal, 1)

    @staticmethod
    def _ticks() -> list[int]:
        stat = Path("/proc/stat")
        return [int(word) for word in stat.read_text().split()[1:9]] if stat.exists() else [0] * 8


def processor() -> str:
    """The processor's name."""
    info = Path("/proc/cpuinfo")
    names = [line.split(":")[1].strip() for line in info.read_text().splitlines() if line.startswith("model name")]
    return names[0] if names else platform.processor()
