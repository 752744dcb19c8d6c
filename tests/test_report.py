"""The report: one command that writes exactly the files that the workflow expects."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
import yaml
from fakes import (
    ROOT,
    all_results,
    made_config,
    made_result,
    write_data,
    write_results,
)
from in_process import run
from test_page import Page

from cooperation.cli import main
from cooperation.config.experiment import read
from cooperation.evaluation.results import write_result
from cooperation.reports.products import products

PAPER = ROOT / "paper"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Made-up results of all conditions, and the settings that ask for them."""
    monkeypatch.chdir(ROOT)
    write_results(tmp_path / "results")
    write_data(tmp_path / "dialogs.h5")
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(made_config(), sort_keys=False))
    return tmp_path


def words(folder, **changes):
    given = {"config": "config.yaml", "results": "results", "dialogs": "dialogs.h5", "out": "out"}
    flags = [word for name, file in (given | changes).items() for word in (f"--{name}", str(folder / file))]
    return ["report", *flags, "--resamples", "50"]


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def report(monkeypatch, folder, **changes):
    run(monkeypatch, *words(folder, **changes))


def refused(monkeypatch, capsys, folder):
    with pytest.raises(SystemExit) as stop:
        report(monkeypatch, folder)
    assert stop.value.code == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert not (folder / "out").exists()
    return error


def test_the_command_writes_exactly_what_the_workflow_expects(folder, monkeypatch, capsys):
    report(monkeypatch, folder)
    expected = products(read(made_config()))
    assert names(folder / "out") == sorted(expected)
    assert len(set(expected)) == len(expected)
    assert {"index.html", "mpr.csv", "metrics.json", "table_2.tex", "figure_1b.pdf", "models.md"} <= set(expected)
    assert Page((folder / "out" / "index.html").read_text()).open == []
    assert capsys.readouterr().err == ""
    found = json.loads((folder / "out" / "metrics.json").read_text())
    assert found["dialog"]["written"]["none"].keys() == {"round 0", "round 1", "round 10"}
    mpr = pd.read_csv(folder / "out" / "mpr.csv").set_index(["model", "reading", "condition", "round"])["mpr"]
    assert found["round"]["released"]["none"]["round 10"] == mpr["round", "released", "none", 10]


@pytest.mark.parametrize(
    ("conditions", "there", "missing"),
    [
        ({"round": ["none"]}, {"claims.csv", "figure_why.svg", "diagnostics.csv"}, {"table_1.csv", "figure_1a.svg"}),
        ({"dialog": ["none", "human"]}, {"table_1.tex", "figure_1a.svg", "figure_1b.svg"}, {"table_2.csv"}),
        ({"round": ["none", "negation-from8"]}, {"table_2.csv"}, {"table_1.csv", "figure_1b.svg"}),
    ],
)
def test_tables_and_figures_are_expected_where_one_of_their_conditions_is_played(
    conditions, there, missing, folder, monkeypatch, capsys
):
    config = made_config()
    config["conditions"] = {
        model: {name: config["conditions"][model][name] for name in names} for model, names in conditions.items()
    }
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    report(monkeypatch, folder)
    expected = products(read(config))
    assert names(folder / "out") == sorted(expected)
    assert there <= set(expected)
    assert not missing & set(expected)
    assert "left out: dialog-seed1/released/" in capsys.readouterr().err


