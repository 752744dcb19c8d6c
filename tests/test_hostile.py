"""Hostile and odd input, each with the answer that is expected: refused in one line, or harmless."""

import argparse
import html
import json
import os
import shutil
import struct
import subprocess
import sys
import xml.etree.ElementTree as ET
import zipfile
import zlib
from dataclasses import replace
from html.parser import HTMLParser

import h5py
import numpy as np
import pytest
import torch
import yaml
from fakes import made_config, made_material, made_result, write_data
from project import ROOT, Project, lacking
from reduced import CONFIG
from safetensors.torch import save_file
from small_files import authors_arrays, document, jpeg, picture, write_authors_files, write_zip

from cooperation.bots.checkpoint import load_checkpoint
from cooperation.cli import main
from cooperation.commands import normalise
from cooperation.config import experiment as configuration
from cooperation.config.experiment import Game, ManualGame
from cooperation.config.preparation import Encoding
from cooperation.data.archives import picture_names, read_json_text, read_member
from cooperation.data.encoding import encode
from cooperation.data.identities import identity_of_dialogs
from cooperation.data.pictures import decode
from cooperation.data.readers.authors import read_data, read_params
from cooperation.data.readers.visdial import read_visdial
from cooperation.data.store import (
    FeatureParts,
    Features,
    read_dialogs,
    read_vocabulary,
    write_dialogs,
    write_features,
)
from cooperation.data.vgg import trained
from cooperation.evaluation.manual import parse_manual, read_manual
from cooperation.evaluation.results import read_result, write_result
from cooperation.evaluation.transcripts import as_text
from cooperation.game.messages import Messages
from cooperation.io.files import InputError
from cooperation.io.writing import written_whole
from cooperation.reports.drawing import save
from cooperation.reports.figures import manual as manual_figure
from cooperation.reports.page import Contents, render

CONFIGURATION = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


# Archives


def zipped(folder, members):
    return write_zip(folder / "odd.zip", members)


def directory_says(path, size):
    """The archive, whose directory says another size of its first member than that member has."""
    raw = bytearray(path.read_bytes())
    struct.pack_into("<I", raw, raw.index(b"PK\x01\x02") + 24, size)
    path.write_bytes(raw)
    return path


def one_picture(path):
    return read_member(path, next(iter(picture_names(path).values())))


def linked(folder):
    """An archive whose picture is a symbolic link to a file outside."""
    entry = zipfile.ZipInfo("x_000000000001.jpg")
    entry.create_system, entry.external_attr = 3, 0o120777 << 16
    return write_zip(folder / "odd.zip", {entry: "/etc/passwd"})


# HDF5


def hdf5(path, name, shape, **options):
    with h5py.File(path, "w") as file:
        file.create_dataset(name, shape, options.pop("dtype", "f4"), **options)
    return path


def authors(folder, **changed):
    arrays = authors_arrays("val", [0, 1]) | changed
    return write_authors_files(folder, arrays, {}) / "visdial_data.h5"


def authors_dialogs(path):
    return read_data(path, "val", read_params(path.with_name("visdial_params.json")), np.arange(2))


def absurd_dialogs(folder):
    path = authors(folder)
    with h5py.File(path, "r+") as file:
        del file["ques_val"]
        file.create_dataset("ques_val", (1 << 40, 10, 20), "u4", chunks=(64, 10, 20))
    return authors_dialogs(path)


def elsewhere(folder):
    secret = folder / "secret"
    secret.write_bytes(bytes(800))
    with h5py.File(folder / "data_img.h5", "w") as file:
        file.create_dataset("images_val", (2, 100), "f4", external=[(str(secret), 0, 800)])
    return FeatureParts.of([folder / "data_img.h5"], "val")


def vectors(folder, values):
    write_features(folder / "fc7.h5", {"val": Features(np.arange(len(values)), values, {})}, {})
    return folder / "fc7.h5"


