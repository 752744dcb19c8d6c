"""The preflight: what is there, what is to come, what is missing, and the exit code."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import yaml
from http_host import Host, serving
from in_process import code_of
from small_files import album, authors_arrays, document, jpeg, picture, write_authors_files, write_json, write_zip

from cooperation.cli import main
from cooperation.config.experiment import read_dataset
from cooperation.data import preflight
from cooperation.io import devices

DIALOGS = {"train": "visdial_0.9_train.zip", "val": "visdial_0.9_val.zip"}
PICTURES = {"train": "train2014.zip", "val": "val2014.zip"}
WEIGHTS = "vgg16-01234567.pth"
RAW = [*DIALOGS.values(), *PICTURES.values(), WEIGHTS]


def settings(**changes):
    downloads = {name: {"addresses": [f"http://localhost/{name}"]} for name in RAW}
    for name, change in changes.pop("downloads", {}).items():
        downloads[name] |= change
    inputs = {"dialogs": DIALOGS, "pictures": PICTURES, "weights": WEIGHTS, "downloads": downloads}
    return {"dataset": "real", "datasets": {"real": {"source": "visdial"} | inputs | changes}}


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/real/raw").mkdir(parents=True)
    return tmp_path


def check(monkeypatch, capsys, config, *words):
    """Exit code, lines of standard output and of standard error."""
    Path("config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    code = code_of(monkeypatch, "check", *words)
    said = capsys.readouterr()
    return code, said.out.splitlines(), said.err.splitlines()


def line(lines, name):
    [found] = [each for each in lines if each.startswith(f"{name}: ")]
    return found


def test_what_is_to_come_is_no_mistake(monkeypatch, capsys):
    code, lines, wrong = check(monkeypatch, capsys, settings(downloads={"train2014.zip": {"size": 1_000_000}}))
    assert (code, wrong) == (0, [])
    assert line(lines, "train2014.zip") == (
        "train2014.zip: to be downloaded, data/real/raw/train2014.zip, 1,000,000 bytes"
    )
    # A picture of COCO has 163,000 bytes and becomes two rows of 4096 floats: 6 of them.
    assert f"at least {1_000_000 + 6 * 2 * 4096 * 4:,} bytes" in line(lines, "disk")
    # One of the two is held in memory.
    assert f"memory: at least {6 * 4096 * 4:,} bytes for the features of a split" in line(lines, "memory")
    assert line(lines, "device")


def test_what_is_there_is_described(here, monkeypatch, capsys):
    raw = here / "data/real/raw"
    write_zip(raw / "visdial_0.9_train.zip", {"a.json": json.dumps(document("train", (7, 3, 9)))})
    album(raw / "train2014.zip", {7: jpeg(picture()), 3: jpeg(picture(1))})
    (raw / "train2014.zip.sha256").write_text("abcdef0123456789  train2014.zip\n")
    (raw / "val2014.zip.ready").write_text("x")
    elsewhere = album(here / "mine.zip", {5: jpeg(picture())}, "val")
    (raw / ".visdial_0.9_val.zip.part").write_bytes(b"x" * 300)
    files = {WEIGHTS: str(elsewhere)}
    config = settings(downloads={"visdial_0.9_val.zip": {"size": 1000}}, files=files)
    code, lines, wrong = check(monkeypatch, capsys, config)
    assert (code, wrong) == (0, [])
    assert line(lines, "visdial_0.9_train.zip").endswith("bytes, 3 dialogs")
    assert line(lines, "train2014.zip").endswith("bytes, 2 pictures, sha256 abcdef01…")
    assert "deleted after its check" in line(lines, "val2014.zip")
    assert f"found, to be linked to, {elsewhere}" in line(lines, WEIGHTS)
    # What of a file is there already does not come again.
    assert f" {700 + 2 * 2 * 4096 * 4:,} bytes" in line(lines, "disk")
    assert "at least" not in line(lines, "disk")


def test_pictures_are_counted_as_a_number(here):
    album(here / "data/real/raw/train2014.zip", {7: jpeg(picture()), 3: jpeg(picture(1))})
    name, data = read_dataset(settings())
    found = {each.name: each for each in preflight.inspect(name, data, here / "data/real/raw")}
    assert (found["train2014.zip"].pictures, found["val2014.zip"].pictures) == (2, 0)
    renamed = [replace(each, holds="") for each in found.values()]
    assert preflight.disk_space(renamed, data, here / "data/real/raw")[0] == 2 * 2 * 4096 * 4


def test_features_that_are_there_need_no_room(here, monkeypatch, capsys):
    album(here / "data/real/raw/train2014.zip", {7: jpeg(picture())})
    (here / "data/real/features.h5").touch()
    assert "at least 0 bytes" in line(check(monkeypatch, capsys, settings())[1], "disk")


def test_each_missing_thing_is_one_line(here, monkeypatch, capsys):
    raw = here / "data/real/raw"
    (raw / "train2014.zip").write_bytes(b"x" * 10)
    (raw / "visdial_0.9_val.zip").write_bytes(b"no archive")
    (raw / "visdial_0.9_train.zip").write_bytes(b"x")
    (raw / "visdial_0.9_train.zip.sha256").write_text("ffffffff  x\n")
    config = settings(
        downloads={"train2014.zip": {"size": 11}, "visdial_0.9_train.zip": {"sha256": "01234567"}},
        files={WEIGHTS: "nowhere.pth"},
    )
    code, lines, wrong = check(monkeypatch, capsys, config)
    assert code == 2
    assert [each.removeprefix("cooperation check: ").split("; ")[0] for each in wrong] == [
        "data/real/raw/visdial_0.9_train.zip: its sha256 is ffffffff, published is 01234567",
        "data/real/raw/visdial_0.9_val.zip: damaged or cut short (no dialogs of VisDial's)",
        "data/real/raw/train2014.zip: 10 bytes instead of 11",
        "nowhere.pth: no such file",
    ]
    assert all("; " in each for each in wrong)
    assert "to be downloaded" in line(lines, "val2014.zip")


def test_too_little_memory_is_said(monkeypatch, capsys):
    """Files may be downloaded elsewhere than where they are used."""
    monkeypatch.setattr("cooperation.commands.check.free_memory", lambda: 6 * 4096 * 4 - 1)
    config = settings(downloads={"train2014.zip": {"size": 1_000_000}})
    code, lines, _ = check(monkeypatch, capsys, config)
    assert code == 0
    assert line(lines, "memory").endswith("98,303 free; too little to train and play on this machine")


def test_no_room_is_missing_too(monkeypatch, capsys):
    code, _, wrong = check(monkeypatch, capsys, settings(downloads={"train2014.zip": {"size": 10**18}}))
    assert code == 2
    assert wrong[0].startswith("cooperation check: data/real/raw: 1,")
    assert wrong[0].endswith("make room")


def test_what_is_extracted_already_needs_no_more_room(monkeypatch, capsys, here):
    album(here / "data/real/raw/val2014.zip", {n: jpeg(picture(n)) for n in range(4)}, "val")
    first = line(check(monkeypatch, capsys, settings())[1], "disk")
    assert "at least 131,072 bytes" in first
    (here / "data/real/fc7_val_1of2.h5").write_bytes(bytes(2 * 4096 * 4))
    assert "at least 98,304 bytes" in line(check(monkeypatch, capsys, settings())[1], "disk")
    (here / "data/real/fc7_val_2of2.h5").write_bytes(bytes(10**6))
    assert "at least 0 bytes" in line(check(monkeypatch, capsys, settings())[1], "disk")


def test_what_another_job_finishes_meanwhile_is_there(monkeypatch, capsys, here):
    path, real = here / "data/real/raw/val2014.zip", preflight.size_of

    def finishing(partial):
        if partial.name == ".val2014.zip.part":
            album(path, {1: jpeg(picture(1))}, "val")
        return real(partial)

    monkeypatch.setattr(preflight, "size_of", finishing)
    code, lines, _ = check(monkeypatch, capsys, settings())
    assert code == 0
    assert line(lines, "val2014.zip").startswith("val2014.zip: found")


def test_a_users_file_that_went_after_its_check_is_not_missed(monkeypatch, capsys, here):
    (here / "data/real/raw/val2014.zip.ready").touch()
    code, lines, _ = check(monkeypatch, capsys, settings(files={"val2014.zip": "gone.zip"}))
    assert code == 0
    assert "deleted after its check" in line(lines, "val2014.zip")


AUTHORS = {"data": "./visdial_data.h5", "params": "./visdial_params.json", "images": "./data_img.h5"}


def authors_settings():
    return {"dataset": "theirs", "datasets": {"theirs": {"source": "authors", "dialogs": AUTHORS}}}


def test_the_authors_files_are_described(here, monkeypatch, capsys):
    data = authors_arrays("train", [0, 1, 2]) | authors_arrays("val", [1, 0])
    images = {"images_train": np.ones((3, 4), "f4"), "images_val": np.ones((2, 4), "f4")}
    write_authors_files(here, data, images)
    code, lines, wrong = check(monkeypatch, capsys, authors_settings())
    assert (code, wrong) == (0, [])
    assert "cap_train 3×40, ques_train 3×10×20" in line(lines, "data")
    assert line(lines, "images").endswith("images_train 3×4, images_val 2×4")
    assert line(lines, "params").endswith("5 words")
    assert f" {(here / 'data_img.h5').stat().st_size:,} bytes for" in line(lines, "disk")


def test_missing_and_foreign_files_of_the_authors(here, monkeypatch, capsys):
    write_json(here / "visdial_params.json", {"words": []})
    (here / "data_img.h5").write_bytes(b"x")
    code, _, wrong = check(monkeypatch, capsys, authors_settings())
    assert code == 2
    assert [each.split(": ")[1] for each in wrong] == [path.removeprefix("./") for path in AUTHORS.values()]
    assert "put it there or give its path as datasets.theirs.dialogs.data" in wrong[0]
    assert "'word2ind'" in wrong[1]


def test_the_made_up_world_needs_nothing(monkeypatch, capsys):
    config = {"dataset": "other", "datasets": {"other": {}, "made": {"source": "miniature"}}}
    code, lines, wrong = check(monkeypatch, capsys, config, "--dataset", "made")
    assert (code, wrong) == (0, [])
    assert lines[0] == "made: needs no files, they are made"


@pytest.mark.parametrize(("text", "words"), [("a: [", "config.yaml: not YAML"), ("3", "config.yaml: 3 has no keys")])
def test_bad_settings_are_one_line(monkeypatch, capsys, text, words):
    Path("config.yaml").write_text(text)
    monkeypatch.setattr("sys.argv", ["cooperation", "check"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    [said] = capsys.readouterr().err.splitlines()
    assert words in said


def test_settings_that_are_not_there_are_one_line(here, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["cooperation", "check", "--config", "nowhere.yaml"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 2
    assert capsys.readouterr().err == "cooperation check: nowhere.yaml: no such file; name the settings\n"
    assert not (here / "nowhere.yaml").exists()


def test_settings_are_those_that_the_flag_or_the_workflow_names(here, monkeypatch, capsys):
    for name in ("flag", "workflow"):
        made = {"dataset": name, "datasets": {name: {"source": "miniature"}}}
        (here / f"{name}.yaml").write_text(yaml.safe_dump(made))
    monkeypatch.setenv("COOPERATION_CONFIG", "workflow.yaml")
    config = {"dataset": "own", "datasets": {"own": {"source": "miniature"}}}
    for words, name in (([], "workflow"), (["--config", "flag.yaml"], "flag")):
        assert check(monkeypatch, capsys, config, *words)[1][0] == f"{name}: needs no files, they are made"
    monkeypatch.delenv("COOPERATION_CONFIG")
    assert check(monkeypatch, capsys, config)[1][0] == "own: needs no files, they are made"


def test_a_granted_gpu_that_torch_cannot_use_is_a_problem(monkeypatch, capsys):
    monkeypatch.setattr(devices, "unusable", lambda: "too old")
    devices.device.cache_clear()
    monkeypatch.setenv("SLURM_JOB_GPUS", "0")
    code, lines, [wrong] = check(monkeypatch, capsys, settings())
    assert code == 2
    assert "SLURM_JOB_GPUS=0: torch can't use that GPU: too old; " in wrong
    assert len([each for each in lines if not each.startswith("  ")]) == len(RAW) + 1
    monkeypatch.delenv("SLURM_JOB_GPUS")
    assert check(monkeypatch, capsys, settings())[0] == 0


def test_every_download_is_looked_at():
    name, data = read_dataset(settings())
    assert [found.name for found in preflight.inspect(name, data, Path("raw"))] == RAW


def test_each_address_is_asked_and_its_answer_shown(monkeypatch, capsys):
    with serving(Host(b"x" * 1000)) as whole, serving(Host(b"x" * 9)) as gone:
        addresses = [f"{whole}/a", f"{gone}/b", "http://127.0.0.1:9/c"]
        config = settings(downloads={"train2014.zip": {"addresses": addresses, "size": 1000}})
        code, lines, _ = check(monkeypatch, capsys, config)
    assert code == 0
    at = lines.index(line(lines, "train2014.zip"))
    assert lines[at + 1 : at + 4] == [
        f"  {whole}/a: has 1,000 bytes",
        f"  {gone}/b: has 9 bytes instead of 1,000",
        "  http://127.0.0.1:9/c: no answer (ConnectionError)",
    ]


@pytest.mark.parametrize(
    ("code", "headers", "said"),
    [
        (404, {}, "404 Not Found"),
        (200, {"Content-Type": "text/html"}, "a page of a web site, not the file"),
        (403, {}, "403 Forbidden"),
    ],
)
def test_addresses_that_have_nothing_are_told(monkeypatch, capsys, code, headers, said):
    host = Host(b"")
    host.head = (code, headers)
    with serving(host) as where:
        config = settings(downloads={"train2014.zip": {"addresses": [f"{where}/a"]}})
        assert f"  {where}/a: {said}" in check(monkeypatch, capsys, config)[1]
