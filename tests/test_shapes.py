"""What is needed may be an archive, a folder or a bare file, wherever it lies and whatever it is called."""

import hashlib
import io
import json
import os
import zipfile
from functools import cache
from pathlib import Path

import pytest
import torch
import yaml
from in_process import code_of, run
from small_files import album, document, jpeg, picture, write_json, write_zip
from test_vgg import Tiny

from cooperation.config.inputs import ready
from cooperation.config.preparation import Download, Retries
from cooperation.data import vgg
from cooperation.data.archives import dialog_ids, find_pictures, picture_names
from cooperation.data.download import obtain
from cooperation.data.readers.visdial import read_visdial
from cooperation.data.vgg import trained
from cooperation.data.volumes import names, read
from cooperation.io.files import InputError

RAW = Path("data/real/raw")
NAMES = {"dialogs": "visdial_0.9_train.zip", "pictures": "train2014.zip", "weights": "vgg.pth"}
IMAGE = "COCO_train2014_000000000007.jpg"
MEMBERS = {"dialogs": "visdial_0.9_train.json", "pictures": IMAGE, "weights": "mine.pth"}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(vgg, "vgg16", Tiny)
    RAW.mkdir(parents=True)
    Path("have").mkdir()
    write_json(Path("val.json"), document("val", (8,)))
    album(Path("val.zip"), {8: jpeg(picture(8))}, "val")
    return tmp_path


@cache
def weights():
    buffer = io.BytesIO()
    torch.save(Tiny().state_dict(), buffer)
    return buffer.getvalue()


def content(thing):
    if thing == "dialogs":
        return json.dumps(document("train", (7,))).encode()
    if thing == "pictures":
        return jpeg(picture(7))
    return weights()


def bare(path, thing):
    path.write_bytes(content(thing))
    return path


def folder(path, thing):
    # Nested, as archives are unpacked.
    (path / "inner").mkdir(parents=True)
    bare(path / "inner" / MEMBERS[thing], thing)
    return path


def zipped(path, thing):
    return write_zip(path, {f"inner/{MEMBERS[thing]}": content(thing)})


SHAPES = {"zip": zipped, "folder": folder, "bare": bare}


def use(thing, shape, place):
    """Make the thing, and settings that name it or its download."""
    name = NAMES[thing]
    files = {}
    named = {"dialogs": "./val.json", "pictures": "./val.zip"}
    if place == "given path":
        where = Path("have", MEMBERS[thing] if shape == "bare" else f"mine.{'zip' if shape == 'zip' else 'd'}")
        named[thing] = f"./{SHAPES[shape](where, thing)}"
    elif place == "raw":
        # As it is unpacked beside where the download would be.
        stem = Path(name).stem
        own = f"{stem}.json" if thing == "dialogs" else name
        SHAPES[shape](RAW / {"zip": f"{stem}.zip", "folder": stem, "bare": own}[shape], thing)
        named[thing] = name
    else:
        made = SHAPES[shape](Path("have", MEMBERS[thing]), thing)
        # The suffix of a link says nothing.
        Path("have/link.zip").symlink_to(made.name)
        files[name], named[thing] = "have/link.zip", name
    dialogs = {"train": named["dialogs"], "val": "./val.json"}
    if thing != "dialogs":
        write_json(Path("train.json"), document("train", (7,)))
        dialogs["train"] = "./train.json"
    pictures = {"train": named["pictures"], "val": "./val.zip"}
    if thing != "pictures":
        pictures["train"] = f"./{album(Path('pictures.zip'), {7: jpeg(picture(7))})}"
    used = {*dialogs.values(), *pictures.values(), named.get("weights")}
    data = {
        "source": "visdial",
        "dialogs": dialogs,
        "pictures": pictures,
        "downloads": {name: {"addresses": ["http://127.0.0.1:9/none"]}} if name in used else {},
        "files": files,
    }
    if thing == "weights":
        data["weights"] = named["weights"]
    Path("config.yaml").write_text(yaml.safe_dump({"dataset": "real", "datasets": {"real": data}}))
    return name if name in used else named[thing], files.get(name)


def check_content(thing, path):
    """As the jobs read it."""
    if thing == "dialogs":
        assert read_visdial(path, "train").image_ids.tolist() == [7]
    elif thing == "pictures":
        [(image, found)] = find_pictures([path]).items()
        assert (image, found.read()) == (7, content("pictures"))
    else:
        assert trained(path)[1].endswith(hashlib.sha256(weights()).hexdigest())


