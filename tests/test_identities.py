"""Files that do not belong together: every command, every input, every way in which a file can be another one's.

A small project is made, and beside it files of the same names that were made with one other setting each. In every
command, one input at a time is such a file: it is refused in one line that names it and what it does not fit, or it is
listed as allowed, with the reason.
"""

import argparse
import copy
import json
import random
import re
import shutil
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from pathlib import Path

import h5py
import numpy as np
import pytest
import yaml
from small_files import authors_arrays, write_authors_files
from small_project import (
    CONFIG,
    EXPECTED,
    MANUAL,
    all_steps,
    bots_steps,
    data_steps,
    prepare,
    run,
    texts,
)

from cooperation.bots.checkpoint import load_tensors, save_tensors
from cooperation.cli import COMMANDS
from cooperation.config.experiment import read
from cooperation.data.agreements import MUST_AGREE, REMEDIES, check_together
from cooperation.evaluation.results import read_ranks
from cooperation.io.files import InputError, digest
from cooperation.io.hdf5 import Checksum, Verified
from cooperation.io.identity import Identity
from cooperation.io.origin import read_origin

# Bots of a builder's own, which see features and pictures.
OWN = """
class make:
    def ask(self, dialogs):
        return ["is it large ?" for _ in dialogs]
    def answer(self, pictures, dialogs, questions):
        return [f"{picture.open().getpixel((3, 3))}" for picture in pictures]
    def guess(self, dialogs):
        return [[len(str(dialog)) + number for number in range(8)] for dialog in dialogs]
    def prepare(self, pictures):
        return [picture.features[:8] for picture in pictures]
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A finished project; the folder that all commands here run in."""
    folder = tmp_path_factory.mktemp("project")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        prepare(folder)
        for step in all_steps():
            done = run(*step.words)
            assert done.code == 0, (step.words, done.error)
            assert all(Path(path).is_file() for path in step.writes)
        Path("controls.yaml").write_text(yaml.safe_dump(controlled(CONFIG)))
        Path("own.py").write_text(OWN)
        Path("small.csv").write_text(EXPECTED.replace("blind", "small"))
        for kind in CHANGES:
            make_others(kind)
        yield folder


# What differs between the project's files and the others of the same names.
SMALL = ("datasets", "small")
CHANGES = {
    "data set": (*SMALL, "raw", "picture", 0),
    "vocabulary": (*SMALL, "text", "threshold", 3),
    "extraction": (*SMALL, "extraction", "seed", 2),
    "normalisation": (*SMALL, "features", "normalisation", "l2"),
    "training": (*SMALL, "training", "dialog", "epochs", 1),
    "sizes": (*SMALL, "sizes", "hidden", 11),
    "seed": ("seeds", [2, 1]),
    "game seed": ("game_seed", 2),
    "candidates": (*SMALL, "playing", "candidates", 11),
    "reading": ("readings", ["released", "written"]),
    "conditions": ("conditions", "dialog", "late", "start", 4),
}


def changed(kind):
    """The settings with one change."""
    config = copy.deepcopy(CONFIG)
    *keys, last, value = CHANGES[kind]
    place = config
    for key in keys:
        place = place.setdefault(key, {})
    place[last] = value
    return config


def controlled(config):
    """Settings that ask for the small project's results as a world of known ground truth."""
    conditions = {name: config["conditions"]["dialog"][name] for name in ("none", "late")}
    return {**config, "dataset": "blind", "controls": {"worlds": ["small"], "conditions": {"dialog": conditions}}}


