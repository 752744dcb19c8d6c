"""Names promise nothing: what is looked for is the intervention, whatever config.yaml calls it."""

import csv
import json
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml
from fakes import DIALOG, PAPERS, ROOT, WORLDS, all_results, condition_of, made_config, made_result, made_scores
from test_report import folder, names, refused, report  # noqa: F401

from cooperation.config.conditions import ORACLE_CONDITIONS, Condition, read_condition
from cooperation.config.expected import check_expected
from cooperation.config.experiment import CLAIMS, FIGURES, PUBLISHED, read
from cooperation.config.interventions import check_conditions, read_interventions
from cooperation.evaluation.results import write_result
from cooperation.io.files import InputError
from cooperation.reports.claims import WITHOUT_MODEL, read_claims
from cooperation.reports.controls import compare as compare_worlds
from cooperation.reports.controls import resample_worlds
from cooperation.reports.evidence import manual_evidence
from cooperation.reports.figures import rounds
from cooperation.reports.paper import read_figures, read_published
from cooperation.reports.products import MANIFEST, products
from cooperation.reports.statistics import resample, summarise
from cooperation.reports.tables import compare

SHIPPED = yaml.safe_load((ROOT / "config.yaml").read_text())
NOISE = {"channel": "image", "kind": "noise"}


# What the labels mean


def test_every_label_of_the_papers_tables_means_what_its_place_says():
    """By the columns and rows of Tables 1 and 2, and by the titles and labels of Figures 1."""
    every = {"start": 1}
    columns = {
        "None": {},
        "Images": {"channel": "image", "kind": "noise", **every},
        "Captions": {"channel": "caption", "kind": "replace", "p": 1.0, **every},
        "Answers": {"channel": "answer", "kind": "replace", "p": 1.0, **every},
        "Questions": {"channel": "question", "kind": "replace", "p": 1.0, **every},
    }
    published = read_published(ROOT / PUBLISHED, PAPERS)
    for line in published.to_dict("records"):
        negated = (
            {"channel": "answer", "kind": "negate", "start": max(1, int(line["row"]))} if line["table"] == 2 else 0
        )
        assert line["settings"] == read_condition(negated or columns[line["column"]], "x").text
    later = {"p": 0.8, "start": 5}
    shown = {name: {line.label: line.condition for line in one.lines} for name, one in figures().items()}
    sweep = {f"Caption, p = {p}": read_condition({**columns["Captions"], "p": p}, "x") for p in (0.2, 0.4, 0.6, 0.8)}
    assert shown["1a"] == {"None": Condition(), **sweep}
    assert shown["1b"] == {
        "None": Condition(),
        "Image": read_condition({**columns["Images"], "start": 5}, "x"),
        "Question": read_condition({**columns["Questions"], **later}, "x"),
        "Answer": read_condition({**columns["Answers"], **later}, "x"),
    }
    assert PAPERS.conditions == {name: condition_of(name) for name in PAPERS.conditions}


def figures():
    return read_figures(ROOT / FIGURES, PAPERS)


