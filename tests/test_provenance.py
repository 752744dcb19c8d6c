"""Snakemake reruns a command when a file that it is made of changes, and no other."""

from pathlib import Path

import pytest

from cooperation.cli import COMMANDS
from cooperation.provenance import software, sources


def names(command):
    return {Path(path).name for path in sources(command)}


@pytest.mark.parametrize("command", COMMANDS)
def test_sources_are_files(command):
    assert all(Path(path).is_file() for path in sources(command))
    assert f"{command}.py" in names(command)


def test_an_edited_bot_replays_the_games_and_an_edited_table_does_not():
    assert {"game.py", "networks.py", "lstm.py", "interventions.py", "function_words.txt", "ranking.py"} <= names(
        "play"
    )
    assert not {"tables.py", "figures.py", "report.py", "training.py", "world.py", "vgg.py", "train.py"} & names("play")
    assert "networks.py" not in names("table") | names("figure") | names("report")
    assert {"report.py", "page.html.j2", "page.css"} <= names("report")
    assert {"training.py", "updates.py", "lstm.py"} <= names("train")


def test_software():
    found = software()
    assert {"python", "torch", "numpy", "commit"} <= set(found)
    assert all(isinstance(value, str) and value for value in found.values())
