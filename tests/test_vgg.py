import hashlib
import resource
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from in_process import run, run_module
from PIL import Image
from small_files import album, jpeg, picture
from torch import nn
from torchvision.models import VGG16_Weights, vgg16

from cooperation.commands import extract as extraction
from cooperation.config.datasets import read_one
from cooperation.config.preparation import Extraction, check_preprocessing
from cooperation.data import vgg
from cooperation.data.archives import find_pictures
from cooperation.data.store import Dialogs, FeatureParts, read_features, write_dialogs
from cooperation.data.vgg import extract, trained, untrained
from cooperation.game.messages import Messages
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.files import InputError

PHOTOS = Path("../shared/data/photos")


class Tiny(nn.Module):
    """Something with the parts of VGG-16 that takes no time."""

    def __init__(self, **_):
        super().__init__()
        self.features = nn.Conv2d(3, 4, 3, 8)
        self.avgpool = nn.AdaptiveAvgPool2d((2, 2))
        self.classifier = nn.Sequential(
            nn.Linear(16, 8), nn.ReLU(), nn.Dropout(), nn.Linear(8, vgg.FEATURES), nn.ReLU(), nn.Dropout()
        )


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(vgg, "vgg16", Tiny)


without_vgg = pytest.mark.usefixtures("tiny")


@pytest.fixture
def pictures(tmp_path):
    """Seven pictures of odd kinds and sizes."""
    images = {number: picture(number, 300 + 10 * number, 260) for number in range(1, 6)}
    kinds = images | {4: images[4].convert("L"), 5: images[5].convert("CMYK"), 6: picture(6).resize((300, 1))}
    return album(tmp_path / "train2014.zip", {number: jpeg(image) for number, image in kinds.items()})


def features(path, network, settings):
    """Features of all pictures of an archive, in the order of their ids."""
    return np.concatenate(list(extract(list(find_pictures([path]).values()), network, settings)))


def test_features_are_those_of_torchvision_called_directly(tmp_path, monkeypatch):
    direct = vgg16().eval()
    monkeypatch.setattr(vgg, "vgg16", lambda: direct)
    images = {number: picture(number, 300, 260) for number in (1, 2)}
    if PHOTOS.exists():
        images |= {3: Image.open(next(PHOTOS.glob("*.jpg")))}
    path = album(tmp_path / "train2014.zip", {number: jpeg(image) for number, image in images.items()})
    network, _ = untrained(1)
    found = features(path, network, Extraction(batch=2))

    prepare = VGG16_Weights.IMAGENET1K_V1.transforms()
    for row, image in zip(found, images.values(), strict=True):
        (tmp_path / "one.jpg").write_bytes(jpeg(image))
        with Image.open(tmp_path / "one.jpg") as one, torch.inference_mode():
            hidden = direct.features(prepare(one.convert("RGB"))[None])
            hidden = torch.flatten(direct.avgpool(hidden), 1)
            for layer in list(direct.classifier)[:5]:
                hidden = layer(hidden)
        np.testing.assert_allclose(row, hidden[0].numpy(), atol=1e-5 * np.abs(row).max())
    assert (found >= 0).all()
    assert np.abs(found[0] - found[1]).max() > 1e-3 * found.max()


def test_preprocessing_of_caffe():
    # A picture that is red on its left half and blue on its right.
    image = Image.new("RGB", (64, 32), (255, 0, 0))
    image.paste((0, 0, 255), (32, 0, 64, 32))
    found = vgg.caffe(image)
    assert found.shape == (3, 224, 224)
    left, right = found[:, 100, 10].tolist(), found[:, 100, 213].tolist()
    assert left == pytest.approx([0 - 103.939, 0 - 116.779, 255 - 123.68], abs=1e-3)
    assert right == pytest.approx([255 - 103.939, 0 - 116.779, 0 - 123.68], abs=1e-3)


def test_preprocessing_of_small_pictures():
    found = vgg.small(Image.new("RGB", (48, 40), (255, 0, 51)))
    assert found.shape == (3, 40, 48)
    expected = [(1 - 0.485) / 0.229, (0 - 0.456) / 0.224, (0.2 - 0.406) / 0.225]
    assert found[:, 3, 5].tolist() == pytest.approx(expected, abs=1e-5)


@without_vgg
def test_untrained_weights_follow_from_the_seed_and_leave_the_generator():
    torch.manual_seed(5)
    state = torch.get_rng_state()
    (first, label), (again, _), (other, _) = (untrained(seed) for seed in (1, 1, 2))
    first, again, other = (network[0].weight for network in (first, again, other))
    assert label == "untrained, seed 1"
    assert torch.equal(first, again)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), state)


