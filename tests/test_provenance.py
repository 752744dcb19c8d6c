"""Snakemake reruns a command when a file that it is made of changes, and no other; files say where they come from."""

import ast
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
import yaml
from project import ROOT

from cooperation.bots.checkpoint import Checkpoint, build, save_checkpoint
from cooperation.cli import COMMANDS, main
from cooperation.commands.provenance import record_of
from cooperation.data.store import Dialogs, Features, write_dialogs, write_features
from cooperation.files import digest
from cooperation.games.oracle import play_oracles
from cooperation.games.results import write_result
from cooperation.messages import Messages
from cooperation.models import Sizes
from cooperation.provenance import PACKAGE, _imported, code, inputs, software, sources
from cooperation.text import Vocabulary


def names(command):
    """The sources of a command, from the package on."""
    return {str(Path(path).resolve().relative_to(PACKAGE)) for path in sources(command)}


@pytest.mark.parametrize("command", COMMANDS)
def test_sources_are_files(command):
    assert all(Path(path).is_file() for path in sources(command))
    assert f"commands/{command}.py" in names(command)


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_import_is_missed(file):
    """What Python itself reads as imports, those within functions included."""
    wanted = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        assert not (isinstance(node, ast.ImportFrom) and node.level), "relative"
        if isinstance(node, ast.ImportFrom):
            wanted |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            wanted |= {alias.name for alias in node.names}
    places = [PACKAGE.parent.joinpath(*name.split(".")) for name in wanted if name.startswith("cooperation.")]
    found = {path for path in _imported(file) if path.suffix == ".py"}
    assert found == {path for place in places if (path := place.with_suffix(".py")).is_file()}


def test_folders_say_nothing_that_could_be_missed():
    assert [path for path in PACKAGE.glob("*/**/__init__.py") if path.stat().st_size] == []


def test_every_way_to_import(tmp_path):
    (tmp_path / "some.py").write_text(
        "import cooperation.method.game, cooperation.reports.corpus as counted\n"
        "from cooperation.games import (\n    ranking,  # (not tables)\n    results as found,\n)\n"
        "if True:\n    from cooperation.data.store import Dialogs  # nor from figures\n"
        "    from cooperation import randomness  # unlike report\n"
    )
    found = {path.name for path in _imported(tmp_path / "some.py")}
    assert found == {"game.py", "corpus.py", "ranking.py", "results.py", "store.py", "randomness.py"}


def test_sources_are_the_same_by_whatever_path_they_are_imported():
    """As by `snakemake -d .. -s ../Snakefile`, whose folder is `reports/..`."""
    code = "import sys; sys.path.insert(0, {!r}); from cooperation.provenance import sources; print(*sources('table'))"
    found = [
        subprocess.check_output([sys.executable, "-c", code.format(path)], cwd=ROOT, text=True)
        for path in ("src", "docs/../src", str(ROOT / "docs/../src"))
    ]
    assert len(set(found)) == 1
    assert found[0].startswith("src/cooperation/commands/table.py ")


def test_an_edited_bot_replays_the_games_and_an_edited_table_does_not():
    method = {f"method/{name}" for name in ("game.py", "interventions.py", "function_words.txt")}
    assert {*method, "bots/networks.py", "bots/lstm.py", "games/ranking.py"} <= names("play")
    others = ("reports/", "data/vgg", "data/miniature", "bots/training", "commands/train")
    assert not [name for name in names("play") if name.startswith(others)]
    assert "bots/networks.py" not in names("table") | names("figure") | names("report")
    assert {f"reports/{name}" for name in ("page.py", "page.html.j2", "page.css", "sort.js")} <= names("report")
    assert {"reports/table.html.j2", "reports/small.html.j2", "reports/macros.html.j2"} <= names("table")
    assert {f"bots/{name}.py" for name in ("training", "updates", "lstm")} <= names("train")


def test_software():
    found = software()
    assert {"python", "torch", "numpy", "commit"} <= set(found)
    assert all(isinstance(value, str) and value for value in found.values())


