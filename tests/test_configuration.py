"""config.yaml: what is shipped is accepted, and each kind of mistake is one line with the key and the choices."""

import json
import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest
import yaml

import cooperation
from cooperation.config.conditions import Condition, conditions_help, read_condition
from cooperation.config.experiment import CONTROLS, PAPER, Game, check_given, read, read_dataset
from cooperation.config.preparation import Normalisation
from cooperation.config.training import Sizes, Training
from cooperation.game.interventions import CHANNELS, kinds
from cooperation.io.files import InputError
from cooperation.io.settings import typed

SHIPPED = yaml.safe_load((Path(__file__).parent.parent / "config.yaml").read_text())


@pytest.mark.parametrize("dataset", SHIPPED["datasets"])
def test_every_shipped_data_set_is_accepted(dataset):
    experiment = read({**SHIPPED, "dataset": dataset})
    assert experiment.dataset == dataset
    assert {experiment.models[name].regime for name in experiment.conditions} <= set(experiment.data.training)


def condition(**settings):
    return read_condition(settings, "here")


def test_what_is_not_said_has_its_default():
    experiment = read(SHIPPED)
    assert experiment.conditions["dialog"]["none"] == Condition()
    assert experiment.conditions["dialog"]["caption-p0.2"] == condition(channel="caption", kind="replace", p=0.2)
    assert experiment.conditions["dialog"]["caption-p1"] == condition(channel="caption", kind="replace", p=1.0)
    assert experiment.data.training["round"].regime == "round"
    assert experiment.data.sizes.layers >= 1


@pytest.mark.parametrize(
    ("settings", "needed"),
    [
        ({}, False),
        ({"channel": "image", "kind": "noise", "start": 5}, True),
        ({"channel": "question", "kind": "typos", "start": 2}, True),
        ({"channel": "question", "kind": "typos"}, False),
        ({"channel": "answer", "kind": "replace", "start": 5, "script": "dialog"}, False),
        ({"channel": "image", "kind": "noise", "start": 5, "facts": "bare"}, False),
        ({"channel": "answer", "kind": "swap"}, True),
        ({"channel": "answer", "kind": "swap", "script": "dialog"}, False),
        ({"channel": "image", "kind": "swap"}, False),
    ],
)
def test_which_conditions_need_the_baseline(settings, needed):
    found = condition(**settings)
    assert found.needs_baseline is needed
    swaps_messages = settings.get("kind") == "swap" and settings["channel"] == "answer"
    assert found.branches is (needed and not swaps_messages)


def test_a_condition_that_sets_the_facts_is_played_under_the_first_reading():
    experiment = read({**changed((*D, "new"), {"facts": "plain"}), "seeds": [1]})
    played = [(game.condition, game.reading) for game in experiment.games("miniature") if game.model == "dialog"]
    assert [reading for name, reading in played if name == "new"] == ["written"]
    assert [reading for name, reading in played if name == "none"] == ["written", "released"]


def test_the_games_of_a_data_set():
    conditions = {
        "none": {},
        "image": {"channel": "image", "kind": "noise", "start": 5},
        "none-bare": {"facts": "bare"},
        "image-bare": {"channel": "image", "kind": "noise", "facts": "bare"},
    }
    given = {**SHIPPED, "conditions": {"dialog": conditions, "w1": {"none": {}}}, "seeds": [1, 3]}
    given["models"] = SHIPPED["models"] | {"w1": {"regime": "dialog", "image_weight": 1}}
    experiment = read(given)
    games = experiment.games("miniature")
    assert len(games) == len(set(games)) == 2 * (2 * 2 + 2 + 2)
    assert [game.condition for game in games if game.seed == 3 and game.reading == "written"] == [*conditions, "none"]
    assert [game.condition for game in games if game.seed == 3 and game.reading == "released"] == [
        "none",
        "image",
        "none",
    ]
    assert games[-1] == Game("miniature", "w1", 3, "released", "none")
    assert games[-1].path == "results/miniature/w1-seed3/released/none.h5"
    # A world of the controls: its own conditions, as written.
    world = experiment.games("nothing")
    assert {(game.model, game.seed, game.reading) for game in world} == {("dialog", seed, "written") for seed in (1, 3)}
    assert [game.condition for game in world if game.seed == 1] == list(SHIPPED["controls"]["conditions"]["dialog"])


def test_controls_may_be_left_out():
    experiment = read(SHIPPED)
    assert experiment.world_conditions["dialog"]["image-swap"] == condition(channel="image", kind="swap")
    bare = read({key: value for key, value in SHIPPED.items() if key != "controls"})
    assert (bare.worlds, bare.world_conditions, bare.controlled) == ((), {}, False)


