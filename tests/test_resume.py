"""Training, features and games that are killed by SIGKILL: the same command ends with the very same bytes."""

import os
from contextlib import contextmanager, suppress

import numpy as np
import pytest
from killing import end, kill_itself, killed_again_and_again, start
from small_files import album, jpeg, picture
from test_vgg import Tiny

from cooperation.data.store import Dialogs, Features, write_dialogs, write_features
from cooperation.evaluation.results import read_result
from cooperation.game.messages import clean
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.writing import written_whole

SIZES = ["--embedding", 6, "--hidden", 8, "--layers", 1]
REGIMES = {"dialog": ["--epochs", 2, "--batch", 4], "round": ["--regime", "round", "--epochs", 1, "--batch", 4]}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Made-up dialogs and features: 48 to learn and 30 to play."""
    folder, generator = tmp_path_factory.mktemp("data"), np.random.default_rng(0)

    def messages(*shape):
        lengths = generator.integers(1, 4, size=shape).astype(np.int32)
        tokens = generator.integers(1, 11, size=(*shape, 3))
        return clean(tokens, lengths)

    splits, features = {}, {}
    for split, first, count in (("train", 0, 48), ("val", 100, 30)):
        ids = first + np.arange(count)
        splits[split] = Dialogs(ids, messages(count), messages(count, 10), messages(count, 10))
        features[split] = Features(ids, generator.normal(size=(count, 5)).astype(np.float32), {})
    write_dialogs(folder / "dialogs.h5", Vocabulary.of([*"abcdefghi", "UNK"]), splits, {})
    write_features(folder / "features.h5", features, {})
    return ["--dialogs", folder / "dialogs.h5", "--features", folder / "features.h5"]


def training(data, folder, regime, *words):
    return ["train", *data, "--out", folder / "bots.safetensors", *SIZES, *REGIMES[regime], *words]


@pytest.fixture(scope="module")
def trained(data, tmp_path_factory):
    """The checkpoints of trainings that nothing stopped."""
    made = {}
    for regime in REGIMES:
        folder = tmp_path_factory.mktemp(regime)
        assert end(start(training(data, folder, regime))) == 0
        made[regime] = folder / "bots.safetensors"
    return made


def names(folder):
    """What is there, but for which program made it."""
    return sorted(path.name for path in folder.iterdir() if not path.name.endswith(".origin.json"))


def inode(path):
    """Another one each time that the file was written, or None."""
    with suppress(FileNotFoundError):
        return path.stat().st_ino, path.stat().st_mtime_ns
    return None


@pytest.mark.parametrize(("regime", "steps"), [("dialog", 4), ("round", 2)])
def test_a_training_killed_at_random_moments_ends_with_the_same_bytes(data, trained, regime, steps, tmp_path):
    progress = tmp_path / "bots.progress.safetensors"
    words = training(data, tmp_path, regime, "--save-every", 0)
    assert killed_again_and_again(words, lambda: inode(progress), 5, steps, 5) == 5
    assert (tmp_path / "bots.safetensors").read_bytes() == trained[regime].read_bytes()
    assert names(tmp_path) == ["bots.safetensors"]


def killed_while_it_writes():
    """The third file of tensors is half written when the process is killed."""
    from cooperation.bots import checkpoint

    written = []

    @contextmanager
    def half(path):
        with written_whole(path) as temporary:
            yield temporary
            written.append(path)
            if len(written) == 3:
                os.truncate(temporary, temporary.stat().st_size // 2)
                kill_itself()

    checkpoint.written_whole = half


@pytest.mark.parametrize("regime", REGIMES)
def test_a_training_killed_while_progress_is_written(data, trained, regime, tmp_path):
    words = training(data, tmp_path, regime, "--save-every", 0)
    assert end(start(words, killed_while_it_writes)) == -9
    left = names(tmp_path)
    assert len(left) == 2
    assert "partial" in left[0]
    assert left[1] == "bots.progress.safetensors"
    assert end(start(words)) == 0
    assert (tmp_path / "bots.safetensors").read_bytes() == trained[regime].read_bytes()
    assert names(tmp_path) == ["bots.safetensors"]


def killed_after_the_checkpoint():
    from cooperation.commands import train

    save = train.save_checkpoint
    train.save_checkpoint = lambda *words: (save(*words), kill_itself())


def test_progress_that_outlived_its_training_does_no_harm_and_goes_away(data, trained, tmp_path):
    words = training(data, tmp_path, "dialog")
    left = ["bots.progress.safetensors", "bots.safetensors"]
    assert end(start(words, killed_after_the_checkpoint)) == -9
    assert names(tmp_path) == left
    assert (tmp_path / "bots.safetensors").read_bytes() == trained["dialog"].read_bytes()
    assert end(start(words)) == 0
    assert names(tmp_path) == left[1:]
    assert (tmp_path / "bots.safetensors").read_bytes() == trained["dialog"].read_bytes()
    # Nor is it taken for that of another training.
    assert end(start(words, killed_after_the_checkpoint)) == -9
    assert end(start(training(data, tmp_path, "round"))) == 0
    assert names(tmp_path) == left[1:]
    assert (tmp_path / "bots.safetensors").read_bytes() == trained["round"].read_bytes()


def tiny():
    from cooperation.data import vgg

    vgg.vgg16 = Tiny


def killed_at_the_third_picture():
    from cooperation.data import vgg

    tiny()
    read, seen = vgg.decode, []

    def counted(*words):
        seen.append(words)
        if len(seen) == 3:
            kill_itself()
        return read(*words)

    vgg.decode = counted


def test_a_killed_extraction_repeats_its_shard_alone(tmp_path):
    pictures = album(tmp_path / "train2014.zip", {number: jpeg(picture(number)) for number in range(8)})
    whole, again = tmp_path / "whole", tmp_path / "again"

    def extract(folder, part):
        words = ["--shard", f"{part}/2", "--preprocessing", "small", "--batch", 2, "--workers", 0]
        return ["extract", "--train", pictures, "--out", folder / f"{part}.h5", *words]

    for part in (1, 2):
        assert end(start(extract(whole, part), tiny)) == 0
    assert end(start(extract(again, 1), tiny)) == 0
    first = inode(again / "1.h5")
    assert end(start(extract(again, 2), killed_at_the_third_picture)) == -9
    # What was begun has no result's name, and the next run deletes it.
    assert [name for name in names(again) if ".partial" not in name] == ["1.h5"]
    assert end(start(extract(again, 2), tiny)) == 0
    assert names(again) == ["1.h5", "2.h5"]
    assert inode(again / "1.h5") == first
    for part in (1, 2):
        assert (again / f"{part}.h5").read_bytes() == (whole / f"{part}.h5").read_bytes()


CONDITIONS = (
    "none={}",
    "image={channel: image, kind: noise}",
    "human={script: dialog}",
    "answer={channel: answer, kind: replace, script: dialog}",
)


def test_games_killed_at_random_moments_end_with_the_same_bytes(data, trained, tmp_path):
    def play(folder):
        words = [word for condition in CONDITIONS for word in ("--condition", condition)]
        return ["play", *data, "--checkpoint", trained["dialog"], "--out", folder, "--batch", 10, *words]

    assert end(start(play(tmp_path / "whole"))) == 0
    made = {name: (tmp_path / "whole/written" / name).read_bytes() for name in names(tmp_path / "whole/written")}
    assert len(made) == 4
    killed = tmp_path / "killed"
    killed.mkdir()

    def there():
        """Nothing is there by its name that isn't whole."""
        found = [path for path in killed.glob("written/*.h5") if "partial" not in path.name]
        for path in found:
            assert path.read_bytes() == made[path.name]
            read_result(path)
        return [inode(path) for path in found]

    assert killed_again_and_again(play(killed), there, 3, 1, 3) == 3
    assert {path.name: path.read_bytes() for path in (killed / "written").glob("*.h5")} == made
