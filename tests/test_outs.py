"""--out of every command: what it may not name is refused in one line, and what is meant is written through."""

import argparse
import os
import re
import shutil
import socket
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from threading import Timer

import pytest
import yaml
from in_process import code_of
from small_files import document, write_json
from test_vgg import Tiny

from cooperation.cli import COMMANDS
from cooperation.data import vgg
from cooperation.io.files import InputError
from cooperation.io.writing import write_text

ROOT = Path(__file__).parent.parent
SETTINGS = {
    "dataset": "small",
    "seeds": [1],
    "readings": ["written"],
    "models": {"dialog": {"regime": "dialog"}},
    "conditions": {"dialog": {"none": {}, "caption-p1": {"channel": "caption", "kind": "replace"}}},
    "datasets": {
        "small": {
            "source": "miniature",
            "raw": {"train": 24, "val": 12, "pixels": 32},
            "text": {"threshold": 2},
            "extraction": {"preprocessing": "small", "workers": 0},
            "sizes": {"embedding": 4, "hidden": 6, "layers": 1},
            "training": {"dialog": {"epochs": 1, "batch": 24}},
        }
    },
}
OWN = """
class make:
    def ask(self, dialogs):
        return ["is it large ?" for _ in dialogs]
    def answer(self, pictures, dialogs, questions):
        return [f"{picture.features[0]:.5f}" for picture in pictures]
    def guess(self, dialogs):
        return [[len(str(dialog))] for dialog in dialogs]
    def prepare(self, pictures):
        return [picture.features[:1] for picture in pictures]
"""
TRAINED = "--embedding 4 --hidden 6 --layers 1 --epochs 1 --batch 24"
BOTS = "--checkpoint <bots.safetensors> --dialogs <dialogs.h5> --features <features.h5>"
# Words without --out, with each file that is read in angle brackets.
TEXTS = {
    "summarise": "<results/dialog-seed1/written/none.h5> --resamples 5",
    "controls": "--config <config.yaml> --results results --expected <controls.csv> "
    "--interventions <interventions.csv> --resamples 5",
}
FILES = {
    "encode miniature": "--train <raw/visdial_0.9_train.zip> --val <raw/visdial_0.9_val.zip> --threshold 2",
    "extract": "--train <raw/train2014.zip> --val <raw/val2014.zip> --preprocessing small --workers 0",
    "normalise": "<fc7.h5>",
    "train": f"--dialogs <dialogs.h5> --features <features.h5> {TRAINED}",
}
FOLDERS = {
    "miniature": "--train 24 --val 12 --pixels 32",
    "genuine": "--dialogs <genuine.json> --train 2",
    "play": f"{BOTS} --config <config.yaml> --dataset small --batch 12",
    "test": "<own.py>:make --dialogs <dialogs.h5> --features <features.h5> --config <config.yaml> --queries 3",
    "compare": "tested --resamples 5",
    "intervene": f"{BOTS} --manual <own.yaml> --baseline <results/dialog-seed1/written/none.h5>",
    "report": "--config <config.yaml> --results results --dialogs <dialogs.h5> --resamples 5",
    "scripted": "",
}
# A file that each writes to its folder, of those after which nothing is written yet.
FIRST = {
    "miniature": "visdial_0.9_train.zip",
    "genuine": "val2014.zip",
    "play": "written/caption-p1.h5",
    "test": "card.csv",
    "compare": "compared.csv",
    "intervene": "written/own.h5",
    "report": "index.html",
    "scripted": "scripted/answer.h5",
}
DOWNLOAD = "download --url http://127.0.0.1:9/x --have <genuine.json>"
WORDS = {name: f"{name} {words}" for name, words in (TEXTS | FILES | FOLDERS).items()} | {"download": DOWNLOAD}
ENDINGS = {"controls": ".md"}


