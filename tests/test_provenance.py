"""Snakemake reruns a command when one of its source files changes, and no other; files carry where they come from."""

import ast
import json
import os
import re
import shutil
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
from fakes import made_config, made_result, write_data
from in_process import run
from project import ROOT

from cooperation.bots.building import build
from cooperation.bots.checkpoint import Checkpoint, save_checkpoint
from cooperation.cli import COMMANDS, main
from cooperation.config.training import Sizes
from cooperation.data.store import Dialogs, Features, write_dialogs, write_features
from cooperation.evaluation.oracle import play_oracles
from cooperation.evaluation.results import write_result
from cooperation.game.messages import Messages
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.files import digest
from cooperation.io.provenance import PACKAGE, _discovered, _imported, code, inputs, software, sources


def names(command):
    """The sources of a command, from the package on."""
    return {str(Path(path).resolve().relative_to(PACKAGE)) for path in sources(command)}


@pytest.mark.parametrize("command", COMMANDS)
def test_sources_are_files(command):
    assert all(Path(path).is_file() for path in sources(command))
    assert f"commands/{command}.py" in names(command)


@pytest.mark.parametrize("file", sorted(PACKAGE.rglob("*.py")), ids=lambda file: str(file.relative_to(PACKAGE)))
def test_no_import_is_missed(file):
    """What Python itself reads as imports, those within functions included, without those for annotations."""
    wanted, tree = set(), ast.parse(file.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        assert not (isinstance(node, ast.ImportFrom) and node.level), "relative"
        if isinstance(node, ast.ImportFrom):
            wanted |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            wanted |= {alias.name for alias in node.names}
    wanted = {name for name in wanted if name.startswith("cooperation.")}
    modules = {path for name in wanted if (path := place_of(name).with_suffix(".py")).is_file()}
    # Importing a module runs the files of the folders that it is in.
    folders = {folder for name in wanted for folder in (place_of(name), *place_of(name).parents)}
    inits = {path for folder in folders if PACKAGE in folder.parents and (path := folder / "__init__.py").is_file()}
    found = {path for path in _imported(file) if path.suffix == ".py"} - discovered(file)
    assert found == {path for path in modules | inits if path.stat().st_size} - discovered(file)


def place_of(name):
    return PACKAGE.parent.joinpath(*name.split("."))


def discovered(file):
    """The modules that a file imports by their file names: the only way to import what is found by being there."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            named = re.fullmatch(r"f'([\w.]+|{__name__})\.{[\w.]+}'", ast.unparse(node.args[0]))
            assert named, "not a module found in a folder"
            place = file.parent if named[1] == "{__name__}" else place_of(named[1])
            found |= set(place.glob("*.py"))
    return found


def test_modules_that_are_found_by_being_in_a_folder_are_sources():
    places = {file: discovered(file) for file in PACKAGE.rglob("*.py")}
    by_folder = {path.parent.name for found in places.values() for path in found}
    assert by_folder == {"commands", "interventions", "readers", "figures"}
    for file, found in places.items():
        if file.name != "cli.py":
            assert found == set(_discovered(file))


@pytest.mark.parametrize(
    ("command", "folder"),
    [
        ("play", "game/interventions"),
        ("intervene", "game/interventions"),
        ("encode", "data/readers"),
        ("check", "data/readers"),
        ("report", "reports/figures"),
        ("report", "game/interventions"),
    ],
)
def test_a_command_is_made_of_all_that_it_may_find(command, folder):
    files = {str(path.relative_to(PACKAGE)) for path in (PACKAGE / folder).glob("*.py") if path.stat().st_size}
    assert len(files) > 3
    assert files <= names(command)


def test_a_figure_or_a_reader_is_no_source_of_what_cannot_find_it():
    for command in ("play", "train", "extract", "miniature"):
        assert not [name for name in names(command) if name.startswith(("data/readers/", "reports/"))]
    assert not [name for name in names("train") if name.startswith("game/interventions/")]


def test_every_way_to_import(tmp_path):
    (tmp_path / "some.py").write_text(
        "import cooperation.game.match, cooperation.reports.corpus as counted\n"
        "from cooperation.evaluation import (\n    ranking,  # (not tables)\n    results as found,\n)\n"
        "if True:\n    from cooperation.data.store import Dialogs  # nor from figures\n"
        "    from cooperation.game import randomness  # unlike report\n"
    )
    found = {path.name for path in _imported(tmp_path / "some.py")}
    assert found == {"match.py", "corpus.py", "ranking.py", "results.py", "store.py", "randomness.py"}


def test_sources_are_the_same_by_whatever_path_they_are_imported():
    """As by `snakemake -d .. -s ../Snakefile`, whose folder is `reports/..`."""
    code = (
        "import sys; sys.path.insert(0, {!r}); from cooperation.io.provenance import sources; print(*sources('report'))"
    )
    found = [
        subprocess.check_output([sys.executable, "-c", code.format(path)], cwd=ROOT, text=True)
        for path in ("src", "docs/../src", str(ROOT / "docs/../src"))
    ]
    assert len(set(found)) == 1
    assert "src/cooperation/commands/report.py " in found[0]


def test_an_edited_bot_replays_the_games_and_an_edited_table_does_not():
    method = {f"game/{name}" for name in ("match.py", "interventions/noise.py", "function_words.txt")}
    assert {*method, "bots/networks.py", "bots/fast/layer.py", "evaluation/ranking.py"} <= names("play")
    others = ("reports/", "data/vgg", "data/miniature", "bots/training", "commands/train")
    assert not [name for name in names("play") if name.startswith(others)]
    assert "bots/networks.py" not in names("summarise") | names("report")
    templates = {"page.html.j2", "table.html.j2", "macros.html.j2", "page.css", "sort.js"}
    assert {"reports/page.py", *(f"reports/{name}" for name in templates)} <= names("report")
    assert {f"bots/{name}.py" for name in ("training", "updates", "fast/layer")} <= names("train")


def test_software():
    found = software()
    assert {"python", "torch", "numpy", "commit"} <= set(found)
    assert all(isinstance(value, str) and value for value in found.values())


def test_inputs_are_those_that_are_given(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    # The example of FIPS 180-4.
    known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert inputs(dialogs=tmp_path / "a", baseline=None) == {"dialogs": known}


def test_code_is_another_after_an_edit(monkeypatch, tmp_path):
    from cooperation.io import provenance

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
    write_result(folder / "made.h5", play_oracles("scripted")["caption"])
    versions = ["made by:", *(f"  {name}: {version}" for name, version in software().items())]
    return folder / "made.h5", ["condition: caption", "channel: caption", "seed: 1", "device: cpu", *versions]


def checkpoint(folder):
    torch.manual_seed(0)
    sizes = Sizes(2, 3, 1)
    provenance = {"inputs": {"dialogs": "12ab"}, "device": "cuda, NVIDIA H200", "epochs": [{"number": 1}]}
    made = Checkpoint(
        *build(VOCABULARY.size, 2, sizes),
        VOCABULARY,
        np.arange(7),
        sizes,
        {"seed": 4, "rate": 0.5},
        {"features": "small (12ab)"},
        provenance,
    )
    save_checkpoint(folder / "made.safetensors", made)
    said = ["words: 4", "dialogs: 7", "seed: 4", "rate: 0.5", "hidden: 3", "dialogs: 12ab", "features: small (12ab)"]
    said += ["device: cuda, NVIDIA H200"]
    return folder / "made.safetensors", said


def authors(folder):
    with h5py.File(folder / "made.h5", "w") as file:
        file["images_val"] = np.ones((2, 4096), "f4")
    return folder / "made.h5", ["carries: 'nothing: another program made it'", "images_val: (2, 4096) float32"]


def report(folder):
    (folder / "made.csv").write_text("round,mpr\n")
    return folder / "made.csv", ["carries: 'nothing: only dialogs, features, checkpoints and results"]


RESULTS = Path("results/dialog-seed1/written")
REPORT = "cooperation report --results results --dialogs dialogs.h5 --resamples 20 --out"


@pytest.fixture
def reported(tmp_path, monkeypatch, capsys):
    """A report's folder, made of two results."""
    conditions = {"none": {}, "caption-p1": {"channel": "caption", "kind": "replace"}}
    settings = made_config(readings=["written"], conditions={"dialog": conditions})
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(settings))
    for name in conditions:
        write_result(tmp_path / RESULTS / f"{name}.h5", made_result(np.arange(55).reshape(5, 11), condition=name))
    write_data(tmp_path / "dialogs.h5")
    shutil.copytree(ROOT / "paper", tmp_path / "paper")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", [*REPORT.split(), "report"])
    main()
    capsys.readouterr()
    return tmp_path / "report"


