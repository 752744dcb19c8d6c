"""What Snakemake says when a user stops it: that it goes on, not an error for each job that it ended itself."""

import logging

STOPS = "Terminating processes on user request"
"""What Snakemake says first."""


class Stopped(logging.Filter):
    """Leaves out errors from when Snakemake is stopped by a user: its jobs ended because of that.

    stopped: whether it was.
    """

    def __init__(self) -> None:
        super().__init__()
        self.stopped = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is logged."""
        self.stopped = self.stopped or record.getMessage().startswith(STOPS)
        return not (self.stopped and record.levelno >= logging.ERROR)
