"""The commands and settings that a page of docs/ names, for the tests that execute each of them."""

import re

from project import ROOT

PROGRAMS = "snakemake|dvc|git|make|pip|cooperation|scancel|squeue|sacct|sbatch|kill"
COMMAND = re.compile(rf"(?:[A-Z_]+=\S+ )*(?:{PROGRAMS}) .*")
SETTING = re.compile(r"[a-z_-]+: \S.*")


def commands(name):
    """All lines of blocks, and of what stands within sentences that which begins with a program and says more."""
    blocks, codes = parts(name)
    lines = [line.partition("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return list(dict.fromkeys([line for line in lines if line] + [code for code in codes if COMMAND.fullmatch(code)]))


def settings(name):
    """What stands within sentences as `key: value`."""
    return [code for code in parts(name)[1] if SETTING.fullmatch(code)]


def parts(name):
    """Blocks of code, and codes within sentences, each in one line."""
    text = (ROOT / "docs" / name).read_text()
    blocks = re.findall(r"^```\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    codes = re.findall(r"`([^`]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return blocks, [" ".join(code.split()) for code in codes]