def make_others(kind):
    """Make the files that one change of the settings makes another, in a folder named after it."""
    home, folder, config = Path.cwd(), Path("others", kind), changed(kind)
    folder.mkdir(parents=True)
    (folder / "manual").mkdir()
    intervention = {**MANUAL, **({"title": "Another"} if kind == "conditions" else {})}
    (folder / "manual/figure_2.yaml").write_text(yaml.safe_dump(intervention))
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    (folder / "controls.yaml").write_text(yaml.safe_dump(controlled(config)))
    seed = config["seeds"][0]
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        steps = list(data_steps(config, "small"))
        if kind not in OF_DATA:
            shutil.copytree(home / "data/small", "data/small")
            steps = []
        for step in [*steps, *bots_steps(config, "small", "dialog", seed)]:
            words = step.words
            if words[0] == "play":
                words = (*words, "--seed", config.get("game_seed", 1), "--reading", config["readings"][0])
                words = (*words, "--candidates", read(config).data.playing.candidates)
            done = run(*words)
            assert done.code == 0, (words, done.error)
        words = [
            *players(seed),
            "--baseline",
            result("none", config["readings"][0], seed),
            "--all",
            "--model",
            "dialog",
        ]
        words += ["--reading", config["readings"][0], "--seed", config.get("game_seed", 1)]
        done = run("intervene", "--dataset", "small", *words, "--out", f"results/small/manual/dialog-seed{seed}")
        assert done.code == 0, done.error
    assert Path.cwd() == home


def players(seed=1):
    bots = f"checkpoints/small/dialog-seed{seed}.safetensors"
    return ["--checkpoint", bots, "--dialogs", "data/small/dialogs.h5", "--features", "data/small/features.h5"]


def result(name, reading="written", seed=1):
    return f"results/small/dialog-seed{seed}/{reading}/{name}.h5"


# Kinds of files, and which of the changes make them others: a file of dialogs knows nothing of a training.
ALL = tuple(CHANGES)
OF_DATA = ("data set", "vocabulary", "extraction", "normalisation")
DIFFER = {
    "archive of dialogs": ("data set",),
    "archive of pictures": ("data set",),
    "extracted features": ("data set", "extraction"),
    "features": ("data set", "extraction", "normalisation"),
    "dialogs": ("data set", "vocabulary"),
    "checkpoint": (*OF_DATA, "training", "sizes", "seed"),
    "result": ALL,
    "settings": ALL,
    "intervention": ("conditions",),
}
GIVEN = {
    "checkpoint": ("checkpoint", "checkpoints/small/dialog-seed1.safetensors"),
    "dialogs": ("dialogs", "data/small/dialogs.h5"),
    "features": ("features", "data/small/features.h5"),
    "settings": ("settings", "config.yaml"),
    "controls": ("settings", "controls.yaml"),
    "baseline": ("result", result("none")),
    "result": ("result", result("late")),
    "manual": ("result", "results/small/manual/dialog-seed1/written/figure_2.h5"),
    "intervention": ("intervention", "manual/figure_2.yaml"),
    "texts": ("archive of dialogs", "data/small/raw/visdial_0.9_train.zip"),
    "pictures": ("archive of pictures", "data/small/raw/train2014.zip"),
    "shown": ("archive of pictures", "data/small/raw/val2014.zip"),
    "shard": ("extracted features", "data/small/fc7_2of2.h5"),
}
"""Input → its kind, and its path in the project."""
LATE = "late={channel: image, kind: noise, start: 5}"
BOTS = "--checkpoint {checkpoint} --dialogs {dialogs} --features {features}"
AS_SET = f"--dataset small --model dialog --training-seed 1 --config {{settings}} {BOTS}"
SHOWN = "--config {settings} --results {results}/small"
WORLDS = "--config {controls} --results {results} --expected small.csv --interventions meanings.csv --resamples 20"
SEEN = "--dialogs {dialogs} --features {features} --pictures {shown}"
MATRIX = {
    "check": "--dataset small --config {settings}",
    "encode": "miniature --train {texts} --val data/small/raw/visdial_0.9_val.zip --out new/d.h5",
    "extract": "--train {pictures} --val data/small/raw/val2014.zip --preprocessing small --out new/f.h5",
    "normalise": "data/small/fc7_1of2.h5 {shard} --out new/f.h5",
    "verify": "--dataset small --config {settings} --dialogs {dialogs} --features {features}",
    "train": "--dialogs {dialogs} --features {features} --epochs 1 --hidden 4 --out new/b.safetensors",
    "play": f"{BOTS} --baseline {{baseline}} --condition LATE --out new",
    "play, no baseline": f"{BOTS} --condition none={{{{}}}} --out new",
    "play, as set": f"{AS_SET} --out new",
    "play, own": f"--load own.py:make {SEEN} --condition none={{{{}}}} --out new",
    "conform": f"own.py:make {SEEN}",
    "test": f"own.py:make {SEEN} --queries 2 --config {{settings}} --out new",
    "intervene": f"{BOTS} --baseline {{baseline}} --manual {{intervention}} --out new",
    "intervene, as set": f"--all {AS_SET} --baseline {{baseline}} --out new",
    "summarise": "{baseline} {result} --resamples 20 --out new/mpr.csv",
    "controls": f"{WORLDS} --out new/c.csv",
    "confirm": WORLDS,
    "provenance": "{checkpoint} {dialogs} {features} {result}",
    "report": f"{SHOWN} --dialogs {{dialogs}} --pictures {{shown}} --resamples 20 --out new",
}
"""Command → its words, in which {input} stands for a file; {results} is a folder, whose files are inputs, too."""
IN_FOLDER = {
    "controls": ("baseline", "result"),
    "confirm": ("baseline", "result"),
    "report": ("baseline", "result", "manual"),
}