def test_no_label_is_without_use():
    published = read_published(ROOT / PUBLISHED, PAPERS)
    claims = read_claims(ROOT / CLAIMS, PAPERS)
    lines = [line.condition for figure in figures().values() for line in figure.lines]
    used = set(published["condition"]) | {label for label, one in PAPERS.conditions.items() if one in lines}
    used |= set(" ".join(claims.loc[~claims["model"].isin(list(WITHOUT_MODEL)), "conditions"]).split())
    assert used == set(PAPERS.conditions)
    with (ROOT / "workflow/controls.csv").open() as file:
        assert {label for line in csv.DictReader(file) for label in line["conditions"].split()} == set(
            WORLDS.conditions
        )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("intervention,channel,kind\na,image,noise\na,image,swap\n", "'a' is there twice"),
        ("intervention,start\na,\nb,1\n", "'a' and 'b' are the same, {}; take one out"),
        (
            "intervention,channel,kind\na,image,replace\n",
            "a.kind: 'replace' is for caption, question, answer alone; for the image choose from noise, swap",
        ),
        ("intervention,chanel\na,image\n", "a.chanel: unknown 'chanel'"),
        ("intervention,channel,kind,p\na,caption,replace,2\n", "a: p: 2.0 is out of bounds"),
        ("intervention,channel,kind,p\na,caption,replace,much\n", "a.p: 'much' is not a number"),
        ("intervention,channel\na,image,noise\n", "row 1: more cells than columns"),
        ("label,channel\na,image\n", "no column 'intervention'"),
        ("intervention,channel\n,image\n", "row 1: intervention is empty"),
        (None, "no such file"),
    ],
)
def test_a_mistake_in_the_table_of_interventions_is_one_line(tmp_path, text, said):
    if text is not None:
        (tmp_path / "x.csv").write_text(text)
    with pytest.raises(InputError) as error:
        read_interventions(str(tmp_path / "x.csv"))
    assert str(error.value).startswith(f"{tmp_path / 'x.csv'}: ")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("file", "reads", "column", "place"),
    [
        (PUBLISHED, read_published, "condition", ""),
        (FIGURES, read_figures, "condition", "Figure 1a: "),
        (CLAIMS, read_claims, "conditions", "claim caption-more-is-worse: "),
    ],
)
def test_a_label_that_means_nothing_is_refused(tmp_path, file, reads, column, place):
    table = pd.read_csv(ROOT / file, dtype=str, keep_default_na=False)
    table.loc[0, column] = table.loc[0, column].replace("none", "nothing")
    path = tmp_path / "x.csv"
    table.to_csv(path, index=False)
    with pytest.raises(InputError) as error:
        reads(path, PAPERS)
    listed = ", ".join(PAPERS.conditions)
    said = f"no intervention 'nothing' in {PAPERS.path}; write it there, or choose from {listed}"
    assert str(error.value) == f"{path}: {place}{said}"


# Names of config.yaml


@pytest.fixture
def project(monkeypatch):
    """Where `paper/` is."""
    monkeypatch.chdir(ROOT)


@pytest.mark.usefixtures("project")
def test_a_name_of_the_papers_for_something_else_is_refused():
    """Each of the paper's names for each of its other interventions, of any model."""
    check_conditions(read(SHIPPED))
    labels = [label for label in PAPERS.conditions if label != "none"]
    for model in SHIPPED["models"]:
        for name, other in zip(labels, labels[1:] + labels[:1], strict=True):
            taken = PAPERS.conditions[other]
            config = SHIPPED | {"conditions": {model: {"none": {}, name: taken.settings}}}
            with pytest.raises(InputError) as error:
                check_conditions(read(config))
            assert str(error.value) == (
                f"conditions.{model}.{name}: is {taken.text}, but paper/interventions.csv means "
                f"{PAPERS.conditions[name].text} by {name!r}; give it another name"
            )
    # Who talks, and how facts are read, are part of it.
    for more in ({"script": "dialog"}, {"facts": "plain"}):
        caption = {"channel": "caption", "kind": "replace", **more}
        config = made_config(conditions={"dialog": {"none": {}, "plain": {"facts": "plain"}, "caption-p1": caption}})
        with pytest.raises(
            InputError, match=r"conditions\.dialog\.caption-p1: is \{.*\}, but paper/interventions\.csv"
        ):
            check_conditions(read(config))


@pytest.mark.parametrize("above", ["conditions", "controls"])
def test_two_names_for_one_condition_are_refused(above):
    """However it is written: a default may be said or not."""
    again = {"channel": "image", "kind": "noise", "start": 1}
    config = json.loads(json.dumps(SHIPPED))
    conditions = config["conditions"] if above == "conditions" else config["controls"]["conditions"]
    place = "conditions.dialog" if above == "conditions" else "controls.conditions.dialog"
    other = next(name for name, given in conditions["dialog"].items() if given == NOISE)
    conditions["dialog"]["again"] = again
    with pytest.raises(InputError) as error:
        read(config)
    assert str(error.value) == (
        f"{place}: {other!r} and 'again' are the same, {{channel: image, kind: noise, start: 1}}; leave one out"
    )
    del conditions["dialog"]["again"]
    # Another model may play it, too.
    config["models"]["w1"] = {"regime": "dialog", "image_weight": 1}
    conditions["w1"] = {"none": {}, "again": again}
    assert read(config)