@without_vgg
@pytest.mark.parametrize("preprocessing", ["torchvision", "caffe"])
def test_batches_and_workers_change_nothing(pictures, preprocessing):
    network, _ = untrained(1)
    alone = features(pictures, network, Extraction(preprocessing, batch=1))
    together = features(pictures, network, Extraction(preprocessing, batch=4, workers=2))
    assert alone.shape == (6, vgg.FEATURES)
    np.testing.assert_allclose(alone, together, atol=1e-5)
    turned = list(find_pictures([pictures]).values())[::-1]
    found = np.concatenate(list(extract(turned, network, Extraction(preprocessing))))
    np.testing.assert_allclose(found[::-1], alone, atol=1e-5)


@without_vgg
def test_processes_that_decode_need_neither_shared_memory_nor_many_open_files(tmp_path, monkeypatch):
    images = {number: jpeg(picture(number, 40, 40)) for number in range(120)}
    path = album(tmp_path / "train2014.zip", images)
    network, _ = untrained(1)
    alone = features(path, network, Extraction("small"))
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    opened = len(list(Path("/proc/self/fd").iterdir()))

    def refuse(*_, **__):
        raise AssertionError("shared memory")

    monkeypatch.setattr(torch.UntypedStorage, "_share_fd_cpu_", refuse)
    monkeypatch.setattr(torch.UntypedStorage, "_share_filename_cpu_", refuse)
    resource.setrlimit(resource.RLIMIT_NOFILE, (opened + 40, limits[1]))
    try:
        together = features(path, network, Extraction("small", batch=60, workers=2))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    np.testing.assert_allclose(alone, together, atol=1e-5)


@without_vgg
@pytest.mark.parametrize(
    ("where", "error", "said"),
    [
        ("_MultiProcessingDataLoaderIter.__init__", OSError(28, "no space left on device"), "no space left"),
        ("_MultiProcessingDataLoaderIter._next_data", RuntimeError("DataLoader worker is killed"), "is killed"),
    ],
)
def test_processes_that_do_not_run(tmp_path, monkeypatch, where, error, said):
    def fail(*_):
        raise error

    path = album(tmp_path / "train2014.zip", {1: jpeg(picture(1, 40, 40))})
    monkeypatch.setattr(f"torch.utils.data.dataloader.{where}", fail)
    with pytest.raises(InputError, match=rf"2 processes .*{said}.*; take fewer \(--workers 0 needs none"):
        features(path, untrained(1)[0], Extraction("small", workers=2))


@without_vgg
@pytest.mark.parametrize("workers", [0, 2])
def test_a_broken_picture_is_one_line_with_its_name(tmp_path, monkeypatch, capsys, workers):
    whole = jpeg(picture(1, 300, 300))
    path = album(tmp_path / "train2014.zip", {1: whole, 2: whole[: len(whole) // 2]})
    words = ["extract", "--train", path, "--out", tmp_path / "f.h5", "--workers", workers]
    with pytest.raises(SystemExit) as caught:
        run(monkeypatch, *words)
    assert caught.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"{path}, train2014/COCO_train2014_000000000002.jpg: cannot be decoded" in error
    assert [file.name for file in tmp_path.iterdir()] == ["train2014.zip"]


@without_vgg
@pytest.mark.parametrize(
    ("sizes", "words"), [([(40, 40), (50, 40)], "40×40 and 50×40"), ([(20, 40)], "20×40"), ([(40, 8)], "40×8")]
)
def test_small_pictures_of_several_sizes_or_too_small(tmp_path, sizes, words):
    path = album(tmp_path / "a.zip", {n: jpeg(picture(n, *size)) for n, size in enumerate(sizes)})
    with pytest.raises(InputError, match=rf"a\.zip: pictures of {words} pixels"):
        features(path, untrained(1)[0], Extraction("small"))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"batch": 0}, "batch: 0 is too small; choose at least 1"),
        ({"workers": -1}, "workers: -1 is too small; choose at least 0"),
        ({"seed": -1}, "seed: -1 is no seed; choose a whole number from 0"),
    ],
)
def test_impossible_settings(settings, said):
    with pytest.raises(InputError, match=said):
        Extraction(**settings)


