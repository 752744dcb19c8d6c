"""The paper's data and the authors' files through the whole workflow, on small files in their layouts."""

import hashlib
import json
import re
import shutil
import sys
import zipfile
from contextlib import ExitStack

import h5py
import numpy as np
import pytest
import torch
from http_host import Host, serving, status
from project import Project
from small_files import authors_arrays, write_authors_files, write_zip
from torchvision.models import vgg16

from cooperation.config.preparation import World
from cooperation.data.miniature.writing import write_world
from cooperation.data.store import FIRST_ROW, read_dialogs, read_features, read_vocabulary
from cooperation.evaluation.results import read_result

SMALL = {
    "jobs": "model",
    "sizes": {"embedding": 8, "hidden": 12, "layers": 1},
    "training": {"dialog": {"epochs": 1, "batch": 16}},
}
CHOICES = {
    "seeds": [1],
    "readings": ["written"],
    "models": {"dialog": {"regime": "dialog"}},
    "conditions": {"dialog": {"none": {}, "human": {"script": "dialog"}}},
}
TRAIN, VAL = 14, 10
FIGURES = (2, 3, 4, 5)
MANUAL = [f"results/visdial_0.9/manual/dialog-seed1/written/figure_{number}.h5" for number in FIGURES]


def targets(dataset, conditions=("none", "human")):
    names = [f"results/{dataset}/dialog-seed1/written/{name}.h5" for name in conditions]
    return [*names, f"reports/{dataset}/statistics.md"]


def silence(path):
    """Let dialog 1's fourth answer be an empty text, as some people's were."""
    with zipfile.ZipFile(path) as archive:
        [name] = archive.namelist()
        content = json.loads(archive.read(name))
    answers = content["data"]["answers"]
    answers.append("")
    found = content["data"]["dialogs"][0]["dialog"][3]
    found["answer"] = found["answer_options"][found["gt_index"]] = len(answers) - 1
    return write_zip(path, {name: json.dumps(content)})


def write_captions(dialogs, path):
    """COCO's captions of each picture: the dialog's own as COCO writes it, its words backwards, and an unknown word."""
    with zipfile.ZipFile(dialogs) as archive:
        [name] = archive.namelist()
        found = json.loads(archive.read(name))["data"]["dialogs"]
    listed = [
        {"image_id": dialog["image_id"], "caption": caption}
        for dialog, own in ((dialog, dialog["caption"]) for dialog in found)
        for caption in (own.capitalize() + ".", " ".join(own.split()[::-1]), f"{own} qqq")
    ]
    return write_zip(path, {"annotations/captions_val2014.json": json.dumps({"annotations": listed})})


def small_vgg16(folder):
    """VGG-16's weights, each layer a window that slides over few numbers: a file of kilobytes instead of 553 MB."""
    torch.manual_seed(1)
    with torch.device("meta"):
        shapes = {name: tensor.shape for name, tensor in vgg16(init_weights=False).state_dict().items()}
    state = {}
    for name, shape in shapes.items():
        wide = int(np.prod(shape[1:]))
        numbers = torch.randn(wide + shape[0]) * (2 / wide) ** 0.5 if len(shape) > 1 else torch.zeros(2 * shape[0])
        strides = [int(np.prod(shape[axis + 1 :])) for axis in range(1, len(shape))]
        state[name] = numbers.as_strided(shape, (1, *strides))
    torch.save(state, folder / "weights")
    digest = hashlib.sha256((folder / "weights").read_bytes()).hexdigest()
    return (folder / "weights").rename(folder / f"vgg16-{digest[:8]}.pth")


