from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cooperation.data.store import (
    Dialogs,
    FeatureParts,
    Features,
    read_dialogs,
    read_features,
    read_vocabulary,
    rows_of,
    write_dialogs,
    write_feature_blocks,
    write_features,
)
from cooperation.game.messages import Messages
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.files import InputError

PLACE = Path("features.h5")


def dialogs(ids=(4, 9)):
    count = len(ids)
    turns = Messages(np.tile(np.arange(1, 4, dtype=np.int32), (count, 10, 1)), np.full((count, 10), 3, np.int32))
    return Dialogs(np.array(ids, np.int64), Messages.of([[1, 2]] * count), turns, turns)


def features(ids, **attributes):
    """The vector of an image is its id and twice its id."""
    ids = np.array(ids, np.int64)
    return Features(ids, np.stack([ids, 2 * ids], 1).astype(np.float32), attributes)


def test_dialogs_and_vocabulary_come_back(tmp_path):
    vocabulary = Vocabulary.of(["a", "naïve", "n't", "UNK"])
    path = tmp_path / "new" / "d.h5"
    write_dialogs(path, vocabulary, {"train": dialogs(), "val": dialogs([7])}, {"threshold": 5})
    assert read_vocabulary(path) == vocabulary
    found = read_dialogs(path, "train")
    assert found.image_ids.tolist() == [4, 9]
    assert found.captions.lists() == [[1, 2], [1, 2]]
    assert found.answers.tokens.shape == (2, 10, 3)
    assert len(read_dialogs(path, "val")) == 1


def test_features_come_back(tmp_path):
    path = tmp_path / "f.h5"
    write_features(path, {"train": features([3, 1]), "val": features([8])}, {"layer": "fc7", "length": 2.5})
    found = read_features(path, "train")
    assert found.image_ids.tolist() == [3, 1]
    assert found.vectors.tolist() == [[3, 6], [1, 2]]
    made = {"extractor": "not stated", "layer": "fc7", "length": 2.5, "width": 2}
    assert found.attributes == {**made, "duplicates_train": 0, "duplicates_val": 0}


@settings(deadline=None)
@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=40, unique=True), st.data())
def test_features_are_read_in_the_order_that_is_asked_for(tmp_path_factory, ids, data):
    asked = data.draw(st.lists(st.sampled_from(ids)))
    path = tmp_path_factory.mktemp("joined") / "f.h5"
    write_features(path, {"val": features(ids)}, {})
    found = read_features(path, "val", np.array(asked, np.int64))
    assert found.image_ids.tolist() == found.vectors[:, 0].tolist() == asked


def test_more_images_than_a_block_holds(tmp_path):
    ids = np.random.default_rng(1).permutation(9000)
    write_features(tmp_path / "f.h5", {"val": features(ids)}, {})
    found = read_features(tmp_path / "f.h5", "val", np.arange(9000))
    assert (found.vectors[:, 0] == np.arange(9000)).all()


def test_a_missing_image_is_named_when_read(tmp_path):
    write_features(tmp_path / "f.h5", {"val": features([3, 1])}, {})
    with pytest.raises(InputError, match=r"f\.h5: no features of image 2 \(1 images missing\)"):
        read_features(tmp_path / "f.h5", "val", np.array([1, 2]))


def test_vectors_of_different_widths_are_not_joined(tmp_path):
    paths = [tmp_path / "1.h5", tmp_path / "2.h5"]
    write_features(paths[0], {"val": features([5])}, {})
    write_features(paths[1], {"val": Features(np.array([6]), np.ones((1, 3), np.float32), {})}, {})
    with pytest.raises(InputError, match=r"2\.h5: width is 3, but 2 in .*1\.h5"):
        FeatureParts.of(paths, "val")


@pytest.mark.parametrize("missing", [0, 4, 99])
def test_a_missing_image_is_named(missing):
    with pytest.raises(InputError, match=rf"features\.h5: no features of image {missing} \(1 images missing\)"):
        rows_of(np.array([1, missing, 5]), np.array([3, 1, 5]), PLACE)


def test_blocks_are_the_vectors_of_all_files_in_order(tmp_path):
    paths = [tmp_path / "1.h5", tmp_path / "2.h5"]
    write_features(paths[0], {"val": features([5, 2, 9])}, {})
    write_features(paths[1], {"val": features([1])}, {})
    parts = FeatureParts.of(paths, "val")
    assert parts.image_ids.tolist() == [5, 2, 9, 1]
    blocks = list(parts.blocks(2))
    assert [len(block) for block in blocks] == [2, 1, 1]
    assert np.concatenate(blocks)[:, 0].tolist() == [5, 2, 9, 1]


@pytest.mark.parametrize("damage", [lambda raw: raw[: len(raw) // 2], lambda _: b"", lambda _: b"no HDF5" * 99])
def test_damaged_files_are_named(tmp_path, damage):
    path = tmp_path / "f.h5"
    write_features(path, {"val": features(range(999))}, {})
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(
        InputError, match=r"f\.h5: damaged or not of this kind .*; give the right one; if .* by snakemake, delete it"
    ):
        read_features(path, "val")


def test_flipped_bits_are_noticed(tmp_path):
    path = tmp_path / "f.h5"
    write_features(path, {"val": features(range(999))}, {})
    raw = bytearray(path.read_bytes())
    at = raw.index(np.array([500, 1000, 501], "<f4").tobytes())
    raw[at] ^= 0xFF
    path.write_bytes(raw)
    with pytest.raises(InputError, match=r"f\.h5: damaged"):
        read_features(path, "val")


def test_missing_files_and_splits(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        read_features(tmp_path / "f.h5", "val")
    write_features(tmp_path / "f.h5", {"val": features([1])}, {})
    with pytest.raises(InputError, match=r"f\.h5: has no train split but val; give the file of train$"):
        read_features(tmp_path / "f.h5", "train")
    write_dialogs(tmp_path / "d.h5", Vocabulary.of(["a", "UNK"]), {"train": dialogs()}, {})
    with pytest.raises(InputError, match=r"d\.h5: has no val split but train; give the file of val$"):
        read_dialogs(tmp_path / "d.h5", "val")


def test_a_part_of_a_split_may_have_equal_pictures(tmp_path):
    write_features(tmp_path / "f.h5", {"val": Features(np.arange(2), np.ones((2, 3), np.float32), {})}, {})
    assert read_features(tmp_path / "f.h5", "val").attributes["duplicates_val"] == 1


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "f.h5"
    write_features(path, {"val": features([1])}, {"old": True})

    def blocks():
        yield np.ones((1, 2), np.float32)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write_feature_blocks(path, {"val": (np.array([1, 2]), blocks())}, {})
    with h5py.File(path) as file:
        assert file.attrs["old"]
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(("number", "name"), [(32001, "Blosc"), (32004, "LZ4"), (32015, "Zstandard"), (40000, "40000")])
def test_filters_that_are_not_installed_are_named(tmp_path, number, name):
    path = tmp_path / "f.h5"
    with h5py.File(path, "w") as file:
        plist = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        plist.set_chunk((2, 2))
        # Optional while it is written, since it isn't there.
        plist.set_filter(number, h5py.h5z.FLAG_OPTIONAL)
        space = h5py.h5s.create_simple((2, 2))
        h5py.h5d.create(file.id, b"images_train", h5py.h5t.IEEE_F32LE, space, plist)
    with pytest.raises(InputError, match=rf"f\.h5: images_train is packed with .*{name}.*h5repack") as caught:
        FeatureParts.of([path], "train")
    assert "damaged" not in str(caught.value)
