"""What `snakemake -n` says: a table of the rules, since a job's own lines would be thousands at full size."""

import csv
import logging
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tabulate import tabulate

MEASURED = Path(__file__).parents[1] / "docs/scale.csv"
"""Hours and memory of each rule at the paper's size (`make scale`)."""
MEASURED_SIZES = {"embedding": 300, "hidden": 512, "layers": 2}
HOURS = {"hours_2_cores": "hours on 2 cores", "hours_8_cores": "on 8", "hours_gpu": "on 1 GPU"}

MEMORY = "memory [GiB]"
COLUMNS = "rule", "to do", "there", *HOURS.values(), MEMORY, "why"
FOLLOWS = "input files updated by another job"
"""Snakemake's reason of all jobs that follow others."""


class Plan(logging.Filter):
    """In a dry run, leaves out what is said of single jobs, and says a line a rule in place of Snakemake's counts.

    workflow: Snakemake's. sizes: of the data set's networks; costs are known of the paper's alone.
    """

    def __init__(self, workflow: Any, sizes: Any) -> None:
        super().__init__()
        self.workflow, self.sizes = workflow, sizes
        self.counted = False

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a record is logged."""
        if not self.workflow.dryrun or self.workflow.output_settings.verbose:
            return True
        event = getattr(getattr(record, "event", None), "name", "")
        if event == "RUN_INFO":
            # Snakemake counts before the jobs and behind them.
            counted, self.counted = self.counted, True
            record.msg = self.table()
            return not counted
        return event not in ("JOB_INFO", "SHELLCMD") and not record.getMessage().startswith("Reasons:\n")

    def table(self) -> str:
        """A line a rule, in the order of work."""
        dag, measured = self.workflow.dag, costs() if asdict(self.sizes) == MEASURED_SIZES else {}
        rows: dict[str, dict[str, Any]] = {}
        why = defaultdict[str, set[str]](set)
        for job in (job for level in dag.toposorted() for job in sorted(level, key=str) if job.rule.name != "all"):
            row = rows.setdefault(named(job), {"rule": named(job), "to do": 0, "there": 0})
            row["to do" if dag.needrun(job) else "there"] += 1
            if dag.needrun(job):
                why[named(job)].update(dag.reason(job).get_names())
        for rule, row in rows.items():
            row.update(cost(measured.get(rule), row["to do"]))
            row["why"] = ", ".join(sorted(why[rule] - {FOLLOWS} or why[rule]))
        total = {"rule": "in all", **summed(list(rows.values()))}
        columns = [name for name in COLUMNS if any(name in row for row in rows.values())]
        rows["in all"] = {**total, "why": ""}
        shown = tabulate([[row.get(name) for name in columns] for row in rows.values()], columns, floatfmt=".1f")
        note = "\nHours and memory as measured for VisDial's size (docs/scale.md)." if measured else ""
        return f"The plan:\n{shown}{note}\nEach job and its command: snakemake -n --verbose\n"


def cost(measured: Mapping[str, str] | None, jobs: int) -> dict[str, float]:
    """Hours of so many jobs and the memory of one; nothing where it was not measured."""
    if not measured or not jobs:
        return {}
    hours = {shown: float(measured[name]) * jobs / int(measured["jobs"]) for name, shown in HOURS.items()}
    return {**hours, MEMORY: float(measured["peak_memory_gib"])}


def named(job: Any) -> str:
    """A job's rule; that of a training names the model, too."""
    model = job.wildcards_dict.get("model") if job.rule.name == "train" else None
    return f"{job.rule.name}, {model}" if model else job.rule.name


def costs() -> dict[str, dict[str, str]]:
    """The rows of `MEASURED` by rule; none where the project came without its docs."""
    if not MEASURED.is_file():
        return {}
    with MEASURED.open(encoding="utf-8") as file:
        return {row["rule"]: row for row in csv.DictReader(line for line in file if not line.startswith("#"))}


def summed(rows: list[Mapping[str, Any]]) -> dict[str, float]:
    """The sums of jobs and hours, and the largest memory."""
    found = {name: [row[name] for row in rows if name in row] for name in COLUMNS[1:-1]}
    return {name: max(values) if name == MEMORY else sum(values) for name, values in found.items() if values}
