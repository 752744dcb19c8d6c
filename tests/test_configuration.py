"""config.yaml: what is shipped is accepted, and each kind of mistake is one line with the key and the choices."""

import subprocess
import sys
from copy import deepcopy
from pathlib import Path

import pytest
import yaml

from cooperation.conditions import Condition
from cooperation.configuration import check_given, read, read_dataset
from cooperation.files import InputError
from cooperation.models import Sizes, Training
from cooperation.preparation import Normalisation

SHIPPED = yaml.safe_load((Path(__file__).parent.parent / "config.yaml").read_text())


@pytest.mark.parametrize("dataset", SHIPPED["datasets"])
def test_every_shipped_data_set_is_accepted(dataset):
    experiment = read({**SHIPPED, "dataset": dataset})
    assert experiment.dataset == dataset
    assert set(experiment.conditions) <= set(experiment.data.training)


def test_what_is_not_said_has_its_default():
    experiment = read(SHIPPED)
    assert experiment.conditions["dialog"]["none"] == Condition()
    assert experiment.conditions["dialog"]["caption-p0.2"] == Condition(channel="caption", p=0.2)
    assert experiment.data.training["round"].regime == "round"
    assert experiment.data.sizes.layers >= 1


@pytest.mark.parametrize(
    ("settings", "needed"),
    [
        ({}, False),
        ({"channel": "image", "start": 5}, True),
        ({"channel": "answer", "start": 5, "script": "dialog"}, False),
        ({"channel": "image", "start": 5, "facts": "bare"}, False),
        ({"channel": "answer", "by": "swap"}, True),
        ({"channel": "answer", "by": "swap", "script": "dialog"}, False),
        ({"channel": "image", "by": "swap"}, False),
    ],
)
def test_which_conditions_need_the_control(settings, needed):
    assert Condition(**settings).needs_control is needed


def test_a_condition_that_sets_the_facts_is_played_under_the_first_reading():
    experiment = read(changed((*D, "new"), {"facts": "bare"}))
    assert [experiment.plays("dialog", reading, "new") for reading in experiment.readings] == [True, False]
    assert [experiment.plays("dialog", reading, "none") for reading in experiment.readings] == [True, True]


def test_a_job_plays_one_condition_or_those_of_a_model():
    changes = {"dataset": "visdial_0.9"}
    assert read({**SHIPPED, **changes}).jobs() == {"play": ("{model}", {"{reading}": ("{condition}",)})}
    conditions = {
        "none": {},
        "image": {"channel": "image", "start": 5},
        "none-bare": {"facts": "bare"},
        "image-bare": {"channel": "image", "facts": "bare"},
    }
    given = {**SHIPPED, "dataset": "miniature", "conditions": {"dialog": conditions, "round": {"none": {}}}}
    assert read(given).jobs() == {
        "play_dialog": (
            "dialog",
            {"written": ("none", "image", "none-bare", "image-bare"), "released": ("none", "image")},
        ),
        "play_round": ("round", {"written": ("none",), "released": ("none",)}),
    }


def test_controls_and_weights_may_be_left_out():
    experiment = read(SHIPPED)
    assert experiment.weights == (0.1, 1.0, 10.0, 100.0)
    assert experiment.control_conditions["image-swap"] == Condition(channel="image", by="swap")
    bare = read({key: value for key, value in SHIPPED.items() if key not in ("weights", "controls")})
    assert (bare.weights, bare.worlds, bare.control_conditions) == ((), (), {})


def test_numbers_from_the_command_line_come_as_texts():
    config = changed(("conditions", "dialog", "new"), {"channel": "answer", "p": "0.3", "start": "4"})
    config["seeds"] = ["1", "2"]
    experiment = read(config)
    assert experiment.conditions["dialog"]["new"] == Condition(channel="answer", p=0.3, start=4)
    assert experiment.seeds == (1, 2)


def test_a_hash_of_digits_stays_a_text():
    digits = changed((*V, "downloads", "val2014.zip", "sha256"), "12345678")
    data = read({**digits, "dataset": "visdial_0.9"}).data
    assert data.downloads["val2014.zip"].sha256 == "12345678"