def inputs(command):
    return [*(name for name in re.findall(r"{(\w+)}", MATRIX[command]) if name in GIVEN), *IN_FOLDER.get(command, ())]


CELLS = [(command, name, kind) for command in MATRIX for name in inputs(command) for kind in DIFFER[GIVEN[name][0]]]
BASELINES = ("play", "intervene", "intervene, as set")
NOTHING_BEFORE = "nothing else that these bots made is read; the result says how they were trained"
ANY_DATA = "bots may learn from any dialogs and features that belong together; verify compares them with the settings"
ABOUT_GAMES = "says nothing of dialogs and features, which alone are compared here"
BY_FLAG = "a flag says it here, which the result states; the report compares the result with the settings"
OTHER_BOTS = "these settings ask for the results of other bots, which are there"
AS_WRITTEN = "worlds are played as written, whatever readings the settings list"
ANY_SEEN = "a builder's bots speak any words and see any features; the result says which"
SEEN_OTHERS = ("dialogs", "vocabulary"), ("features", "extraction"), ("features", "normalisation")
NO_OWN = "the settings say nothing of a builder's bots but their name and conditions, which the results state"
LOOKS = "it shows files and settings by themselves and computes nothing"
ALLOWED = {
    **{("check", "settings", kind): LOOKS for kind in ALL},
    **{("provenance", name, kind): LOOKS for name in inputs("provenance") for kind in DIFFER[GIVEN[name][0]]},
    **{("verify", "settings", kind): ABOUT_GAMES for kind in ALL if kind not in OF_DATA},
    ("train", "dialogs", "vocabulary"): ANY_DATA,
    ("train", "features", "extraction"): ANY_DATA,
    ("train", "features", "normalisation"): ANY_DATA,
    **{("play, no baseline", "checkpoint", kind): NOTHING_BEFORE for kind in ("training", "sizes", "seed")},
    **{("play, as set", "settings", kind): BY_FLAG for kind in ("game seed", "candidates", "reading")},
    **{(command, "settings", "seed"): "both list the same seeds" for command in ("play, as set", "report")},
    ("play, as set", "settings", "conditions"): "what these settings say is played; the result says it",
    ("intervene", "intervention", "conditions"): "what the file says is played; the report compares the result with it",
    ("intervene, as set", "settings", "seed"): "both list the same seeds",
    **{("intervene, as set", "settings", kind): BY_FLAG for kind in ("game seed", "reading")},
    ("intervene, as set", "settings", "conditions"): "conditions are none of a manual intervention's",
    ("summarise", "result", "conditions"): "any conditions of the same bots may be compared; the file says its name",
    **{(command, *cell): ANY_SEEN for command in ("play, own", "conform", "test") for cell in SEEN_OTHERS},
    **{("test", "settings", kind): NO_OWN for kind in ALL},
    **{(command, "controls", "seed"): OTHER_BOTS for command in ("controls", "confirm")},
    **{(command, "controls", "reading"): AS_WRITTEN for command in ("controls", "confirm")},
}
"""Cell → why the file may be used."""
NO_BASELINE = "results/small/dialog-seed1/written/late.h5: no result without perturbation for its model, seed and"
AS_HERE = {"game seed": "its game seed is 2, not 1 as here", "reading": "its reading is released, not written as here"}
AS_HERE |= {"candidates": "its 11 dialogs are not the 12 that are played here", "conditions": "its condition is {"}
ALONE = {
    ("summarise", "baseline", "seed"): NO_BASELINE,
    ("summarise", "baseline", "reading"): NO_BASELINE,
    ("summarise", "result", "seed"): NO_BASELINE.replace("seed1", "seed2"),
    ("summarise", "result", "reading"): NO_BASELINE.replace("written", "released"),
    **{(command, "baseline", kind): said for command in BASELINES for kind, said in AS_HERE.items()},
    ("summarise", "baseline", "conditions"): "late.h5: the same condition as",
    ("play, as set", "checkpoint", "seed"): "trained with seed 2, not 1; give the bots of that seed",
    ("intervene, as set", "checkpoint", "seed"): "trained with seed 2, not 1; give the bots of that seed",
    ("report", "settings", "reading"): "that the settings ask for are missing",
    ("intervene, as set", "settings", "candidates"): "none.h5: its 12 dialogs are not the 11 that are played here",
}
"""Cell → what is said where it is a flag, not another file, that contradicts the file, or a file is missing."""