def test_products_need_the_standard_library_alone():
    """The Snakefile asks for them, in an environment that has Snakemake alone."""
    program = (
        "import sys; standard = set(sys.stdlib_module_names) | {'cooperation'}\n"
        "class Refuse:\n"
        "    def find_spec(self, name, *_):\n"
        "        if name.partition('.')[0] not in standard: raise ImportError(name)\n"
        "sys.meta_path.insert(0, Refuse())\n"
        "import json; from cooperation.config.experiment import read\n"
        "from cooperation.reports.products import products\n"
        "print(*products(read(json.load(sys.stdin))))"
    )
    given = json.dumps(made_config())
    done = subprocess.run(
        [sys.executable, "-c", program], input=given, capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert "figure_1a.svg" in done.stdout.split()


def test_the_report_never_loads_torch(folder):
    program = (
        "import sys; from cooperation.cli import main; main()\n"
        "print(*sorted({'torch', 'matplotlib'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words(folder)], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["matplotlib"]


TOY = """
from cooperation.reports.figures import Description


def names(experiment):
    return ["toy"]


def draw(material, name):
    from matplotlib.figure import Figure

    figure = Figure()
    figure.subplots().plot(material.summary["mpr"])
    return figure


def describe(material, name):
    return Description("Figure of toys", "A line.", "Toys.", "mpr.csv")
"""


def test_another_kind_of_figure_is_one_file(folder):
    copy = folder / "src"
    shutil.copytree(ROOT / "src", copy, ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
    (copy / "cooperation" / "reports" / "figures" / "toy.py").write_text(TOY)
    environment = os.environ | {"PYTHONPATH": str(copy)}
    program = (
        "import json, sys; from cooperation.config.experiment import read\n"
        "from cooperation.io.provenance import sources\n"
        "from cooperation.reports.products import products\n"
        "json.dump([products(read(json.load(sys.stdin))), sources('report')], sys.stdout)"
    )
    options = {"env": environment, "cwd": ROOT, "text": True}
    asked = subprocess.check_output([sys.executable, "-c", program], input=json.dumps(made_config()), **options)
    expected, made_of = json.loads(asked)
    subprocess.check_call([sys.executable, "-m", "cooperation", *words(folder)], **options)
    assert {"figure_toy.svg", "figure_toy.pdf", "figure_toy.png"} <= set(expected)
    assert names(folder / "out") == sorted(expected)
    assert 'href="#figure-toy"' in (folder / "out" / "index.html").read_text()
    assert [path for path in made_of if path.endswith("figures/toy.py")]


def test_two_models_stand_side_by_side(folder, monkeypatch):
    for result in all_results():
        if result.attributes["model"] == "dialog":
            names = result.attributes | {"model": "other"}
            for name, changed in (("training", {"image_weight": 1.0}), ("identity", {"bots": "other (89ab)"})):
                names[name] = json.dumps({**json.loads(names[name]), **changed})
            place = folder / "results" / "other-seed1" / names["reading"] / f"{names['condition']}.h5"
            write_result(place, replace(result, attributes=names))
    config = made_config()
    config["models"] = config["models"] | {"other": {"regime": "dialog", "image_weight": 1}}
    config["conditions"] = config["conditions"] | {"other": config["conditions"]["dialog"]}
    config["paper"] = {"dialog": ["dialog", "other"], "round": ["round"]}
    (folder / "config.yaml").write_text(yaml.safe_dump(config, sort_keys=False))
    report(monkeypatch, folder)
    text = (folder / "out" / "index.html").read_text()
    assert "Model other, reading released: None from" in text
    assert "Model “other”" in text.split('id="table_1"')[1].split('id="table_2"')[0]
    assert "4 of 9" not in text.split("<nav")[0]
    assert "written, model other" in text.split("<nav")[0]
    assert "<code>" + str(folder / "results/other-seed1/written/image-from1.h5") in text.split('id="dialogs"')[1]
    found = pd.read_csv(folder / "out" / "table_1.csv")
    assert set(found["model"]) == {"dialog", "other"}


def test_results_that_nothing_asks_for_are_named_in_one_line(folder, monkeypatch, capsys):
    for name in ("a", "b", "c", "d", "e"):
        (folder / "results" / f"{name}.h5").write_bytes(b"no result")
    (folder / "results" / ".none.host-1-2.partial.h5").write_bytes(b"not finished")
    report(monkeypatch, folder)
    error = capsys.readouterr().err
    assert error.endswith("asks for none of these, left out: a.h5, b.h5, c.h5 and 2 more\n")
    assert error.count("\n") == 1


def test_missing_results_are_named(folder, monkeypatch, capsys):
    for name in ("none", "human"):
        (folder / "results" / "dialog-seed1" / "written" / f"{name}.h5").unlink()
    error = refused(monkeypatch, capsys, folder)
    assert "results/dialog-seed1/written/none.h5: no such file; 2 of the 38 results that the settings ask for" in error


@pytest.mark.parametrize(
    ("attribute", "value", "message"),
    [
        ("reading", "released", "its reading is released, but the settings ask for written; play it again"),
        ("game_seed", 2, "its game seed is 2, but the settings ask for 1; play it again"),
        ("settings", '{"script": "dialog", "facts": "reading"}', "was played with {'script': 'dialog'"),
        ("settings", "[", "its settings are of another version"),
    ],
)
def test_a_result_of_another_game_is_refused(attribute, value, message, folder, monkeypatch, capsys):
    path = folder / "results" / "dialog-seed1" / "written" / "none.h5"
    wrong = made_result(np.zeros((30, 11)))
    write_result(path, replace(wrong, attributes=wrong.attributes | {attribute: value}))
    error = refused(monkeypatch, capsys, folder)
    assert f"{path}: " in error
    assert message in error


PLACES = ("dialogs.h5", "results/round-seed1/released/none.h5", "paper/claims.csv", "paper/published.csv")


@pytest.mark.parametrize("share", [0, 0.3, 0.9])
@pytest.mark.parametrize("name", [*PLACES, "paper/figures.csv", "config.yaml"])
def test_the_report_says_in_one_line_what_is_cut_short(name, share, folder, monkeypatch, capsys):
    shutil.copytree(PAPER, folder / "paper")
    monkeypatch.chdir(folder)
    raw = (folder / name).read_bytes()
    (folder / name).write_bytes(raw[: int(len(raw) * share)])
    try:
        report(monkeypatch, folder)
    except SystemExit as stop:
        assert stop.code == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1
        # What is left of a table or of settings may be whole in itself, and lack only what something else needs.
        assert name in error or (name.endswith((".csv", ".yaml")) and share)
        assert not (folder / "out").exists()
    else:
        assert name.endswith((".csv", ".yaml"))


def test_summarise_prints_any_results(folder, monkeypatch, capsys):
    paths = [folder / "results" / "dialog-seed1" / "written" / f"{name}.h5" for name in ("none", "human")]
    given = [*map(str, paths), "--resamples", "50"]
    monkeypatch.setattr("sys.argv", ["cooperation", "summarise", *given, "--out", str(folder / "mpr.csv")])
    main()
    printed = capsys.readouterr().out
    mpr = pd.read_csv(folder / "mpr.csv").set_index(["condition", "round"])["mpr"]
    [row] = [line for line in printed.splitlines() if line.startswith("| human")]
    assert [cell.strip() for cell in row.split("|")[2:6]] == [f"{mpr['human', after]:.1f}" for after in (0, 1, 5, 10)]