def test_inputs_are_those_that_are_given(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    # The example of FIPS 180-4.
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert inputs(dialogs=tmp_path / "a", control=None) == {"dialogs": known}


def test_code_is_another_after_an_edit(monkeypatch, tmp_path):
    from cooperation import provenance

    paths = [tmp_path / "one.py", tmp_path / "two.py"]
    for path in paths:
        path.write_text("pass\n")
    monkeypatch.setattr(provenance, "sources", lambda _: [str(path) for path in paths])
    before = code("train")
    paths[1].write_text("pass\n\n")
    assert code("train") != before
    paths[1].write_text("pass\n")
    assert code("train") == before


VOCABULARY = Vocabulary.of([*"abc", "UNK"])


def dialogs(folder):
    silent = [Messages.of([[1]] * 2), *[Messages(np.ones((2, 10, 1), np.int32), np.ones((2, 10), np.int32))] * 2]
    splits = {split: Dialogs(np.arange(2), *silent) for split in ("train", "val")}
    write_dialogs(folder / "made.h5", VOCABULARY, splits, {"threshold": 5, "train_version": "0.9"})
    return folder / "made.h5", ["threshold: 5", "train_version: '0.9'", "cap_train: (2, 1) int32"]


def features(folder):
    made = {"val": Features(np.arange(3), np.eye(3, 4, dtype=np.float32), {})}
    write_features(folder / "made.h5", made, {"extractor": "VGG-16", "weights": "w.pth, sha256 abc"})
    return folder / "made.h5", ["extractor: VGG-16", "weights: w.pth, sha256 abc", "images_val: (3, 4) float32"]


def result(folder):
    write_result(folder / "made.h5", play_oracles()["caption"])
    versions = [f"{name}: {version}" for name, version in software().items() if name in ("torch", "commit")]
    return folder / "made.h5", ["condition: caption", "channel: caption", "seed: 1", "device: cpu", *versions]


def checkpoint(folder):
    torch.manual_seed(0)
    sizes = Sizes(2, 3, 1)
    provenance = {"inputs": {"dialogs": "12ab"}, "device": "cuda, NVIDIA H200", "epochs": [{"number": 1}]}
    made = Checkpoint(
        *build(VOCABULARY.size, 2, sizes), VOCABULARY, np.arange(7), sizes, {"seed": 4, "rate": 0.5}, provenance
    )
    save_checkpoint(folder / "made.safetensors", made)
    said = ["words: 4", "dialogs: 7", "seed: 4", "rate: 0.5", "hidden: 3", "dialogs: 12ab", "device: cuda, NVIDIA H200"]
    return folder / "made.safetensors", said


def authors(folder):
    with h5py.File(folder / "made.h5", "w") as file:
        file["images_val"] = np.ones((2, 4096), "f4")
    return folder / "made.h5", ["nothing: another program made it", "images_val: (2, 4096) float32"]


def report(folder):
    (folder / "made.csv").write_text("round,mpr\n")
    return folder / "made.csv", ["nothing, for only dialogs"]


def said(monkeypatch, capsys, *words):
    monkeypatch.setattr("sys.argv", ["cooperation", "provenance", *map(str, words)])
    main()
    return capsys.readouterr().out


@pytest.mark.parametrize("kind", [dialogs, features, result, checkpoint, authors, report])
def test_every_kind_of_file_says_where_it_comes_from(kind, tmp_path, monkeypatch, capsys):
    path, wanted = kind(tmp_path)
    text = said(monkeypatch, capsys, path)
    assert [words for words in wanted if f"{words}\n" not in text and words not in text.replace("\n", " ")] == []
    [(name, found)] = yaml.safe_load(text).items()
    assert name == str(path)
    assert found["sha256"] == digest(path)
    assert "without Snakemake" in found["made"]


def test_what_snakemake_remembers_is_said(tmp_path, monkeypatch, capsys):
    path, log = tmp_path / "reports" / "mpr.csv", tmp_path / "logs" / "p0.2.log"
    for each in (path, log):
        each.parent.mkdir()
    path.write_text("round,mpr\n")
    record = {
        "rule": "summarise",
        "input": ["results/none.h5", "src/cooperation/files.py", "src/cooperation/reports/page.css"],
        "log": ["logs/p0.2.log"],
        "shellcmd": "python -m cooperation summarise",
        "starttime": 0,
        "endtime": 12.34,
        "input_checksums": {"results/none.h5": "sha256:12ab"},
    }
    place = record_of(tmp_path, Path("reports/mpr.csv"))
    place.parent.mkdir(parents=True)
    place.write_text(json.dumps(record))
    monkeypatch.chdir(tmp_path)
    for word in ("reports/mpr.csv", path):
        [found] = yaml.safe_load(said(monkeypatch, capsys, word)).values()
        assert found["made"] == {
            "rule": "summarise",
            "commands": ["python -m cooperation summarise"],
            "inputs": {"results/none.h5": "12ab"},
            "source_files": 2,
            "began": "1970-01-01 00:00:00+00:00",
            "wall_time_s": 12.3,
            "log": ["logs/p0.2.log"],
        }
    place.write_text(json.dumps(record | {"shellcmd": "python -m cooperation summarise then table 1"}))
    [found] = yaml.safe_load(said(monkeypatch, capsys, path)).values()
    assert found["made"]["commands"] == ["python -m cooperation summarise", "table 1"]
    log.with_name("p0.2.tsv").write_text("s\tmax_rss\tcpu_time\n12.5\t800.25\t-\n")
    [found] = yaml.safe_load(said(monkeypatch, capsys, path)).values()
    assert found["made"]["wall_time_s"] == 12.5
    assert found["made"]["peak_memory_mb"] == 800.25
    assert "cpu_time_s" not in found["made"]


@pytest.mark.parametrize("text", ['{"rule": "summ', "", '{"rule": "summarise"}'])
def test_a_record_that_cannot_be_read_is_said_to_be_none(text, tmp_path, monkeypatch, capsys):
    path, place = tmp_path / "mpr.csv", record_of(tmp_path, Path("mpr.csv"))
    path.write_text("round,mpr\n")
    place.parent.mkdir(parents=True)
    place.write_text(text)
    [found] = yaml.safe_load(said(monkeypatch, capsys, path)).values()
    assert found["made"] == "not known: Snakemake's record of it is cut short or of another version"
    assert found["sha256"] == digest(path)


@pytest.mark.parametrize("length", [20, 200, 400])
def test_records_are_where_snakemake_puts_them(length, tmp_path):
    from snakemake.persistence.file import FilePersistence

    name, theirs = "r" * length, object.__new__(FilePersistence)
    theirs._max_len = None
    place = tmp_path / ".snakemake" / "metadata"
    place.mkdir(parents=True)
    assert str(record_of(tmp_path, Path(name))) == theirs._record_path(str(place), name)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("none.h5", None, "no such file; correct its name"),
        (".", None, "is a folder; name files in it"),
        ("bad.h5", b"x", "damaged or not of this kind"),
        ("bad.safetensors", b"x", "damaged or not a checkpoint"),
    ],
)
def test_what_cannot_be_read_is_one_line(name, content, words, tmp_path, monkeypatch, capsys):
    if content:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(SystemExit) as stop:
        said(monkeypatch, capsys, tmp_path / name)
    error = capsys.readouterr().err
    assert stop.value.code == 2
    assert error.count("\n") == 1
    assert words in error


def test_a_job_ends_with_the_process_that_runs_it(tmp_path):
    """Its runner is killed while it reads a pipe that nothing is written to."""
    os.mkfifo(tmp_path / "pipe.json")
    runner = subprocess.Popen(["sleep", "600"])
    command = [sys.executable, "-m", "cooperation", "check", "--config", tmp_path / "pipe.json", "--dataset", "x"]
    job = subprocess.Popen(command, env=os.environ | {"COOPERATION_RUNNER": str(runner.pid)})
    pipe = opened_by(job, tmp_path / "pipe.json")
    runner.kill()
    runner.wait()
    assert job.wait(30) == -signal.SIGTERM
    os.close(pipe)


def opened_by(job, path):
    """The other end of a pipe, once the job has opened it."""
    while job.poll() is None:
        # Nobody reads it yet.
        with suppress(OSError):
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        time.sleep(0.05)
    raise AssertionError(f"the job ended with {job.returncode} before it read anything")