def other(name, kind):
    """The file that is given in an input's place."""
    path = GIVEN[name][1]
    if (name, kind) == ("baseline", "conditions"):
        return GIVEN["result"][1]
    if kind == "seed":
        path = path.replace("dialog-seed1", "dialog-seed2")
    return f"others/{kind}/{path.replace('/written/', '/released/') if kind == 'reading' else path}"


def given_words(command, name, replaced):
    """The words of a command with another file in one place, its path there, and the paths of the others."""
    paths = {own: path for own, (_, path) in GIVEN.items()}
    folder = "results"
    if name in IN_FOLDER.get(command, ()):
        folder, path = "mixed", Path("mixed", *Path(paths[name]).parts[1:])
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree("results", folder)
        shutil.copy(replaced, path)
        replaced = f"{path}"
    else:
        paths[name] = replaced
    words = [LATE if word == "LATE" else word.format(**paths, results=folder) for word in MATRIX[command].split()]
    return [command.partition(",")[0], *words], replaced, [path for own, path in paths.items() if own != name]


def run_anew(*words):
    """Run a command whose outputs go to the folder `new`, which is empty before."""
    shutil.rmtree("new", ignore_errors=True)
    Path("new").mkdir()
    return run(*words)


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("cell", CELLS, ids=", ".join)
def test_another_file_is_refused_with_both_names_or_allowed_for_a_reason(cell):
    command, name, kind = cell
    words, replaced, others = given_words(command, name, other(name, kind))
    done = run_anew(*words)
    if cell in ALLOWED:
        assert (done.code, ALLOWED[cell] > "") == (0, True), done.error
        return
    assert done.code == 2, "silent"
    assert done.error.count("\n") == 1, done.error
    assert not list(Path("new").rglob("*.*"))
    if cell in ALONE:
        assert ALONE[cell] in done.error
        return
    own = [*Path("data").rglob("*.*"), *Path("results").rglob("*.*"), *Path("mixed").rglob("*.*")]
    named = [path for path in [*others, *map(str, own)] if path in done.error and path != replaced]
    settings = "the settings " in done.error
    if GIVEN[cell[1]][0] == "settings":
        assert settings, done.error
        assert named, done.error
    else:
        assert replaced in done.error, done.error
        assert named or settings, done.error
    # What helps stands behind a semicolon.
    assert "; " in done.error


def test_the_table_of_allowed_cells_is_of_cells():
    assert set(ALLOWED) | set(ALONE) <= set(CELLS)
    assert not set(ALLOWED) & set(ALONE)


