"""The files of a data set in config.yaml: what the workflow asks of them, and old spellings of them."""

import pytest
import yaml
from project import ROOT

from cooperation.config.experiment import read, read_dataset
from cooperation.config.inputs import check_present
from cooperation.io.files import InputError

SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))


def inputs_of(name, **changes):
    datasets = {**SHIPPED["datasets"], name: {**SHIPPED["datasets"][name], **changes}}
    return read_dataset({"dataset": name, "datasets": datasets})[1].inputs


def test_files_of_the_miniature_are_made():
    inputs = inputs_of("miniature")
    assert inputs.made == ("visdial_0.9_train.zip", "visdial_0.9_val.zip", "train2014.zip", "val2014.zip")
    assert inputs.of_maker == {}
    assert inputs.flags(inputs.of_reader, "raw") == [
        "--train", "raw/visdial_0.9_train.zip", "--val", "raw/visdial_0.9_val.zip",
    ]  # fmt: skip
    assert inputs.flags(inputs.of_extraction, "raw") == ["--train", "raw/train2014.zip", "--val", "raw/val2014.zip"]
    assert inputs.awaited("train2014.zip", "raw") == "raw/train2014.zip"
    assert (inputs.weights, inputs.features) == ("", ())


def test_files_of_genuine_dialogs_are_given_and_their_pictures_made():
    inputs = inputs_of("genuine", dialogs={"dialogs": ["a/b.json", "c/d.json"]})
    assert inputs.flags(inputs.of_maker, "raw") == ["--dialogs", "a/b.json", "c/d.json"]
    assert inputs.flags(inputs.of_reader, "raw") == [
        "--dialogs", "a/b.json", "c/d.json",
        "--train-pictures", "raw/train2014.zip", "--val-pictures", "raw/val2014.zip",
    ]  # fmt: skip
    assert inputs.awaited("a/b.json", "raw") == "a/b.json"


def test_files_of_visdial_are_downloaded_or_the_users():
    inputs = inputs_of("visdial_0.9", pictures={"train": ["train2014.zip", "/data/more"], "val": "val2014.zip"})
    assert inputs.flags(inputs.of_extraction, "raw") == [
        "--train", "raw/train2014.zip", "/data/more", "--val", "raw/val2014.zip",
    ]  # fmt: skip
    assert inputs.awaited("train2014.zip", "raw") == "raw/train2014.zip.ready"
    assert inputs.awaited("/data/more", "raw") == "/data/more"
    assert inputs.weights == "vgg16-397923af.pth"
    assert inputs.made == ()


def test_features_of_the_authors_are_given():
    inputs = inputs_of("visdial_authors")
    assert inputs.features == ("data/visdial_authors/raw/data_img.h5",)
    assert inputs.of_extraction == {}
    assert list(inputs.of_reader) == ["data", "params", "images"]


def test_files_of_the_miniature_may_be_replaced(tmp_path):
    inputs = inputs_of("miniature", pictures={"val": str(tmp_path / "mine.zip")}, weights=str(tmp_path / "vgg.pth"))
    assert inputs.of_extraction == {"train": ("train2014.zip",), "val": (str(tmp_path / "mine.zip"),)}
    with pytest.raises(InputError, match=r"mine\.zip: no such file; .* path as datasets\.x\.pictures\.val$"):
        check_present(inputs, "datasets.x", "raw")
    (tmp_path / "mine.zip").touch()
    with pytest.raises(InputError, match=r"vgg\.pth: no such file; .* path as datasets\.x\.weights$"):
        check_present(inputs, "datasets.x", "raw")
    (tmp_path / "vgg.pth").touch()
    check_present(inputs, "datasets.x", "raw")


# Old spellings

OLD = {
    "settings of VGG-16 under pictures": (
        ("miniature", {"pictures": {"preprocessing": "small", "workers": 2}}),
        (
            "datasets.miniature.pictures.preprocessing: is now datasets.miniature.extraction.preprocessing; "
            "write `extraction: {preprocessing: small, workers: 2}`"
        ),
    ),
    "genuine dialogs under files": (
        ("genuine", {"files": {"dialogs": "a/b.json"}, "dialogs": None}),
        "datasets.genuine.files.dialogs: is now datasets.genuine.dialogs.dialogs; write `dialogs: {dialogs: a/b.json}`",
    ),
    "the authors' files under files": (
        ("visdial_authors", {"files": {"data": "a/d.h5", "params": "a/p.json", "images": "a/i.h5"}, "dialogs": None}),
        (
            "datasets.visdial_authors.files.data: is now datasets.visdial_authors.dialogs.data; "
            "write `dialogs: {data: a/d.h5, params: a/p.json, images: a/i.h5}`"
        ),
    ),
    "archives that are not named": (
        ("visdial_0.9", {"dialogs": None}),
        (
            "datasets.visdial_0.9.dialogs: 'train' is missing; write `dialogs: {train: FILE, val: FILE}`, where a "
            "FILE is a path or one of visdial_0.9_train.zip, visdial_0.9_val.zip, train2014.zip, val2014.zip, "
            "vgg16-397923af.pth"
        ),
    ),
    "pictures that are not named": (
        ("visdial_0.9", {"pictures": None}),
        "datasets.visdial_0.9.pictures: 'train' is missing; write `pictures: {train: FILE, val: FILE}`, where",
    ),
    "weights that are not named": (
        ("visdial_0.9", {"weights": None}),
        "datasets.visdial_0.9.downloads.vgg16-397923af.pth: nothing reads it; write `weights: vgg16-397923af.pth`, ",
    ),
}


@pytest.mark.parametrize(("change", "said"), OLD.values(), ids=OLD)
def test_old_spellings_are_refused_with_the_new_one(change, said):
    name, changes = change
    given = {**SHIPPED["datasets"][name], **changes}
    given = {key: value for key, value in given.items() if value is not None}
    with pytest.raises(InputError) as error:
        read({**SHIPPED, "dataset": name, "datasets": {**SHIPPED["datasets"], name: given}})
    assert str(error.value).startswith(said)
