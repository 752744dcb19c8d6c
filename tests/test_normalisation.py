import h5py
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from in_process import run

from cooperation.data.normalisation import l2, standardise
from cooperation.data.store import Features, read_features, write_features

VECTORS = arrays(
    np.float32, array_shapes(min_dims=2, max_dims=2, min_side=2, max_side=9), elements=st.integers(-999, 999)
)


def test_l2_by_hand():
    found = l2(10)(np.array([[3, 4], [0, 0], [0, -2]], np.float32))
    assert found.tolist() == pytest.approx(np.array([[6, 8], [0, 0], [0, -10]]))
    assert found.dtype == np.float32


def test_standardise_by_hand():
    # Means 2 and 5, deviations 1 and (constant) 1 instead of 0.
    train = np.array([[1, 5], [3, 5]], np.float32)
    normalise = standardise([train], 2)
    assert normalise(train).tolist() == pytest.approx(np.array([[-2, 0], [2, 0]]))
    # (5 − 2)/1 and (9 − 5)/1, a vector of length 5 that is brought to 2.
    assert normalise(np.array([[5, 9]], np.float32)).tolist() == pytest.approx(np.array([[1.2, 1.6]]))


@settings(deadline=None)
@given(VECTORS, st.floats(0.5, 100))
def test_every_vector_has_the_length(vectors, length):
    norms = np.linalg.norm(l2(length)(vectors), axis=1)
    expected = np.where(vectors.any(axis=1), length, 0)
    np.testing.assert_allclose(norms, expected, rtol=1e-5)


@settings(deadline=None)
@given(VECTORS, st.integers(1, 8))
def test_blocks_change_nothing(vectors, cut):
    whole = standardise([vectors], 1)(vectors)
    blocks = standardise([vectors[:cut], vectors[cut:]], 1)(vectors)
    np.testing.assert_allclose(whole, blocks, atol=1e-5)


def test_standardise_is_the_plain_formula():
    random = np.random.default_rng(1)
    train, val = (random.gamma(2, size=(n, 6)).astype(np.float32) for n in (50, 20))
    plain = (val.astype(np.float64) - train.mean(0, dtype=np.float64)) / train.std(0, dtype=np.float64)
    plain *= 8 / np.linalg.norm(plain, axis=1, keepdims=True)
    np.testing.assert_allclose(standardise([train[:7], train[7:]], 8)(val), plain, atol=1e-4)


def feature_file(path, split, ids, vectors, **attributes):
    made = {"extractor": "VGG-16", "layer": "fc7", "weights": "w", "preprocessing": "caffe"} | attributes
    features = Features(np.array(ids, np.int64), np.array(vectors, np.float32), {})
    write_features(path, {split: features}, made)
    return path


def test_command_joins_shards_and_splits(tmp_path, monkeypatch):
    shards = [
        feature_file(tmp_path / "t1.h5", "train", [9, 2], [[3, 4], [1, 0]], archive_train="a"),
        feature_file(tmp_path / "t2.h5", "train", [5], [[0, 7]], archive_train="a"),
    ]
    val = feature_file(tmp_path / "v.h5", "val", [1], [[6, 8]], archive_val="b")
    out = tmp_path / "f.h5"
    run(monkeypatch, "normalise", *shards, val, "--out", out, "--length", 2)
    train = read_features(out, "train")
    assert train.image_ids.tolist() == [9, 2, 5]
    assert train.vectors.tolist() == pytest.approx(np.array([[1.2, 1.6], [2, 0], [0, 2]]))
    assert read_features(out, "val").vectors.tolist() == pytest.approx(np.array([[1.2, 1.6]]))
    assert train.attributes == {
        "extractor": "VGG-16",
        "layer": "fc7",
        "weights": "w",
        "preprocessing": "caffe",
        "archive_train": "a",
        "archive_val": "b",
        "normalisation": "l2",
        "length": 2.0,
        "width": 2,
        "duplicates_train": 0,
        "duplicates_val": 0,
    }


