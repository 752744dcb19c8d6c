"""Damaged files: cut short or overwritten in places, they are named in one line, or what is read is what was written.

Text that people edit (settings, tables, manual interventions) and files of others have no checksums: a damage that
makes another valid text or number of it can't be told from an edit. It is named in one line or read, but never a
traceback.
"""

import errno
import json
import re
import shutil

import h5py
import numpy as np
import pytest
import torch
import yaml
from fakes import PAPERS, ROOT, STANDS_FOR, WORLDS, made_config, made_result, made_summary, write_data
from in_process import code_of
from small_files import (
    album,
    authors_arrays,
    document,
    jpeg,
    made_of,
    picture,
    write_authors_files,
    write_json,
    write_zip,
)
from torch import nn

from cooperation.bots.checkpoint import Checkpoint, load_checkpoint, save_checkpoint
from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork
from cooperation.bots.training import Trainer
from cooperation.commands.settings import read_settings
from cooperation.config.conditions import ORACLE_WORLDS
from cooperation.config.interventions import read_interventions
from cooperation.config.training import Sizes, Training
from cooperation.data import vgg, volumes
from cooperation.data.archives import picture_names, read_member
from cooperation.data.pictures import decode
from cooperation.data.readers.authors import read_data, read_params
from cooperation.data.readers.visdial import read_visdial
from cooperation.data.store import (
    Dialogs,
    FeatureParts,
    Features,
    read_dialogs,
    read_features,
    read_vocabulary,
    rows_of,
    write_dialogs,
    write_features,
)
from cooperation.evaluation.manual import read_manual
from cooperation.evaluation.oracle import play_oracles
from cooperation.evaluation.results import read_ranks, read_result, write_result
from cooperation.game.messages import clean
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.files import InputError
from cooperation.io.hdf5 import opened, read_attributes
from cooperation.reports.claims import check, read_claims
from cooperation.reports.controls import compare as compare_worlds
from cooperation.reports.controls import read_expected
from cooperation.reports.evidence import all_evidence
from cooperation.reports.paper import read_figures, read_published
from cooperation.reports.scores import Scores
from cooperation.reports.statistics import resample
from cooperation.reports.tables import compare

CASES = 40
"""Damages of each kind of file: half are cut short, half are overwritten."""
PUBLISHED = read_published(ROOT / "paper/published.csv", PAPERS)
CPU = torch.device("cpu")
VOCABULARY = Vocabulary.of(["a", "ä", "no", "red", "yes", "UNK"])
SIZES = Sizes(embedding=3, hidden=4, layers=1)
IDS = np.array([30, 7, 200], np.int64)


class Tiny(nn.Module):
    """Stands in for VGG-16, which is half a gigabyte."""

    def __init__(self, **_):
        super().__init__()
        self.features, self.avgpool = nn.Conv2d(3, 2, 3), nn.AdaptiveAvgPool2d(2)
        self.classifier = nn.Sequential(*[nn.Linear(8, 8)] * 6)


def spoken(*shape):
    generator = np.random.default_rng(3)
    lengths = generator.integers(1, 5, shape).astype(np.int32)
    tokens = generator.integers(1, 7, (*shape, 4), np.int32)
    return clean(tokens, lengths)


def dialogs():
    return Dialogs(IDS, spoken(3), spoken(3, 10), spoken(3, 10))


def features():
    return Features(IDS, np.random.default_rng(1).normal(size=(3, 40)).astype(np.float32), {})


def bots():
    torch.manual_seed(1)
    return QuestionerNetwork(VOCABULARY.size, 40, SIZES), AnswererNetwork(VOCABULARY.size, 40, SIZES)


def trainer():
    return Trainer(*bots(), Training(epochs=1), "subject")


def said(messages):
    return [messages.tokens, messages.lengths]