def run(monkeypatch, words, *outs):
    """Run a command with these words, as they stand in `WORDS`; its exit code."""
    given = [*re.sub("[<>]", "", words).split(), *(("--out", *map(str, outs)) if outs else ())]
    return code_of(monkeypatch, *given)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """All that the commands read, made by the commands."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setattr(vgg, "vgg16", Tiny)
        shutil.copytree(ROOT / "paper", "paper", ignore=shutil.ignore_patterns("manual"))
        Path("config.yaml").write_text(yaml.safe_dump(SETTINGS))
        Path("own.py").write_text(OWN)
        Path("own.yaml").write_text("dialog: worst rank by caption\nimage: noise\n")
        expected = (ROOT / "workflow/controls.csv").read_text().splitlines()
        Path("controls.csv").write_text("\n".join(expected[:3]) + "\n")
        shutil.copy(ROOT / "workflow/interventions.csv", "interventions.csv")
        write_json(Path("genuine.json"), document("val2018", (7, 3, 9)))
        for name, out in {
            "miniature": "raw",
            "encode miniature": "dialogs.h5",
            "extract": "fc7.h5",
            "normalise": "features.h5",
            "train": "bots.safetensors",
            "play": "results/dialog-seed1",
            "scripted": "results",
            "test": "tested",
        }.items():
            assert run(patch, WORDS[name], out) == 0
    return folder


@pytest.fixture
def folder(made, tmp_path, monkeypatch):
    """A copy of it all, of linked files, in which the command runs."""
    shutil.copytree(made, tmp_path, copy_function=os.link, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(vgg, "vgg16", Tiny)
    return tmp_path


def content(folder):
    """All that is in a folder: the path of everything → what kind it is, and its bytes or where it leads."""
    return {path: (path.lstat().st_mode, path.is_symlink() and path.readlink(), read(path)) for path in walk(folder)}


def walk(folder):
    return [path for path in folder.rglob("*") if not path.is_dir() or path.is_symlink()]


def read(path):
    return path.read_bytes() if path.is_file() else None


def refused(folder, monkeypatch, capfd, words, *outs):
    """Run a command that must refuse, and leave everything as it is; the line that it says."""
    before = content(folder)
    capfd.readouterr()
    assert run(monkeypatch, words, *outs) == 2
    said = capfd.readouterr()
    assert said.err.count("\n") == 1, said.err
    assert said.out == ""
    assert content(folder) == before
    return said.err


def commands(parser):
    """A parser and those of its subcommands."""
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for one in action.choices.values():
                yield from commands(one)


def test_every_out_is_checked_and_every_command_that_has_one_is_tried_here():
    found = set()
    for name in COMMANDS:
        parser = argparse.ArgumentParser()
        import_module(f"cooperation.commands.{name}").add_arguments(parser)
        for one in commands(parser):
            if "--out" in one._option_string_actions:
                assert callable(one.get_default("check_out"))
                found.add(name)
    assert found == {name.split()[0] for name in WORDS}


def linked(place, target):
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(Path(target).absolute())
    return place


def device(_):
    return Path("/dev/zero")


def pipe(place):
    os.mkfifo(place)
    return place


def plugged(place):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(place))
    return place


def taken(place):
    place.mkdir()
    return place


def circle(place):
    return linked(place, linked(Path("other"), place))


def protected(place):
    cached = Path("cached")
    cached.touch(0o444)
    return linked(place, cached)


def below_a_dangling_link(place):
    return linked(place, "nowhere") / "x"


# Where no file can be, from a name that is free: the place, and what is said of it.
NO_FILE = {
    "a folder": (taken, "a folder, not a file; give a name in it"),
    "a link to a folder": (lambda place: linked(place, "raw"), "a folder, not a file; give a name in it"),
    "no name": (lambda _: Path(), "a folder, not a file; give a name in it"),
    "a device": (device, "a device or socket, not a file; give the name of a file"),
    "a link to a device": (lambda place: linked(place, "/dev/zero"), "a device or socket, not a file"),
    "a socket": (plugged, "a device or socket, not a file"),
    "links in a circle": (circle, "too many levels of symbolic links; its symbolic links lead in a circle"),
    "under a file": (lambda _: Path("genuine.json/x"), "a file stands where a folder should"),
    "under a link to nothing": (below_a_dangling_link, "a file stands where a folder should"),
}
# A download keeps a file that is there, and replaces a link to what is gone.
NO_TARGET = {
    "a link to no folder": (lambda place: linked(place, "nowhere/x"), "whose folder is not there; make it or delete"),
    "a link to a cache": (protected, "which is write-protected; delete the link first"),
}
NO_BINARY = {
    "a pipe": (pipe, "a pipe or an open stream, not a file; give the name of a file"),
    "standard output": (lambda _: Path("/dev/stdout"), "/dev/stdout: a pipe or an open stream"),
    "standard error": (lambda _: Path("/dev/stderr"), "/dev/stderr: a pipe or an open stream"),
    "a stream by number": (lambda _: Path("/dev/fd/1"), "/dev/fd/1: a pipe or an open stream"),
    "a link to a stream": (lambda place: linked(place, "/dev/stdout"), "a pipe or an open stream"),
}
NO_TEXT = {
    "a stream that is not open": (lambda _: Path("/dev/fd/999"), "/dev/fd/999: not open to be written to"),
    "a pipe that nobody reads": (pipe, "nobody reads this pipe, or no more; start what reads it first"),
}


@pytest.mark.parametrize(
    ("name", "place", "words"),
    [
        pytest.param(name, *case, id=f"{name}, {kind}")
        for names, kinds in (
            ([*TEXTS, *FILES], NO_FILE | NO_TARGET),
            (FILES, NO_BINARY),
            # What is unpacked in a folder may be linked to in the place of a download (test_shapes.py).
            (
                ["download"],
                {kind: case for kind, case in (NO_FILE | NO_BINARY).items() if kind != "a link to a folder"},
            ),
            (TEXTS, NO_TEXT),
        )
        for name in names
        for kind, case in kinds.items()
    ],
)
def test_where_no_file_can_be(folder, monkeypatch, capfd, name, place, words):
    # The ending of a table says its form.
    out = place(Path("x.md"))
    said = refused(folder, monkeypatch, capfd, WORDS[name], out)
    assert said.startswith(f"cooperation {name.split()[0]}: {out}: ")
    assert words in said
    assert Path("/dev/zero").is_char_device()


NO_FOLDER = {
    "a file": lambda place: place.touch() or place,
    "a link to a file": lambda place: linked(place, "genuine.json"),
    "a link to nothing": lambda place: linked(place, "nowhere"),
    "the null device": lambda _: Path("/dev/null"),
    "a device": device,
    "standard output": lambda _: Path("/dev/stdout"),
    "a pipe": pipe,
    "links in a circle": circle,
    "under a file": lambda _: Path("genuine.json/x"),
    "under a link to nothing": below_a_dangling_link,
}


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("kind", NO_FOLDER)
def test_where_no_folder_can_be(folder, monkeypatch, capfd, name, kind):
    out = NO_FOLDER[kind](Path("x"))
    said = refused(folder, monkeypatch, capfd, WORDS[name], out)
    assert said.startswith(f"cooperation {name}: {out}: not a ")
    assert re.search("give the name of a folder|choose another place", said)


# Of these, what can be made at a place.
IN_THE_WAY = (
    *("a folder", "a link to a folder", "a link to a device", "a socket", "links in a circle"),
    *(*NO_TARGET, "a pipe", "a link to a stream"),
)


@pytest.mark.parametrize("name", FOLDERS)
@pytest.mark.parametrize("kind", IN_THE_WAY)
def test_what_stands_in_the_way_in_a_folder(folder, monkeypatch, capfd, name, kind):
    place, words = (NO_FILE | NO_TARGET | NO_BINARY)[kind]
    way = Path("new", FIRST[name])
    way.parent.mkdir(parents=True)
    assert place(way) == way
    said = refused(folder, monkeypatch, capfd, WORDS[name], "new")
    assert said.startswith(f"cooperation {name}: {way}: ")
    assert words in said


def inputs(name):
    return re.findall("<(.*?)>", WORDS[name])


SPELLINGS = {
    "itself": lambda path, _: path,
    "another spelling": lambda path, _: Path("raw", "..", ".", path),
    "an absolute path": lambda path, _: path.absolute(),
    "a link": lambda path, place: linked(place, path),
    "a link to a link": lambda path, place: linked(place, linked(Path("between"), path)),
    "a hard link": lambda path, place: place.hardlink_to(path) or place,
    "a linked folder": lambda path, _: linked(Path("elsewhere"), path.parent) / path.name,
}


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize(("name", "path"), [(name, path) for name in (*TEXTS, *FILES) for path in inputs(name)])
def test_no_input_is_overwritten(folder, monkeypatch, capfd, name, path, spelling):
    out = SPELLINGS[spelling](Path(path), Path("x.md"))
    said = refused(folder, monkeypatch, capfd, WORDS[name], out)
    also = "" if spelling == "itself" else f" as {path}"
    assert said == (
        f"cooperation {name.split()[0]}: {out}: this command reads it{also}; choose another place to write to\n"
    )


# Files that a command reads besides those that its flags name.
BESIDES = {
    "controls": ["results/scripted/none.h5"],
    "report": ["results/dialog-seed1/written/caption-p1.h5", "paper/claims.csv", "paper/published.csv"],
}


@pytest.mark.parametrize("spelling", ["a link", "a hard link"])
@pytest.mark.parametrize(
    ("name", "path"),
    [(name, path) for name in (*FOLDERS, *BESIDES) for path in (*inputs(name), *BESIDES.get(name, []))],
)
def test_no_input_is_overwritten_in_a_folder(folder, monkeypatch, capfd, name, path, spelling):
    out = Path("new.md" if name in TEXTS else "new")
    place = out if name in TEXTS else out / FIRST[name]
    place.parent.mkdir(parents=True, exist_ok=True)
    SPELLINGS[spelling](Path(path), place)
    said = refused(folder, monkeypatch, capfd, WORDS[name], out)
    assert f"{place}: this command reads it as {path}; choose another place" in said


def test_a_report_into_the_folder_of_the_papers_numbers(folder, monkeypatch, capfd):
    said = refused(folder, monkeypatch, capfd, WORDS["report"], "paper")
    assert "paper/claims.csv: this command reads it" in said


def test_stand_in_pictures_over_their_dialogs(folder, monkeypatch, capfd):
    Path("genuine.json").replace("raw/val2014.zip")
    words = WORDS["genuine"].replace("genuine.json", "raw/val2014.zip")
    assert "raw/val2014.zip: this command reads it" in refused(folder, monkeypatch, capfd, words, "raw")


def test_a_picture_in_a_folder_that_is_read(folder, monkeypatch, capfd):
    for split in ("train", "val"):
        shutil.unpack_archive(f"raw/{split}2014.zip", "pictures")
    words = WORDS["extract"].replace("raw/", "pictures/").replace(".zip", "")
    taken = sorted(Path("pictures/val2014").iterdir())[3]
    assert f"{taken}: this command reads it" in refused(folder, monkeypatch, capfd, words, taken)
    # Beside pictures there is room for their features, again and again.
    assert [run(monkeypatch, words, "pictures/val2014/fc7.h5") for _ in range(2)] == [0, 0]


def test_where_a_download_goes(folder, monkeypatch, capfd):
    assert run(monkeypatch, DOWNLOAD, "x.json") == 0
    assert Path("x.json").readlink() == folder / "genuine.json"
    # The copy is what --out leads to, and stays as it is.
    for out in ("x.json", "genuine.json"):
        assert run(monkeypatch, DOWNLOAD, out) == 0
        assert f"{out}: there already" in capfd.readouterr().out
    linked(Path("gone.json"), "nowhere/x")
    assert run(monkeypatch, DOWNLOAD, "gone.json") == 0
    assert Path("gone.json").read_bytes() == Path("genuine.json").read_bytes()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", TEXTS | FILES | FOLDERS)
def test_a_link_stays_and_its_target_is_replaced_whole(monkeypatch, name):
    out, target, kept = f"new{ENDINGS.get(name, '')}", Path("store/4a7d"), Path("kept")
    target.parent.mkdir()
    # To what is not there yet, and has another ending.
    place = linked(Path(out, FIRST[name]) if name in FOLDERS else Path(out), target)
    assert run(monkeypatch, WORDS[name], out) == 0
    written = target.read_bytes()
    assert written
    # Then to a file that is longer than what is written, and has another name, too.
    target.write_bytes(bytes(2 * len(written)))
    kept.hardlink_to(target)
    assert run(monkeypatch, WORDS[name], out) == 0
    assert place.readlink() == target.absolute()
    assert target.read_bytes() == written
    assert list(target.parent.iterdir()) == [target]
    # Who had opened the old one still reads that, whole.
    assert kept.read_bytes() == bytes(2 * len(written))


@pytest.mark.parametrize("name", TEXTS | FILES)
def test_the_null_device_takes_everything(folder, monkeypatch, name):
    before, devices = content(folder), sorted(Path("/dev").iterdir())
    assert run(monkeypatch, WORDS[name], "/dev/null") == 0
    assert Path("/dev/null").is_char_device()
    assert (content(folder), sorted(Path("/dev").iterdir())) == (before, devices)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", FOLDERS)
def test_a_link_to_the_null_device_in_a_folder(monkeypatch, name):
    link = linked(Path("new", FIRST[name]), "/dev/null")
    assert run(monkeypatch, WORDS[name], "new") == 0
    assert link.is_char_device()


@pytest.fixture(params=TEXTS)
def text(request, folder, monkeypatch, capfd):
    """A command's words, the text that it writes, and what it prints besides."""
    out, words = folder / {"summarise": "clean.csv", "controls": "clean.md"}[request.param], WORDS[request.param]
    assert run(monkeypatch, words, out) == 0
    return words, out.read_text(), capfd.readouterr().out