def joined(folder, val):
    """What `normalise` makes of a split and of an honest one; it leaves no file where it refuses."""
    write_features(folder / "train.h5", {"train": Features(np.arange(9, 11), np.eye(2, 4, dtype=np.float32), {})}, {})
    parser = argparse.ArgumentParser()
    normalise.add_arguments(parser)
    words = [folder / "train.h5", val, "--out", folder / "new.h5"]
    try:
        normalise.run(parser.parse_args([*map(str, words)]))
    finally:
        assert {file.name for file in folder.iterdir()} == {"fc7.h5", "train.h5"}


# Weights


class Program:
    """Runs a program when it is unpickled."""

    def __init__(self, trace):
        self.trace = trace

    def __reduce__(self):
        return os.system, (f"touch '{self.trace}'",)


def pickled(folder, name, read):
    torch.save({"weights": Program(folder / "ran")}, folder / name)
    try:
        read(folder / name)
    finally:
        assert not (folder / "ran").exists()


def checkpoint(path):
    return load_checkpoint(path, torch.device("cpu"))


def saved(folder, metadata, **tensors):
    save_file(tensors or {"a": torch.zeros(2)}, folder / "bots.safetensors", metadata)
    return checkpoint(folder / "bots.safetensors")


def enormous(folder):
    (folder / "bots.safetensors").write_bytes(struct.pack("<Q", 1 << 60) + b"{}")
    return checkpoint(folder / "bots.safetensors")


# Pictures


def png(width, height):
    """A picture that says it has so many pixels, in a few bytes."""

    def chunk(name, content):
        return struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(bytes(99))) + chunk(b"IEND", b"")


# Texts


def visdial(folder, caption, **changed):
    content = document("val", (7,))
    content["data"]["dialogs"][0] |= {"caption": caption} | changed
    path = folder / "visdial.json"
    path.write_text(json.dumps(content))
    return read_visdial(path, "val")


def raw_json(folder, text):
    (folder / "visdial.json").write_text(text)
    return read_visdial(folder / "visdial.json", "val")


def manual(folder, text):
    (folder / "figure_x.yaml").write_text(text, encoding="utf-8")
    return read_manual(folder / "figure_x.yaml")


def config(*changes):
    """config.yaml with values put at some places, each a path of keys; names a.b of data sets have no dots here."""
    changed = json.loads(json.dumps(CONFIGURATION))
    for place, value in changes:
        *above, last = place
        at = changed
        for key in above:
            at = at[key]
        at[last] = value
    return configuration.read(changed)


NOISE = {"channel": "image", "kind": "noise"}
MINIATURE = ("datasets", "miniature")
DIALOG = ("conditions", "dialog")
DOWNLOADS = ("datasets", "visdial_0.9", "downloads")
NESTED = "[" * 100_000
LAUGHS = "a: &a [x, x]\nb: &b [*a, *a]\ndialog: [*b, *b]\n"