def test_a_condition_is_told_by_its_text():
    """All that is played, in config.yaml and beyond: the text is equal where the condition is."""
    found = [*read(SHIPPED).conditions["dialog"].values(), *PAPERS.conditions.values(), *ORACLE_CONDITIONS.values()]
    found += [read_condition({"channel": "caption", "kind": "replace", "p": p}, "x") for p in (0.1, 0.1 + 0.2, 0.3)]
    assert len({one.text for one in found}) == len(set(found)) > 30
    for one in found:
        assert read_condition(yaml.safe_load(one.text), "x") == one


# Whatever it is called


@pytest.fixture
def copies(folder):  # noqa: F811
    """Two folders of settings and the same results, of which the second has other names; old name → new name."""
    other, config = folder / "renamed", made_config()
    old = {name for named in config["conditions"].values() for name in named} - {"none"}
    # As long as the old ones, so that tables are as wide, and in no picture and no other text.
    new = {name: f"q{number:02d}_".ljust(len(name), "x") for number, name in enumerate(sorted(old))}
    assert all(len(name) == len(new[name]) for name in old)
    conditions = {
        model: {new.get(name, name): given for name, given in named.items()}
        for model, named in config["conditions"].items()
    }
    other.mkdir()
    (other / "config.yaml").write_text(yaml.safe_dump(config | {"conditions": conditions}, sort_keys=False))
    for result in all_results():
        name = result.attributes["condition"]
        named = result.attributes | {"condition": new.get(name, name)}
        place = other / "results" / f"{named['model']}-seed1" / named["reading"] / f"{named['condition']}.h5"
        write_result(place, replace(result, attributes=named))
    shutil.copy(folder / "dialogs.h5", other)
    return folder, other, new


def test_renaming_every_condition_changes_nothing_but_the_names(copies, monkeypatch):
    first, second, new = copies
    for place in (first, second):
        report(monkeypatch, place)
    assert names(first / "out") == names(second / "out") == sorted(products(read(made_config())))
    with_names = set()
    # The manifest hashes the files that print the names.
    for name in set(names(first / "out")) - {MANIFEST}:
        mine, its = ((place / "out" / name).read_bytes() for place in (first, second))
        if mine != its:
            with_names.add(name)
            for old, other in new.items():
                its = its.replace(other.encode(), old.encode())
            assert mine == its.replace(b"/renamed/", b"/"), name
    # Those that print the names; the diagnostics compare the readings of each condition.
    assert with_names == {
        "mpr.csv",
        "metrics.json",
        "index.html",
        *(f"diagnostics.{end}" for end in ("csv", "md", "html")),
    }


def test_a_report_is_refused_where_a_name_means_something_else(folder, monkeypatch, capsys):  # noqa: F811
    """Although the results are what the settings ask for."""
    config = made_config()
    config["conditions"]["dialog"]["caption-p1"] = {"channel": "image", "kind": "noise", "start": 3}
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    error = refused(monkeypatch, capsys, folder)
    assert (
        "conditions.dialog.caption-p1: is {channel: image, kind: noise, start: 3}, but paper/interventions.csv" in error
    )
    assert "means {channel: caption, kind: replace, p: 1.0, start: 1} by 'caption-p1'" in error


@pytest.mark.usefixtures("project")
def test_what_a_report_consists_of_follows_the_interventions():
    mine = {"none": {}, "mine": {"channel": "answer", "kind": "negate", "start": 4}}
    found = products(read(made_config(conditions={"round": mine})))
    assert "table_2.csv" in found
    # The paper's, played by bots of another kind, or with people's answers, is no number of Table 2.
    for conditions in ({"dialog": mine}, {"round": mine | {"mine": {**mine["mine"], "script": "dialog"}}}):
        assert "table_2.csv" not in products(read(made_config(conditions=conditions)))
    line = {"mine": {"channel": "caption", "kind": "replace", "p": 0.4}}
    asked = read(made_config(conditions={"dialog": {"none": {}, **line}}))
    assert list(rounds.names(asked)) == ["1a", "1b"]
    assert "table_1.csv" in products(asked)