def test_a_model_is_trained_as_its_regime_on_the_data_set_but_for_what_it_says():
    given = changed(("models", "w1"), {"regime": "dialog", "image_weight": 1, "epochs": 3})
    experiment = read(given)
    usual, w1, rounds = (experiment.training("miniature", name, 7) for name in ("dialog", "w1", "round"))
    assert usual == Training(epochs=10, batch=64, rate=0.004, image_weight=10.0, seed=7)
    assert w1 == Training(epochs=3, batch=64, rate=0.004, image_weight=1.0, seed=7)
    assert rounds == Training("round", epochs=5, batch=128, rate=0.005, seed=7)


def test_which_models_stand_for_the_papers_is_said_in_one_place():
    assert read(SHIPPED).stands_for == {"dialog": ("dialog",), "round": ("round",)}
    given = changed(("models", "w1"), {"regime": "dialog"})
    given["paper"] = {"dialog": ["dialog", "w1"]}
    assert read(given).stands_for == {"dialog": ("dialog", "w1")}
    del given["paper"]
    assert read(given).stands_for == {"dialog": ("dialog",), "round": ("round",)}


def test_the_seeds_of_training_game_and_bootstrap_are_apart():
    experiment = read({**SHIPPED, "seeds": [4], "game_seed": 5, "bootstrap_seed": 6})
    assert (experiment.seeds, experiment.game_seed, experiment.bootstrap_seed) == ((4,), 5, 6)
    without = read({key: value for key, value in SHIPPED.items() if not key.endswith("_seed")})
    assert (without.game_seed, without.bootstrap_seed) == (1, 0)


def test_numbers_from_the_command_line_come_as_texts():
    config = changed((*D, "new"), {"channel": "answer", "kind": "drop", "p": "0.3", "start": "4"})
    config["seeds"] = ["1", "2"]
    experiment = read(typed(config, SHIPPED))
    assert experiment.conditions["dialog"]["new"] == condition(channel="answer", kind="drop", p=0.3, start=4)
    assert experiment.seeds == (1, 2)


def test_texts_that_a_file_quotes_stay_texts():
    written = changed(("datasets", "2014"), SHIPPED["datasets"]["miniature"]) | {"dataset": "2014"}
    assert read(typed(deepcopy(written), written)).dataset == "2014"
    assert typed({"a": ["1", "2"], "b": "3"}, {"a": ["1", "3"], "b": "3"}) == {"a": ["1", 2], "b": "3"}


def test_a_hash_of_digits_stays_a_text():
    digits = changed((*V, "downloads", "val2014.zip", "sha256"), "12345678")
    data = read({**digits, "dataset": "visdial_0.9"}).data
    assert data.inputs.downloads["val2014.zip"].sha256 == "12345678"


def test_a_data_set_can_be_read_alone():
    name, data = read_dataset({"dataset": "visdial_0.9", "datasets": SHIPPED["datasets"]})
    assert (name, data) == ("visdial_0.9", read({**SHIPPED, "dataset": "visdial_0.9"}).data)
    assert data.inputs.downloads["train2014.zip"].size == 13_510_573_713
    with pytest.raises(InputError, match="dataset: unknown 'x'"):
        read_dataset({"dataset": "x", "datasets": SHIPPED["datasets"]})


def test_the_papers_own_data_have_the_papers_settings():
    for name in ("visdial_0.9", "visdial_authors"):
        data = read({**SHIPPED, "dataset": name}).data
        assert data.sizes == Sizes(300, 512, 2)
        assert data.training == {"dialog": Training(), "round": Training(regime="round")}
        assert data.steps["features"] == Normalisation("l2", 1.0)
        assert data.playing.candidates == 40_000


def changed(path, value):
    # An alias of YAML stands for the same object, so that a change of one data set would be another's.
    config = json.loads(json.dumps(SHIPPED))
    *parents, last = path
    place = config
    for key in parents:
        place = place[key]
    if value is None:
        del place[last]
    else:
        place[last] = value
    return config