REFUSED = {
    # zip archives
    "a picture that climbs out": (
        lambda folder: picture_names(zipped(folder, {"../x_1.jpg": b""})),
        r"odd\.zip: its member '\.\./x_1\.jpg' points outside",
    ),
    "a picture with an absolute name": (
        lambda folder: picture_names(zipped(folder, {"/etc/x_1.jpg": b""})),
        r"odd\.zip: its member .* points outside",
    ),
    "JSON in another drive": (
        lambda folder: read_json_text(zipped(folder, {"C:\\x.json": b"{}"})),
        r"odd\.zip: its member .* points outside",
    ),
    "a bomb of JSON": (
        lambda folder: read_json_text(zipped(folder, {"x.json": bytes(20_000_000)})),
        r"odd\.zip, x\.json: damaged .*20,000,000 bytes, packed into .*: a zip bomb",
    ),
    "a bomb as a picture": (
        lambda folder: one_picture(zipped(folder, {"x_1.jpg": bytes(20_000_000)})),
        r"odd\.zip, x_1\.jpg: damaged .*a zip bomb",
    ),
    "a bomb that says it is small": (
        lambda folder: read_json_text(directory_says(zipped(folder, {"x.json": bytes(20_000_000)}), 90)),
        r"odd\.zip, x\.json: damaged or cut short .*CRC",
    ),
    "a small file that says it is enormous": (
        lambda folder: read_json_text(directory_says(zipped(folder, {"x.json": b"{}"}), 0xFFFFFFF0)),
        r"odd\.zip, x\.json: damaged .*a zip bomb",
    ),
    "two members of one name": (
        lambda folder: picture_names(zipped(folder, {"a/x_1.jpg": b"", "b/x_1.jpg": b""})),
        r"odd\.zip: image 1 is there twice",
    ),
    "a link instead of a picture": (
        lambda folder: decode(one_picture(linked(folder)), "odd.zip"),
        r"odd\.zip: cannot be decoded \(not a picture\)",
    ),
    # JSON
    "JSON nested without end": (lambda folder: raw_json(folder, NESTED), r"visdial\.json: not JSON"),
    "a number of 5,000 digits": (lambda folder: raw_json(folder, "9" * 5000), r"visdial\.json: not JSON"),
    "an image that is no number": (
        lambda folder: visdial(folder, "x", image_id=float("nan")),
        r"visdial\.json: dialog 1: 'image_id' is a float, not a whole number",
    ),
    "an image of more digits than fit": (
        lambda folder: visdial(folder, "x", image_id=1 << 70),
        r"visdial\.json: dialog 1: 'image_id' is not from 0",
    ),
    "a million rounds": (
        lambda folder: visdial(folder, "x", dialog=[None] * 1_000_000),
        r"visdial\.json: dialog 1 .*has 1000000 rounds",
    ),
    "a caption with a zero byte": (lambda folder: visdial(folder, "a\0b"), r"visdial\.json: dialog 1 .*zero byte"),
    "a caption with half a character": (
        lambda folder: visdial(folder, "a \ud83d"),
        r"visdial\.json: dialog 1 .*half a character",
    ),
    "a vocabulary with a zero byte": (
        lambda folder: read_params(
            shutil.copy(
                write_file(folder / "p.json", '{"word2ind": {"a\\u0000": 1, "UNK": 2}}'), folder / "params.json"
            )
        ),
        r"params\.json: a word of 'word2ind' holds a zero byte",
    ),
    # HDF5
    "questions of 800 terabytes": (absurd_dialogs, r"visdial_data\.h5: damaged .*ques_val claims to have"),
    "features of 16 petabytes": (
        lambda folder: FeatureParts.of([hdf5(folder / "x.h5", "images_val", (1 << 40, 4096), chunks=(1, 4096))], "val"),
        r"x\.h5: damaged .*images_val claims to have 18,014,398,509,481,984 bytes",
    ),
    "features of three dimensions": (
        lambda folder: FeatureParts.of([hdf5(folder / "x.h5", "images_val", (2, 3, 4))], "val"),
        r"x\.h5: images_val is \(2, 3, 4\), not \[images, features\]",
    ),
    "texts instead of features": (
        lambda folder: list(
            FeatureParts.of([hdf5(folder / "x.h5", "images_val", (2, 3), dtype=h5py.string_dtype())], "val").blocks()
        ),
        r"x\.h5: damaged or not of this kind",
    ),
    "features that are in another file": (
        elsewhere,
        r"data_img\.h5: damaged .*images_val is in other files",
    ),
    "half tokens": (
        lambda folder: authors_dialogs(authors(folder, cap_val=np.full((2, 40), 1.5))),
        r"visdial_data\.h5: damaged .*cap_val is float64",
    ),
    "features that are no numbers": (
        lambda folder: list(
            FeatureParts.of([write_array(folder / "x.h5", "images_val", [[1, 2], [3, np.nan]])], "val").blocks()
        ),
        r"x\.h5: NaN or infinity in the features of image 2000000001",
    ),
    "features that are all the same": (
        lambda folder: joined(folder, vectors(folder, np.ones((3, 4), np.float32))),
        r"fc7\.h5: all 3 images of val have the same features",
    ),
    "a result that somebody else made": (
        lambda folder: read_result(hdf5(folder / "x.h5", "rank", (1 << 40, 11), chunks=(1, 11))),
        r"x\.h5: damaged or not of this kind \(it has no checksums",
    ),
    # Weights
    "a checkpoint that is a pickle": (
        lambda folder: pickled(folder, "bots.safetensors", checkpoint),
        r"bots\.safetensors: damaged or not a checkpoint of this program",
    ),
    "weights of VGG-16 that run a program": (
        lambda folder: pickled(folder, "mine.pth", trained),
        r"mine\.pth: not the weights of VGG-16 .*download them again",
    ),
    "somebody else's tensors": (lambda folder: saved(folder, {}), r"bots\.safetensors: damaged or not a checkpoint"),
    "tensors with a wrong checksum": (
        lambda folder: saved(folder, {"cooperation": "{}", "sha256": "0" * 64}),
        r"bots\.safetensors: damaged .*checksum",
    ),
    "tensors of an exabyte": (enormous, r"bots\.safetensors: damaged or not a checkpoint"),
    # Pictures
    "a picture of 30,000 × 30,000": (lambda _: decode(png(30_000, 30_000), "x_1.jpg"), r"x_1\.jpg: .*900000000 pixels"),
    "a picture of 10,000 × 10,000": (lambda _: decode(png(10_000, 10_000), "x_1.jpg"), r"x_1\.jpg: .*100000000 pixels"),
    "a picture without pixels": (lambda _: decode(png(0, 9), "x_1.jpg"), r"x_1\.jpg: cannot be decoded"),
    "a picture that is a text": (lambda _: decode(b"<html></html>" * 9, "x_1.jpg"), r"x_1\.jpg: .*not a picture"),
    "a picture that is a program": (
        lambda _: decode(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n(x) run\n%%EOF", "x_1.jpg"),
        r"x_1\.jpg: cannot be decoded \(not a picture\)",
    ),
    "half a picture": (lambda _: decode(jpeg(picture())[:300], "x_1.jpg"), r"x_1\.jpg: cannot be decoded"),
    # Manual interventions
    "YAML that runs a program": (
        lambda folder: manual(folder, f"dialog: !!python/object/apply:os.system ['touch {folder}/ran']"),
        r"figure_x\.yaml: not YAML",
    ),
    "YAML whose lines multiply": (lambda folder: manual(folder, LAUGHS), r"figure_x\.yaml: not YAML \(it has an alias"),
    "YAML of a day that isn't any": (lambda folder: manual(folder, "dialog: 2020-13-45"), r"figure_x\.yaml: not YAML"),
    "a caption of 10,000 words": (
        lambda folder: manual(folder, f"dialog: 7\ncaption: {'red ' * 10_000}"),
        r"figure_x\.yaml: caption: 10,000 words; give at most 200",
    ),
    "a file that is a folder": (
        lambda folder: read_manual((folder / "figure_x.yaml").mkdir() or folder / "figure_x.yaml"),
        r"figure_x\.yaml: is a directory; a folder stands where the file should",
    ),
    # config.yaml
    "a data set that climbs out": (
        lambda _: config((("datasets", "../../tmp"), CONFIGURATION["datasets"]["miniature"])),
        r"datasets: '\.\./\.\./tmp' is no name for a data set",
    ),
    "a data set named by a number": (
        lambda _: config((("datasets", "7 "), CONFIGURATION["datasets"]["miniature"])),
        r"datasets: '7 ' is no name for a data set",
    ),
    "a condition that climbs out": (
        lambda _: config(((*DIALOG, "../none"), NOISE)),
        r"conditions\.dialog: '\.\./none' is no name for a condition",
    ),
    "a model that climbs out": (
        lambda _: config((("models", "../dialog"), {"regime": "dialog"})),
        r"models: '\.\./dialog' is no name for a model",
    ),
    "a figure that climbs out": (
        lambda _: config((("datasets", "miniature", "manual"), {"dialog": ["figure_../2.yaml"]})),
        r"datasets\.miniature\.manual: 'figure_\.\./2\.yaml' is not named like figure_2\.yaml",
    ),
    "a probability that is no number": (
        lambda _: config(((*DIALOG, "x"), {"channel": "caption", "kind": "replace", "p": float("nan")})),
        r"conditions\.dialog\.x\.p: nan is not a number",
    ),
    "a seed of more digits than fit": (
        lambda _: config((("game_seed",), 1 << 70)),
        r"game_seed: 1180591620717411303424 is no seed; choose a whole number from 0 to 2,147,483,647",
    ),
    "a condition with a blank and a quote": (
        lambda _: config(((*DIALOG, "a 'b'"), NOISE)),
        r"conditions\.dialog: \"a 'b'\" is no name for a condition",
    ),
    "weights that climb out": (
        lambda _: config(((*DOWNLOADS, "../vgg16-397923af.pth"), CONFIGURATION["datasets"]["visdial_0.9"])),
        r"downloads: .*vgg16-397923af\.pth'",
    ),
    "a path that is a mapping": (
        lambda _: config((("datasets", "genuine", "dialogs", "dialogs"), {"x": 1})),
        r"datasets\.genuine\.dialogs\.dialogs: \{'x': 1\} is neither a file nor a list of files",
    ),
    "a billion dialogs asked of a text": (
        lambda _: config(((*MINIATURE, "raw", "train"), "many")),
        r"datasets\.miniature\.raw\.train: 'many' is not a whole number",
    ),
}


def write_file(path, text):
    path.write_text(text)
    return path


def write_array(path, name, values):
    with h5py.File(path, "w") as file:
        file[name] = np.array(values, "f4")
    return path


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_refused_in_one_line(tmp_path, name):
    do, said = REFUSED[name]
    with pytest.raises(InputError, match=said) as error:
        do(tmp_path)
    assert "\n" not in str(error.value)
    assert not (tmp_path / "ran").exists()


# What is odd in a text, what is shown of it, and what must not be, if anything could.
CAPTIONS = {
    "HTML": ("a <script>alert(1)</script> cat", "&lt; script", "<script>alert"),
    "an image that loads": ("a <img src=x onerror=alert(1)> cat", "&lt; img", "<img src=x"),
    "the end of a comment and of data": ("a --> ]]> </svg> cat", "&lt; /svg &gt; cat", "</svg> cat"),
    "a template's braces": ("a {{ 7*7 }} {% include 'x' %} cat", "{ { 7 * 7 } } { % include", None),
    "formulas that are none": (r"a $\frac{ $ _x^ \\ cat", r"$ \frac { $ _x^ \\ cat", None),
    "control characters": ("a \x1b[31m \x07 \x0c cat", "‹U+001B›", "\x1b"),
    "marks from right to left": ("a \u202egnp.exe\u202c \u2066 cat", "‹U+202E›", "\u202e"),
    "signs without width": ("a\u200b\ufeff cat", "‹U+200B›", "\u200b"),
    "line separators": ("a x\u2028y\u0085 cat", "cat", "\u2028"),
    "emoji": ("a 🦄 👩🏽‍🚀 cat", "a 🦄 👩🏽", None),
    "letters of other scripts": ("a שלום 猫 ñ cat", "a שלום 猫 ñ cat", None),
    "letters beneath letters": ("a Z" + "\u0341" * 300 + " cat", "z\u0341\u0341", "\u0341" * 100),
    "10,000 words": ("a " + "very " * 10_000 + "cat", "a very very", "very " * 40),
    "a word of 100,000 letters": ("a " + "y" * 100_000 + " cat", "yyy", "y" * 100),
    "blanks of all kinds": ("\u3000a\u00a0\t  cat\r\n", "cat", "\r"),
}


FIGURE = ManualGame("miniature", "dialog", 1, "written", "x", "figure_x.yaml")


@pytest.fixture(scope="module")
def material():
    return made_material()


class Tags(HTMLParser):
    """The tags of a page."""

    def __init__(self, page):
        super().__init__()
        self.tags = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))

    def tags_of(self, name):
        return [attributes for tag, attributes in self.tags if tag == name]


