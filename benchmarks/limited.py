"""A command of the package that ends after so many batches of training or playing, and says its peak memory:

    python limited.py BATCHES FILE COMMAND …

0 batches are no limit. Nothing is imported that the command doesn't, so that its memory is its own; FILE gets it, in
bytes. (What the system says of a process that ended counts the memory of the one that started it.)
"""

import atexit
import resource
import sys
from itertools import islice
from pathlib import Path

from cooperation import cli


def limit(batches: int, command: str) -> None:
    """Let training have no more than so many batches, or playing."""
    if command == "train":
        from cooperation.bots import training  # noqa: PLC0415

        order = training.shuffled_batches, training.drawn_batches
        training.shuffled_batches = lambda *given: islice(order[0](*given), batches)
        training.drawn_batches = lambda *given: islice(order[1](*given), batches)
    if command == "play":
        from cooperation.games import playing  # noqa: PLC0415

        playing.tqdm = lambda parts, **_: islice(parts, batches)


def peak() -> int:
    """Bytes that this process had at most."""
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) * 1024


if __name__ == "__main__":
    atexit.register(lambda file: Path(file).write_text(str(peak())), sys.argv[2])
    if int(sys.argv[1]):
        limit(int(sys.argv[1]), sys.argv[3])
    sys.argv = ["cooperation", *sys.argv[3:]]
    cli.main()