class Served:
    """What the servers have, and the configuration that asks them for it."""

    def __init__(self, folder, stack):
        self.files = {path.name: path for path in write_world(World(train=TRAIN, val=VAL, pixels=48), folder)}
        for split in ("train", "val"):
            silence(self.files[f"visdial_0.9_{split}.zip"])
        self.captions = write_captions(self.files["visdial_0.9_val.zip"], folder / "annotations_trainval2014.zip")
        self.files[self.captions.name] = self.captions
        self.weights = small_vgg16(folder)
        self.files[self.weights.name] = self.weights
        self.hosts = {name: Host(path.read_bytes()) for name, path in self.files.items()}
        addresses = {name: stack.enter_context(serving(host)) for name, host in self.hosts.items()}
        self.gone = Host(b"")
        self.gone.script = [status(404)] * 9
        dead = stack.enter_context(serving(self.gone))
        downloads = {
            name: {"addresses": [f"{addresses[name]}/{name}"], "size": path.stat().st_size, "sha256": digest(path)}
            for name, path in self.files.items()
        }
        downloads["val2014.zip"]["addresses"].insert(0, f"{dead}/val2014.zip")
        self.config = CHOICES | {
            "dataset": "visdial_0.9",
            "datasets": {
                "visdial_0.9": SMALL
                | {
                    "source": "visdial",
                    "dialogs": {split: f"visdial_0.9_{split}.zip" for split in ("train", "val")},
                    "pictures": {split: f"{split}2014.zip" for split in ("train", "val")},
                    "weights": self.weights.name,
                    "captions": self.captions.name,
                    "manual": {"dialog": [f"paper/manual/visdial/figure_{number}.yaml" for number in FIGURES]},
                    "downloads": downloads,
                    "files": {self.weights.name: str(self.weights)},
                    "raw": {"tries": 2, "pause": 0.0},
                    "shards": 2,
                    "text": {"threshold": 2},
                    "extraction": {"batch": 8},
                }
            },
        }


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.fixture(scope="module", autouse=True)
def _no_proxy():
    with pytest.MonkeyPatch.context() as patch:
        for name in ("http_proxy", "https_proxy", "all_proxy"):
            patch.delenv(name, raising=False)
            patch.delenv(name.upper(), raising=False)
        yield


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with ExitStack() as stack:
        yield Served(tmp_path_factory.mktemp("served"), stack)


@pytest.fixture(scope="module")
def visdial(served, tmp_path_factory):
    made = Project(tmp_path_factory.mktemp("visdial"), served.config)
    # This one the user put where the rule would write it.
    raw = made.folder / "data/visdial_0.9/raw"
    raw.mkdir(parents=True)
    shutil.copy(served.files["train2014.zip"], raw)
    done = made.snakemake(*targets("visdial_0.9"), *MANUAL)
    assert done.returncode == 0, done.stdout[-5000:]
    return made


def data(project, name, dataset="visdial_0.9"):
    return project.folder / "data" / dataset / name


def result(project, name, dataset="visdial_0.9"):
    return read_result(project.folder / f"results/{dataset}/dialog-seed1/written/{name}.h5")


def statistics(project, dataset):
    return (project.folder / f"reports/{dataset}/statistics.md").read_text()


def test_from_addresses_to_ranks(visdial, served):
    for name in ("none", "human"):
        found = result(visdial, name)
        assert found.ranks.shape == (VAL, 11)
        assert np.isfinite(found.ranks).all()
        features = json.loads(found.attributes["features"])
        assert features["weights"] == f"{served.weights.name}, sha256 {digest(served.weights)}"
        assert (features["preprocessing"], features["normalisation"], features["length"]) == (
            "torchvision",
            "l2",
            "1.0",
        )


def test_figures_2_to_5_need_no_knowledge_of_the_pictures(visdial):
    caption, answers, noise, questions = (read_result(visdial.folder / path) for path in MANUAL)
    ranks = result(visdial, "none").ranks[:, 0]
    dialogs = read_dialogs(data(visdial, "dialogs.h5"), "val")
    texts, unknown = dialogs.captions.lists(), read_vocabulary(data(visdial, "dialogs.h5")).ids["UNK"]
    # The worst rank of the dialogs whose caption is known, which is heard backwards.
    fits = [unknown not in own for own in texts]
    row = dialogs.image_ids.tolist().index(caption.image_ids[0])
    assert fits[row]
    assert ranks[row] == ranks[fits].max()
    assert caption.caption_heard.lists()[1] == texts[row][::-1]
    assert caption.perturbed_messages.tolist() == [1, *[0] * 10]
    assert answers.perturbed_messages[1:].sum() > 0
    assert noise.perturbed_messages.tolist() == [0, *[1] * 10]
    asked = dialogs.questions[np.array([dialogs.image_ids.tolist().index(questions.image_ids[0])])]
    assert [heard[:-1] for heard in questions.question_heard[1].lists()] == asked[0].lists()


def test_files_come_from_where_they_can_be_had(visdial, served):
    raw = data(visdial, "raw")
    for name, path in served.files.items():
        assert digest(raw / name) == digest(path)
        assert (raw / f"{name}.ready").read_text() == f"{digest(path)}  {name}\n"
    asked = {name: len(host.requests) for name, host in served.hosts.items()}
    # One was put in its place, one stands elsewhere, one comes from its second address.
    assert asked == dict.fromkeys(asked, 1) | {"train2014.zip": 0, served.weights.name: 0}
    assert len(served.gone.requests) == 1
    assert (raw / served.weights.name).readlink() == served.weights