@pytest.mark.filterwarnings("ignore:Glyph")
@pytest.mark.parametrize("name", CAPTIONS)
def test_odd_texts_are_shown_and_harmless(tmp_path, material, name):
    caption, shown, never = CAPTIONS[name]
    found = visdial(tmp_path, caption)
    vocabulary, dialogs, counts = encode({"train": found, "val": found}, Encoding(threshold=1))
    write_dialogs(tmp_path / "dialogs.h5", vocabulary, dialogs, counts)
    vocabulary, captions = (
        read_vocabulary(tmp_path / "dialogs.h5"),
        read_dialogs(tmp_path / "dialogs.h5", "val").captions,
    )
    assert captions.lengths.max() <= Encoding().caption_length
    said = {
        "caption_said": Messages(np.repeat(captions.tokens, 2, 0), np.repeat(captions.lengths, 2, 0)),
        "question_said": dialogs["val"].questions[np.array([0, 0])],
    }
    heard = {who.replace("said", "heard"): messages for who, messages in said.items()}
    names = {"title": f"{parse_manual(MANUAL | {'title': caption[:99]}, 'x').title}", "text": "x"}
    played = made_result(np.ones((2, 11)), settings=json.dumps({"dialog": 7, "caption": "x"}), **names)
    write_result(tmp_path / "figure_x.h5", replace(played, **said, **heard))
    result = read_result(tmp_path / "figure_x.h5")

    game = Game("miniature", "dialog", 1, "written", "none")
    found = replace(material, vocabulary=vocabulary, results={game: result}, manual={FIGURE: result})
    # The other forms of a figure write letters in their own way.
    for ending in ("svg", "png", "pdf") if name == "emoji" else ("svg",):
        save(manual_figure.draw(found, "x"), tmp_path / f"figure_x.{ending}")
    svg = (tmp_path / "figure_x.svg").read_text(encoding="utf-8")
    assert {node.tag.rpartition("}")[2] for node in ET.fromstring(svg).iter()}.isdisjoint({"script", "foreignObject"})
    page = render(Contents(found, {}, {"x": (manual_figure.describe(found, "x"), svg)}))
    read = Tags(page)
    plain = Tags(render(Contents(replace(material, results={}), {}, {})))
    assert read.tags_of("script") == plain.tags_of("script")
    text = as_text(result, vocabulary)
    assert never is None or never not in page + text
    assert shown in page
    assert html.unescape(shown) in text
    assert all(sign.isprintable() or sign == "\n" for sign in text)


