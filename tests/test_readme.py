"""The README: its worked example is applied and played, and what it names exists."""

import csv
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from project import lacking

from cooperation.config.conditions import read_conditions
from cooperation.config.experiment import read
from cooperation.evaluation.results import read_result

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")

# 128 dialogs whose answers are the picture's number in binary digits, the last digit first.
PLAYED = """
import numpy as np
import yaml
from cooperation.bots.scripted import OracleAnswerer, OracleQuestioner
from cooperation.config.experiment import read
from cooperation.game.match import Batch, Match, Perturbation, Script
from cooperation.game.messages import Messages
from cooperation.game.place import Context
from cooperation.game.readings import READINGS
from cooperation.game.vocabulary import Vocabulary

condition = read(yaml.safe_load(open("config.yaml", encoding="utf-8"))).conditions["dialog"]["first-word"]
images, rows = np.eye(128, dtype=np.float32), np.arange(128)

def rank(guesses):
    nearness = guesses @ images.T
    own = nearness[rows, rows][:, None]
    return (nearness > own).sum(1) + ((nearness == own).sum(1) - 1) / 2

for reading in READINGS.values():
    done = Perturbation.of(reading, condition.channel, condition.kind, condition.start)
    bots = OracleQuestioner(images, 2), OracleAnswerer(images, 2)
    batch, context = Batch(rows, Messages.of([[1]] * 128), images), Context(1, Vocabulary.of(["no", "yes", "UNK"]))
    game = Match(*bots, batch, Script.silent(128), done, context, rank).finish()
    print(game.answer_said.lengths.min(), game.answer_heard.lengths.max(), *game.ranks[:, 10])
"""

# Five dialogs, untrained bots and what `cooperation play` reads.
MADE = """
from pathlib import Path

import numpy as np
import torch
from cooperation.bots.building import build
from cooperation.bots.checkpoint import Checkpoint, save_checkpoint
from cooperation.config.training import Sizes, Training
from cooperation.data.identities import identity_of_dialogs, identity_of_features
from cooperation.data.store import Dialogs, Features, write_dialogs, write_features
from cooperation.game.messages import Messages
from cooperation.game.vocabulary import Vocabulary

torch.manual_seed(1)
words, ids, sizes = Vocabulary.of(["a", "no", "red", "yes", "UNK"]), np.arange(5) + 40, Sizes(4, 5, 1)
turns = Messages(np.tile(np.array([1, 3], np.int32), (5, 10, 1)), np.full((5, 10), 2, np.int32))
write_dialogs(Path("d.h5"), words, {"val": Dialogs(ids, Messages.of([[1, 3]] * 5), turns, turns)}, {})
write_features(Path("f.h5"), {"val": Features(ids, np.eye(5, 6, dtype=np.float32), {})}, {})
made_of = identity_of_dialogs(Path("d.h5")).only("vocabulary") | identity_of_features(Path("f.h5")).only("features")
bots = (bot.eval() for bot in build(words.size, 6, sizes))
save_checkpoint(Path("b"), Checkpoint(*bots, words, np.array([1]), sizes, vars(Training()), made_of, {}))
"""