@without_vgg
def test_weights_of_a_file(tmp_path):
    network = Tiny()
    path = tmp_path / "mine.pth"
    torch.save(network.state_dict(), path)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    found, label = trained(path)
    assert label == f"mine.pth, sha256 {digest}"
    assert not found.training
    assert torch.equal(found[0].weight, network.features.weight)
    good = tmp_path / f"vgg16-{digest[:8]}.pth"
    good.write_bytes(path.read_bytes())
    assert trained(good)[1] == f"{good.name}, sha256 {digest}"


@without_vgg
@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("vgg16-397923af.pth", b"x", "its sha256 is .*, not 397923af…; delete it and download it again"),
        ("mine.pth", b"x", "not the weights of VGG-16"),
        ("mine.pth", {"other": torch.zeros(2)}, "not the weights of VGG-16"),
        ("mine.pth", None, r"no such file; download https://download.pytorch.org"),
    ],
)
def test_unusable_weights(tmp_path, name, content, words):
    path = tmp_path / name
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content:
        torch.save(content, path)
    with pytest.raises(InputError, match=words) as caught:
        trained(path)
    assert "\n" not in str(caught.value)


@without_vgg
def test_weights_that_would_run_code_are_not_loaded(tmp_path):
    class Evil:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "ran",))

    torch.save({"a": Evil()}, tmp_path / "mine.pth")
    with pytest.raises(InputError, match="not the weights of VGG-16"):
        trained(tmp_path / "mine.pth")
    assert not (tmp_path / "ran").exists()


@without_vgg
def test_command_writes_how_the_features_were_made(pictures, tmp_path, monkeypatch):
    out = tmp_path / "f.h5"
    run(monkeypatch, "extract", "--train", pictures, "--out", out, "--seed", 3)
    found = read_features(out, "train")
    assert found.image_ids.tolist() == [1, 2, 3, 4, 5, 6]
    assert found.attributes == {
        "extractor": "VGG-16 (torchvision)",
        "layer": "fc7 after ReLU",
        "weights": "untrained, seed 3",
        "preprocessing": "torchvision",
        "archive_train": "train2014.zip",
        "width": 4096,
        "duplicates_train": 0,
    }
    with h5py.File(out) as file:
        assert file["images_train"].dtype == np.float32


@without_vgg
def test_shards_together_are_the_whole(pictures, tmp_path, monkeypatch):
    whole, shards = tmp_path / "f.h5", [tmp_path / f"f{part}.h5" for part in (1, 2, 3, 4)]
    run(monkeypatch, "extract", "--train", pictures, "--out", whole)
    for part, path in enumerate(shards, 1):
        run(monkeypatch, "extract", "--train", pictures, "--out", path, "--shard", f"{part}/4")
    joined = FeatureParts.of(shards, "train")
    assert sorted(joined.image_ids.tolist()) == [1, 2, 3, 4, 5, 6]
    expected = read_features(whole, "train", joined.image_ids).vectors
    np.testing.assert_allclose(np.concatenate(list(joined.blocks())), expected, atol=1e-5)


@pytest.mark.parametrize("shard", ["0/4", "5/4", "x", "1", "1/0", "-1/2"])
def test_impossible_shards(monkeypatch, capsys, shard):
    with pytest.raises(SystemExit) as caught:
        run(monkeypatch, "extract", "--train", "a.zip", "--out", "f.h5", f"--shard={shard}")
    assert caught.value.code == 2
    assert "is not I/N with 1 ≤ I ≤ N" in capsys.readouterr().err


@without_vgg
def test_more_shards_than_pictures(pictures, tmp_path, monkeypatch, capsys):
    with pytest.raises(SystemExit):
        run(monkeypatch, "extract", "--train", pictures, "--out", tmp_path / "f", "--shard", "9/9")
    assert "has fewer pictures than 9 shards" in capsys.readouterr().err


@without_vgg
def test_the_pictures_of_some_dialogs_alone(pictures, tmp_path, monkeypatch, capsys):
    turns = Messages(np.ones((2, 10, 1), np.int32), np.ones((2, 10), np.int32))
    for name, images in (("dialogs.h5", [5, 2]), ("others.h5", [5, 7])):
        dialogs = Dialogs(np.array(images), Messages.of([[1]] * 2), turns, turns)
        write_dialogs(tmp_path / name, Vocabulary.of(["UNK", "yes"]), {"train": dialogs}, {})
    words = ["--train", pictures, "--out", tmp_path / "f.h5", "--dialogs"]
    run(monkeypatch, "extract", *words, tmp_path / "dialogs.h5")
    assert sorted(FeatureParts.of([tmp_path / "f.h5"], "train").image_ids.tolist()) == [2, 5]
    with pytest.raises(SystemExit):
        run(monkeypatch, "extract", *words, tmp_path / "others.h5")
    assert "others.h5: no train picture has the id 7; give the pictures of these dialogs" in capsys.readouterr().err


