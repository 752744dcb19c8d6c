"""What a SLURM cluster refuses, before any work: the Snakefile asks where the jobs are SLURM's."""

import shlex
import subprocess
from collections import defaultdict
from typing import Any

from snakemake.logging import logger
from snakemake_executor_plugin_slurm.submit_string import get_submit_command
from snakemake_executor_plugin_slurm.utils import set_gres_string
from snakemake_executor_plugin_slurm.validation import validate_slurm_extra
from snakemake_interface_common.exceptions import WorkflowError

SECONDS = 300


def check(workflow: Any) -> None:
    """Raise `WorkflowError` where the cluster would refuse jobs to come; warn of what it takes and can't start now.

    Nothing is run: `sbatch --test-only` is asked, and where that says no, which it also does while nodes are down for a
    day, a job of next week is submitted and cancelled.
    """
    refused, waiting, calls = defaultdict(dict), defaultdict(dict), defaultdict(dict)
    needed = [job for job in workflow.dag.needrun_jobs() if not job.is_local]
    # A group is one job of SLURM; its members are of the rules that it is called by.
    for job in dict.fromkeys(workflow.dag.get_job_group(job) or job for job in needed):
        rules = {one.rule.name: None for one in (job.jobs if job.is_group() else [job])}
        try:
            calls[_call(job, workflow.executor_settings)].update(rules)
        except WorkflowError as error:
            refused[str(error)].update(rules)
    for call, rules in calls.items():
        if why := _refusal(f"{call} --test-only"):
            later = _refusal(f"{call} --begin=now+7days")
            (refused if later else waiting)[later or why].update(rules)
    if refused:
        raise WorkflowError("SLURM refuses these jobs, so nothing was begun:\n" + _lines(refused))
    if waiting:
        logger.warning(f"SLURM takes these jobs, but can't start them on the nodes that are up:\n{_lines(waiting)}")


def _lines(whys: dict[str, dict[str, None]]) -> str:
    return "\n".join(f"{', '.join(rules)}: {why}" for why, rules in whys.items())


def _call(job: Any, settings: Any) -> str:
    """The call of sbatch that the plug-in would make of another command. Raises `WorkflowError` where it makes none."""
    account, partition = (str(job.resources.get(f"slurm_{name}") or "") for name in ("account", "partition"))
    named = {
        "run_uuid": "preflight",
        "slurm_logfile": "/dev/null",
        "comment_str": "preflight",
        "workdir": ".",
        # Of several accounts the plug-in tries one after the other.
        "account": f"-A {shlex.quote(account)}" if account and len(account.replace(",", " ").split()) == 1 else "",
        "partition": f"-p {shlex.quote(partition)}" if partition else "",
    }
    validate_slurm_extra(job)
    return get_submit_command(job, named, settings) + set_gres_string(job) + " --wrap true"


def _refusal(call: str) -> str:
    """Why a call of sbatch is refused; "" where it is not, and the job is cancelled."""
    done = _run(call)
    if done.returncode == 0:
        number = done.stdout.split(";")[0].strip()
        _run(f"scancel {number}") if number else None
        return ""
    why = "; ".join(line.removeprefix("sbatch: error: ") for line in done.stderr.splitlines())
    there = _run("sinfo --noheader --format=%R").stdout.split() if "partition" in why else []
    return why + (f"; this cluster has the partitions {', '.join(there)}" if there else "")


def _run(call: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(call, shell=True, capture_output=True, text=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(call, 1, "", f"SLURM gave no answer within {SECONDS} s; sinfo should, too")