def recipe():
    """The worked example of a new kind: where its file goes, the file, and the lines of config.yaml."""
    [section] = re.findall(r"^## How to add an intervention\n(.*?)^## ", README, re.DOTALL | re.MULTILINE)
    [file] = re.findall(r"`(src/cooperation/game/interventions/\w+\.py)`", section)
    [code] = re.findall(r"^```python\n(.*?)^```", section, re.DOTALL | re.MULTILINE)
    return file, code, re.findall(r"^```yaml\n(.*?)^```", section, re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A copy of the package and its settings, with the one new file and the one new line of the worked example."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    for name in ("config.yaml", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    file, code, (_, line) = recipe()
    assert not (folder / file).exists()
    assert line.count("\n") == 1
    (folder / file).write_text(code, encoding="utf-8")
    config = (folder / "config.yaml").read_text(encoding="utf-8")
    beside = "    human-questions: {script: questions}\n"
    assert config.count(beside) == 1
    (folder / "config.yaml").write_text(config.replace(beside, beside + line), encoding="utf-8")
    return folder


def run(project, *words):
    """Run Python in the copy, with its sources."""
    environment = {"PYTHONPATH": str(project / "src"), "OMP_NUM_THREADS": "1", "PATH": os.environ["PATH"]}
    command = [sys.executable, *words]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def test_the_intervention_of_the_worked_example_does_what_it_says(project):
    done = run(project, "-c", PLAYED)
    assert done.returncode == 0, done.stderr
    # By the first digit alone, a dialog's number is 0 or 1. Elsewhere one image is nearer, and 126 are as near.
    assert [line.split() for line in done.stdout.splitlines()] == [["7", "1", "0.0", "0.0", *["64.0"] * 126]] * 2


def test_the_command_line_knows_the_new_kind(project):
    assert run(project, "-c", MADE).returncode == 0
    files = ["--checkpoint", "b", "--dialogs", "d.h5", "--features", "f.h5", "--reading", "written", "released"]
    play = ["-m", "cooperation", "play", *files, "--out", "out", "--condition", "none", "--condition"]
    done = run(project, *play, "first-word")
    assert done.returncode == 0, done.stderr
    for reading in ("written", "released"):
        result = read_result(project / "out" / reading / "first-word.h5")
        assert (result.answer_said.lengths > 1).any()
        assert result.answer_heard.tokens[..., 0].tolist() == result.answer_said.tokens[..., 0].tolist()
        assert result.answer_heard.lengths.max() == 1
        assert result.perturbed_messages[1:].min() > 0
        assert json.loads(result.attributes["settings"])["kind"] == "first-word"
    text = " ".join(run(project, "-m", "cooperation", "play", "--help").stdout.split())
    assert "first-word (question, answer): only the first word of a message is heard." in text

    # What it lacks, and where nobody would hear it, is refused.
    for settings, said in (
        ("{channel: answer, kind: first-word, p: 0.2}", "unknown 'p'; choose from channel, kind, start"),
        ("{channel: question, kind: first-word, script: dialog}", "where people answer nobody hears what is delivered"),
        (
            "{channel: image, kind: first-word}",
            "'first-word' is for question, answer alone; for the image choose from noise, swap",
        ),
    ):
        refused = run(project, *play, f"x={settings}")
        assert refused.returncode == 2
        assert said in refused.stderr
        assert refused.stderr.count("\n") == 1


def test_a_new_kind_changes_nothing_else(project):
    file, *_ = recipe()
    ours = {path.relative_to(ROOT) for path in (ROOT / "src").rglob("*.py")}
    theirs = {path.relative_to(project) for path in (project / "src").rglob("*.py")}
    assert theirs - ours == {Path(file)}
    assert all((project / path).read_bytes() == (ROOT / path).read_bytes() for path in ours)
    lines = [(folder / "config.yaml").read_text(encoding="utf-8").splitlines() for folder in (ROOT, project)]
    assert len(lines[1]) == len(lines[0]) + 1
    assert len([line for line in lines[1] if line not in lines[0]]) == 1
    # Neither do the contracts about imports, nor the rules of style.
    for tool, *words in (["ruff", "check", file], ["ruff", "format", "--check", file], ["lint-imports", "--no-cache"]):
        program = shutil.which(tool, path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
        if program is None:
            lacking(f"{tool} is not installed")
        environment = os.environ | {"PYTHONPATH": str(project / "src")}
        done = subprocess.run(
            [program, *words], cwd=project, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr


def test_both_lines_of_the_worked_example_are_conditions():
    known, _ = recipe()[2]
    assert list(read_conditions({"none": {}, **yaml.safe_load(known)}, "README")) == ["none", "answer-from3-p0.5"]


def test_the_example_of_a_model_is_one():
    blocks = re.findall(r"^```yaml\n(models:.*?)^```", README, re.DOTALL | re.MULTILINE)
    [models] = [block for block in blocks if "load:" not in block]
    config, given = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8")), yaml.safe_load(models)
    for key, changed in given.items():
        config[key] |= changed
    found = read(config)
    usual = found.training("miniature", "dialog", 1)
    assert found.training("miniature", "w1", 1) == replace(usual, image_weight=1.0) != usual
    assert found.stands_for["dialog"] == ("dialog", "w1")
    assert list(found.conditions["w1"]) == ["none", "human", "image-from1"]


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
        [sys.executable, "-m", "snakemake", "-n", "--verbose", "--forceall"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    [wanted] = re.findall(r"rule all:\n    input: (.*)", planned)
    outputs = {Path(path.strip()).name for path in wanted.split(",")}
    whole = ("index", "manifest", "metrics", "mpr")
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
    [table] = re.findall(r"^\| \| MPR .*?\n\n", README, re.DOTALL | re.MULTILINE)
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in table.strip().splitlines()[2:]]
    found = [[cell.strip() for cell in line.strip("|").split("|")] for line in made.splitlines() if line[:1] == "|"]
    tables = {"written": found[: len(found) // 2], "released": found[len(found) // 2 :]}
    [paper, written, released] = rows
    for name, cells in (("written", written), ("released", released)):
        last = [row[2:] for row in tables[name]][-6:]
        assert paper[1:] == [last[0][0], *last[3][1:]]
        means, ranges = zip(*(cell.rstrip(")").split(" (") for cell in cells[1:]), strict=True)
        assert [*means] == [last[1][0], *last[4][1:]]
        for mean, (low, high) in zip(means, (limits.split(" to ") for limits in ranges), strict=True):
            assert float(low) < float(mean) < float(high)


def test_the_picture_of_the_workflow_has_its_rules():
    [command] = re.findall(r"^`snakemake (--rulegraph .*?) \| dot", README, re.MULTILINE)
    made = subprocess.run(
        [sys.executable, "-m", "snakemake", *shlex.split(command)], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    picture = (ROOT / "docs" / "rulegraph.svg").read_text(encoding="utf-8")
    rules = sorted(re.findall(r'label = "(\w+)', made))
    assert {"miniature", "encode", "extract", "normalise", "train", "play", "report", "all"} <= set(rules)
    assert sorted(re.findall(r"<text[^>]*>(\w+)</text>", picture)) == rules


def test_the_number_of_claims_is_that_of_the_table():
    with (ROOT / "paper" / "claims.csv").open(encoding="utf-8", newline="") as file:
        claims = list(csv.DictReader(file))
    elsewhere = sum("miniature" not in claim["datasets"] for claim in claims if claim["datasets"])
    [said] = re.findall(r"the paper's (\d+) statements, each in both readings.*?\((\d+) of the (\d+), on", README)
    assert [*map(int, said)] == [len(claims), 2 * elsewhere, 2 * len(claims)]