def of_report(monkeypatch, capsys, path):
    [(_, found)] = yaml.safe_load(said(monkeypatch, capsys, path)).items()
    return found


def test_a_file_of_a_report_is_as_written_or_edited_since(reported, monkeypatch, capsys):
    paths = sorted(reported.iterdir())
    assert {"manifest.json", "index.html", "claims.csv", "figure_1a.svg", "mpr.csv"} <= {path.name for path in paths}
    for path in paths:
        assert of_report(monkeypatch, capsys, path)["report"] == "as written"
        if path.name == "manifest.json":
            continue
        raw = path.read_bytes()
        path.write_bytes(raw[:-2] + bytes([raw[-2] ^ 1]) + raw[-1:])
        assert of_report(monkeypatch, capsys, path)["report"] == "edited since"
        path.write_bytes(raw)


def test_an_edited_manifest_is_noticed_and_says_nothing_of_others(reported, monkeypatch, capsys):
    manifest = reported / "manifest.json"
    found = json.loads(manifest.read_text())
    (reported / "claims.csv").write_text("mine")
    found["products"]["claims.csv"] = digest(reported / "claims.csv")
    manifest.write_text(json.dumps(found))
    assert of_report(monkeypatch, capsys, manifest)["report"] == "edited since"
    with pytest.raises(SystemExit):
        said(monkeypatch, capsys, reported / "claims.csv")
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "manifest.json: edited since the report was made" in error
    for damage in ("{", "[]", "{}", '{"sha256": "a", "products": 3}'):
        manifest.write_text(damage)
        with pytest.raises(SystemExit):
            said(monkeypatch, capsys, manifest)
        assert "manifest.json: damaged or not a report's" in capsys.readouterr().err


