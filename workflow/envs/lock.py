"""Write the conda environments of the rules, pinned as requirements.txt is: `make lock` calls it; needs uv."""

import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parent
LOCK = HERE.parent.parent / "requirements.txt"
# What the commands of the rules import; the package itself is run from its sources.
READING = ["h5py", "numpy", "tqdm"]
ENVIRONMENTS = {
    "torch": [*READING, "nltk", "pillow", "pyyaml", "requests", "safetensors", "torch", "torchvision", "urllib3"],
    "report": [*READING, "jinja2", "matplotlib", "pandas", "pillow", "pyyaml", "tabulate"],
}
HEAD = """# Written by `make lock`.
channels: [conda-forge]
dependencies:
  - python=3.11
  - pip
  - pip:
"""


def pinned(packages: list[str]) -> list[str]:
    """The packages and all that they need, each at the version that the lock has."""
    command = ["uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--no-header"]
    command += ["--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--constraint", str(LOCK), "-"]
    done = subprocess.run(command, input="\n".join(packages), capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def hashed(line: str, lock: str) -> str:
    """A line of a pinned package with the hashes of its files that the lock has."""
    pin = re.escape(line.partition(" ")[0])
    [found] = re.findall(rf"^{pin}(?: ;[^\\]*)? \\\n((?:    --hash=\S+(?: \\)?\n)+)", lock, re.MULTILINE)
    return " ".join([line, *re.findall(r"--hash=\S+", found)])


def main() -> None:
    """Write one file an environment, beside this one."""
    lock = LOCK.read_text(encoding="utf-8")
    for name, packages in ENVIRONMENTS.items():
        lines = [f'      - "{hashed(line, lock)}"\n' for line in pinned(packages)]
        (HERE / f"{name}.yaml").write_text(HEAD + "".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