# Which arguments of commands name files, but for those that they write and for settings.
UNTRIED = {
    ("check", "--folder"): LOOKS,
    ("genuine", "--dialogs"): "nothing else is read",
    ("intervene", "--captions"): "a dialog is taken only if its caption is one of its picture's (test_manual.py)",
    ("test", "--cache"): "what is known is found by the content of what it was of",
    ("compare", ""): "tests of other dialogs, candidates or seeds are refused (test_card.py)",
    ("test", "--beside"): "as by compare",
    ("download", "--have"): "its hash is compared, where one is known (test_download.py)",
    ("download", "--note"): "it is written",
    ("normalise", "--dialogs"): "ids say which images are theirs; one that is missing is refused (test_given.py)",
    ("normalise", "--ids"): "they say themselves whose features are whose; their number is compared",
    ("extract", "--dialogs"): "it says of which pictures; one that is missing is refused (test_vgg.py)",
    ("extract", "--weights"): "features say which weights they are of, and are compared from there on",
    ("controls", "--expected"): "what is expected is what stands there",
    ("controls", "--interventions"): "labels mean what stands there",
    ("confirm", "--expected"): "what is expected is what stands there",
    ("confirm", "--interventions"): "labels mean what stands there",
}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_input_of_every_command_is_tried(name):
    parser = argparse.ArgumentParser()
    import_module(f"cooperation.commands.{name}").add_arguments(parser)
    parsers = [parser]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            parsers = [action.choices["miniature"]]
    files = [action for each in parsers for action in each._actions if action.type is Path and action.dest != "out"]
    tried = [f"{each} {words}" for each, words in MATRIX.items() if each.partition(",")[0] == name]
    for action in files:
        flag = action.option_strings[0] if action.option_strings else ""
        used = [words for words in tried if (f"{flag} " in words if flag else re.search(" {|h5 {", words))]
        # One archive of a pair stands for the other.
        assert used or (name, flag) in UNTRIED, f"{name} {flag}"


# Files of an earlier version

STRIPPED = {
    "result": ("identity", "sizes", "dialogs", "val_dialogs"),
    "dialogs": ("source", "files", "made_up"),
    "features": ("made_up",),
    "extracted features": ("made_up",),
}
"""Kind of file → attributes that files of an earlier version lack."""
KNOWN = (*STRIPPED, "checkpoint")
EARLIER = [(command, name) for command in MATRIX for name in inputs(command) if GIVEN[name][0] in KNOWN]
BY_CONTENT = "arrays have always had hashes, by which they are compared; how they were made up is not known"
BY_HAND = ("train", "play", "play, no baseline", "play, own", "conform", "test", "intervene")
UNCHECKED = {
    **{("provenance", name): LOOKS for name in inputs("provenance")},
    **{(command, name): BY_CONTENT for command in BY_HAND for name in ("dialogs", "features")},
}
"""Command and input → why a file of an earlier version may be used."""


def stripped(kind, path):
    """A file as an earlier version would have written it."""
    made = Path("others/earlier", path)
    made.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(path, made)
    if kind == "checkpoint":
        tensors, description = load_tensors(made)
        del description["made_of"]
        save_tensors(made, tensors, description)
        return made
    with h5py.File(made, "r+") as file:
        forget(file, STRIPPED[kind])
    return made


def forget(file, names):
    """Take attributes out of an open file, which stays whole."""
    kept = {name: value for name, value in Verified(file).attributes.items() if name not in names}
    for name in set(file.attrs) - {*kept, "sha256"}:
        del file.attrs[name]
    total = sha256(json.dumps(kept, sort_keys=True).encode()).hexdigest()
    file.attrs["sha256"] = json.dumps({**json.loads(file.attrs["sha256"]), "": total})


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("cell", EARLIER, ids=", ".join)
def test_a_file_of_an_earlier_version_is_refused_with_the_reason(cell):
    kind, path = GIVEN[cell[1]]
    words, replaced, _ = given_words(*cell, f"{stripped(kind, path)}")
    done = run_anew(*words)
    if cell in UNCHECKED:
        assert (done.code, UNCHECKED[cell] > "") == (0, True), done.error
        return
    assert done.code == 2, "silent"
    assert done.error.count("\n") == 1, done.error
    assert replaced in done.error
    assert "earlier version" in done.error or "made-up files is None" in done.error, done.error
    assert not list(Path("new").rglob("*.*"))