MANUAL = {"dialog": 7, "image": "noise"}


# Settings and places


def test_files_of_the_user_may_lie_anywhere():
    path = '/home/me/../you/it\'s "here"/figure_9.yaml'
    assert config(((*MINIATURE, "manual"), {"dialog": [path]})).data.manual == {"9": ("dialog", path)}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """What some commands read, in a folder with blanks and quotes in its name."""
    place = tmp_path_factory.mktemp("places") / 'it\'s "a" place; $HOME ünï'
    place.mkdir()
    conditions = {"none": {}, "caption-p1": {"channel": "caption", "kind": "replace"}}
    settings = made_config(readings=["written"], conditions={"dialog": conditions})
    (place / "config.yaml").write_text(yaml.safe_dump(settings))
    (place / "paper").mkdir()
    for path in (ROOT / "paper").glob("*.csv"):
        shutil.copy(path, place / "paper")
    for split, image in (("train", 7), ("val", 9)):
        content = document(split, (image,))
        content["data"]["dialogs"][0]["caption"] = "a naïve 猫 sat"
        write_zip(place / f"{split}.zip", {"x.json": json.dumps(content)})
    read = {split: read_visdial(place / f"{split}.zip", split) for split in ("train", "val")}
    vocabulary, _, counts = encode(read, Encoding(threshold=1))
    counted = {name: count for name, count in counts.items() if name.startswith(("train_", "val_"))}
    made_of = identity_of_dialogs(write_data(place / "dialogs.h5", vocabulary, counts=counted)).made_of
    for condition in conditions:
        result = made_result(np.arange(55).reshape(5, 11), condition=condition)
        identity = {"identity": json.dumps({**json.loads(result.attributes["identity"]), **made_of})}
        path = place / "results/dialog-seed1/written" / f"{condition}.h5"
        write_result(path, replace(result, attributes={**result.attributes, **identity}))
    return place


