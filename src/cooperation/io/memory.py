"""How much memory is free, and whether what a command will surely need fits."""

import resource
from contextlib import suppress
from pathlib import Path

from cooperation.io.files import InputError

MEMINFO = Path("/proc/meminfo")
GROUPS = (
    ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"),
    ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"),
)
"""Files of the limit and the use of a container's memory, in bytes."""


def free() -> float:
    """Bytes that this process may still take: of the machine, its container and its limits; infinite where unknown."""
    found = [float("inf")]
    with suppress(OSError, ValueError, StopIteration):
        lines = MEMINFO.read_text(encoding="ascii").splitlines()
        found.append(1024 * float(next(line.split()[1] for line in lines if line.startswith("MemAvailable"))))
    for limit, used in GROUPS:
        with suppress(OSError, ValueError):
            found.append(float(Path(limit).read_text(encoding="ascii")) - float(Path(used).read_text(encoding="ascii")))
    limit_of_process = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit_of_process != resource.RLIM_INFINITY:
        found.append(float(limit_of_process))
    return min(found)


def require(needed: float, what: str, remedy: str) -> None:
    """Raise `InputError` where less is free than what is surely needed, in bytes; what: needs it."""
    room = free()
    if needed > room:
        raise InputError(
            f"{what}: needs {needed / 1e9:,.1f} GB of memory at least, {room / 1e9:,.1f} are free; {remedy}"
        )