def write_kinds(folder):
    """One good file of every kind."""
    write_dialogs(folder / "dialogs.h5", VOCABULARY, {"train": dialogs(), "val": dialogs()}, {"train_read": 3})
    write_features(folder / "features.h5", {"train": features(), "val": features()}, {"layer": "fc7", "length": 1.0})
    write_result(folder / "result.h5", made_result(np.arange(33).reshape(3, 11)))
    about = {"regime": "dialog", "seed": 1}, made_of(folder), {"device": "cpu"}
    save_checkpoint(folder / "bots.safetensors", Checkpoint(*bots(), VOCABULARY, IDS + 1, SIZES, *about))
    trainer().save(folder / "bots.progress.safetensors")
    write_zip(folder / "visdial.zip", {"visdial.json": json.dumps(document("val"))})
    album(folder / "val2014.zip", {image: jpeg(picture(image)) for image in IDS.tolist()})
    torch.manual_seed(1)
    torch.save(Tiny().state_dict(), folder / "weights.pth")
    arrays = authors_arrays("train", [0, 1, 2]) | authors_arrays("val", [2, 0])
    images = {f"images_{split}": np.random.default_rng(2).random((3, 8), np.float32) for split in ("train", "val")}
    write_authors_files(folder, arrays, images)
    (folder / "paper").mkdir()
    for name in ("claims.csv", "published.csv", "figures.csv", "interventions.csv"):
        shutil.copy(ROOT / "paper" / name, folder / "paper")
    for name in (
        "workflow/controls.csv",
        "workflow/interventions.csv",
        "config.yaml",
        "paper/manual/miniature/figure_2.yaml",
    ):
        shutil.copy(ROOT / name, folder)
    write_json(folder / "visdial.json", document("val"))
    write_reported(folder)


def write_reported(folder):
    """Settings, their results and the dialogs of these, and the results of the scripted bots."""
    conditions = {"none": {}, "caption-p1": {"channel": "caption", "kind": "replace"}}
    settings = made_config(readings=["written"], conditions={"dialog": conditions})
    (folder / "settings.yaml").write_text(yaml.safe_dump(settings))
    write_data(folder / "reported.h5")
    for name in conditions:
        result = made_result(np.arange(33).reshape(3, 11), condition=name)
        write_result(folder / "results/miniature/dialog-seed1/written" / f"{name}.h5", result)
    for world in ORACLE_WORLDS:
        for name, result in play_oracles(world).items():
            write_result(folder / f"results/{world}/{name}.h5", result)


def whole_dialogs(path):
    splits = [read_dialogs(path, split) for split in ("train", "val")]
    parts = [[d.image_ids, *said(d.captions), *said(d.questions), *said(d.answers)] for d in splits]
    return [parts, list(read_vocabulary(path).words), read_attributes(path)]


def whole_features(path):
    found = [read_features(path, split) for split in ("train", "val")]
    return [[one.image_ids, one.vectors, dict(one.attributes)] for one in found]


def shard(path):
    parts = FeatureParts.of([path], "val")
    rows_of(IDS, parts.image_ids, path)
    return [parts.image_ids, np.concatenate(list(parts.blocks(2))), dict(parts.attributes)]


def whole_result(path):
    result, ranks = read_result(path), read_ranks(path)
    return [result.ranks, ranks.ranks, *said(result.answer_heard), *said(result.caption_said), dict(result.attributes)]


def checkpoint(path):
    found = load_checkpoint(path, CPU)
    states = [
        {key: value.numpy() for key, value in bot.state_dict().items()} for bot in (found.questioner, found.answerer)
    ]
    return [states, list(found.vocabulary.words), found.image_ids, found.training, found.made_of, found.provenance]


def progress(path):
    trained = trainer()
    trained.load(path)
    return [{key: value.numpy() for key, value in trained.questioner.state_dict().items()}, trained.history]


def visdial(path):
    found = read_visdial(path, "val")
    return [found.image_ids, found.captions, found.questions, found.answers, found.question_rows, found.answer_rows]


def pictures(path):
    # An archive stays open, but not the one of the last case.
    volumes._open_archive.cache_clear()
    names = picture_names(path)
    rows_of(IDS, np.array(list(names)), path)
    return {image: np.asarray(decode(read_member(path, names[image]), f"{path}")) for image in IDS.tolist()}


def weights(path):
    network, _ = vgg.trained(path)
    return {key: value.numpy() for key, value in network.state_dict().items()}


def authors_dialogs(path):
    words = read_params(path.with_name("visdial_params.json"))
    return [said(read_data(path, split, words, np.arange(3))[0].captions) for split in ("train", "val")]


def authors_images(path):
    return list(FeatureParts.of([path], "val").blocks())


def claims(path):
    found = read_claims(path, PAPERS)
    resampled = resample([Scores.of(path, made_result(np.arange(33).reshape(3, 11)))], 5)
    evidence = all_evidence(resampled, PAPERS, PUBLISHED, {"train_exactly_yes_no": 0.4}, [])
    check(found, evidence, STANDS_FOR, ["written"], "miniature")
    return found.to_numpy().tolist()


def published(path):
    found = read_published(path, PAPERS)
    compare(found, made_summary(5), 2, STANDS_FOR)
    return found.to_numpy().tolist()


def interventions(path):
    return read_interventions(str(path)).conditions


def controls(path):
    found = read_expected(path)
    if found.empty:
        compare_worlds(found, WORLDS, {})
    return found.to_numpy().tolist()