def of_interventions(**conditions):
    """The summary of made-up games of a model: name → settings and what they cost at every round."""
    ranks = np.full((20, 11), 10.0)
    scores = [
        made_scores(ranks + lost, condition=name, settings=json.dumps(read_condition(given, name).settings))
        for name, (given, lost) in conditions.items()
    ]
    return resample(scores, 20)


PLAYED = {
    "none": ({}, 0),
    # The names of others, as results of an earlier time may have them.
    "caption-p1": (NOISE, 30),
    "image-from1": ({"channel": "caption", "kind": "replace"}, 7),
    "mine": ({"channel": "image", "kind": "noise", "start": 5}, 2),
}


def test_a_table_looks_for_the_intervention():
    table = compare(
        read_published(ROOT / PUBLISHED, PAPERS), summarise(of_interventions(**PLAYED)), 1, {"dialog": ("dialog",)}
    )
    gap = table.loc[("dialog", "written", "Gap @10", "ours")]
    assert gap.fillna(-1).to_dict() == pytest.approx(
        {"None": 0, "Images": 30, "Captions": 7, "Answers": -1, "Questions": -1}, abs=1e-4
    )


def test_claims_look_for_the_intervention():
    found = of_interventions(**PLAYED).labelled(PAPERS.conditions)
    levels = {label: drawn.each[0, 10] for (_, _, label), drawn in found.items()}
    expected = {"none": 89.5, "image-from1": 59.5, "caption-p1": 82.5, "image-from5": 87.5}
    assert levels == pytest.approx(expected, abs=1e-4)


def test_claims_of_single_dialogs_look_for_what_was_changed():
    """A file may be called figure_2 and be about something else."""
    for changes, channels in (
        ({"dialog": 7, "caption": "a red cube"}, "caption"),
        ({"dialog": "worst rank by caption", "answers": {"3": "no"}}, "answer"),
        ({"dialog": 7, "exchange": ["yes no"]}, "answer"),
        ({"dialog": 7, "image": "noise"}, "image"),
        ({"dialog": 7, "questions": {"1": "is it red"}, "caption": "a cube"}, "caption-question"),
    ):
        played = made_result(np.ones((2, 11)), condition="figure_2", settings=json.dumps(changes), title="T")
        assert {key[2] for key in manual_evidence([played], 20)} == {
            f"figure_2-{channels}-{what}" for what in ("original", "changed", "answers")
        }
    claims = read_claims(ROOT / CLAIMS, PAPERS)
    stated = set(" ".join(claims.loc[claims["model"] == "manual", "conditions"]).split())
    about = {"2": "caption", "3": "answer", "4": "image", "5": "question"}
    assert {label.rsplit("-", 1)[0] for label in stated} == {f"figure_{n}-{channel}" for n, channel in about.items()}


# The controls


HEAD = "world,statement,quantity,conditions,rounds,at_least,at_most\n"


def test_expectations_look_for_the_intervention():
    expected = pd.DataFrame(
        [["w", "s", "gap", "none image", "10", 15.0, np.nan], ["w", "s", "gap", "none caption", "10", 15.0, np.nan]],
        columns=["world", "statement", "quantity", "conditions", "rounds", "at_least", "at_most"],
    )
    ranks = np.full((20, 11), 10.0)
    played = {"none": ({}, 0), "caption": (NOISE, 30), "image": ({"channel": "caption", "kind": "replace"}, 1)}
    scores = [
        made_scores(
            ranks + lost, dataset="w", condition=name, settings=json.dumps(read_condition(given, name).settings)
        )
        for name, (given, lost) in played.items()
    ]
    found = compare_worlds(expected, WORLDS, resample_worlds(scores, 20, 0))
    assert found["value"].tolist() == pytest.approx([30, 1], abs=1e-4)
    with pytest.raises(
        InputError, match=r"w: no intervention 'images' in .*interventions\.csv; write it there, or choose"
    ):
        compare_worlds(expected.assign(conditions="none images"), WORLDS, resample_worlds(scores, 20, 0))
    with pytest.raises(
        InputError, match=r"no result of the condition 'negation', \{channel: answer, kind: negate, start"
    ):
        compare_worlds(expected.assign(conditions="none negation"), WORLDS, resample_worlds(scores, 20, 0))