def test_each_looked_first_and_listed_them(visdial, served):
    # Which job comes first is not said, so what becomes of a file is told by its own.
    listed = (visdial.folder / "logs/visdial_0.9/download_val2014.zip.log").read_text()
    size = served.files["val2014.zip"].stat().st_size
    assert (
        f"train2014.zip: found, data/visdial_0.9/raw/train2014.zip, {served.files['train2014.zip'].stat().st_size:,}"
        in listed
    )
    assert f"{TRAIN} pictures" in listed
    assert f"val2014.zip: to be downloaded, data/visdial_0.9/raw/val2014.zip, {size:,} bytes" in listed
    listed = (visdial.folder / f"logs/visdial_0.9/download_{served.weights.name}.log").read_text()
    assert f"{served.weights.name}: found, to be linked to, {served.weights}" in listed


def test_a_rehearsal_shares_the_raw_files_and_lies_beside(visdial, served):
    """Nothing is downloaded again, and nothing of the real data set is made again."""
    name, asked = "visdial_0.9_rehearsal", {host: len(one.requests) for host, one in served.hosts.items()}
    done = visdial.snakemake(*targets(name), "--config", "rehearsal=true")
    assert done.returncode == 0, done.stdout[-5000:]
    assert {host: len(one.requests) for host, one in served.hosts.items()} == asked
    assert not data(visdial, "raw", name).exists()
    # Fewer dialogs than a rehearsal takes: all of them.
    assert result(visdial, "none", name).image_ids.tolist() == result(visdial, "none").image_ids.tolist()
    assert "This is a rehearsal" in statistics(visdial, name)
    assert visdial.jobs(*targets("visdial_0.9")) == {}