M = ("datasets", "miniature")
V = ("datasets", "visdial_0.9")
A = ("datasets", "visdial_authors")
G = ("datasets", "genuine")
D = ("conditions", "dialog")
ANSWER = {"channel": "answer", "kind": "replace"}
SWAP = {"channel": "answer", "kind": "swap"}
NOISE = {"channel": "image", "kind": "noise"}


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("datset",), "x", ["datset", "dataset"]),
        (("dataset",), "minature", ["dataset", "minature", "miniature", "genuine"]),
        (("dataset",), ["miniature"], ["dataset", "miniature"]),
        (("seeds",), None, ["seeds", "missing"]),
        (("seeds",), 1, ["seeds", "[1, 2, 3]"]),
        (("seeds",), [], ["seeds"]),
        (("seeds",), ["one"], ["seeds", "whole number"]),
        (("seeds",), [1, 1], ["seeds", "twice"]),
        (("readings",), ["writen"], ["readings", "writen", "written", "released"]),
        (("conditions",), [], ["conditions", "keys"]),
        (("conditions", "dialogue"), {}, ["conditions", "dialogue", "dialog", "round"]),
        ((*D, "none"), None, ["conditions.dialog", "none"]),
        ((*D, "new"), {"chanel": "image"}, ["conditions.dialog.new", "chanel", "channel"]),
        ((*D, "new"), {"channel": "images", "kind": "noise"}, ["conditions.dialog.new.channel", "images", "image"]),
        ((*D, "new"), {"channel": "image", "kind": "nois"}, ["conditions.dialog.new.kind", "nois", "noise, swap"]),
        ((*D, "new"), {"channel": "image", "kind": "typos"}, ["conditions.dialog.new.kind", "typos", "noise, swap"]),
        ((*D, "new"), {"kind": "noise"}, ["conditions.dialog.new", "channel", "noise", "image"]),
        ((*D, "new"), ANSWER | {"p": "much"}, ["conditions.dialog.new.p", "number"]),
        ((*D, "new"), ANSWER | {"p": True}, ["conditions.dialog.new.p", "number"]),
        ((*D, "new"), ANSWER | {"p": 1.5}, ["conditions.dialog.new", "1.5", "at most 1"]),
        ((*D, "new"), ANSWER | {"start": 0}, ["conditions.dialog.new", "start", "10"]),
        ((*D, "new"), ANSWER | {"start": 11}, ["conditions.dialog.new", "start"]),
        ((*D, "new"), ANSWER | {"start": 2.5}, ["conditions.dialog.new.start", "whole number"]),
        (
            (*D, "new"),
            {"channel": "caption", "kind": "replace", "start": 2},
            ["conditions.dialog.new", "start", "caption"],
        ),
        ((*D, "new"), {"channel": "question", "kind": "negate"}, ["conditions.dialog.new.kind", "negate", "swap"]),
        ((*D, "new"), SWAP | {"p": 0.5}, ["conditions.dialog.new.p", "channel, kind, start"]),
        ((*D, "new"), SWAP | {"facts": "bare"}, ["conditions.dialog.new", "facts"]),
        ((*D, "new"), {"facts": "bear"}, ["conditions.dialog.new.facts", "bear", "bare"]),
        ((*D, "new"), "image", ["conditions.dialog.new", "keys"]),
        (("models", "w"), {}, ["models.w", "regime", "dialog, round"]),
        (("models", "w"), {"regime": "dialogs"}, ["models.w.regime", "dialogs", "dialog, round"]),
        (("models", "w"), {"regime": "dialog", "epoch": 1}, ["models.w.epoch", "epochs"]),
        (("models", "w"), {"regime": "dialog", "seed": 1}, ["models.w.seed", "seeds"]),
        (("models", "w"), {"regime": "round", "image_weight": 3}, ["models.w", "image_weight", "no effect"]),
        (("models", "w"), {"regime": "dialog", "image_weight": float("inf")}, ["models.w.image_weight", "inf"]),
        (("models", "w"), {"regime": "dialog", "image_weight": 10**400}, ["models.w.image_weight", "number"]),
        (("models", "../w"), {"regime": "dialog"}, ["models", "../w", "letters"]),
        (("models", "Dialog"), {"regime": "dialog"}, ["models", "'Dialog'", "'dialog'", "case"]),
        (("models",), [], ["models", "keys"]),
        (("paper", "dialogue"), ["dialog"], ["paper", "dialogue", "dialog, round"]),
        (("paper", "dialog"), ["w9"], ["paper.dialog", "w9", "dialog, round"]),
        (("paper", "dialog"), "dialog", ["paper.dialog", "list", "[dialog]"]),
        (("game_seed",), "x", ["game_seed", "whole number"]),
        (("game_seed",), True, ["game_seed", "whole number"]),
        (("bootstrap_seed",), -1, ["bootstrap_seed", "from 0 to"]),
        (("controls", "world"), [], ["controls", "world", "worlds"]),
        (("controls", "worlds"), ["nowhere"], ["controls.worlds", "nowhere", "nothing"]),
        (("controls", "worlds"), None, ["controls.worlds"]),
        (("datasets", "nothing", "training"), {"round": {}}, ["datasets.nothing.training", "dialog", "missing"]),
        (("controls", "conditions", "dialog", "none"), None, ["controls.conditions.dialog", "none"]),
        (("controls", "conditions", "dialog", "x"), ANSWER | {"p": 2}, ["controls.conditions.dialog.x", "p"]),
        (
            ("controls", "conditions", "dialog", "x"),
            {"channel": "question", "kind": "typos", "script": "dialog"},
            ["controls.conditions.dialog.x", "channel: question", "written"],
        ),
        ((*D, "../new"), {}, ["conditions.dialog", "../new", "letters"]),
        ((*M, "source"), "visdail", ["datasets.miniature.source", "visdail", "visdial"]),
        ((*M, "sises"), {}, ["datasets.miniature", "sises", "sizes"]),
        ((*M, "threads"), "two", ["datasets.miniature.threads", "whole number"]),
        ((*M, "raw"), {"picture": 2}, ["datasets.miniature.raw", "picture", "0 to 1"]),
        ((*M, "text"), {"treshold": 5}, ["datasets.miniature.text", "treshold", "threshold"]),
        ((*M, "sizes"), {"hidden": 64.5}, ["datasets.miniature.sizes.hidden", "whole number"]),
        ((*M, "training", "dialog"), {"epoch": 3}, ["datasets.miniature.training.dialog", "epoch", "epochs"]),
        (
            (*M, "training", "dialog"),
            {"regime": "round"},
            ["training.dialog.regime", "leave it out"],
        ),
        ((*M, "training", "dialog"), {"seed": 3}, ["datasets.miniature.training.dialog.seed", "seeds"]),
        (
            (*M, "training", "dialog"),
            {"epochs": -1},
            ["training.dialog", "epochs", "-1", "at least 1"],
        ),
        ((*M, "training", "dialog"), {"batch": 0}, ["batch", "at least 1"]),
        ((*M, "training", "round"), {"image_weight": 3.0}, ["datasets.miniature.training.round", "no effect"]),
        ((*M, "sizes"), {"layers": 0}, ["datasets.miniature.sizes", "layers", "at least 1"]),
        ((*M, "playing"), {"candidates": -5}, ["datasets.miniature.playing", "candidates", "at least 1"]),
        ((*D, "new"), NOISE | {"facts": "plain"}, ["conditions.dialog.new", "none-plain"]),
        ((*D, "new"), NOISE | {"p": 0.2}, ["conditions.dialog.new.p", "channel, kind, start"]),
        ((*D, "new"), {"channel": "answer", "kind": "negate", "p": 0.2}, ["conditions.dialog.new.p", "kind, start"]),
        ((*D, "new"), SWAP | {"script": "questions"}, ["conditions.dialog.new", "script"]),
        ((*D, "new"), {"p": 0.3}, ["conditions.dialog.new.p", "channel, kind, start"]),
        ((*D, "new"), {"start": 3}, ["conditions.dialog.new", "start", "nothing is perturbed"]),
        ((*D, "new"), ANSWER | {"p": 0}, ["conditions.dialog.new", "p", "above 0"]),
        ((*D, "new"), NOISE | {"script": "dialog"}, ["conditions.dialog.new", "script", "image"]),
        ((*D, "HUMAN"), {}, ["conditions.dialog", "'HUMAN'", "'human'", "case"]),
        (("datasets", "Miniature"), {"source": "miniature"}, ["datasets", "'miniature'", "'Miniature'", "case"]),
        ((*M, "manual", "dialog"), ["a/figure_x.yaml", "a/figure_X.yaml"], ["datasets.miniature.manual", "case"]),
        (("seeds",), [-1], ["seeds", "-1", "from 0 to"]),
        (("seeds",), [2**31], ["seeds", "from 0 to 2,147,483,647"]),
        (("readings",), "written", ["readings", "texts", "[written]"]),
        ((*M, "raw"), {"seed": -1}, ["datasets.miniature.raw", "seed", "from 0"]),
        ((*M, "raw"), {"train": 0}, ["datasets.miniature.raw", "train", "at least 1"]),
        ((*M, "extraction"), {"seed": 2**40}, ["datasets.miniature.extraction", "seed"]),
        ((*M, "extraction"), {"workers": -1}, ["datasets.miniature.extraction", "workers", "at least 0"]),
        ((*M, "features"), {"length": 0.0}, ["datasets.miniature.features", "length", "above 0"]),
        (("datasets", "genuine", "raw"), {"seed": -3}, ["datasets.genuine.raw", "seed", "from 0"]),
        (("datasets", "genuine", "raw"), {"pixels": 0}, ["datasets.genuine.raw", "pixels", "at least"]),
        ((*V, "raw"), {"tries": 0}, ["datasets.visdial_0.9.raw", "tries", "at least 1"]),
        ((*V, "raw"), {"timeout": -1.0}, ["datasets.visdial_0.9.raw", "timeout"]),
        ((*M, "files"), {"x": "y"}, ["datasets.miniature.files", "'x'", "leave it out"]),
        ((*M, "training", "rounds"), {}, ["datasets.miniature.training", "rounds", "round"]),
        ((*M, "manual", "dialog"), "figure_2.yaml", ["datasets.miniature.manual.dialog", "list"]),
        ((*M, "manual", "dialog"), ["paper/manual/two.yaml"], ["miniature.manual", "two.yaml", "figure_2.yaml"]),
        ((*M, "manual", "dialog"), ["figure_1a.yaml"], ["datasets.miniature.manual", "figure_1a.yaml"]),
        ((*M, "manual", "dialog"), ["a/figure_2.yaml", "b/figure_2.yaml"], ["miniature.manual", "same figure"]),
        ((*M, "manual", "round"), ["b/figure_2.yaml"], ["datasets.miniature.manual", "same figure"]),
        ((*M, "manual", "w9"), ["b/figure_9.yaml"], ["datasets.miniature.manual, figure 9", "w9", "dialog, round"]),
        ((*M, "training", "round"), None, ["datasets.miniature.training", "round", "missing"]),
        ((*M, "threads"), 0, ["datasets.miniature.threads", "at least 1"]),
        (("conditions", "dialog"), {"none": {}, False: ANSWER}, ["conditions.dialog", "False", "name"]),
        (("conditions", "dialog"), {"none": {}, 1: ANSWER}, ["conditions.dialog", "1", "name"]),
        ((*M, "training", "dialog", "rate"), float("inf"), ["rate", "inf", "a number"]),
        ((*M, "training", "dialog", "rate"), 10**400, ["rate", "a number"]),
        ((*M, "shards"), 2.0, ["datasets.miniature.shards", "whole number"]),
        ((*M, "downloads"), {}, ["datasets.miniature", "downloads", "shards"]),
        ((*G, "dialogs"), {"dialogs": 3}, ["datasets.genuine.dialogs.dialogs", "3", "file"]),
        ((*G, "dialogs"), {"dialogs": [3]}, ["datasets.genuine.dialogs.dialogs", "[3]", "texts"]),
        ((*G, "dialogs"), {"dialogs": []}, ["datasets.genuine.dialogs.dialogs", "list"]),
        ((*G, "dialogs"), {"dialogs": ""}, ["datasets.genuine.dialogs.dialogs", "path"]),
        ((*G, "dialogs"), {"dialogs": ["a/b", "a/b"]}, ["datasets.genuine.dialogs.dialogs", "twice"]),
        ((*G, "dialogs"), {"dialogs": "x.json"}, ["datasets.genuine.dialogs.dialogs", "x.json", "./x.json"]),
        ((*G, "dialogs"), "x.json", ["datasets.genuine.dialogs", "x.json", "keys"]),
        ((*G, "dialogs"), {}, ["datasets.genuine.dialogs", "missing", "`dialogs: {dialogs: FILE}`"]),
        ((*G, "pictures"), {"test": "a/b"}, ["datasets.genuine.pictures", "test", "train, val"]),
        ((*A, "text"), {}, ["datasets.visdial_authors", "text", "features"]),
        ((*A, "pictures"), {}, ["datasets.visdial_authors", "pictures", "features"]),
        ((*A, "dialogs", "image"), "a/x.h5", ["datasets.visdial_authors.dialogs", "image", "images"]),
        ((*V, "dialogs", "train"), "a.zip", ["visdial_0.9.dialogs.train", "a.zip", "visdial_0.9_train.zip", "./a.zip"]),
        (
            (*V, "pictures", "val"),
            None,
            ["visdial_0.9.pictures", "'val'", "`pictures: {train: FILE, val: FILE}`"],
        ),
        ((*V, "weights"), ["a/b"], ["datasets.visdial_0.9.weights", "path"]),
        ((*V, "weights"), "vgg.pth", ["datasets.visdial_0.9.weights", "vgg.pth", "vgg16-397923af.pth"]),
        ((*V, "downloads", "more.zip"), {"addresses": ["x"]}, ["visdial_0.9.downloads.more.zip", "nothing reads it"]),
        ((*V, "files", "train.zip"), "x", ["datasets.visdial_0.9.files", "train.zip", "train2014.zip"]),
        ((*V, "downloads", "val2014.zip"), None, ["visdial_0.9.pictures.val", "val2014.zip"]),
        ((*V, "downloads", "two.pth"), {"addresses": ["x"]}, ["visdial_0.9.downloads.two.pth", "`weights: two.pth`"]),
        ((*V, "downloads", "val2014.zip", "adresses"), ["x"], ["val2014.zip", "adresses", "addresses"]),
        ((*V, "downloads", "val2014.zip", "addresses"), "http://x", ["val2014.zip.addresses", "list"]),
        ((*V, "downloads", "val2014.zip", "addresses"), [], ["val2014.zip.addresses", "list"]),
        ((*V, "downloads", "val2014.zip", "size"), "6 GB", ["val2014.zip.size", "6 GB", "bytes"]),
        ((*V, "downloads", "val2014.zip", "sha256"), 39792321, ["val2014.zip.sha256", "39792321", "quotes"]),
        ((*V, "downloads", "val2014.zip", "sha256"), "397923", ["val2014.zip.sha256", "397923", "hexadecimal"]),
    ],
)
def test_mistakes_are_named(path, value, said):
    with pytest.raises(InputError) as error:
        read(changed(path, value))
    message = str(error.value)
    assert "\n" not in message
    assert all(word in message for word in said), message


