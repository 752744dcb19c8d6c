"""A real SLURM on one machine: two virtual nodes with pretended GPUs."""

import os
import shutil
import socket
import subprocess
import time
from contextlib import ExitStack, contextmanager
from pathlib import Path

# Where the programs look for it; the executor clears SLURM_CONF.
SETTINGS = Path("/etc/slurm")

# Of each node.
SIZE = "CPUs=32 RealMemory=256000 Gres=gpu:a100:4 Feature=ib"
NAME = "cooperation-tests"
SLURM = """
ClusterName={name}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort=16817
AuthType=auth/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/%n.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
MinJobAge=86400
SchedulerParameters=batch_sched_delay=0,sched_interval=1
KillWait=1
ReturnToService=2
GresTypes=gpu
NodeName=n[1-2] NodeHostname={host} NodeAddr=127.0.0.1 Port=[17001-17002] {size}
PartitionName=cpu Nodes=n[1-2] Default=YES MaxTime=INFINITE State=UP
PartitionName=gpu Nodes=n[1-2] MaxTime=INFINITE State=UP
"""
GRES = "NodeName=n[1-2] Name=gpu Type=a100 File=/dev/null,/dev/zero,/dev/full,/dev/random\n"


def missing():
    """Why no cluster can be started here, or None."""
    programs = [name for name in ("munged", "slurmctld", "slurmd", "sbatch") if not program(name)]
    if programs:
        return f"{', '.join(programs)} not installed (Debian: slurm-wlm, munge)"
    if os.getuid() != 0:
        return "starting SLURM needs root"
    settings = SETTINGS / "slurm.conf"
    # A killed test leaves its own behind.
    if settings.exists() and (NAME not in settings.read_text() or "UP" in ask("scontrol", "ping")):
        return f"{settings}: this machine belongs to a cluster already"
    return None


def program(name):
    return shutil.which(name, path=f"{os.environ['PATH']}:/usr/sbin")


def ask(*command):
    """Output of a SLURM command, which might wait for ever if the controller is away."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout if done.returncode == 0 else ""


@contextmanager
def cluster(folder):
    """Start all of it, wait until both nodes are idle, and end it."""
    host = socket.gethostname().split(".")[0]
    for name in ("state", "n1", "n2"):
        (folder / name).mkdir(parents=True)
    SETTINGS.mkdir(exist_ok=True)
    written = {"slurm.conf": SLURM.format(name=NAME, host=host, folder=folder, size=SIZE), "gres.conf": GRES}
    with ExitStack() as stack:
        for name, text in written.items():
            (SETTINGS / name).write_text(text)
            stack.callback((SETTINGS / name).unlink)
        if not ask("munge", "--no-input"):
            Path("/run/munge").mkdir(exist_ok=True)
            shutil.chown("/run/munge", "munge")
            munged = [program("munged"), "--foreground", "--force"]
            stack.enter_context(running(folder, "runuser", "-u", "munge", "--", *munged))
            until(lambda: ask("munge", "--no-input"), "munged")
        stack.enter_context(running(folder, program("slurmctld"), "-D"))
        for node in ("n1", "n2"):
            stack.enter_context(running(folder, program("slurmd"), "-D", "-N", node))
        until(lambda: ask("sinfo", "--noheader", "--Node", "--format=%T").split() == ["idle"] * 4, "slurmctld")
        yield
        ask("scancel", "--user=root")


@contextmanager
def running(folder, *command):
    log = (folder / "daemons.log").open("ab")
    with log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            yield
        finally:
            process.terminate()


def until(ready, name, seconds=120):
    """Wait until what is asked is true; it is an error if that takes too long."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            raise TimeoutError(f"{name} is not ready after {seconds} s")
        time.sleep(0.05)