CASES = [
    (thing, shape, place)
    for thing in NAMES
    for shape in SHAPES
    for place in ("given path", "raw", "link")
    # A bare picture's id is in its name, which can't be that of the archive.
    if (thing, shape, place) != ("pictures", "bare", "raw")
]


@pytest.mark.parametrize(("thing", "shape", "place"), CASES)
def test_each_thing_in_each_shape_at_each_place(monkeypatch, capsys, thing, shape, place):
    named, have = use(thing, shape, place)
    assert code_of(monkeypatch, "check") == 0, capsys.readouterr().err
    said = capsys.readouterr().out
    assert "to be downloaded" not in said
    if "/" in named:
        return check_content(thing, Path(named))
    words = ["--have", have] if have else []
    out = RAW / named
    note = ready(out)
    run(monkeypatch, "download", "--url", "http://127.0.0.1:9/none", "--tries", 1, *words, "--note", note, "--out", out)
    assert note.exists()
    check_content(thing, out)
    # Nothing that the user has was changed.
    assert code_of(monkeypatch, "check") == 0
    return None


def obtained(path, copy=None, **known):
    known = Download(("http://127.0.0.1:9/none",), **known)
    return obtain(path, known, Retries(tries=1, pause=0), copy)


def test_of_an_unpacked_archive_the_count_and_split_are_checked():
    """Size and hash are the archive's own."""
    path = RAW / "train2014.zip"
    folder(RAW / "train2014", "pictures")
    assert obtained(path, size=9, sha256="0" * 64, holds=1) == ("1 pictures", f"linked to {RAW / 'train2014'}")
    path.unlink()
    with pytest.raises(InputError, match="train2014: holds 1 pictures instead of 2; give a whole one"):
        obtained(path, holds=2)
    with pytest.raises(InputError, match=r"val: image 7 is of train2014, not of val2014"):
        obtained(RAW / "val2014.zip", folder(Path("val"), "pictures"))
    with pytest.raises(InputError, match=r"holds neither pictures nor dialogs"):
        obtained(path, Path("have"))
    assert not path.exists()


def test_an_archive_in_place_of_another_is_refused():
    with pytest.raises(InputError, match="bytes instead of 9; give another copy"):
        obtained(RAW / "train2014.zip", zipped(Path("mine.zip"), "pictures"), size=9)


def test_paths_may_be_of_home_and_hold_variables(here, monkeypatch, capsys):
    monkeypatch.setenv("HOME", str(here))
    monkeypatch.setenv("COCO", str(here / "have"))
    use("pictures", "folder", "given path")
    text = Path("config.yaml").read_text()
    for spelling in ("~/have/mine.d", "$COCO/mine.d/", "${COCO}/mine.d"):
        Path("config.yaml").write_text(text.replace("./have/mine.d", spelling))
        assert code_of(monkeypatch, "check") == 0, capsys.readouterr().err
    Path("config.yaml").write_text(text.replace("./have/mine.d", "$NOWHERE_SET/mine.d"))
    assert code_of(monkeypatch, "check") == 2
    assert "the variable $NOWHERE_SET is not set" in capsys.readouterr().err


def test_linked_folders_are_looked_into_and_circles_end(here):
    folder(here / "far", "pictures")
    (here / "coco").mkdir()
    (here / "coco/train2014").symlink_to(here / "far")
    (here / "far/back").symlink_to(here / "coco")
    assert list(picture_names(here / "coco").values()) == [f"train2014/inner/{IMAGE}"]


CLUTTER = [
    f"__MACOSX/inner/._{IMAGE}", f"inner/._{IMAGE}", f"inner/.ipynb_checkpoints/{IMAGE}", f"inner/@eaDir/{IMAGE}",
    f".snapshot/daily/{IMAGE}", f"#recycle/{IMAGE}", "inner/Thumbs.db", "inner/.DS_Store", f"$RECYCLE.BIN/{IMAGE}",
    "inner/COCO_train2014_000000000007 copy 2.jpg", "inner/COCO_train2014_000000000007 copy.jpg",
    "inner/COCO_train2014_000000000007 (1).jpg", "inner/COCO_train2014_000000000007 - Copy.jpg",
    "inner/COCO_train2014_000000000007 - Kopie (2).jpg", "inner/COCO_train2014_000000000007 2.jpg",
    "inner/Copy of COCO_train2014_000000000007.jpg", "inner/copy 2.jpg", f"inner/{IMAGE}~",
]  # fmt: skip


