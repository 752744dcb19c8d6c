"""Dialogs, pictures and weights as people have them: zip archives, folders or bare files, wherever they stand."""

import json
import shutil
import zipfile

import pytest
import torch
import yaml
from in_process import code_of
from small_files import album, document, jpeg, picture, write_json, write_zip
from torchvision.models import vgg16

from cooperation.data.archives import picture_names
from cooperation.data.readers.visdial import read_visdial
from cooperation.data.vgg import trained

NAMES = {"dialogs": "visdial_0.9_train.zip", "pictures": "train2014.zip", "weights": "vgg16.pth"}
ENDINGS = {"dialogs": ".json", "pictures": "", "weights": ".pth"}
IDS = (7, 3, 9)


def zip_of(what, path):
    """What the download holds, in an archive."""
    if what == "pictures":
        return album(path, {image: jpeg(picture(image)) for image in IDS})
    member = {"dialogs": "visdial_0.9_train.json", "weights": "vgg16.pth"}[what]
    content = json.dumps(document("train", IDS)).encode() if what == "dialogs" else weights(path.parent).read_bytes()
    return write_zip(path, {f"inside/{member}": content})


def weights(folder):
    """VGG-16's weights without the numbers' bytes: views of one number each."""
    with torch.device("meta"):
        shapes = {name: tensor.shape for name, tensor in vgg16(init_weights=False).state_dict().items()}
    path = folder / "bare.pth"
    torch.save({name: torch.ones(1).expand(shape) for name, shape in shapes.items()}, path)
    return path


def shaped(what, shape, folder):
    """The same as zip, folder or bare file, under a name that says nothing."""
    packed = zip_of(what, folder / "x.zip")
    if shape == "zip":
        return packed
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(folder / "unpacked")
    if shape == "folder":
        return folder / "unpacked"
    bare = [path for path in (folder / "unpacked").rglob("*") if path.is_file()]
    return min(bare)


def placed(what, there, way, raw):
    """Put it beside the download's place, link to it from there, or leave it where it is; the settings' `files`."""
    target = raw / NAMES[what]
    if way == "given":
        return {NAMES[what]: str(there)}
    if way == "link":
        target.symlink_to(there)
    elif there.is_dir():
        shutil.copytree(there, raw / target.stem)
    else:
        shutil.copy(there, target if there.suffix in (".zip", target.suffix) else raw / f"{target.stem}{there.suffix}")
    return {}


@pytest.mark.parametrize("what", NAMES)
@pytest.mark.parametrize("shape", ["zip", "folder", "bare"])
@pytest.mark.parametrize("way", ["given", "raw", "link"])
def test_every_shape_everywhere(what, shape, way, tmp_path, monkeypatch, capsys):
    if (what, shape, way) == ("pictures", "bare", "raw"):
        pytest.skip("a single picture beside the place of an archive is named after neither")
    monkeypatch.chdir(tmp_path)
    raw, have = tmp_path / "data/real/raw", tmp_path / "have"
    raw.mkdir(parents=True)
    have.mkdir()
    there = shaped(what, shape, have)
    files = placed(what, there, way, raw)
    if what == "weights" and way == "raw" and shape == "zip":
        shutil.move(raw / NAMES[what], raw / "vgg16.zip")
    others = {"val": "visdial_0.9_val.zip"}, {"val": "val2014.zip"}
    downloads = [*NAMES.values(), *(name for other in others for name in other.values())]
    entry = {
        "source": "visdial",
        "dialogs": {"train": NAMES["dialogs"]} | others[0],
        "pictures": {"train": NAMES["pictures"]} | others[1],
        "weights": NAMES["weights"],
        "files": files,
        # Size and hash are the published archive's, which is another one.
        "downloads": {name: {"addresses": ["http://127.0.0.1:9/x"]} for name in downloads},
    }
    (tmp_path / "config.yaml").write_text(yaml.safe_dump({"dataset": "real", "datasets": {"real": entry}}))
    assert code_of(monkeypatch, "check") == 0, capsys.readouterr().err
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith(f"{NAMES[what]}: "))
    assert ": found" in line
    # What the rule does, and then what reads the raw file under the download's name.
    out = raw / NAMES[what]
    words = ["--url", "http://127.0.0.1:9/x", "--out", out, "--note", raw / "note"]
    assert code_of(monkeypatch, "download", *words, *(["--have", *files.values()] if files else [])) == 0
    assert (raw / "note").read_text().endswith(f"  {NAMES[what]}\n")
    if what == "dialogs":
        assert read_visdial(out, "train").image_ids.tolist() == list(IDS)
    elif what == "pictures":
        assert list(picture_names(out)) == ([min(IDS)] if shape == "bare" else sorted(IDS))
    else:
        assert trained(out)[1].startswith("vgg16.pth" if shape != "zip" else "vgg16")
    # It is where it was.
    assert there.exists()


def test_a_bare_json_of_the_wrong_split_is_not_taken_for_the_archive(tmp_path, monkeypatch, capsys):
    write_json(tmp_path / "x.json", document("train", IDS))
    words = ["--url", "http://127.0.0.1:9/x", "--out", tmp_path / "visdial_0.9_train.zip", "--holds", "4"]
    assert code_of(monkeypatch, "download", *words, "--have", tmp_path / "x.json") == 2
    assert "x.json: holds 3 dialogs instead of 4; give a whole one" in capsys.readouterr().err