# Files that change places

PLACES = {
    "archives of dialogs": "data/*/raw/visdial_0.9_*.zip",
    "archives of pictures": "data/*/raw/*2014.zip",
    "extracted features": "data/*/fc7_*.h5",
    "dialogs": "data/*/dialogs.h5",
    "features": "data/*/features.h5",
    "checkpoints": "checkpoints/*/*.safetensors",
    "results": "results/**/*.h5",
}
TRIALS = 5
INTERMEDIATE = {
    "extract": "the pictures of each split, whatever their names; who uses the features misses images",
    "normalise": "the features of each split, whatever they are of; who uses them misses images",
}
"""Command → why what it writes may differ without a word: it is no number, and is refused before it becomes one."""


def read_in_order(path, raw):
    """A file's bytes; the lines of a summary in order, since it names what results say of themselves."""
    return sorted(raw.splitlines()) if path == "mpr.csv" else raw


def change_places(one, other):
    content = one.read_bytes(), other.read_bytes()
    other.write_bytes(content[0])
    one.write_bytes(content[1])


def follow(steps, pair, clean):
    """Run, in order, all that reads files that differ from the clean ones; how many commands refused."""
    differing, refusals = set(map(str, pair)), 0
    for step in steps:
        if differing.isdisjoint(step.reads):
            continue
        before = {path: Path(path).read_bytes() for path in step.writes}
        done = run(*step.words)
        after = {path: Path(path).read_bytes() for path in step.writes}
        assert done.code in (0, 2), (step.words, done.error)
        if done.code:
            # One line, and what was there stays.
            assert done.error.count("\n") >= 1, step.words
            assert "Traceback" not in done.error
            assert after == before
            refusals += 1
            continue
        changed = {path for path in after if read_in_order(path, after[path]) != read_in_order(path, clean[path])}
        assert not changed or step.words[0] in INTERMEDIATE, (pair, step.words)
        differing |= changed
    return refusals


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("kind", PLACES)
def test_two_files_that_change_places_never_change_a_number_without_a_word(kind):
    steps = list(all_steps())
    clean = {path: Path(path).read_bytes() for step in steps for path in step.writes}
    found, chance = sorted(Path().glob(PLACES[kind])), random.Random(kind)
    refusals = 0
    for _ in range(TRIALS if len(found) > 2 else 1):
        pair = chance.sample(found, 2)
        change_places(*pair)
        try:
            refusals += follow(steps, pair, clean)
        finally:
            for path, raw in clean.items():
                Path(path).write_bytes(raw)
    assert refusals


# The table of what must agree


def identities(agreement):
    """Two files that say the same of all things in the table."""
    things = dict.fromkeys((*agreement.always, *agreement.where_said), "24 words (0123)")
    return Identity(Path("one.h5"), things), Identity(Path("other.h5"), dict(things))


@pytest.mark.parametrize("roles", MUST_AGREE, ids=", ".join)
def test_each_thing_of_the_table_is_compared(roles):
    agreement = MUST_AGREE[roles]
    one, other = identities(agreement)
    check_together(roles[0], one, roles[1], other)
    for name in (*agreement.always, *agreement.where_said):
        differing = replace(other, made_of={**other.made_of, name: "80 words (4567)"})
        with pytest.raises(InputError) as error:
            check_together(roles[0], one, roles[1], differing)
        assert str(error.value) == (
            f"one.h5 and other.h5 do not belong together: {name}: 24 words (0123) against 80 words (4567); "
            f"{REMEDIES[roles[0]]}"
        )
        silent = replace(other, made_of={key: said for key, said in other.made_of.items() if key != name})
        if name in agreement.always:
            with pytest.raises(InputError, match=rf"other\.h5: does not say its {name}, as files of an earlier"):
                check_together(roles[0], one, roles[1], silent)
        else:
            check_together(roles[0], one, roles[1], silent)


