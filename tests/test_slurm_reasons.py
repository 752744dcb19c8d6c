"""What is said of a failed job of SLURM, by the words that SLURM left: some are rare, so these were recorded."""

import importlib.util
import logging

import pytest
from project import ROOT

spec = importlib.util.spec_from_file_location("slurm_reasons", ROOT / "workflow/slurm_reasons.py")
slurm_reasons = importlib.util.module_from_spec(spec)
spec.loader.exec_module(slurm_reasons)

LIMITS = {
    "cgroups": "slurmstepd: error: Detected 1 oom_kill event in StepId=7.batch. Some tasks have been OOM Killed.",
    "gathering": "slurmstepd-n1: error: StepId=7.batch exceeded memory limit (144863232 > 41943040), being killed",
    "time": "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-12-01T11:00:00 DUE TO TIME LIMIT ***",
    "cancelled": "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-12-01T11:00:00 ***",
}
MEMORY = "it needed more memory: raise mem_mb of train in set-resources of your profile"
TIME = "it needed more time: raise runtime of train in set-resources of your profile"


def record(status, path):
    """As Snakemake logs a job's error."""
    made = logging.makeLogRecord({"msg": "Error in rule train, jobid: 1", "levelno": logging.ERROR})
    made.rule_name, made.rule_msg = "train", f"SLURM-job '7' failed, SLURM status is: '{status}'. Reason: Unknown."
    made.log, made.aux = ["logs/none.log", str(path)], {"external_jobid": "7"}
    return made


@pytest.mark.parametrize(
    ("status", "words", "why"),
    [
        ("OUT_OF_MEMORY", "", MEMORY),
        ("FAILED", LIMITS["cgroups"], MEMORY),
        # What is killed for its memory is called cancelled, too.
        ("CANCELLED", f"{LIMITS['gathering']}\n{LIMITS['cancelled']}", MEMORY),
        ("TIMEOUT", "", TIME),
        ("CANCELLED", LIMITS["time"], TIME),
        ("CANCELLED", LIMITS["cancelled"], "it was cancelled; "),
        ("NODE_FAIL", "", "its node failed; "),
        ("FAILED", "RuleException: exit status 2", "its log says it"),
        ("FAILED", "", "it left no word; ask SLURM: "),
    ],
)
def test_an_error_says_why_and_what_helps(status, words, why, tmp_path):
    path = tmp_path / "7.log"
    path.write_text(f"Building DAG of jobs...\n{words}\n" if words else "")
    made = record(status, path)
    assert slurm_reasons.Reasons().filter(made)
    first, *last = made.aux["reason"].splitlines()
    assert first.startswith(why)
    assert [line.strip() for line in last] == [line for line in words.splitlines() if line.startswith("slurmstepd")]


def test_a_log_that_is_gone_is_no_error(tmp_path):
    made = record("TIMEOUT", tmp_path / "gone.log")
    slurm_reasons.Reasons().filter(made)
    assert made.aux["reason"] == TIME


def test_a_group_of_jobs_says_it_too(tmp_path):
    (tmp_path / "7.log").write_text(LIMITS["cgroups"])
    made = logging.makeLogRecord({"msg": "Error in group 1", "levelno": logging.ERROR})
    made.aux_logs, made.job_error_info = [str(tmp_path / "7.log")], [{"rule_name": "train"}] * 2
    slurm_reasons.Reasons().filter(made)
    assert made.msg.startswith(f"Error in group 1: {MEMORY}\n")


def test_other_records_are_as_they_were():
    made = logging.makeLogRecord({"msg": "Select jobs to execute...", "levelno": logging.INFO})
    before = dict(vars(made))
    assert slurm_reasons.Reasons().filter(made)
    assert vars(made) == before
