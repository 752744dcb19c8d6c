"""Input that is odd in ways that no format forbids: pipes, links, checkpoints with a valid hash, sizes without end."""

import json
import os
from contextlib import suppress

import h5py
import numpy as np
import pytest
import torch
from fakes import ROOT, write_data
from in_process import code_of
from small_files import authors_arrays, write_authors_files
from test_full_disk import WRITERS, bots
from test_vgg import Tiny

from cooperation.bots.checkpoint import load_checkpoint, load_tensors, save_tensors
from cooperation.bots.training import AnotherTrainingError, Trainer
from cooperation.config.preparation import Download, Genuine, Retries, World
from cooperation.config.training import Training
from cooperation.data.download import obtain
from cooperation.data.reading import reader_of
from cooperation.data.store import read_dialogs
from cooperation.data.vgg import trained
from cooperation.io.files import InputError
from cooperation.io.plain_yaml import read_yaml

CPU = torch.device("cpu")

COMMANDS = {
    "provenance": "provenance {}",
    "encode": "encode visdial --train {} --val {} --out o.h5",
    "extract": "extract --val {} --out o.h5",
    "weights": "extract --val {} --weights {} --out o.h5",
    "normalise": "normalise {} --out o.h5",
    "train": "train --dialogs {} --features {} --out o.safetensors",
    "play": "play --checkpoint {} --dialogs {} --features {} --out o",
    "summarise": "summarise {}",
    "check": "check --config {}",
}


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("kind", ["pipe", "device", "socket"])
def test_what_never_ends_or_begins_is_not_read(name, kind, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    place = {"pipe": "pipe.zip", "device": "/dev/zero", "socket": "socket.h5"}[kind]
    if kind == "pipe":
        if name == "check":
            # Settings may come from a pipe.
            return
        os.mkfifo(place)
    elif kind == "socket":
        os.mknod(place, 0o140644)
    assert code_of(monkeypatch, *COMMANDS[name].replace("{}", place).split()) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert f"{place}: " in said


def test_a_pipe_that_the_settings_name_is_not_read(tmp_path, monkeypatch, capsys):
    os.mkfifo(tmp_path / "x.zip")
    files = {"train": f"{tmp_path}/x.zip", "val": f"{tmp_path}/x.zip"}
    data = {"source": "visdial", "dialogs": files, "pictures": files, "training": {"dialog": {}, "round": {}}}
    (tmp_path / "c.json").write_text(json.dumps({"dataset": "a", "datasets": {"a": data}}))
    assert code_of(monkeypatch, "check", "--config", tmp_path / "c.json") == 2
    assert "a pipe or a device, not a file" in capsys.readouterr().err


@pytest.mark.parametrize("name", [".x.zip.part", ".x.zip.part.tag"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_download_is_not_written_through_a_link_or_to_a_pipe(name, kind, tmp_path):
    (tmp_path / "mine").write_text("mine")
    if kind == "link":
        (tmp_path / name).symlink_to(tmp_path / "mine")
    else:
        os.mkfifo(tmp_path / name)
    with suppress(InputError):
        obtain(tmp_path / "x.zip", Download(("http://127.0.0.1:9/x.zip",)), Retries(tries=1, timeout=1))
    assert (tmp_path / "mine").read_text() == "mine"
    assert not (tmp_path / name).exists()


# Checkpoints with a valid hash


def without(key):
    return lambda _, told: told.pop(key)


def training(**changed):
    return lambda _, told: told["training"].update(changed)


def sizes(**changed):
    return lambda _, told: told["sizes"].update(changed)


def told(**changed):
    return lambda _, told: told.update(changed)


def weights(change):
    def apply(tensors, _):
        name = next(name for name in tensors if name != "image_ids")
        tensors[name] = change(tensors[name])

    return apply


def ids(value):
    return lambda tensors, _: tensors.update(image_ids=value)


HOSTILE = {
    "START below zero": told(start=-1),
    "START that is EOS": told(start=3, eos=3),
    "EOS far away": told(eos=10**9),
    "START as a text": told(start="3"),
    "no words": told(words=[]),
    "words by name": told(words={"a": 1, "UNK": 2}),
    "words without UNK": told(words=["a", "b"]),
    "a word twice": told(words=["UNK", "UNK"]),
    "words that are numbers": told(words=[1, "UNK"]),
    "no seed": lambda _, told: told["training"].pop("seed"),
    "no regime": lambda _, told: told["training"].pop("regime"),
    "a seed of 40 digits": training(seed=10**40),
    "a seed that is none": training(seed="one"),
    "an unknown regime": training(regime="dialogue"),
    "an unknown setting": training(speed=1),
    "a training that is a list": told(training=[]),
    "networks of a billion layers": sizes(layers=10**9),
    "networks of a billion units": sizes(hidden=10**9),
    "networks of words of a billion numbers": sizes(embedding=10**9),
    "sizes that are texts": sizes(hidden="60"),
    "other sizes": sizes(hidden=61),
    "sizes that say nothing": told(sizes={}),
    "features below zero": told(features=-1),
    "a billion features": told(features=10**9),
    "features as a text": told(features="50"),
    "provenance that is a list": told(provenance=[]),
    "no provenance": without("provenance"),
    "made of a text": told(made_of="x"),
    "whole weights": weights(lambda one: one.to(torch.int32)),
    "half weights": weights(lambda one: one.half()),
    "weights that are NaN": weights(lambda one: one * torch.nan),
    "weights that are infinite": weights(lambda one: one + torch.inf),
    "weights of another shape": weights(lambda one: one[..., :1]),
    "ids that are no numbers": ids(torch.ones(3)),
    "ids in a table": ids(torch.ones((3, 3), dtype=torch.int64)),
    "no ids": lambda tensors, _: tensors.pop("image_ids"),
}


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    path = tmp_path_factory.mktemp("good") / "bots.safetensors"
    WRITERS[path.name](path)
    return load_tensors(path)


@pytest.mark.parametrize("name", HOSTILE)
def test_a_checkpoint_with_a_valid_hash_and_hostile_content(name, checkpoint, tmp_path):
    tensors, description = dict(checkpoint[0]), json.loads(json.dumps(checkpoint[1]))
    HOSTILE[name](tensors, description)
    save_tensors(tmp_path / "bots.safetensors", tensors, description)
    with pytest.raises(InputError, match=r"bots\.safetensors: ") as caught:
        load_checkpoint(tmp_path / "bots.safetensors", CPU)
    assert "\n" not in str(caught.value)


def test_the_released_programs_markers_are_read(checkpoint, tmp_path):
    """START is the id of its last word."""
    tensors, description = checkpoint
    count = len(description["words"])
    tensors = {name: one[:-1] if len(one) == count + 3 else one for name, one in tensors.items()}
    save_tensors(tmp_path / "b.safetensors", tensors, {**description, "start": count, "eos": count + 1})
    assert load_checkpoint(tmp_path / "b.safetensors", CPU).vocabulary.start == count


@pytest.mark.parametrize("change", ["cut", "history", "tensors"])
def test_progress_that_is_damaged_is_to_be_deleted(change, tmp_path):
    path = tmp_path / "bots.progress.safetensors"
    WRITERS[path.name](path)
    if change == "cut":
        path.write_bytes(path.read_bytes()[:-9])
    else:
        tensors, description = load_tensors(path)
        save_tensors(
            path,
            {} if change == "tensors" else tensors,
            {**description, "history": [{"x": 1}]} if change == "history" else description,
        )
    with pytest.raises(InputError, match=r"progress\.safetensors: damaged.*; delete it, and the training") as caught:
        Trainer(*bots(), Training(), "subject").load(path)
    assert not isinstance(caught.value, AnotherTrainingError)


# HDF5


@pytest.mark.parametrize("link", [h5py.ExternalLink("dialogs.h5", "/image_id_val"), h5py.SoftLink("/words")])
def test_links_of_hdf5_are_not_followed(tmp_path, link):
    write_data(tmp_path / "dialogs.h5")
    (tmp_path / "copy.h5").write_bytes((tmp_path / "dialogs.h5").read_bytes())
    with h5py.File(tmp_path / "copy.h5", "r+") as file:
        del file["image_id_val"]
        file["image_id_val"] = link
    with pytest.raises(InputError, match=r"copy\.h5: damaged .*image_id_val is a link to another place"):
        read_dialogs(tmp_path / "copy.h5", "val")


@pytest.mark.parametrize("split", ["train", "val"])
def test_an_authors_file_without_dialogs_of_a_split(tmp_path, split):
    arrays = {}
    for one in ("train", "val"):
        whole = authors_arrays(one, [0, 1])
        arrays |= {name: array[:0] for name, array in whole.items()} if one == split else whole
    images = {f"images_{one}": np.ones((2, 3), np.float32) for one in ("train", "val")}
    write_authors_files(tmp_path, arrays, images)
    names = {"data": "visdial_data.h5", "params": "visdial_params.json", "images": "data_img.h5"}
    files = {role: [tmp_path / name] for role, name in names.items()}
    with pytest.raises(InputError, match=rf"visdial_data\.h5: has no dialogs of the {split} split"):
        reader_of("authors").read(files)


def test_weights_in_half_precision_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("cooperation.data.vgg.vgg16", Tiny)
    torch.save(Tiny().half().state_dict(), tmp_path / "mine.pth")
    network, _ = trained(tmp_path / "mine.pth")
    with torch.inference_mode():
        assert network(torch.ones(1, 3, 40, 40)).dtype == torch.float32


# Settings


@pytest.mark.parametrize(
    "words",
    [
        "download --url http://x/x --out x --timeout inf",
        "download --url http://x/x --out x --pause inf",
        "encode visdial --train x --val x --out x --question-length 10000000000000000000000000",
        "encode visdial --train x --val x --out x --threshold 2147483648",
        "miniature --out x --train 600000",
        "miniature --out x --train 500000 --val 100000",
        "miniature --out x --pixels 2147483648",
        "genuine --dialogs x --out x --pixels 1000000",
        "train --dialogs d --features f --out x --layers 1000000000000",
        "train --dialogs d --features f --out x --image-weight inf",
        "train --dialogs d --features f --out x --rate inf",
        "extract --val x --out x --batch 1000000000000000000000000000000",
        "play --checkpoint c --dialogs d --features f --out x --candidates 1000000000000",
        "summarise x --resamples 2147483648",
        "summarise x --resamples 0",
        "controls --results x --expected x --interventions x --out x.csv --resamples 2147483648",
        "report --results x --dialogs x --out x --resamples 100000000000000000000000000000",
    ],
)
def test_numbers_without_end_are_refused_before_anything_is_read(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert code_of(monkeypatch, *words.split()) == 2
    said = capsys.readouterr().err.splitlines()
    assert "; choose at " in said[-1]
    assert not list(tmp_path.iterdir())


def test_what_the_miniature_can_have():
    World(train=500_000, val=81_929, pixels=4096)
    Genuine(pixels=4096)


# YAML


def test_aliases_that_stand_for_too_much():
    nested = "a0: &a0 [x, x]\n" + "".join(
        f"a{number}: &a{number} [{', '.join([f'*a{number - 1}'] * 10)}]\n" for number in range(1, 9)
    )
    with pytest.raises(InputError, match=r"c\.yaml: not YAML \(its aliases \(\*\) stand for more than 1,000,000"):
        read_yaml(nested, "c.yaml")


@pytest.mark.parametrize("text", ["a: &a [*a]", "a: &a {b: *a}", "a: &a {<<: *a}"])
def test_an_alias_within_what_it_stands_for(text):
    with pytest.raises(InputError, match=r"c\.yaml: not YAML \(.*(an alias|recursive)"):
        read_yaml(text, "c.yaml")


def test_yaml_that_is_nested_without_end():
    with pytest.raises(InputError, match=r"c\.yaml: not YAML"):
        read_yaml("[" * 100_000, "c.yaml")


def test_the_shipped_settings_are_read():
    assert read_yaml((ROOT / "config.yaml").read_bytes(), "config.yaml")["dataset"] == "miniature"
    assert read_yaml("", "c.yaml") is None