def controlled(conditions):
    return read(SHIPPED | {"controls": {"worlds": ["nothing"], "conditions": {"dialog": conditions}}})


def test_expectations_are_checked_by_intervention_before_any_job(tmp_path):
    path = tmp_path / "controls.csv"
    path.write_text(f"{HEAD}nothing,s,level,image,10,0,100\n")
    check_expected(str(path), WORLDS, controlled({"none": {}, "whatever": NOISE}))
    with pytest.raises(InputError) as error:
        check_expected(str(path), WORLDS, controlled({"none": {}, "image": {**NOISE, "start": 2}}))
    assert str(error.value) == (
        f"controls.conditions.dialog.image: is {{channel: image, kind: noise, start: 2}}, but {WORLDS.path} means "
        "{channel: image, kind: noise, start: 1} by 'image'; give it another name"
    )
    with pytest.raises(InputError, match=r"line 2: 'nothing' does not play 'image'; choose from none, question$"):
        check_expected(str(path), WORLDS, controlled({"none": {}, "other": {"channel": "question", "kind": "replace"}}))
    path.write_text(f"{HEAD}nothing,s,level,images,10,0,100\n")
    with pytest.raises(InputError, match=r"controls\.csv, line 2: no intervention 'images' in "):
        check_expected(str(path), WORLDS, controlled({"none": {}}))


@pytest.mark.parametrize(
    ("bounds", "said"),
    [
        ("x,100", "at_least is 'x', not a number; correct it, or leave it empty"),
        ("0,1e", "at_most is '1e', not a number"),
        ("50,10", "50.0 to 10.0 is no range; give one bound or two"),
        (",", "None to None is no range"),
        ("nan,3", "nan to 3.0 is no range"),
    ],
)
def test_bounds_of_expectations_are_checked_before_any_job(tmp_path, bounds, said):
    path = tmp_path / "controls.csv"
    path.write_text(f"{HEAD}nothing,s,level,image,10,{bounds}\n")
    with pytest.raises(InputError, match=rf"controls\.csv, line 2: {said}"):
        check_expected(str(path), WORLDS, controlled({"none": {}, "image": NOISE}))


def test_the_shipped_names_are_those_of_the_labels():
    """Nothing asks for it, but whoever reads both files is helped."""
    for conditions in read(SHIPPED).world_conditions.values():
        assert dict(conditions) == dict(WORLDS.conditions)
    assert ORACLE_CONDITIONS.items() <= WORLDS.conditions.items()
    played = read(SHIPPED).conditions
    for name, condition in PAPERS.conditions.items():
        assert condition in {played[model].get(name) for model in ("dialog", "round")}


# Results that do not go by one name


def scored(path, condition="none", seed=1, epochs=3, **given):
    settings = {"settings": json.dumps(read_condition(given, "x").settings)}
    training = json.dumps({"regime": "dialog", "epochs": epochs, "seed": seed})
    return made_scores(np.zeros((4, 11)), path, condition=condition, seed=seed, training=training, **settings)


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (
            scored("b.h5", "mine", seed=2, script="dialog"),
            "b.h5: 'mine' is {script: dialog}, but {channel: image, kind: noise, start: 1} in a.h5",
        ),
        (
            scored("b.h5", "yours", seed=2, **NOISE),
            "b.h5: 'yours' is {channel: image, kind: noise, start: 1}, as is 'mine' in a.h5",
        ),
        (
            scored("b.h5", "none", seed=2, epochs=1),
            "b.h5: the bots of the model 'dialog' were trained with epochs 1, but with 3 in a.h5",
        ),
    ],
)
def test_seeds_are_not_mixed_by_name(other, said):
    mine = scored("a.h5", "mine", **NOISE)
    with pytest.raises(InputError) as error:
        resample([mine, other], 20)
    assert str(error.value) == f"{said}; report them apart"
    resample([mine, scored("b.h5", "mine", seed=2, **NOISE)], 20)


def test_all_conditions_of_the_fakes_are_the_papers():
    """So that the tests of tables and figures are of what they say."""
    assert set(DIALOG) - {"human"} <= set(PAPERS.conditions)