REPORT = ("report", "--results", "results", "--dialogs", "dialogs.h5", "--resamples", 10, "--out")


# Several commands in one process, for it takes seconds to start.
COMMANDS = """
import sys
from cooperation.cli import main

words = sys.argv[1:]
while words:
    end = words.index("then")
    sys.argv[1:], words = words[:end], words[end + 1 :]
    try:
        main()
    except SystemExit as stop:
        print("ended with", stop.code, file=sys.stderr)
"""


def run(folder, *commands, source=ROOT / "src", **environment):
    """Run commands with nothing in their environment but what is given; what they say."""
    kept = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1", "PYTHONPATH": str(source), **environment}
    words = [str(word) for command in commands for word in (*command, "then")]
    done = subprocess.run(
        [sys.executable, "-c", COMMANDS, *words], cwd=folder, env=kept, capture_output=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.decode(errors="replace").splitlines()


ENVIRONMENTS = {
    "no HOME": {},
    "the locale C": {"LC_ALL": "C"},
    "the locale C, taken at its word": {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"},
    "output in Latin-1": {"PYTHONIOENCODING": "latin-1"},
    "output in ASCII": {"PYTHONIOENCODING": "ascii:strict"},
    "a HOME that isn't there": {"HOME": "/nowhere/at/all"},
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_odd_environments(folder, tmp_path, name):
    read = ("encode", "visdial", "--train", "train.zip", "--threshold", 1, "--out", tmp_path / "d.h5", "--val")
    # Matplotlib looks for a home.
    draw = [(*REPORT, tmp_path / "report")] if "HOME" in name else []
    said = run(folder, (*read, "val.zip"), *draw, (*read, "猫.zip"), **ENVIRONMENTS[name])
    assert "猫" in read_vocabulary(tmp_path / "d.h5").words
    assert (tmp_path / "report" / "figure_1a.svg").exists() == bool(draw)
    *_, refused, ended = said
    assert ended == "ended with 2"
    assert "no such file" in refused
    assert not [line for line in said if "Traceback" in line]


def test_a_path_with_blanks_quotes_and_dollars(folder, monkeypatch):
    monkeypatch.chdir(folder)
    results = sorted(map(str, folder.glob("results/dialog-seed1/written/*.h5")))
    words = ["summarise", *results, "--out", folder / "a 'new' $one" / "mpr.csv", "--resamples", 10]
    monkeypatch.setattr(sys, "argv", ["cooperation", *map(str, words)])
    main()
    assert (folder / "a 'new' $one" / "mpr.csv").exists()


def test_the_workflow_in_a_path_with_blanks_and_quotes(tmp_path):
    place = tmp_path / 'it\'s "a" place ünï'
    place.mkdir()
    project = Project(place, CONFIG)
    done = project.snakemake("data/small/dialogs.h5")
    assert done.returncode == 0, done.stdout
    assert len(read_dialogs(place / "data/small/dialogs.h5", "val")) == 12


def test_a_source_tree_that_cannot_be_written(folder, tmp_path):
    source = tmp_path / "src"
    shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    if subprocess.run(["mount", "--bind", "-o", "ro", source, source], check=False, capture_output=True).returncode:
        lacking("making a folder read-only needs the right to mount")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", source], check=False)
        assert run(folder, (*REPORT, tmp_path / "report"), source=source) == []
        assert "Table 1" in (tmp_path / "report" / "table_1.md").read_text(encoding="utf-8")
        with (
            pytest.raises(InputError, match=r"x\.md: read-only file system; choose a place"),
            written_whole(source / "x.md"),
        ):
            pass
        assert not list(source.glob("**/__pycache__"))
    finally:
        subprocess.run(["umount", source], check=True)
