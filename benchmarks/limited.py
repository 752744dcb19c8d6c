"""A command of the package that ends after so many batches of training or playing: python limited.py BATCHES COMMAND …

0 batches are no limit. Nothing is imported that the command doesn't, so that its memory is its own.
"""

import sys
from itertools import islice

from cooperation import cli


def limit(batches: int, command: str) -> None:
    """Let training have no more than so many batches, or playing."""
    if command == "train":
        from cooperation import training  # noqa: PLC0415

        order = training.shuffled_batches, training.drawn_batches
        training.shuffled_batches = lambda *given: islice(order[0](*given), batches)
        training.drawn_batches = lambda *given: islice(order[1](*given), batches)
    if command == "play":
        from cooperation import playing  # noqa: PLC0415

        playing.tqdm = lambda parts, **_: islice(parts, batches)


if __name__ == "__main__":
    if int(sys.argv[1]):
        limit(int(sys.argv[1]), sys.argv[2])
    sys.argv = ["cooperation", *sys.argv[2:]]
    cli.main()