def test_what_is_not_the_files_to_set_is_no_choice():
    with pytest.raises(InputError) as error:
        read(changed((*M, "training", "dialog"), {"epoch": 3}))
    choices = str(error.value).partition("choose from ")[2].split(", ")
    assert {"epochs", "batch"} < set(choices)
    assert not {"regime", "seed"} & set(choices)


def test_manual_files_count_where_they_are_played(tmp_path, monkeypatch):
    config = changed(("conditions", "dialog"), None)
    manual = [f"paper/manual/visdial/figure_{number}.yaml" for number in (2, 3, 4, 5)]
    for path in (*PAPER, *CONTROLS, *manual):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    monkeypatch.chdir(tmp_path)
    check_given(read(config))
    # A world of the controls has no controls of its own.
    (tmp_path / "workflow/controls.csv").unlink()
    check_given(read({**config, "dataset": "nothing"}))


def test_what_is_made_of_a_users_files_is_enough(tmp_path, monkeypatch):
    for path in (*PAPER, *CONTROLS, "data/genuine/dialogs.h5"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    monkeypatch.chdir(tmp_path)
    config = {**changed((*G, "dialogs", "dialogs"), "./gone.json"), "dataset": "genuine"}
    with pytest.raises(InputError, match=r"gone\.json"):
        check_given(read(config))
    (tmp_path / "data/genuine/features.h5").touch()
    check_given(read(config))


def test_a_users_copy_of_a_download_must_be_there_until_it_was_checked(tmp_path, monkeypatch):
    manual = [f"paper/manual/visdial/figure_{number}.yaml" for number in (2, 3, 4, 5)]
    for path in (*PAPER, *CONTROLS, *manual):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    monkeypatch.chdir(tmp_path)
    config = {**changed(("datasets", "visdial_0.9", "files"), {"train2014.zip": "gone.zip"}), "dataset": "visdial_0.9"}
    with pytest.raises(InputError, match=r"^gone\.zip: no such file; .* datasets\.visdial_0\.9\.files\.train2014\.zip"):
        check_given(read(config))
    for there in ("gone.zip", "data/visdial_0.9/raw/train2014.zip", "data/visdial_0.9/raw/train2014.zip.ready"):
        (tmp_path / there).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / there).touch()
        check_given(read(config))
        (tmp_path / there).unlink()