def test_a_report_says_what_it_was_made_of_and_no_time_path_or_commit(reported, monkeypatch, capsys):
    found = of_report(monkeypatch, capsys, reported / "table_1.csv")
    assert found["data"]["vocabulary"].startswith("8 words (")
    assert found["data"]["candidates"] == "100"
    assert found["bots"] == {"dialog, seed 1": "dialog, seed 1 (89ab)"}
    assert set(found["results"]) == {"dialog-seed1/written/none.h5", "dialog-seed1/written/caption-p1.h5"}
    assert found["paper"]["paper/claims.csv"] == digest(ROOT / "paper/claims.csv")
    settings = found["settings"]
    seeds = {"seeds": [1], "game_seed": 1, "bootstrap_seed": 0, "resamples": 20, "readings": ["written"]}
    assert {name: settings[name] for name in seeds} == seeds
    assert settings["models"]["dialog"]["epochs"] == 10
    assert settings["conditions"]["dialog"]["caption-p1"]["kind"] == "replace"
    text = (reported / "manifest.json").read_text()
    assert f"{reported.parent}" not in text
    assert software()["commit"] not in text
    # Made again, elsewhere and later, it is the same.
    monkeypatch.setattr("sys.argv", [*REPORT.split(), "elsewhere"])
    main()
    assert (reported.parent / "elsewhere/manifest.json").read_text() == text


def test_the_manifest_of_another_result_is_another(reported, monkeypatch, capsys):
    before = of_report(monkeypatch, capsys, reported / "mpr.csv")
    write_result(reported.parent / RESULTS / "none.h5", made_result(np.arange(55).reshape(5, 11)[::-1]))
    monkeypatch.setattr("sys.argv", [*REPORT.split(), "report", "--resamples", "30"])
    main()
    capsys.readouterr()
    after = of_report(monkeypatch, capsys, reported / "mpr.csv")
    differing = {name for name in before["results"] if before["results"][name] != after["results"][name]}
    assert differing == {"dialog-seed1/written/none.h5"}
    assert after["settings"]["resamples"] == 30


