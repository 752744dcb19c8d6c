"""Training stops where a number goes wrong, and continues from the middle of an epoch as if it had never stopped."""

import hashlib
import json

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from cooperation.bots import training as module
from cooperation.bots.building import build
from cooperation.bots.checkpoint import Checkpoint, load_checkpoint, load_tensors, save_checkpoint
from cooperation.bots.training import AnotherTrainingError, ProgressFile, Trainer, drawn_batches, shuffled_batches
from cooperation.bots.training_data import training_data
from cooperation.config.training import Sizes, Training
from cooperation.data.store import Dialogs
from cooperation.game.facts import FORMATS
from cooperation.game.messages import clean
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.files import InputError

VOCABULARY = Vocabulary.of([*"abcdefghi", "UNK"])
SIZES = Sizes(embedding=4, hidden=6, layers=1)
CPU = torch.device("cpu")
COUNT = 20
IDS = np.arange(COUNT) + 1000
REGIMES = {"dialog": shuffled_batches, "round": drawn_batches}


def made_up():
    generator = np.random.default_rng(0)

    def messages(*shape):
        lengths = generator.integers(1, 4, size=shape).astype(np.int32)
        tokens = generator.integers(1, 11, size=(*shape, 3))
        return clean(tokens, lengths)

    dialogs = Dialogs(IDS, messages(COUNT), messages(COUNT, 10), messages(COUNT, 10))
    images = generator.normal(size=(COUNT, 5)).astype(np.float32)
    return training_data(dialogs, images, VOCABULARY, FORMATS["marked"](VOCABULARY), CPU)


def trainer(seed=0, fingerprint="", **settings):
    torch.manual_seed(seed)
    bots = build(VOCABULARY.size, 5, SIZES)
    return Trainer(*bots, Training(**{"epochs": 3, "batch": 6} | settings), fingerprint)


def weights(trained):
    return torch.cat([weight.ravel() for bot in (trained.questioner, trained.answerer) for weight in bot.parameters()])


def stopped_at(trained, stop):
    """Make the update raise when `stop` were done, as a kill would end it."""
    update, done = trained.updates.update, []

    def counted(batch):
        if len(done) == stop:
            raise KeyboardInterrupt
        done.append(1)
        return update(batch)

    trained.updates.update = counted