def test_the_same_content_made_elsewhere_later_and_on_another_device_is_the_same(project, tmp_path, monkeypatch):
    """Times, paths, commits and devices are no part of what a file is."""
    monkeypatch.setattr("cooperation.io.origin.software", lambda: {"commit": "another"})
    monkeypatch.setattr("cooperation.commands.players.name_of", lambda _: "another device")
    shutil.copytree(project, tmp_path / "elsewhere", ignore=shutil.ignore_patterns("others", "results"))
    monkeypatch.chdir(tmp_path / "elsewhere")
    for step in bots_steps(CONFIG, "small", "dialog", 1):
        assert run(*step.words).code == 0
        for path in step.writes:
            if path.endswith(".h5"):
                results = [read_ranks(folder / path) for folder in (project, Path())]
                origins = [read_origin(folder / path) for folder in (project, Path())]
                assert origins[1] == {"commit": "another"} != origins[0]
                made = [result.identity(Path("x")) for result in results]
                assert made[0] == made[1]
                assert {"bots", "training", "vocabulary", "val dialogs", "features", "game"} <= set(made[0].made_of)


@pytest.mark.usefixtures("project")
def test_features_of_other_images_are_refused_with_both_names():
    """Those of another seed of the world have other ids than the dialogs."""
    config = copy.deepcopy(CONFIG)
    config["datasets"]["small"]["raw"]["seed"] = 5
    Path("others/ids").mkdir(parents=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir("others/ids")
        for step in data_steps(config, "small"):
            assert run(*step.words).code == 0
    with h5py.File("others/ids/data/small/features.h5", "r+") as file:
        # As of pictures that are not made up, which say nothing of each other.
        forget(file, ("made_up",))
    for words in (
        "train --epochs 1",
        "play --allow-other-features --checkpoint checkpoints/small/dialog-seed1.safetensors",
    ):
        files = "--dialogs data/small/dialogs.h5 --features others/ids/data/small/features.h5"
        # A file or a folder, as the command writes, where there is none.
        files += f" --out {words.split()[0]}-of-others"
        done = run(*words.split(), *files.split())
        assert done.code == 2
        assert done.error.count("\n") == 1
        assert "features.h5: no features of image " in done.error
        assert "data/small/dialogs.h5" in done.error
        assert "others/ids/data/small/features.h5" in done.error


def other_caption():
    """The project's dialogs, but for a word of a caption that bots learn from."""
    path = Path("others/caption/dialogs.h5")
    path.parent.mkdir(parents=True)
    shutil.copy("data/small/dialogs.h5", path)
    with h5py.File(path, "r+") as file:
        tokens = file["cap_train"][()]
        tokens[0, 0] = tokens[0, 0] % 3 + 1
        file["cap_train"][...] = tokens
        total = Checksum("cap_train", tokens.dtype, tokens.shape)
        total.add(tokens)
        file.attrs["sha256"] = json.dumps({**json.loads(file.attrs["sha256"]), "cap_train": total.text()})
    return f"{path}"


EXPERIMENTS = {
    "other_features": ("features", lambda: other("features", "normalisation"), "features: small, standardise"),
    "other_dialogs": ("dialogs", other_caption, "train dialogs: 24 dialogs ("),
}


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("name", EXPERIMENTS)
def test_what_may_be_mixed_as_an_experiment_is_in_the_result(name):
    """Features, or dialogs of the same words, that the bots have not learnt from."""
    role, made, what = EXPERIMENTS[name]
    shutil.rmtree("new", ignore_errors=True)
    bots = ["play", "--checkpoint", "checkpoints/small/dialog-seed1.safetensors", "--condition", "none={}"]
    usual = {"--dialogs": "data/small/dialogs.h5", "--features": "data/small/features.h5"}
    words = [*bots, "--out", "new", *(word for pair in usual.items() for word in pair)]
    replaced = made()
    mixed = [replaced if word == usual[f"--{role}"] else word for word in words]
    refused = run(*mixed)
    assert refused.code == 2
    assert what in refused.error
    assert run(*mixed, f"--allow-{name.replace('_', '-')}").code == 0
    found = read_ranks(Path("new/written/none.h5")).attributes
    assert found[name].startswith(what)
    assert " against " in found[name]
    # Nothing is said where nothing is mixed.
    assert run(*words, "--allow-other-features", "--allow-other-dialogs").code == 0
    assert not {"other_features", "other_dialogs"} & set(read_ranks(Path("new/written/none.h5")).attributes)


def authors_project(folder):
    """The authors' files and what is made of them, and settings of them."""
    random = np.random.default_rng(3)
    images = {f"images_{split}": random.random((count, 8), "f4") for split, count in (("train", 3), ("val", 2))}
    arrays = authors_arrays("train", [0, 1, 2]) | authors_arrays("val", [1, 0])
    folder.mkdir()
    write_authors_files(folder, arrays, images)
    roles = {"data": "visdial_data.h5", "params": "visdial_params.json", "images": "data_img.h5"}
    files = {role: f"{folder / name}" for role, name in roles.items()}
    config = copy.deepcopy(CONFIG) | {"dataset": "theirs"}
    config["datasets"]["theirs"] = {"source": "authors", "dialogs": files, "training": {"dialog": {}, "round": {}}}
    (folder / "config.yaml").write_text(yaml.safe_dump(config))
    given = [word for role, path in files.items() for word in (f"--{role}", path)]
    assert run("encode", "authors", *given, "--out", folder / "dialogs.h5").code == 0
    assert run("normalise", files["images"], "--out", folder / "features.h5").code == 0
    return folder


@pytest.mark.parametrize("name", ["data_img.h5", "visdial_data.h5", "visdial_params.json"])
def test_what_is_made_of_the_authors_files_is_known_by_their_hashes(name, tmp_path):
    """They say nothing of themselves."""
    folder = authors_project(tmp_path / "theirs")
    made = "--dialogs", folder / "dialogs.h5", "--features", folder / "features.h5"
    words = ["verify", "--config", folder / "config.yaml", *made]
    done = run(*words)
    assert (done.code, done.error) == (0, "")
    with (folder / name).open("ab") as file:
        file.write(b" ")
    done = run(*words)
    assert done.code == 2
    mixed = "features.h5" if name == "data_img.h5" else "dialogs.h5"
    assert f"{folder / mixed}: was made of a file with sha256 " in done.error
    assert f"but that of {folder / name} is " in done.error
    # A file that is gone can't be compared.
    (folder / name).unlink()
    assert run(*words).code == 0


def test_files_are_compared_with_the_hashes_that_settings_state(project):
    """Also where the files are gone, or elsewhere."""
    config = copy.deepcopy(CONFIG)
    names = {split: f"visdial_0.9_{split}.zip" for split in ("train", "val")}
    raw = project / "data/small/raw"
    stated = {name: {"addresses": ["http://nowhere/"], "sha256": digest(raw / name)} for name in names.values()}
    small = {**config["datasets"]["small"], "source": "visdial", "dialogs": names, "downloads": stated}
    small["pictures"] = {split: f"{raw}/{split}2014.zip" for split in names}
    del small["raw"]
    config["datasets"] = {"named": small, "blind": config["datasets"]["blind"]}
    config["dataset"] = "named"
    small["manual"] = {}
    files = "--dialogs", "new/dialogs.h5", "--features", "data/small/features.h5"
    Path("new").mkdir(exist_ok=True)
    assert run("encode", "visdial", *texts(raw), "--threshold", 2, "--out", "new/dialogs.h5").code == 0
    for known, code in ((digest(raw / names["val"]), 0), ("0" * 64, 2)):
        stated[names["val"]]["sha256"] = known
        Path("new/named.yaml").write_text(yaml.safe_dump(config))
        done = run("verify", "--config", "new/named.yaml", *files)
        assert done.code == code, done.error
    assert "data/named/raw/visdial_0.9_val.zip is 00000000…; encode the dialogs of named again" in done.error
