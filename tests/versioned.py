"""The project in a git and DVC repository of its own, as a user has it."""

import os
import shutil
import subprocess
import sys

from project import ROOT, Project

IDENTITY = {
    f"GIT_{role}_{part}": f"{part}@example.org" for role in ("AUTHOR", "COMMITTER") for part in ("NAME", "EMAIL")
}
# A time that no file is newer than.
NEVER = 4e9


class Versioned(Project):
    """A copy of the project, committed; nothing is made yet."""

    def __init__(self, folder, config):
        super().__init__(folder, config)
        for name in (".dvcignore", ".gitignore", "dvc.yaml"):
            shutil.copy(ROOT / name, folder)
        hidden = shutil.ignore_patterns("tmp", "cache", "config.local")
        shutil.copytree(ROOT / ".dvc", folder / ".dvc", ignore=hidden)
        self.git("init", "--quiet", "--initial-branch=main")
        self.commit("v1")

    def git(self, *words):
        done = self.run("git", *words)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def commit(self, tag):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", tag)
        self.git("tag", "--force", tag)

    def dvc(self, *words):
        """What it says, whole; it has to end well."""
        done = self.run(sys.executable, "-m", "dvc", *words)
        assert done.returncode == 0, done.stdout[-5000:]
        return done.stdout

    def dvc_in_background(self, *words):
        command = [sys.executable, "-m", "dvc", *words]
        return subprocess.Popen(
            command, cwd=self.folder, env=self.environment(), start_new_session=True, stdout=subprocess.DEVNULL
        )

    def environment(self):
        """Nothing of the user's own settings, caches or locks."""
        own = {"GIT_CONFIG_GLOBAL": "/dev/null", "DVC_SITE_CACHE_DIR": str(self.folder.parent / "dvc's own")}
        return super().environment() | IDENTITY | own

    def with_make(self):
        """Let the Makefile take the tests' environment for its own."""
        for path in [ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("requirements*.txt")]:
            shutil.copy(path, self.folder)
        (self.folder / ".venv").mkdir()
        for name in ("installed", "extras"):
            (self.folder / ".venv" / name).touch()
            os.utime(self.folder / ".venv" / name, (NEVER, NEVER))

    def clone(self, folder):
        self.git("clone", "--quiet", str(self.folder), str(folder))
        made = object.__new__(type(self))
        made.folder = folder
        return made
