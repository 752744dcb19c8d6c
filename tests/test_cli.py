"""The command line: one line for a bad input, and flags that say what they mean."""

import argparse
import gc
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import pytest
from project import ROOT

from cooperation.cli import COMMANDS, main
from cooperation.commands.play import read_chosen
from cooperation.config.conditions import Condition, Playing, read_condition
from cooperation.config.training import Training
from cooperation.io.files import InputError
from cooperation.io.settings import add_flags, flags, from_flags, setting
from cooperation.io.writing import write_text, written_whole


@dataclass(frozen=True)
class Everything:
    """all kinds"""

    number: int = setting(3, "a whole number")
    share: float = setting(0.5, "a share, 100 % at most")
    word: str = setting("a", "a word", ("a", "b"))


@pytest.mark.parametrize(
    "settings",
    [Everything(), Everything(-4, 1e-9, "b"), Training(seed=5), Playing(candidates=7)],
)
def test_flags_say_all_settings(settings):
    parser = argparse.ArgumentParser()
    add_flags(parser, type(settings))
    assert from_flags(type(settings), parser.parse_args(flags(settings))) == settings


def test_help_names_defaults():
    parser = argparse.ArgumentParser()
    add_flags(parser, Everything)
    text = parser.format_help()
    assert "a share, 100 % at most (default: 0.5)" in text
    assert "{a,b}" in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["cooperation", name, "--help"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    assert "options:" in capsys.readouterr().out
    assert import_module(f"cooperation.commands.{name}").__doc__


def test_the_help_lists_every_command(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["cooperation", "--help"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 0
    listed = " ".join(capsys.readouterr().out.split())
    assert all(summary in listed for summary in COMMANDS.values())


def run(*words, **options):
    command = [sys.executable, "-m", "cooperation", *words]
    return subprocess.run(command, check=False, capture_output=True, text=True, **options)


def test_garbage_is_collected_while_a_command_runs_but_not_while_it_is_imported(monkeypatch):
    collecting = []
    command = SimpleNamespace(add_arguments=id, run=lambda _: collecting.append(gc.isenabled()))

    def imported(_):
        collecting.append(gc.isenabled())
        gc.unfreeze()
        return command

    monkeypatch.setattr("cooperation.cli.import_module", imported)
    monkeypatch.setattr(sys, "argv", ["cooperation", "report"])
    main()
    assert collecting == [False, True]
    assert gc.get_freeze_count() > 0


def test_bad_input_is_one_line_and_2(tmp_path):
    files = ["--checkpoint", "none.safetensors", "--dialogs", "none.h5", "--features", "none.h5", "--out", "out.h5"]
    done = run("play", *files, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "none.safetensors" in done.stderr
    assert "train" in done.stderr
    assert list(tmp_path.iterdir()) == []


def chosen(words, model="round"):
    """The conditions that `--condition` with each of these words stands for, for a model of the shipped settings."""
    arguments = argparse.Namespace(condition=words, config=ROOT / "config.yaml", dataset="unnamed", checkpoint=None)
    return read_chosen(arguments, SimpleNamespace(attributes={"model": model}, checkpoint=None))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (
            ["x={channel: caption, kind: replace, p: 2}"],
            "p: 2.0 is out of bounds; choose a number above 0 and at most 1",
        ),
        (["x={start: 0}"], "--condition x: start: 0 is out of bounds; choose a number at least 1"),
        (["x={start: 2}"], "--condition x: start: 2, but nothing is perturbed"),
        (["x={chanel: image}"], "unknown 'chanel'; choose from channel"),
        (["x={channel: image}"], "--condition x: {channel: image} is now written {channel: image, kind: noise}"),
        (["x={channel: answer, kind: first-word, p: 0.2}"], "unknown 'first-word'; choose from drop, negate, replace"),
        (["x={channel"], "--condition x: not YAML (while parsing"),
        (["x={p: 2020-13-45}"], "--condition x: not YAML (month must be in 1..12); correct it"),
        (["x=" + "[" * 10_000], "--condition x: not YAML (maximum recursion"),
        (["x="], "None has no keys"),
        (["x"], "--condition x: unknown 'x'; choose from none, negation-from1, negation-from2"),
        (["../x={}"], "no name for a condition"),
        (["x={}", "x={channel: image, kind: noise}"], "'x' is there twice"),
        (["x={}", "X={channel: image, kind: noise}"], "'x' and 'X' differ in case alone"),
        (["none={channel: image, kind: noise}"], "'none' is the baseline of all others"),
    ],
)
def test_bad_conditions_are_bad_input(words, said):
    with pytest.raises(InputError) as error:
        chosen(words)
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_conditions_are_read_as_in_the_configuration():
    found = chosen(["late={channel: image, kind: noise, start: 5}", 'none={"facts": "reading"}'])
    assert found == {
        "late": read_condition({"channel": "image", "kind": "noise", "start": 5}, "late"),
        "none": Condition(),
    }
    assert found["late"].start == 5


def test_conditions_of_the_settings_stand_beside_ones_own():
    own = "late={channel: image, kind: noise, start: 5}"
    assert list(chosen(["negation-from4", own, "none"])) == ["negation-from4", "late", "none"]
    stated = {"channel": "answer", "kind": "negate", "start": 4}
    assert chosen(["negation-from4"]) == {"negation-from4": read_condition(stated, "config.yaml")}
    assert list(chosen([])) == ["none", *(f"negation-from{start}" for start in (1, 2, 4, 6, 8))]
    with pytest.raises(InputError, match=r"config\.yaml: conditions: unknown 'w9'; choose from dialog, round"):
        chosen([], "w9")


def test_ctrl_c_while_a_command_is_imported_is_one_line(monkeypatch, capsys):
    def stopped(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("cooperation.cli.import_module", stopped)
    monkeypatch.setattr(sys, "argv", ["cooperation", "train"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 130
    assert capsys.readouterr().err == "cooperation train: stopped; the same command goes on\n"


# Python writes each line at once, or keeps lines until its end.
BUFFERING = pytest.mark.parametrize("unbuffered", ["", "1"])


def provenance(unbuffered, stdout, *words):
    environment = os.environ | {"PYTHONUNBUFFERED": unbuffered}
    command = [sys.executable, "-m", "cooperation", "provenance", "README.md", *words]
    done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False, env=environment)
    return done.returncode, done.stderr


@BUFFERING
def test_a_reader_that_has_seen_enough_gets_no_traceback(unbuffered):
    read, write = os.pipe()
    os.close(read)
    assert provenance(unbuffered, write) == (141, "")
    os.close(write)


@BUFFERING
def test_an_output_that_is_full_is_one_line(unbuffered):
    with Path("/dev/full").open("w") as full:
        code, said = provenance(unbuffered, full)
        assert code == 2
        assert re.fullmatch("cooperation provenance: .*no space left on device; .*\n", said)


def test_bad_input_is_one_line_even_where_nobody_reads_what_came_before():
    read, write = os.pipe()
    os.close(read)
    code, said = provenance("", write, "nowhere")
    os.close(write)
    assert code == 2
    assert said.startswith("cooperation provenance: nowhere: no such file")
    assert said.count("\n") == 1


def test_without_an_output_a_command_does_its_work():
    command = f"exec {sys.executable} -m cooperation provenance README.md >&-"
    done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_pipe_that_breaks_elsewhere_is_a_bug(monkeypatch, tmp_path):
    def broken(_):
        raise BrokenPipeError

    monkeypatch.setattr("cooperation.cli.import_module", lambda _: SimpleNamespace(add_arguments=id, run=broken))
    monkeypatch.setattr(sys, "argv", ["cooperation", "report"])
    with (tmp_path / "log").open("w") as log:
        monkeypatch.setattr(sys, "stdout", log)
        with pytest.raises(BrokenPipeError):
            main()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["report", "x"], "cooperation report: error: argument number: invalid int value: 'x'"),
        (["nothing", "1"], "cooperation: error: argument COMMAND: invalid choice: 'nothing'"),
        ([], "cooperation: error: the following arguments are required: COMMAND"),
    ],
)
def test_words_are_read_before_anything_is_done(monkeypatch, capsys, words, said):
    done = []
    command = SimpleNamespace(add_arguments=lambda parser: parser.add_argument("number", type=int), run=done.append)
    monkeypatch.setattr("cooperation.cli.import_module", lambda _: command)
    monkeypatch.setattr(sys, "argv", ["cooperation", *words])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert said in capsys.readouterr().err
    assert done == []


def test_files_appear_whole_or_not_at_all(tmp_path):
    path = tmp_path / "deep" / "file.txt"
    write_text(path, "one")
    with pytest.raises(RuntimeError), written_whole(path) as temporary:
        temporary.write_text("two")
        raise RuntimeError
    assert path.read_text() == "one"
    assert [file.name for file in path.parent.iterdir()] == ["file.txt"]


@pytest.mark.parametrize("folder", [".", "/"])
def test_a_folder_is_no_file_to_write(folder):
    with pytest.raises(InputError, match=f"^{re.escape(folder)}: a folder, not a file; give a name in it"):
        write_text(Path(folder), "x")


def test_a_bug_is_no_bad_input():
    assert issubclass(InputError, ValueError)
    assert InputError is not ValueError