def test_command_standardises_on_train(tmp_path, monkeypatch):
    train = feature_file(tmp_path / "t.h5", "train", [1, 2], [[1, 5], [3, 5]])
    val = feature_file(tmp_path / "v.h5", "val", [3], [[5, 9]])
    run(
        monkeypatch, "normalise", train, val, "--out", tmp_path / "f.h5", "--normalisation", "standardise",
        "--length", 2,
    )  # fmt: skip
    assert read_features(tmp_path / "f.h5", "val").vectors.tolist() == pytest.approx(np.array([[1.2, 1.6]]))


@pytest.mark.parametrize("name", ["extractor", "layer", "weights", "preprocessing"])
def test_features_made_in_different_ways_are_not_joined(tmp_path, monkeypatch, capsys, name):
    train = feature_file(tmp_path / "t.h5", "train", [1], [[1, 5]])
    val = feature_file(tmp_path / "v.h5", "val", [3], [[5, 9]], **{name: "other"})
    with pytest.raises(SystemExit) as caught:
        run(monkeypatch, "normalise", train, val, "--out", tmp_path / "f.h5")
    assert caught.value.code == 2
    assert f"{val}: {name} is 'other', but" in capsys.readouterr().err
    assert not (tmp_path / "f.h5").exists()


def test_splits_of_different_widths_are_not_joined(tmp_path, monkeypatch, capsys):
    train = feature_file(tmp_path / "t.h5", "train", [1], [[1, 5]])
    val = feature_file(tmp_path / "v.h5", "val", [3], [[5, 9, 2]])
    with pytest.raises(SystemExit):
        run(monkeypatch, "normalise", train, val, "--out", tmp_path / "f.h5")
    assert f"{val}: width is 3, but 2 in {train}" in capsys.readouterr().err


@pytest.mark.parametrize("length", [0, -1, "nan", "inf"])
def test_impossible_lengths(tmp_path, monkeypatch, capsys, length):
    train = feature_file(tmp_path / "t.h5", "train", [1], [[1, 5]])
    val = feature_file(tmp_path / "v.h5", "val", [3], [[5, 9]])
    with pytest.raises(SystemExit):
        run(monkeypatch, "normalise", train, val, "--out", tmp_path / "f.h5", f"--length={length}")
    assert "choose a number above 0" in capsys.readouterr().err


def test_a_shard_given_twice(tmp_path, monkeypatch, capsys):
    train = feature_file(tmp_path / "t.h5", "train", [1, 2], [[1, 5], [2, 2]])
    val = feature_file(tmp_path / "v.h5", "val", [3], [[5, 9]])
    with pytest.raises(SystemExit):
        run(monkeypatch, "normalise", train, train, val, "--out", tmp_path / "f.h5")
    assert "image 1 is there twice; give each shard once" in capsys.readouterr().err


@pytest.mark.parametrize("kind", ["f2", "f8", "i4"])
def test_features_of_any_type_are_normalised_in_single_precision(tmp_path, monkeypatch, kind):
    """In half precision a row of norm 274 has squares that are infinite, and became zeros."""
    random = np.random.default_rng(1)
    rows = np.vstack([random.gamma(2, 40, (3, 40)), np.full((1, 40), 274 / 40**0.5)]).astype(kind)
    for split in ("train", "val"):
        with h5py.File(tmp_path / f"{split}.h5", "w") as file:
            file[f"images_{split}"] = rows
    run(monkeypatch, "normalise", tmp_path / "train.h5", tmp_path / "val.h5", "--out", tmp_path / "f.h5")
    wide = rows.astype(np.float64)
    expected = wide / np.linalg.norm(wide, axis=1, keepdims=True)
    np.testing.assert_allclose(read_features(tmp_path / "f.h5", "val").vectors, expected, rtol=1e-6)