@pytest.mark.parametrize("clutter", CLUTTER)
def test_what_is_no_picture_is_none(clutter):
    members = {f"inner/{IMAGE}": content("pictures"), clutter: content("pictures")}
    archive, unpacked = write_zip(Path("a.zip"), members), Path("unpacked")
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(unpacked)
    assert os.path.lexists(unpacked / clutter)
    for path in (archive, unpacked):
        assert picture_names(path) == {7: f"inner/{IMAGE}"}


def test_clutter_beside_json_and_weights():
    path = write_zip(Path("v.zip"), {"v.json": content("dialogs"), "__MACOSX/._v.json": b"x", ".v.json.swp": b"x"})
    assert dialog_ids(path) == [7]


def test_names_of_other_kinds_are_still_pictures():
    path = write_zip(Path("a.zip"), {"photo 12.jpg": b"", "album 3 14.png": b"", "scan15.TIF": b""})
    assert list(picture_names(path)) == [12, 14, 15]


@pytest.mark.parametrize("digits", [str(2**63), "9" * 30, "9" * 5000])
def test_ids_beyond_what_can_be_stored_are_one_line(digits):
    dialogs = document("train", (7,))
    text = json.dumps(dialogs).replace('"image_id": 7', f'"image_id": {digits[:150]}')
    Path("v.json").write_text(text)
    path = write_zip(Path("a.zip"), {f"x_{digits}.jpg": b""})
    for look, place in ((dialog_ids, Path("v.json")), (picture_names, path)):
        with pytest.raises(InputError, match=r"image id 9\d+….*|image id 9\d+ is above") as caught:
            look(place)
        assert "\n" not in str(caught.value)
    assert picture_names(write_zip(Path("b.zip"), {f"x_{2**63 - 1}.jpg": b""})) == {2**63 - 1: f"x_{2**63 - 1}.jpg"}


def packed(path, change):
    """An archive whose headers say something else of its member."""
    raw = bytearray(write_zip(path, {"x.json": b"{}" * 99}).read_bytes())
    local, central = raw.index(b"PK\x03\x04"), raw.index(b"PK\x01\x02")
    change(raw, local + 6, central + 8)
    path.write_bytes(raw)
    return path


@pytest.mark.parametrize(("method", "name"), [(9, "Deflate64"), (93, "Zstandard"), (98, "PPMd"), (77, "method 77")])
def test_ways_of_packing_that_are_not_known_are_named(method, name):
    def change(raw, *flags):
        for at in flags:
            raw[at + 2] = method

    path = packed(Path("v.zip"), change)
    with pytest.raises(InputError, match=rf"v\.zip, x\.json: packed with {name}, .*unpack") as caught:
        read(path, "x.json")
    assert not {"damaged", "delete"} & set(str(caught.value).split())


def test_encrypted_members_are_not_called_damaged():
    def change(raw, *flags):
        for at in flags:
            raw[at] |= 1

    with pytest.raises(InputError, match=r"x\.json: encrypted; unpack the archive with its password"):
        read(packed(Path("v.zip"), change), "x.json")


@pytest.mark.parametrize(
    ("begins", "name"),
    [
        (b"7z\xbc\xaf\x27\x1c\0", "a 7z archive"), (b"Rar!\x1a\x07\0", "a RAR archive"), (b"\x1f\x8b\x08", "gzip"),
        (b"\xfd7zXZ\0\0", "xz"), (b"\x28\xb5\x2f\xfd\0", "Zstandard"), (b"BZh9", "bzip2"),
        (b"x" * 257 + b"ustar\0", "tar"), (b"PAR1", "Parquet"),
        (b"\n <!DOCTYPE html><html>", "HTML"), (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS"),
    ],
)  # fmt: skip
def test_files_of_other_kinds_are_named_and_not_called_damaged(begins, name):
    path = Path("v.zip")
    path.write_bytes(begins + b"x" * 999)
    for look in (names, picture_names, dialog_ids):
        with pytest.raises(InputError, match=rf"v\.zip: is .*{name}.*; ") as caught:
            look(path)
        assert "damaged" not in str(caught.value)