def test_a_whole_number_is_the_same_setting():
    whole = read(changed((*M, "features", "length"), 8))
    assert whole == read(changed((*M, "features", "length"), 8.0))
    assert repr(whole) == repr(read(changed((*M, "features", "length"), 8.0)))


def test_names_that_yaml_reads_as_numbers_can_be_listed():
    with pytest.raises(InputError, match="unknown 'x'; choose from 5"):
        read_dataset({"dataset": "x", "datasets": {5: {}}})


NO_RULE_MAKES = {
    "paper/published.csv": "git checkout -- paper/published.csv",
    "paper/claims.csv": "git checkout -- paper/claims.csv",
    "paper/figures.csv": "git checkout -- paper/figures.csv",
    "paper/interventions.csv": "git checkout -- paper/interventions.csv",
    "workflow/controls.csv": "git checkout -- workflow/controls.csv",
    "workflow/interventions.csv": "git checkout -- workflow/interventions.csv",
    "paper/manual/miniature/figure_4.yaml": "or correct datasets.miniature.manual",
    "./dialogs.json": "or give its path as datasets.genuine.dialogs.dialogs",
}


@pytest.mark.parametrize("gone", NO_RULE_MAKES)
def test_a_file_that_no_rule_makes_must_be_there(tmp_path, monkeypatch, gone):
    dataset = "genuine" if gone == "./dialogs.json" else "miniature"
    experiment = read({**changed((*G, "dialogs", "dialogs"), "./dialogs.json"), "dataset": dataset})
    for path in NO_RULE_MAKES:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    for path in (*NO_RULE_MAKES, *SHIPPED["datasets"]["miniature"]["manual"]["dialog"]):
        (tmp_path / path).touch()
    monkeypatch.chdir(tmp_path)
    check_given(experiment)
    (tmp_path / gone).unlink()
    with pytest.raises(InputError) as error:
        check_given(experiment)
    assert str(error.value).startswith(f"{gone}: no such file")
    assert str(error.value).endswith(NO_RULE_MAKES[gone])