@pytest.mark.parametrize("place", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "link"])
def test_standard_output_takes_a_text(text, monkeypatch, capfd, place):
    words, written, printed = text
    linked(Path("link"), "/dev/stdout")
    assert run(monkeypatch, words, place) == 0
    assert capfd.readouterr().out == written + printed
    assert Path("/dev/stdout").is_symlink()


def test_standard_error_takes_a_text(text, monkeypatch, capfd):
    words, written, printed = text
    assert run(monkeypatch, words, "/dev/stderr") == 0
    found = capfd.readouterr()
    assert (found.out, found.err) == (printed, written)


def test_a_pipe_takes_a_text(text, monkeypatch):
    words, written, _ = text
    place = pipe(Path("pipe"))
    # Opened to write, too, so that it waits for nobody; it is read once all is written.
    reads = os.open(place, os.O_RDWR)
    assert run(monkeypatch, words, place) == 0
    assert os.read(reads, 1 << 16).decode() == written
    os.close(reads)
    assert place.is_fifo()


def test_what_a_shell_makes_of_a_program_that_reads(text, monkeypatch):
    """`--out >(gzip > x.gz)` is /dev/fd/63."""
    words, written, _ = text
    reads, writes = os.pipe()
    assert run(monkeypatch, words, f"/dev/fd/{writes}") == 0
    os.close(writes)
    with os.fdopen(reads) as file:
        assert file.read() == written


def test_a_reader_of_a_pipe_that_ends_early(tmp_path):
    place = pipe(tmp_path / "pipe")
    reads = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
    # A pipe holds less than is written, so writing waits for the reader.
    Timer(0.1, os.close, [reads]).start()
    with pytest.raises(InputError, match="pipe: nobody reads this pipe, or no more"):
        write_text(place, "x" * 1_000_000)


def started(words, stdout):
    """Run a command in a process of its own: its exit code, and what it says on standard error."""
    command = [sys.executable, "-m", "cooperation", *re.sub("[<>]", "", words).split(), "--out", "/dev/stdout"]
    done = subprocess.run(command, check=False, stdout=stdout, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stderr


def test_a_file_that_is_standard_output_is_written_to_in_turn(text):
    """Not replaced, which would lose what is printed after."""
    words, written, printed = text
    with Path("printed").open("w") as file:
        print("before", file=file, flush=True)
        assert started(words, file) == (0, "")
    assert Path("printed").read_text() == f"before\n{written}{printed}"


@pytest.mark.usefixtures("folder")
def test_a_reader_of_standard_output_that_has_ended():
    reads, writes = os.pipe()
    os.close(reads)
    assert started(WORDS["summarise"], writes) == (141, "")
    os.close(writes)