# What notices every damage.
GUARDED = {
    "dialogs.h5": whole_dialogs,
    "features.h5": whole_features,
    "features.h5 as a shard": shard,
    "result.h5": whole_result,
    "bots.safetensors": checkpoint,
    "bots.progress.safetensors": progress,
    "visdial.zip": visdial,
    "val2014.zip": pictures,
    "weights.pth": weights,
}
# What has no checksums.
UNGUARDED = {
    "visdial_data.h5": authors_dialogs,
    "data_img.h5": authors_images,
    "visdial_params.json": read_params,
    "visdial.json": visdial,
    "paper/claims.csv": claims,
    "paper/published.csv": published,
    "paper/figures.csv": lambda path: read_figures(path, PAPERS),
    "paper/interventions.csv": interventions,
    "controls.csv": controls,
    "interventions.csv": interventions,
    "figure_2.yaml": read_manual,
    "config.yaml": read_settings,
    "settings.yaml": read_settings,
}


def damaged(raw, generator):
    """The bytes cut short at a random place, or overwritten in up to eight: the damage in words, and the bytes."""
    if generator.random() < 0.5:
        end = int(generator.integers(len(raw)))
        return f"cut at {end}", raw[:end]
    broken = bytearray(raw)
    places = generator.integers(len(raw), size=generator.integers(1, 9)).tolist()
    for place in places:
        broken[place] ^= int(generator.integers(1, 256))
    return f"overwritten at {places}", bytes(broken)


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    folder = tmp_path_factory.mktemp("good")
    write_kinds(folder)
    return folder


@pytest.fixture(autouse=True)
def tiny(monkeypatch):
    monkeypatch.setattr(vgg, "vgg16", Tiny)


def file_of(kind):
    return kind.partition(" ")[0]


def complaint(read, path):
    """What a reader says of a damaged file, None if it reads it; what it reads."""
    try:
        return None, read(path)
    except InputError as error:
        return str(error), None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", [*GUARDED, *UNGUARDED])
def test_damage_is_named_or_harmless(good, tmp_path, kind):
    read, name = {**GUARDED, **UNGUARDED}[kind], file_of(kind)
    shutil.copytree(good, tmp_path, dirs_exist_ok=True)
    path = tmp_path / name
    whole, raw = read(path), path.read_bytes()
    named = 0
    for seed in range(CASES):
        what, broken = damaged(raw, np.random.default_rng([seed, len(kind)]))
        path.write_bytes(broken)
        said, found = complaint(read, path)
        if said is None and kind in GUARDED:
            np.testing.assert_equal(found, whole, err_msg=what)
        elif said is not None:
            named += 1
            assert "\n" not in said, (what, said)
            assert name in said, (what, said)
    # The damages are real: files that are cut short alone are half of the cases.
    assert named > CASES / 3


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError("no memory"), "not enough memory to read it"),
        (OSError(errno.ECONNRESET, "connection reset"), "connection reset by peer; the file system refuses it"),
        (OSError(errno.EMFILE, "too many open files"), "too many open files"),
        (OSError(errno.ESTALE, "stale file handle"), "stale file handle"),
        (PermissionError(errno.EACCES, "permission denied"), "permission denied"),
    ],
)
def test_what_the_machine_refuses_is_no_damage(good, monkeypatch, error, said):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("cooperation.data.volumes.ZipFile", fail)
    monkeypatch.setattr("cooperation.io.hdf5.h5py.File", fail)
    monkeypatch.setattr("cooperation.reports.paper.pd.read_csv", fail)
    monkeypatch.setattr("cooperation.bots.checkpoint.load", fail)
    for read, name in (
        (read_visdial, "visdial.zip"),
        (read_dialogs, "dialogs.h5"),
        (lambda path, _: read_published(path, PAPERS), "paper/published.csv"),
        (lambda path, _: load_checkpoint(path, CPU), "bots.safetensors"),
    ):
        with pytest.raises(InputError, match=said) as caught:
            read(good / name, "val")
        assert not re.search("damaged|delete it|not a table", str(caught.value))


@pytest.mark.parametrize("bug", [TypeError, AttributeError])
def test_a_bug_of_ours_is_no_damage(good, bug):
    with pytest.raises(bug, match="ours"), opened(good / "dialogs.h5"):
        raise bug("ours")


@pytest.mark.parametrize("kind", ["features.h5", "features.h5 as a shard"])
def test_vectors_that_became_zeros_are_noticed(good, tmp_path, kind):
    # As after a crash of the machine; HDF5's own checksum of zeros is zero.
    path = tmp_path / "features.h5"
    raw = (good / "features.h5").read_bytes()
    vectors = features().vectors.tobytes()
    assert raw.count(vectors) == 2
    path.write_bytes(raw.replace(vectors, bytes(len(vectors))))
    with pytest.raises(InputError, match=r"features\.h5: damaged .*images_\w+ is not what was written"):
        GUARDED[kind](path)