def test_reading_it_needs_nothing_but_the_standard_library():
    # The Snakefile is read where only Snakemake is installed.
    # -S and -I: without all that is installed, this package too.
    source = Path(cooperation.__file__).parents[1]
    code = f"""
import json, sys
sys.path.append({str(source)!r})
from cooperation.config.experiment import read
from cooperation.config.conditions import conditions_help
experiment = read(json.load(sys.stdin))
outside = {{name.partition(".")[0] for name in sys.modules}} - set(sys.stdlib_module_names) - {{"cooperation"}}
print(experiment.dataset, len(experiment.games(experiment.dataset)), len(conditions_help()), outside)
"""
    run = [sys.executable, "-S", "-I", "-c", code]
    done = subprocess.run(run, input=json.dumps(SHIPPED), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    games = read(SHIPPED).games(SHIPPED["dataset"])
    assert done.stdout.split(maxsplit=3) == [
        SHIPPED["dataset"],
        str(len(games)),
        str(len(conditions_help())),
        "{'__main__'}\n",
    ]


OLD = {
    # As config.yaml once was: what it means now, and the words that say so.
    "{channel: image}": "{channel: image, kind: noise}",
    "{channel: image, by: noise, start: 5}": "{channel: image, kind: noise, start: 5}",
    "{channel: image, by: swap}": "{channel: image, kind: swap}",
    "{channel: caption, p: 0.2}": "{channel: caption, kind: replace, p: 0.2}",
    "{channel: question, p: 0.8, start: 5}": "{channel: question, kind: replace, p: 0.8, start: 5}",
    "{channel: answer}": "{channel: answer, kind: replace}",
    "{channel: answer, by: noise, p: 0.5}": "{channel: answer, kind: replace, p: 0.5}",
    "{channel: answer, by: swap, script: dialog}": "{channel: answer, kind: swap, script: dialog}",
    "{by: swap, channel: caption}": "{channel: caption, kind: swap}",
    "{channel: negation}": "{channel: answer, kind: negate}",
    "{channel: negation, start: 4}": "{channel: answer, kind: negate, start: 4}",
    "{channel: negation, by: noise}": "{channel: answer, kind: negate}",
    "{channel: none}": "{}",
    "{channel: none, script: dialog}": "{script: dialog}",
    "{channel: answer, facts: bare}": "{channel: answer, kind: replace, facts: bare}",
    # Half of each.
    "{channel: question, by: swap, kind: swap}": "{channel: question, kind: swap}",
    "{channel: question, by: noise, kind: typos, p: 0.5}": "{channel: question, kind: typos, p: 0.5}",
}


@pytest.mark.parametrize(("old", "new"), OLD.items())
def test_an_old_spelling_of_a_condition_is_refused_with_the_new_one(old, new):
    given = yaml.safe_load(old)
    with pytest.raises(InputError) as error:
        read(changed((*D, "x"), given))
    # Key after key as they were given.
    assert str(error.value).partition("; other kinds")[0] == f"conditions.dialog.x: {old} is now written {new}"
    read_condition(yaml.safe_load(new), "here")


def test_an_old_spelling_of_a_key_is_refused_with_the_new_one():
    with pytest.raises(InputError) as error:
        read({**SHIPPED, "weights": [0.1, 10]})
    said = str(error.value)
    assert said.startswith("config: weights is now written models: {w0.1: ")
    models, _ = yaml.safe_load(said.partition("now written ")[2].partition(", with")[0]), said
    assert models == {
        "models": {
            "w0.1": {"regime": "dialog", "image_weight": 0.1},
            "w10": {"regime": "dialog", "image_weight": 10},
        }
    }
    experiment = read({**SHIPPED, "models": SHIPPED["models"] | models["models"]})
    assert experiment.training("miniature", "w0.1", 1).image_weight == 0.1

    listed = ["paper/manual/miniature/figure_2.yaml", "paper/manual/miniature/figure_3.yaml"]
    with pytest.raises(InputError) as error:
        read(changed((*M, "manual"), listed))
    new = str(error.value).partition("] is now written ")[2].partition(", under")[0]
    assert yaml.safe_load(new) == {"dialog": listed}
    assert list(read(changed((*M, "manual"), yaml.safe_load(new))).data.manual) == ["2", "3"]

    with pytest.raises(InputError) as error:
        read(changed(("controls", "conditions"), SHIPPED["controls"]["conditions"]["dialog"]))
    assert (
        str(error.value) == "config: controls.conditions is now written controls: {conditions: {dialog: {none: {}, …}}}"
    )

    with pytest.raises(InputError, match=r"datasets\.miniature\.training: unknown 'w1'; choose from dialog, round"):
        read(changed((*M, "training", "w1"), {"epochs": 3}))


ANY = [(channel, name) for name, kind in kinds().items() for channel in kind.channels]


@pytest.mark.parametrize(("channel", "kind"), ANY)
def test_a_condition_can_be_read_back_from_what_it_says_of_itself(channel, kind):
    for settings in ({"channel": channel, "kind": kind}, {"channel": channel, "kind": kind, "start": 3}):
        if channel == "caption" and "start" in settings:
            continue
        found = condition(**settings)
        assert read_condition(json.loads(json.dumps(found.settings)), "here") == found
        assert found.settings == settings | {"script": "none", "facts": "reading", **vars(found.kind)} | {
            "start": found.start
        }
        assert {found: 1}[found] == 1
    assert read_condition(Condition(script="dialog").settings, "here") == Condition(script="dialog")


@pytest.mark.parametrize("channel", CHANNELS)
def test_a_condition_that_is_half_said_is_refused(channel):
    with pytest.raises(InputError, match=f"channel: {channel}, but no kind"):
        Condition(channel)
    with pytest.raises(InputError, match="here: no channel for the kind noise; choose from image"):
        condition(kind="noise")


@pytest.mark.parametrize("kind", [name for name, kind in kinds().items() if "question" in kind.channels])
def test_what_is_refused_for_a_channel_is_refused_for_all_its_kinds(kind):
    deaf = {"channel": "question", "kind": kind, "script": "dialog"}
    with pytest.raises(InputError) as error:
        read(changed((*D, "deaf"), deaf))
    assert str(error.value) == (
        "conditions.dialog.deaf: channel: question, but where people answer nobody hears what is delivered, and in the "
        "reading written nobody remembers it; leave script out"
    )
    # As released, the questioner itself remembers what was delivered.
    heard = changed((*D, "deaf"), deaf)
    assert "deaf" in read({**heard, "readings": ["released"]}).conditions["dialog"]


@pytest.mark.parametrize("kind", [name for name, kind in kinds().items() if "image" in kind.channels])
def test_an_image_that_nobody_sees_is_refused_for_all_kinds(kind):
    with pytest.raises(InputError, match="nobody sees the image"):
        condition(channel="image", kind=kind, script="dialog")


@pytest.mark.parametrize(("channel", "kind"), ANY)
def test_a_parameter_that_the_kind_lacks_is_refused(channel, kind):
    given = {"channel": channel, "kind": kind, "p": 0.2}
    if kind in {"replace", "typos", "drop"}:
        assert condition(**given).kind.p == 0.2
        assert condition(**given) != condition(channel=channel, kind=kind)
    else:
        with pytest.raises(InputError, match=r"here\.p: unknown 'p'; choose from channel, kind, start, script, facts$"):
            condition(**given)


def test_help_says_all_kinds_and_their_parameters():
    text = conditions_help()
    for name, kind in kinds().items():
        assert f"{name} ({', '.join(kind.channels)}): {kind.__doc__}." in text
    assert text.count("p: probability that") == 3
    assert "start: first round that is perturbed" in text


def test_a_misspelt_key_is_named_where_there_is_no_channel():
    with pytest.raises(InputError, match=r"here\.chanel: unknown 'chanel'; choose from channel, kind"):
        condition(chanel="question", kind="typos")


def test_a_kind_of_other_channels_says_which():
    with pytest.raises(
        InputError, match=r"here\.kind: 'negate' is for answer alone; for the caption choose from drop, replace"
    ):
        condition(channel="caption", kind="negate")


def test_a_variant_that_differs_in_nothing_is_refused():
    models = {**SHIPPED["models"], "w10": {"regime": "dialog", "image_weight": 10}}
    conditions = {**SHIPPED["conditions"], "w10": {"none": {}}}
    with pytest.raises(InputError, match=r"models\.w10: trained as 'dialog' is on miniature; let it differ"):
        read({**SHIPPED, "models": models, "conditions": conditions})
