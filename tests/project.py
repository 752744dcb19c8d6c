"""The project in a folder of its own, for the tests that run its workflow."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import preloaded
import pytest
import yaml

ROOT = Path(__file__).parent.parent


def lacking(reason):
    """Skip what can't be tested here; where CI is set, nothing may be skipped."""
    (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)


class Project:
    """A copy of the project's own files with a config.yaml of its own."""

    def __init__(self, folder, config):
        self.folder = folder
        for name in ("src", "workflow", "profiles", "paper"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        shutil.copy(ROOT / "Snakefile", folder)
        self.configure(config)

    def configure(self, config):
        (self.folder / "config.yaml").write_text(yaml.safe_dump(config))

    def snakemake(self, *words):
        """Run the workflow; its jobs don't wait for imports."""
        environment = self.environment()
        environment["PATH"] = os.pathsep.join([preloaded.python(), environment["PATH"]])
        return self.run(sys.executable, "-m", "snakemake", "--cores", "2", *words, environment=environment)

    def run(self, *command, environment=None):
        return subprocess.run(
            command,
            cwd=self.folder,
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment or self.environment(),
        )

    def environment(self):
        """The copy's own sources are the ones that run, by the Python that runs the tests."""
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        environment["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), environment["PATH"]])
        return environment

    def jobs(self, *words):
        """What a dry run would do: rule → number of jobs."""
        done = self.snakemake("-n", "--verbose", *words)
        assert done.returncode == 0, done.stdout
        if "Nothing to be done" in done.stdout:
            return {}
        stats = done.stdout.split("Job stats:")[1].split("total")[0]
        found = {rule: int(count) for rule, count in re.findall(r"^(\w+) +(\d+)$", stats, re.MULTILINE)}
        found.pop("all", None)
        return found