@pytest.mark.parametrize(("regime", "batch", "stops"), [("dialog", 6, (1, 4, 7)), ("round", 10, (1, 2))])
def test_stopped_at_any_batch_it_continues_bit_by_bit(regime, batch, stops, tmp_path):
    data, settings = made_up(), {"regime": regime, "batch": batch, "epochs": 2}
    straight = trainer(**settings)
    list(straight.fit(data))
    for stop in stops:
        path = tmp_path / f"{stop}.progress.safetensors"
        first = trainer(**settings)
        stopped_at(first, stop)
        with pytest.raises(KeyboardInterrupt):
            list(first.fit(data, IDS, ProgressFile(path, 0)))
        again = trainer(seed=9, **settings)
        again.load(path)
        assert (len(again.history), len(again.losses)) == divmod(stop, -(-COUNT // batch))
        list(again.fit(data, IDS, ProgressFile(path, 0)))
        assert torch.equal(weights(again), weights(straight)), stop
        assert again.history == straight.history


def test_an_epoch_is_the_mean_of_its_batches():
    trained, losses = trainer(epochs=1), []
    update = trained.updates.update
    trained.updates.update = lambda batch: losses.append(found := update(batch)) or found
    [epoch] = trained.fit(made_up())
    for name, mean in epoch.losses.items():
        assert mean == pytest.approx(sum(float(each[name]) for each in losses) / 4, rel=1e-6)


@pytest.mark.parametrize(("minutes", "batches"), [(10, []), (2.5, [3]), (1.5, [2, 4])])
def test_progress_is_saved_by_the_clock(minutes, batches, tmp_path, monkeypatch):
    moments = iter(range(0, 6000, 60))
    monkeypatch.setattr(module.time, "monotonic", lambda: next(moments))
    trained, saved = trainer(), []
    monkeypatch.setattr(trained, "save", lambda _: saved.append((len(trained.history), len(trained.losses))))
    list(trained.fit(made_up(), IDS, ProgressFile(tmp_path / "progress.safetensors", minutes)))
    # The clock is read after each of four batches and after each save, and a minute has passed every time.
    assert saved == [moment for epoch in range(3) for moment in [*((epoch, done) for done in batches), (epoch + 1, 0)]]


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("minutes", [0, 10])
def test_a_loss_that_is_not_finite_names_its_batch_and_keeps_earlier_progress(regime, minutes, tmp_path):
    path, data, trained = tmp_path / "progress.safetensors", made_up(), trainer(regime=regime)
    epochs = trained.fit(data, IDS, ProgressFile(path, minutes))
    next(epochs)
    batches = list(REGIMES[regime](COUNT, 6, 1, 1))
    bad = next(number for number, rows in enumerate(batches) if 7 in rows)
    data.images[7] = float("nan")
    named = ", ".join(str(image) for image in IDS[batches[bad]][:5])
    with pytest.raises(InputError) as caught:
        next(epochs)
    assert f"epoch 2, batch {bad + 1} of 4 (images {named}" in str(caught.value)
    assert "loss is nan" in str(caught.value)
    again = trainer(regime=regime)
    again.load(path)
    assert (len(again.history), len(again.losses)) == (1, 0 if minutes else bad)
    assert weights(again).isfinite().all()


def test_an_exploding_loss_stops_training(tmp_path):
    path = tmp_path / "progress.safetensors"
    with pytest.raises(InputError, match=r"epoch 1, batch [2-4] of 4 \(images .*\): the \w+ loss is \d.*e\+"):
        list(trainer(rate=1e5).fit(made_up(), IDS, ProgressFile(path)))
    assert not path.exists()


@pytest.mark.parametrize("minutes", [0, 10])
def test_weights_that_are_not_finite_are_never_saved(minutes, tmp_path):
    path, trained = tmp_path / "progress.safetensors", trainer(epochs=1)
    update, done = trained.updates.update, []

    def spoilt(batch):
        losses = update(batch)
        done.append(1)
        if len(done) == 4:
            trained.questioner.embedding.weight.data[3, 1] = float("inf")
        return losses

    trained.updates.update = spoilt
    with pytest.raises(InputError, match=r"epoch 1, batch 4 of 4 .*: a weight is not finite after it"):
        list(trained.fit(made_up(), IDS, ProgressFile(path, minutes)))
    assert path.exists() == (minutes == 0)
    if path.exists():
        tensors, _ = load_tensors(path)
        assert all(tensor.isfinite().all() for tensor in tensors.values())
        assert len(tensors["losses"]) == 3


def test_losses_are_read_seldom(monkeypatch):
    """Reading a loss synchronises with a GPU: not once a batch."""
    monkeypatch.setattr(module, "CHECK_EVERY", 3)
    trained, reads = trainer(epochs=1, batch=2), []
    check = trained._check_losses
    monkeypatch.setattr(trained, "_check_losses", lambda names: reads.append(len(trained.losses)) or check(names))
    list(trained.fit(made_up()))
    assert reads == [3, 6, 9, 10]


@pytest.mark.parametrize("other", [{"rate": 0.5}, {"fingerprint": "other features"}, {"regime": "round"}])
def test_progress_of_another_training_is_not_continued(other, tmp_path):
    path = tmp_path / "progress.safetensors"
    trainer(fingerprint="these features").save(path)
    trainer(fingerprint="these features").load(path)
    with pytest.raises(AnotherTrainingError, match="another training; delete it"):
        trainer(**{"fingerprint": "these features"} | other).load(path)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    trained, path = trainer(), tmp_path_factory.mktemp("checkpoint") / "bots.safetensors"
    bots = trained.questioner, trained.answerer
    settings = {"regime": "dialog", "seed": 1}
    save_checkpoint(path, Checkpoint(*bots, VOCABULARY, IDS, SIZES, settings, {}, {"device": "cpu"}))
    return path


def test_a_damaged_checkpoint_is_named_wherever_it_is_damaged(checkpoint, tmp_path):
    """Cut anywhere, or with one bit turned: refused in one line, never read wrongly."""
    whole = checkpoint.read_bytes()
    generator, path = np.random.default_rng(1), tmp_path / "bad.safetensors"
    header = 8 + int.from_bytes(whole[:8], "little")
    for number in range(300):
        end = header if number % 2 else len(whole)
        place = int(generator.integers(end))
        if number % 3:
            damaged = bytearray(whole)
            damaged[place] ^= 1 << int(generator.integers(8))
        else:
            damaged = whole[:place]
        path.write_bytes(damaged)
        with pytest.raises(InputError) as caught:
            load_checkpoint(path, CPU)
        assert str(caught.value).startswith(f"{path}: damaged or not a checkpoint")
        assert "\n" not in str(caught.value)


def test_other_files_are_refused_as_checkpoints(checkpoint, tmp_path):
    progress, foreign = tmp_path / "progress.safetensors", tmp_path / "foreign.safetensors"
    trainer().save(progress)
    with pytest.raises(InputError, match="the progress of a training"):
        load_checkpoint(progress, CPU)
    save_file(load_file(checkpoint), foreign)
    with pytest.raises(InputError, match="not a checkpoint of this program"):
        load_checkpoint(foreign, CPU)
    with pytest.raises(InputError, match="no such checkpoint"):
        load_checkpoint(tmp_path / "none.safetensors", CPU)


def test_the_checksum_covers_tensors_and_description(checkpoint):
    """Computed once more, plainly."""
    with safe_open(checkpoint, "numpy") as file:
        recorded, _, description = file.metadata()["cooperation"].partition(" ")
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    plain = hashlib.sha256(description.encode())
    for name in sorted(tensors):
        kind = {"float32": "torch.float32", "int64": "torch.int64"}[str(tensors[name].dtype)]
        plain.update(f"{name} {kind} {tensors[name].shape}".encode())
        plain.update(tensors[name].tobytes())
    assert recorded == plain.hexdigest()
    assert json.loads(description)["provenance"] == {"device": "cpu"}