def test_shards_are_joined_by_image_id(visdial):
    ids = {}
    for split, count in (("train", TRAIN), ("val", VAL)):
        ids[split] = set(read_dialogs(data(visdial, "dialogs.h5"), split).image_ids.tolist())
        shards = [read_features(data(visdial, f"fc7_{shard}of2.h5"), split) for shard in (1, 2)]
        assert [len(shard.image_ids) for shard in shards] == [count // 2] * 2
        joined = read_features(data(visdial, "features.h5"), split)
        assert set(joined.image_ids.tolist()) == ids[split]
        np.testing.assert_allclose(np.linalg.norm(joined.vectors, axis=1), 1, rtol=1e-5)
        for shard in shards:
            mine = read_features(data(visdial, "features.h5"), split, shard.image_ids).vectors
            raw = shard.vectors / np.linalg.norm(shard.vectors, axis=1, keepdims=True)
            np.testing.assert_allclose(mine, raw, atol=1e-6)
            # Different pictures, different features.
            assert len(np.unique(mine.round(5), axis=0)) == len(mine)


def test_an_empty_answer_goes_all_the_way(visdial):
    assert read_dialogs(data(visdial, "dialogs.h5"), "val").answers.lengths[0, 3] == 0
    # People's dialog says it: an EOS alone.
    assert result(visdial, "human").answer_said.lengths[0, 3] == 1
    with h5py.File(data(visdial, "dialogs.h5")) as file:
        assert file.attrs["train_empty_answers"] == 1
    assert re.search(r"Empty answers +\| +1 \| +1 \|", statistics(visdial, "visdial_0.9"))


def test_archives_may_be_deleted_after_use(visdial, served):
    path = data(visdial, "raw/train2014.zip")
    path.unlink()
    edited = visdial.folder / "src/cooperation/data/download.py"
    before = edited.read_text()
    try:
        assert visdial.jobs(*targets("visdial_0.9")) == {}
        edited.write_text(before + "\n# An edit.\n")
        assert "download" not in visdial.jobs(*targets("visdial_0.9"))
    finally:
        edited.write_text(before)
        shutil.copy(served.files["train2014.zip"], path)


def test_a_killed_extraction_goes_on_with_what_is_missing(visdial, tmp_path):
    moved = [data(visdial, name) for name in ("fc7_2of2.h5", "features.h5")]
    for path in moved:
        path.rename(tmp_path / path.name)
    try:
        jobs = visdial.jobs(str(data(visdial, "features.h5").relative_to(visdial.folder)))
        assert jobs == {"extract": 1, "normalise": 1}
    finally:
        for path in moved:
            (tmp_path / path.name).rename(path)


def test_a_new_look_at_what_is_there_redoes_nothing(visdial):
    path = visdial.folder / "src/cooperation/data/preflight.py"
    before = path.read_text()
    path.write_text(before + "\n# An edit.\n")
    try:
        assert visdial.jobs(*targets("visdial_0.9")) == {}
    finally:
        path.write_text(before)


def test_a_users_file_outlives_another_try_of_its_rule(visdial):
    path = data(visdial, "raw/val2014.zip")
    before = path.stat()
    other = "datasets={visdial_0.9: {raw: {tries: 3}}}"
    note = str(path.with_name("val2014.zip.ready").relative_to(visdial.folder))
    done = visdial.snakemake(note, "--config", other)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "1 of 1 steps" in done.stdout
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert visdial.snakemake(note).returncode == 0


def test_a_copy_that_is_not_there_is_refused_before_any_job(served, tmp_path):
    config = json.loads(json.dumps(served.config))
    config["datasets"]["visdial_0.9"]["files"] = {served.weights.name: "nowhere.pth"}
    project = Project(tmp_path, config)
    done = project.snakemake(*targets("visdial_0.9"))
    assert done.returncode != 0
    key = f"datasets.visdial_0.9.files.{served.weights.name}"
    assert f"nowhere.pth: no such file; put it there or give its path as {key}" in done.stdout
    assert not (tmp_path / "logs").exists()


def test_what_cannot_be_had_stops_the_run_before_anything_is_made(served, tmp_path):
    config = json.loads(json.dumps(served.config))
    wrong = tmp_path / "wrong.zip"
    wrong.write_text("no pictures")
    config["datasets"]["visdial_0.9"]["files"] = {"val2014.zip": str(wrong)}
    project = Project(tmp_path, config)
    done = project.snakemake(*targets("visdial_0.9"))
    assert done.returncode != 0
    assert f"cooperation check: {wrong}: 11 bytes instead of " in done.stdout
    assert "; correct its path as datasets.visdial_0.9.files.val2014.zip" in done.stdout
    assert not [path for path in (tmp_path / "data").rglob("*") if path.is_file()]
    # No other rule ran.
    assert {path.name.partition("_")[0] for path in (tmp_path / "logs/visdial_0.9").iterdir()} == {"download"}


@pytest.fixture(scope="module")
def authors(tmp_path_factory):
    config = CHOICES | {"dataset": "visdial_authors"}
    names = {"data": "visdial_data.h5", "params": "visdial_params.json", "images": "data_img.h5"}
    config["datasets"] = {
        "visdial_authors": SMALL
        | {"source": "authors", "dialogs": {name: f"data/visdial_authors/raw/{file}" for name, file in names.items()}}
    }
    made = Project(tmp_path_factory.mktemp("authors"), config)
    raw = made.folder / "data/visdial_authors/raw"
    raw.mkdir(parents=True)
    # No dialog stands where its image does.
    content = authors_arrays("train", np.roll(np.arange(TRAIN), 1)) | authors_arrays("val", np.arange(VAL)[::-1])
    random = np.random.default_rng(1)
    images = {
        f"images_{split}": random.random((count, 4096), "f4") for split, count in (("train", TRAIN), ("val", VAL))
    }
    write_authors_files(raw, content, images)
    done = made.snakemake(*targets("visdial_authors", ["human"]))
    assert done.returncode == 0, done.stdout[-5000:]
    return made


def test_the_authors_files_are_used_as_they_are(authors):
    there = {path.name for path in data(authors, "raw", "visdial_authors").iterdir()}
    assert there == {"data_img.h5", "visdial_data.h5", "visdial_params.json"}
    found = result(authors, "human", "visdial_authors")
    assert found.ranks.shape == (VAL, 11)
    assert found.image_ids.tolist() == [FIRST_ROW["val"] + row for row in range(VAL)][::-1]
    with h5py.File(data(authors, "raw/data_img.h5", "visdial_authors")) as file:
        first = file["images_val"][VAL - 1]
    mine = read_features(data(authors, "features.h5", "visdial_authors"), "val", found.image_ids).vectors
    np.testing.assert_allclose(mine[0], first / np.linalg.norm(first), atol=1e-6)
    assert authors.jobs(*targets("visdial_authors", ["human"])) == {}


def test_the_papers_shares_stand_beside_ours(visdial, authors):
    for project, dataset in ((visdial, "visdial_0.9"), (authors, "visdial_authors")):
        text = statistics(project, dataset)
        assert re.search(r"exactly yes or no .*% \| +37\.0 % \| +45\.0 %", text)
        # Nothing warns that this is not the paper's data.
        assert "not expected" not in text


def test_the_authors_shapes_are_listed(authors):
    listed = authors.run("env", "PYTHONPATH=src", sys.executable, "-m", "cooperation", "check").stdout
    assert f"ques_train {TRAIN}×10×20" in listed
    assert f"images_val {VAL}×4096" in listed
    assert "params: found, data/visdial_authors/raw/visdial_params.json" in listed
    assert "5 words" in listed