def test_the_page_names_seeds_identities_and_who_made_what_it_shows(reported):
    page = (reported / "index.html").read_text()
    for name, value in {
        "Seeds of training": "1",
        "Seed of the games": "1",
        "Bots, dialog, seed 1": "dialog, seed 1 (89ab)",
        **{key: value for key, value in software().items() if key in ("commit", "torch")},
    }.items():
        assert f"<dt>{name}</dt><dd>{value}</dd>" in page


def test_a_report_of_another_run_is_said_to_be_so(reported, monkeypatch, capsys):
    """It is as written, but was put in the place of the one that these results were made into."""
    root = reported.parent
    dataset = json.loads((reported / "manifest.json").read_text())["dataset"]
    (root / "reports").mkdir()
    reported.rename(root / "reports" / dataset)
    (root / "results").rename(root / "there")
    (root / "results").mkdir()
    page = root / "reports" / dataset / "index.html"
    assert f"results in results/{dataset}" not in of_report(monkeypatch, capsys, page)
    (root / "there").rename(root / "results" / dataset)
    assert of_report(monkeypatch, capsys, page)[f"results in results/{dataset}"] == "the report's"
    place = Path("dialog-seed1/written/none.h5")
    write_result(root / "results" / dataset / place, made_result(np.arange(55).reshape(5, 11)[::-1]))
    found = of_report(monkeypatch, capsys, page)
    assert found["report"] == "as written"
    assert found[f"results in results/{dataset}"] == f"others than the report's, so it is of another run: {place}"


def test_what_lies_beside_a_report_is_not_taken_for_its_own(reported, monkeypatch, capsys):
    (reported / "notes.csv").write_text("mine")
    found = of_report(monkeypatch, capsys, reported / "notes.csv")
    assert found["report"] == "manifest.json does not name it, so it is not of the report in this folder"


@pytest.mark.parametrize("kind", [result, checkpoint])
def test_the_same_content_has_the_same_bytes_whoever_makes_it(kind, tmp_path, monkeypatch, capsys):
    """And is said to be made by who made it first."""
    paths = []
    for name in ("first", "later"):
        monkeypatch.setattr("cooperation.io.origin.software", lambda name=name: {"commit": name})
        (tmp_path / name).mkdir()
        paths.append(kind(tmp_path / name)[0])
    again = kind(tmp_path / "first")[0]
    assert digest(paths[0]) == digest(paths[1]) == digest(again)
    found = [yaml.safe_load(said(monkeypatch, capsys, path))[str(path)]["made by"] for path in paths]
    assert found == [{"commit": "first"}, {"commit": "later"}]


def test_other_content_is_not_said_to_be_made_by_who_made_the_last(tmp_path, monkeypatch, capsys):
    path, _ = result(tmp_path)
    origin = path.with_name("made.h5.origin.json")
    kept = origin.read_text()
    for content in (kept.replace('"sha256": "', '"sha256": "0'), "{", "[]", ""):
        origin.write_text(content)
        assert "made by" not in said(monkeypatch, capsys, path)
    # It is written anew with the file.
    result(tmp_path)
    assert origin.read_text() == kept


def said(monkeypatch, capsys, *words):
    run(monkeypatch, "provenance", *words)
    return capsys.readouterr().out


@pytest.mark.parametrize("kind", [dialogs, features, result, checkpoint, authors, report])
def test_every_kind_of_file_says_where_it_comes_from(kind, tmp_path, monkeypatch, capsys):
    path, wanted = kind(tmp_path)
    text = said(monkeypatch, capsys, path)
    assert [words for words in wanted if f"{words}\n" not in text and words not in text.replace("\n", " ")] == []
    [(name, found)] = yaml.safe_load(text).items()
    assert name == str(path)
    assert found["sha256"] == digest(path)


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
