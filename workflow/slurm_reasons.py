"""Why a job of a SLURM cluster failed, and what helps: said with Snakemake's error, which doesn't know."""

import logging
import re
from collections.abc import Iterable
from pathlib import Path

STATUS = re.compile(r"SLURM status is: '(\w+)'")
ENDS = (
    (re.compile(r"OUT_OF_MEMORY|oom.kill|memory limit|out of memory", re.IGNORECASE), "more memory: raise mem_mb"),
    (re.compile(r"TIMEOUT|DUE TO TIME LIMIT"), "more time: raise runtime"),
)
"""What SLURM says of a job's end, first of memory, since what is killed for it is called cancelled, too; what helps."""
OTHERS = {
    "NODE_FAIL": "its node failed",
    "BOOT_FAIL": "its node failed",
    "PREEMPTED": "another job took its place",
    "CANCELLED": "it was cancelled",
}
AGAIN = "the same command goes on once it may run"
SAID = ("slurmstepd", "srun: error", "sbatch: error")
LINES = 5


class Reasons(logging.Filter):
    """Adds to each error of a job of SLURM its reason, SLURM's last words and what to raise."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is logged: always."""
        if found := STATUS.search(str(getattr(record, "rule_msg", None))):
            record.aux = {**record.aux, "reason": reason(record.rule_name, found[1], record.log)}
        elif grouped := getattr(record, "job_error_info", ()):
            rules = ", ".join(dict.fromkeys(job["rule_name"] for job in grouped))
            record.msg = f"{record.msg}: {reason(rules, '', record.aux_logs)}"
        return True


def reason(rule: str, status: str, logs: Iterable[str]) -> str:
    """Why a job failed and what helps, in a line, and SLURM's last words behind it; status: what the queue says."""
    paths = [path for path in map(Path, logs) if path.is_file()]
    lines = [line for path in paths for line in path.read_text(encoding="utf-8", errors="replace").splitlines()]
    said = [line for line in dict.fromkeys(lines) if line.startswith(SAID)][-LINES:]
    words = "\n".join([status, *said])
    needed = next((what for end, what in ENDS if end.search(words)), None)
    if needed:
        why = f"it needed {needed} of {rule} in set-resources of your profile"
    elif status in OTHERS:
        why = f"{OTHERS[status]}; {AGAIN}"
    else:
        why = "its log says it" if said or lines else "it left no word; ask SLURM: scontrol show job ID, or sacct -j ID"
    return "\n        ".join([why, *said])