def test_a_flipped_weight_in_an_archive_of_torch_is_noticed(good, tmp_path):
    # Torch reads it without a word.
    weight = torch.load(good / "weights.pth")["features.weight"].numpy().tobytes()
    raw = bytearray((good / "weights.pth").read_bytes())
    raw[raw.index(weight) + 2] ^= 1
    (tmp_path / "weights.pth").write_bytes(raw)
    torch.load(tmp_path / "weights.pth")
    with pytest.raises(InputError, match=r"weights\.pth: not the weights of VGG-16 \(.* is damaged\)"):
        vgg.trained(tmp_path / "weights.pth")


def test_a_file_of_an_older_version_has_to_be_made_again(good, tmp_path):
    shutil.copy(good / "result.h5", tmp_path)
    with h5py.File(tmp_path / "result.h5", "r+") as file:
        del file.attrs["sha256"]
    with pytest.raises(InputError, match=r"result\.h5: damaged .*no checksums, so another program or version made it"):
        read_result(tmp_path / "result.h5")


@pytest.mark.parametrize("changed", ["seed", "rank"])
def test_an_edited_result_is_noticed(good, tmp_path, changed):
    shutil.copy(good / "result.h5", tmp_path)
    with h5py.File(tmp_path / "result.h5", "r+") as file:
        if changed == "seed":
            file.attrs["seed"] = 7
        else:
            file["rank"][0, 0] = 3
    with pytest.raises(InputError, match=r"result\.h5: damaged .*is not what was written"):
        read_ranks(tmp_path / "result.h5")


BOTS = "--checkpoint {bots.safetensors} --dialogs {dialogs.h5} --features {features.h5}"
REPORT = "report --config {settings.yaml} --results results/miniature --dialogs {reported.h5} --resamples 5 --out new"
EXPECTED = "--expected {controls.csv} --interventions {interventions.csv}"
CONTROLS = f"--config {{settings.yaml}} --results results {EXPECTED} --resamples 5"
# Each file in braces is damaged, one at a time, and so are those that a command reads without being told so.
COMMANDS = {
    "train --dialogs {dialogs.h5} --features {features.h5} --hidden 4 --layers 1 --out new.safetensors": (),
    f"play {BOTS} --config {{settings.yaml}} --out new": (),
    f"intervene {BOTS} --manual {{figure_2.yaml}} --baseline {{result.h5}} --out new": (),
    "encode visdial --train {visdial.zip} --val {visdial.zip} --out new.h5": (),
    "encode authors --data {visdial_data.h5} --params {visdial_params.json} --images {data_img.h5} --out new.h5": (),
    "extract --val {val2014.zip} --weights {weights.pth} --out new.h5": (),
    "normalise {features.h5} --out new.h5": (),
    "summarise {result.h5} --resamples 5 --out new.csv": (),
    REPORT: (
        "paper/claims.csv",
        "paper/published.csv",
        "paper/figures.csv",
        "paper/interventions.csv",
        "results/miniature/dialog-seed1/written/none.h5",
    ),
    f"controls {CONTROLS} --out new.md": ("results/scripted/none.h5",),
    f"confirm {CONTROLS}": ("results/scripted/none.h5",),
    "provenance {dialogs.h5} {bots.safetensors}": (),
    "check --config {config.yaml}": (),
}


@pytest.mark.parametrize("share", [0, 0.3, 0.9])
@pytest.mark.parametrize(
    ("words", "name"),
    [
        (words, name)
        for words, untold in COMMANDS.items()
        for name in (*dict.fromkeys(re.findall(r"{(.*?)}", words)), *untold)
    ],
)
def test_commands_say_in_one_line_what_is_cut_short(good, tmp_path, monkeypatch, capsys, words, name, share):
    shutil.copytree(good, tmp_path, dirs_exist_ok=True)
    raw = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(raw[: int(len(raw) * share)])
    volumes._open_archive.cache_clear()
    before = set(tmp_path.rglob("*"))
    monkeypatch.chdir(tmp_path)
    code = code_of(monkeypatch, *words.replace("{", "").replace("}", "").split())
    said = capsys.readouterr().err
    if not code and name in UNGUARDED:
        return
    assert code == 2, said
    assert said.count("\n") == 1
    # A part of a table or of settings is whole in itself, so what is said is what it lacks.
    assert name in said or (name in UNGUARDED and share)
    assert set(tmp_path.rglob("*")) == before