@without_vgg
def test_features_of_several_archives_are_one_split(tmp_path, monkeypatch):
    images = {number: jpeg(picture(number, 48, 48)) for number in (1, 2, 3, 4, 5)}
    one = album(tmp_path / "one.zip", images)
    parts = [
        album(tmp_path / f"{name}.zip", {number: images[number] for number in chosen})
        for name, chosen in (("a", (4, 1)), ("b", (2, 3, 5)))
    ]
    val = album(tmp_path / "v.zip", {8: jpeg(picture(8, 48, 48)), 9: jpeg(picture(9, 48, 48))}, "val")
    small = ["--preprocessing", "small"]
    run(monkeypatch, "extract", "--train", one, "--out", tmp_path / "one.h5", *small)
    shards = [tmp_path / f"fc7_{part}of2.h5" for part in (1, 2)]
    for part, path in enumerate(shards, 1):
        given = ["--train", *parts, "--val", val, "--shard", f"{part}/2"]
        run(monkeypatch, "extract", *given, "--out", path, *small)
        assert len(read_features(path, "val").image_ids) == 1
    run(monkeypatch, "normalise", *shards, "--out", tmp_path / "features.h5")
    found = read_features(tmp_path / "features.h5", "train")
    assert sorted(found.image_ids.tolist()) == [1, 2, 3, 4, 5]
    assert sorted(read_features(tmp_path / "features.h5", "val").image_ids.tolist()) == [8, 9]
    wanted = read_features(tmp_path / "one.h5", "train", found.image_ids).vectors
    wanted /= np.linalg.norm(wanted, axis=1, keepdims=True)
    np.testing.assert_allclose(found.vectors, wanted, atol=1e-6)
    assert found.attributes["archive_train"] == "a.zip, b.zip"


@without_vgg
def test_features_of_a_split_that_no_file_has(tmp_path, monkeypatch, capsys):
    images = album(tmp_path / "a.zip", {number: jpeg(picture(number, 48, 48)) for number in (1, 2)})
    run(monkeypatch, "extract", "--train", images, "--out", tmp_path / "f.h5", "--preprocessing", "small")
    with pytest.raises(SystemExit):
        run(monkeypatch, "normalise", tmp_path / "f.h5", "--out", tmp_path / "n.h5")
    assert f"{tmp_path}/f.h5: has no features of the val split" in capsys.readouterr().err


def test_extracting_nothing_is_refused(tmp_path, monkeypatch, capsys):
    with pytest.raises(SystemExit):
        run(monkeypatch, "extract", "--out", tmp_path / "f.h5")
    assert "no pictures; give --train, --val or both" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("begins", "preprocessing", "fits"),
    [
        ("397923af", "torchvision", True), ("397923af", "small", True), ("397923af", "caffe", False),
        ("00b39a1b", "caffe", True), ("00b39a1b", "torchvision", False), ("12345678", "caffe", True),
    ],
)  # fmt: skip
def test_pictures_are_prepared_as_those_of_the_weights_training(monkeypatch, tmp_path, begins, preprocessing, fits):
    monkeypatch.setattr(extraction, "trained", lambda _: (Tiny(), f"w.pth, sha256 {begins}ff"))
    album(tmp_path / "val.zip", {7: jpeg(picture(7, 48, 48))})
    words = ("--val", tmp_path / "val.zip", "--weights", tmp_path / "w.pth", "--preprocessing", preprocessing)
    if fits:
        check_preprocessing(preprocessing, begins, "w.pth")
        return
    with pytest.raises(InputError, match=r"w\.pth: these weights were trained on pictures prepared as .*readings"):
        run_module(extraction, *words, "--out", tmp_path / "f.h5")


def test_settings_say_so_before_hours_are_spent():
    weights = {"w.pth": {"addresses": ["http://127.0.0.1/w.pth"], "sha256": "397923af"}}
    given = {
        "source": "visdial", "dialogs": {"train": "./t", "val": "./v"}, "pictures": {"train": "./t", "val": "./v"},
        "weights": "w.pth", "downloads": weights, "extraction": {"preprocessing": "caffe"},
    }  # fmt: skip
    with pytest.raises(InputError, match=r"datasets\.real\.weights: these weights .*not 'caffe'"):
        read_one(given, "datasets.real")