def test_a_data_set_can_be_read_alone():
    name, data = read_dataset({"dataset": "visdial_0.9", "datasets": SHIPPED["datasets"]})
    assert (name, data) == ("visdial_0.9", read({**SHIPPED, "dataset": "visdial_0.9"}).data)
    assert data.downloads["train2014.zip"].size == 13_510_573_713
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
    config = deepcopy(SHIPPED)
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
D = ("conditions", "dialog")


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
        ((*D, "new"), {"channel": "images"}, ["conditions.dialog.new.channel", "images", "image", "negation"]),
        ((*D, "new"), {"channel": "answer", "p": "much"}, ["conditions.dialog.new.p", "number"]),
        ((*D, "new"), {"channel": "answer", "p": True}, ["conditions.dialog.new.p", "number"]),
        ((*D, "new"), {"channel": "answer", "p": 1.5}, ["conditions.dialog.new", "1.5", "0 to 1"]),
        ((*D, "new"), {"channel": "answer", "start": 0}, ["conditions.dialog.new", "start", "10"]),
        ((*D, "new"), {"channel": "answer", "start": 11}, ["conditions.dialog.new", "start"]),
        ((*D, "new"), {"channel": "answer", "start": 2.5}, ["conditions.dialog.new.start", "whole number"]),
        ((*D, "new"), {"channel": "caption", "start": 2}, ["conditions.dialog.new", "start", "caption"]),
        ((*D, "new"), {"channel": "negation", "by": "swap"}, ["conditions.dialog.new", "swap", "negation", "answer"]),
        ((*D, "new"), {"channel": "answer", "by": "swap", "p": 0.5}, ["conditions.dialog.new", "p", "swapped"]),
        ((*D, "new"), {"channel": "answer", "by": "swap", "facts": "bare"}, ["conditions.dialog.new", "facts"]),
        ((*D, "new"), {"facts": "bear"}, ["conditions.dialog.new.facts", "bear", "bare"]),
        ((*D, "new"), "image", ["conditions.dialog.new", "keys"]),
        (("weights",), [0, "x"], ["weights", "numbers"]),
        (("weights",), [1, 1.0], ["weights", "twice"]),
        (("controls", "world"), [], ["controls", "world", "worlds"]),
        (("controls", "worlds"), ["nowhere"], ["controls.worlds", "nowhere", "nothing"]),
        (("controls", "worlds"), None, ["controls.worlds"]),
        (("controls", "worlds"), ["visdial_0.9"], ["controls.worlds", "visdial_0.9"]),
        (("controls", "conditions", "none"), None, ["controls.conditions.dialog", "none"]),
        (("controls", "conditions", "x"), {"p": 2}, ["controls.conditions.dialog.x", "p"]),
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
        ((*D, "new"), {"channel": "image", "facts": "plain"}, ["conditions.dialog.new", "none-plain"]),
        ((*D, "new"), {"channel": "image", "p": 0.2}, ["conditions.dialog.new", "p", "image"]),
        ((*D, "new"), {"channel": "negation", "p": 0.2}, ["conditions.dialog.new", "p", "negation"]),
        ((*D, "new"), {"channel": "answer", "by": "swap", "script": "questions"}, ["conditions.dialog.new", "script"]),
        ((*D, "new"), {"p": 0.3}, ["conditions.dialog.new", "p", "nothing is tampered with"]),
        ((*D, "new"), {"start": 3}, ["conditions.dialog.new", "start", "nothing is tampered with"]),
        ((*D, "new"), {"channel": "answer", "p": 0}, ["conditions.dialog.new", "p", "answer", "above 0"]),
        ((*D, "new"), {"channel": "image", "script": "dialog"}, ["conditions.dialog.new", "script", "image"]),
        ((*D, "HUMAN"), {}, ["conditions.dialog", "'HUMAN'", "'human'", "case"]),
        (("datasets", "Miniature"), {"source": "miniature"}, ["datasets", "'miniature'", "'Miniature'", "case"]),
        ((*M, "manual"), ["a/figure_x.yaml", "a/figure_X.yaml"], ["datasets.miniature.manual", "case"]),
        (("seeds",), [-1], ["seeds", "-1", "from 0 to"]),
        (("seeds",), [2**31], ["seeds", "from 0 to 2,147,483,647"]),
        (("readings",), "written", ["readings", "texts", "[written]"]),
        ((*M, "raw"), {"seed": -1}, ["datasets.miniature.raw", "seed", "from 0"]),
        ((*M, "raw"), {"train": 0}, ["datasets.miniature.raw", "train", "at least 1"]),
        ((*M, "pictures"), {"seed": 2**40}, ["datasets.miniature.pictures", "seed"]),
        ((*M, "pictures"), {"workers": -1}, ["datasets.miniature.pictures", "workers", "at least 0"]),
        ((*M, "features"), {"length": 0.0}, ["datasets.miniature.features", "length", "above 0"]),
        (("datasets", "genuine", "raw"), {"seed": -3}, ["datasets.genuine.raw", "seed", "from 0"]),
        (("datasets", "genuine", "raw"), {"pixels": 0}, ["datasets.genuine.raw", "pixels", "at least"]),
        ((*V, "raw"), {"tries": 0}, ["datasets.visdial_0.9.raw", "tries", "at least 1"]),
        ((*V, "raw"), {"timeout": -1.0}, ["datasets.visdial_0.9.raw", "timeout"]),
        ((*M, "files"), {"x": "y"}, ["datasets.miniature.files", "'x'", "leave it out"]),
        ((*M, "training", "rounds"), {}, ["datasets.miniature.training", "rounds", "round"]),
        ((*M, "manual"), "figure_2.yaml", ["datasets.miniature.manual", "list"]),
        ((*M, "manual"), ["paper/manual/two.yaml"], ["datasets.miniature.manual", "two.yaml", "figure_2.yaml"]),
        ((*M, "manual"), ["figure_1a.yaml"], ["datasets.miniature.manual", "figure_1a.yaml"]),
        ((*M, "manual"), ["a/figure_2.yaml", "b/figure_2.yaml"], ["datasets.miniature.manual", "same figure"]),
        ((*M, "training", "round"), None, ["datasets.miniature.training", "round", "conditions"]),
        ((*M, "threads"), 0, ["datasets.miniature.threads", "at least 1"]),
        (("conditions", "dialog"), {"none": {}, False: {"channel": "answer"}}, ["conditions.dialog", "False", "name"]),
        (("conditions", "dialog"), {"none": {}, 1: {"channel": "answer"}}, ["conditions.dialog", "1", "name"]),
        ((*M, "training", "dialog", "rate"), float("inf"), ["rate", "inf", "a number"]),
        ((*M, "training", "dialog", "rate"), 10**400, ["rate", "a number"]),
        (("weights",), [float("inf")], ["weights", "inf"]),
        (("weights",), [10**400], ["weights", "numbers"]),
        ((*M, "shards"), 2.0, ["datasets.miniature.shards", "whole number"]),
        ((*M, "downloads"), {}, ["datasets.miniature", "downloads", "shards"]),
        (("datasets", "genuine", "files"), {"dialogs": 3}, ["datasets.genuine.files.dialogs", "path"]),
        (("datasets", "genuine", "files"), {}, ["datasets.genuine.files", "dialogs", "missing"]),
        ((*A, "text"), {}, ["datasets.visdial_authors", "text", "features"]),
        ((*A, "files", "image"), "x.h5", ["datasets.visdial_authors.files", "image", "images"]),
        ((*V, "files", "train.zip"), "x", ["datasets.visdial_0.9.files", "train.zip", "train2014.zip"]),
        ((*V, "downloads", "val2014.zip"), None, ["visdial_0.9.downloads", "val2014.zip", "missing"]),
        ((*V, "downloads", "vgg.zip"), {"addresses": ["x"]}, ["visdial_0.9.downloads", "vgg.zip", ".pth"]),
        (
            (*V, "downloads", "two.pth"),
            {"addresses": ["x"]},
            ["visdial_0.9.downloads", "vgg16-397923af.pth", "two.pth"],
        ),
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
    for path in ("paper/published.csv", "paper/claims.csv", "workflow/controls.csv"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    monkeypatch.chdir(tmp_path)
    check_given(read(config))
    # A world of the controls has no controls of its own.
    (tmp_path / "workflow/controls.csv").unlink()
    check_given(read({**config, "dataset": "nothing"}))


def test_what_is_made_of_a_users_files_is_enough(tmp_path, monkeypatch):
    for path in ("paper/published.csv", "paper/claims.csv", "workflow/controls.csv", "data/genuine/dialogs.h5"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    monkeypatch.chdir(tmp_path)
    config = {**changed(("datasets", "genuine", "files", "dialogs"), "gone.json"), "dataset": "genuine"}
    with pytest.raises(InputError, match=r"gone\.json"):
        check_given(read(config))
    (tmp_path / "data/genuine/features.h5").touch()
    check_given(read(config))


def test_a_users_copy_of_a_download_must_be_there_until_it_was_checked(tmp_path, monkeypatch):
    for path in ("paper/published.csv", "paper/claims.csv", "workflow/controls.csv"):
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


def test_an_alias_within_what_it_stands_for_is_refused():
    given = deepcopy(SHIPPED)
    given["weights"] = [given]
    for reads in (read, read_dataset):
        with pytest.raises(InputError, match="an alias"):
            reads(given)


def test_names_that_yaml_reads_as_numbers_can_be_listed():
    with pytest.raises(InputError, match="unknown 'x'; choose from 5"):
        read_dataset({"dataset": "x", "datasets": {5: {}}})


NO_RULE_MAKES = {
    "paper/published.csv": "git checkout -- paper/published.csv",
    "paper/claims.csv": "git checkout -- paper/claims.csv",
    "workflow/controls.csv": "git checkout -- workflow/controls.csv",
    "paper/manual/miniature/figure_4.yaml": "or correct datasets.miniature.manual",
    "dialogs.json": "or give its path as datasets.genuine.files.dialogs",
}


@pytest.mark.parametrize("gone", NO_RULE_MAKES)
def test_a_file_that_no_rule_makes_must_be_there(tmp_path, monkeypatch, gone):
    dataset = "genuine" if gone == "dialogs.json" else "miniature"
    experiment = read({**changed(("datasets", "genuine", "files", "dialogs"), "dialogs.json"), "dataset": dataset})
    for path in NO_RULE_MAKES:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    for path in (*NO_RULE_MAKES, *SHIPPED["datasets"]["miniature"]["manual"]):
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
    heavy = "[name for name in ('numpy', 'torch', 'pandas', 'h5py') if name in sys.modules]"
    code = f"import sys, cooperation.configuration; print({heavy})"
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"
