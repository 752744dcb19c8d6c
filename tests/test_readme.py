"""The README: its worked example is applied and played, and what it names exists."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

# 128 dialogs whose answers are the picture's number in binary digits, the last digit first.
PLAYED = """
import numpy as np
import yaml
from cooperation.bots.scripted import OracleAnswerer, OracleQuestioner
from cooperation.configuration import read
from cooperation.method.game import Match, Script
from cooperation.messages import Messages
from cooperation.method.readings import READINGS, tampering
from cooperation.text import Vocabulary

condition = read(yaml.safe_load(open("config.yaml", encoding="utf-8"))).conditions["dialog"]["first-word"]
images, rows = np.eye(128, dtype=np.float32), np.arange(128)

def rank(guesses):
    nearness = guesses @ images.T
    own = nearness[rows, rows][:, None]
    return (nearness > own).sum(1) + ((nearness == own).sum(1) - 1) / 2

for reading in READINGS.values():
    done = tampering(condition, reading, Vocabulary.of(["no", "yes", "UNK"]))
    bots = OracleQuestioner(images, 2), OracleAnswerer(images, 2)
    game = Match(*bots, Messages.of([[1]] * 128), images, rows, 1, Script.silent(128), done, rank).finish()
    print(game.answer_said.lengths.min(), game.answer_heard.lengths.max(), *game.ranks[:, 10])
"""


def example():
    """File → hunks of the README's one diff, each as the text before and the text after."""
    [block] = re.findall(r"^```diff\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    files = {}
    for part in re.split(r"^--- ", block, flags=re.MULTILINE)[1:]:
        name, _, rest = part.partition("\n")
        hunks = [hunk.splitlines(keepends=True) for hunk in rest.split("@@\n")]
        sides = [["".join(line[1:] for line in hunk if line[0] != sign) for sign in "+-"] for hunk in hunks]
        files[name.strip()] = sides
    return block, files


def test_the_intervention_of_the_worked_example_does_what_it_says(tmp_path):
    block, files = example()
    assert len(block.splitlines()) < 20
    shutil.copytree(ROOT / "src", tmp_path / "src", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "config.yaml", tmp_path)
    for name, hunks in files.items():
        text = (tmp_path / name).read_text(encoding="utf-8")
        for before, after in hunks:
            assert text.count(before) == 1, f"{name}: {before!r}"
            text = text.replace(before, after)
        (tmp_path / name).write_text(text, encoding="utf-8")
    run = [sys.executable, "-c", PLAYED]
    done = subprocess.run(run, cwd=tmp_path, env={"PYTHONPATH": "src"}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # By the first digit alone, a dialog's number is 0 or 1. Elsewhere one image is nearer, and 126 are as near.
    assert [line.split() for line in done.stdout.splitlines()] == [["7", "1", "0.0", "0.0", *["64.0"] * 126]] * 2
    check = [
        sys.executable,
        "-m",
        "ruff",
        "check",
        "--config",
        str(ROOT / "pyproject.toml"),
        *[name for name in files if name[-3:] == ".py"],
    ]
    assert subprocess.run(check, cwd=tmp_path, capture_output=True, check=False).returncode == 0


def test_every_module_and_folder_has_its_place():
    [block] = re.findall(r"## Where everything lives\n+```\n(.*?)^```", README, re.DOTALL | re.MULTILINE)
    package = ROOT / "src" / "cooperation"
    names = re.split(r"^(?:src/| {2})(\w+)/(?= |,)", block, flags=re.MULTILINE)
    named = {place: set(re.findall(r"\w+", text)) for place, text in zip(names[1::2], names[2::2], strict=True)}
    # The command line, with the module that begins it, stands above all others.
    named["cooperation"] |= named.pop("commands")
    folders = {package, *(path.parent for path in package.glob("*/__init__.py"))} - {package / "commands"}
    assert {folder.name for folder in folders} == set(named)
    for folder in folders:
        modules = {path.stem for path in folder.glob("*.py")} - {"__init__", "__main__"}
        assert modules - named[folder.name] == set()


def test_every_output_is_named():
    planned = subprocess.run(
        [sys.executable, "-m", "snakemake", "-n", "--forceall"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    [wanted] = re.findall(r"rule all:\n    input: (.*)", planned)
    outputs = {Path(path.strip()).name for path in wanted.split(",")}
    whole = ("index", "metrics", "mpr")
    named = {name.split(".")[0] if name.split(".")[0] not in whole else name for name in outputs}
    assert {"table_1", "figure_1b", "figure_2", "claims", "index.html"} <= named
    # Between the first and the last of the manual ones stand dots.
    assert [name for name in named - {"figure_3", "figure_4"} if f"`{name}`" not in README] == []


def test_every_dependency_has_a_reason():
    import tomllib

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = [
        *project["dependencies"],
        *(each for extra in project["optional-dependencies"].values() for each in extra),
    ]
    names = {re.split(r"[=<>\[]", each)[0] for each in needed} - {"cooperation", "setuptools"}
    [reasons] = re.findall(r"## Why each dependency\n(.*?)^## ", README, re.DOTALL | re.MULTILINE)
    assert {name for name in names if name.lower() not in reasons.lower()} == set()


def test_links_and_pictures_are_there():
    targets = re.findall(r"\]\(([^)#]+)\)", README) + re.findall(r'src="([^"]+)"', README)
    local = [target for target in targets if not target.startswith("http")]
    assert len(local) > 4
    assert [target for target in local if not (ROOT / target).exists()] == []


def test_the_gallery_shows_what_the_commands_made():
    made = (ROOT / "docs" / "table_1.md").read_text(encoding="utf-8")
    [table] = re.findall(r"^\| MPR .*?\n\n", README, re.DOTALL | re.MULTILINE)
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.strip().splitlines()[2:]]
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in made.splitlines() if line[:1] == "|"]
    tables = {"written": found[: len(found) // 2], "released": found[len(found) // 2 :]}
    [paper, written, released] = rows
    for name, cells in (("written", written), ("released", released)):
        last = [row[2:] for row in tables[name]][-6:]
        assert cells[1:] == [f"{level} ({gap})" for level, gap in zip(last[1], last[4], strict=True)]
        assert paper[1:] == [f"{level} ({gap})" for level, gap in zip(last[0], last[3], strict=True)]


def test_the_picture_of_the_workflow_has_its_rules():
    [command] = re.findall(r"^`snakemake (--rulegraph .*?) \| dot", README, re.MULTILINE)
    made = subprocess.run(
        [sys.executable, "-m", "snakemake", *shlex.split(command)], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    picture = (ROOT / "docs" / "rulegraph.svg").read_text(encoding="utf-8")
    rules = sorted(re.findall(r'label = "(\w+)', made))
    assert len(rules) > 10
    assert sorted(re.findall(r"<text[^>]*>(\w+)</text>", picture)) == rules
