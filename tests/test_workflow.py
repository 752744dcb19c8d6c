"""The whole chain on a reduced miniature, and what reruns when something changes."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from project import Project
from reduced import RATE

from cooperation.evaluation.results import read_result

CONFIG = {
    "dataset": "small",
    "seeds": [1],
    "readings": ["written"],
    "models": {"dialog": {"regime": "dialog"}, "round": {"regime": "round"}},
    "conditions": {
        "dialog": {
            "none": {},
            **{f"caption-p{p}": {"channel": "caption", "kind": "replace", "p": p} for p in (0.2, 1)},
            "image-from5": {"channel": "image", "kind": "noise", "start": 5},
            "question-from5-p0.8": {"channel": "question", "kind": "replace", "p": 0.8, "start": 5},
            # Bots that learnt so little may say nothing that could be perturbed. People do; those of `round` say no.
            "answered": {
                "channel": "answer",
                "kind": "replace",
                "p": 0.8,
                "start": 5,
                "script": "dialog",
            },
        },
        "round": {"none": {}, "negation-from1": {"channel": "answer", "kind": "negate"}},
    },
    "datasets": {
        "small": {
            "source": "miniature",
            "raw": {"train": 40, "val": 24, "pixels": 48},
            "text": {"threshold": 2},
            "extraction": {"preprocessing": "small"},
            "features": {"normalisation": "standardise", "length": 8.0},
            "sizes": {"embedding": 8, "hidden": 12, "layers": 1},
            "training": {"dialog": {"epochs": 2, "batch": 16}, "round": {"epochs": 1, "batch": 32, "rate": RATE}},
            # Not the other two: such bots know too few words, and say too few, to be contradicted.
            "manual": {"dialog": ["paper/manual/miniature/figure_2.yaml", "paper/manual/miniature/figure_4.yaml"]},
        }
    },
}


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    made = Project(tmp_path_factory.mktemp("a project's folder"), CONFIG)
    done = made.snakemake()
    assert done.returncode == 0, done.stdout[-5000:]
    return made


REPORTING = {"report": 1}


def result(project, name, bots="dialog-seed1"):
    return read_result(project.folder / f"results/small/{bots}/written/{name}.h5")


def test_everything_is_made(project):
    report = project.folder / "reports/small"
    for stem, endings in {
        "table_1": "csv md tex html",
        "table_2": "csv md tex html",
        "figure_1a": "pdf svg png",
        "figure_1b": "pdf svg png",
        "figure_2": "pdf svg png",
        "figure_4": "pdf svg png",
        "claims": "csv md html",
        "statistics": "csv md html",
        "diagnostics": "csv md html",
        "figure_why": "pdf svg png",
        "index": "html",
        "mpr": "csv",
        "metrics": "json",
    }.items():
        for ending in endings.split():
            assert (report / f"{stem}.{ending}").stat().st_size > 100


def test_nothing_is_left_to_do_and_times_do_not_matter(project):
    assert "Nothing to be done" in project.snakemake().stdout
    for path in [
        *project.folder.glob("src/**/*.py"),
        project.folder / "config.yaml",
        *project.folder.glob("data/**/*"),
    ]:
        os.utime(path)
    assert project.jobs() == {}


def test_no_stray_files(project):
    assert [str(path) for path in project.folder.rglob("*partial*")] == []
    assert [str(path) for path in project.folder.rglob("*progress*")] == []


def test_rounds_before_the_start_are_the_control(project):
    baseline, late = result(project, "none"), result(project, "question-from5-p0.8")
    assert (baseline.ranks[:, :5] == late.ranks[:, :5]).all()
    assert (baseline.question_said.lengths[:, :4] == late.question_said.lengths[:, :4]).all()
    assert late.perturbed_messages[:5].tolist() == [0] * 5
    assert (late.perturbed_messages[5:] > 0).all()
    assert baseline.perturbed_messages.sum() == 0


def test_results_hold_what_tables_need(project):
    found = result(project, "caption-p1")
    assert found.ranks.shape == (24, 11)
    assert found.attributes["candidates"] == 24
    assert {"seed", "reading", "features", "device"} <= set(found.attributes)
    assert found.perturbed_messages[0] == 24
    assert np.isfinite(found.ranks).all()
    assert (result(project, "image-from5").perturbed_messages == [0] * 5 + [24] * 6).all()


def test_one_job_for_all_conditions_gives_the_same_bytes(project):
    names = ["question-from5-p0.8", "none", "image-from5", "caption-p0.2"]
    bots = "--checkpoint checkpoints/small/dialog-seed1.safetensors --dialogs data/small/dialogs.h5"
    words = f"{bots} --features data/small/features.h5 --out together --dataset small".split()
    given = [word for name in names for word in ("--condition", name)]
    done = project.run("env", "PYTHONPATH=src", sys.executable, "-m", "cooperation", "play", *words, *given)
    assert done.returncode == 0, done.stdout
    for name in names:
        apart = project.folder / f"results/small/dialog-seed1/written/{name}.h5"
        assert (project.folder / f"together/written/{name}.h5").read_bytes() == apart.read_bytes()


def test_one_dialog_is_played_without_and_with_a_manual_intervention(project):
    baseline, found = result(project, "none"), result(project, "figure_2", "manual/dialog-seed1")
    dialog = baseline.image_ids.tolist().index(found.image_ids[0])
    # By rounding alone could a batch of one differ from a batch of all.
    assert np.abs(found.ranks[0] - baseline.ranks[dialog]).max() <= 1
    assert found.perturbed_messages.tolist() == [1] + [0] * 10
    assert result(project, "figure_4", "manual/dialog-seed1").perturbed_messages.tolist() == [0] + [1] * 10
    page = (project.folder / "reports/small/index.html").read_text()
    assert page.count("Both dialogs as text") == 2
    claims = (project.folder / "reports/small/claims.csv").read_text()
    assert "figure_2-caption-original" in claims


def test_an_edited_manual_intervention_redoes_the_figures(project):
    path = project.folder / "paper/manual/miniature/figure_4.yaml"
    before = path.read_text()
    path.write_text(before.replace("A noise image", "Noise"))
    assert project.jobs() == {"intervene_dialog": 1, "report": 1}
    path.write_text(before)


def test_a_new_condition_is_one_job_and_what_reads_it(project):
    config = {**CONFIG, "conditions": {**CONFIG["conditions"]}}
    config["conditions"]["dialog"] = {
        **CONFIG["conditions"]["dialog"],
        "answer": {"channel": "answer", "kind": "replace", "p": 0.5},
    }
    project.configure(config)
    assert project.jobs() == {"play": 1} | REPORTING
    project.configure(CONFIG)


def test_an_edited_condition_is_one_job_and_what_reads_it(project):
    done = project.jobs("--config", "conditions={dialog: {answered: {p: 0.3}}}")
    assert done == {"play": 1} | REPORTING


def test_an_edited_setting_redoes_what_depends_on_it(project):
    retrained = project.jobs("--config", "datasets={small: {training: {round: {epochs: 2}}}}")
    assert retrained == {"train": 1, "play": 2} | REPORTING
    second = {"train": 2, "play": 8, "intervene_dialog": 1}
    assert project.jobs("--config", "seeds=[1, 2]") == second | REPORTING
    assert project.jobs("--config", "readings=[written, released]") == {"play": 8, "intervene_dialog": 1} | REPORTING


def test_an_edit_of_what_all_are_made_of_redoes_all(project):
    path = project.folder / "src/cooperation/io/settings.py"
    before = path.read_text()
    path.write_text(before + "\n# An edit.\n")
    try:
        jobs = project.jobs()
    finally:
        path.write_text(before)
    made_of = {"miniature": 1, "encode": 1, "extract": 1, "normalise": 1, "train": 2, "play": 8, "intervene_dialog": 1}
    assert {rule: count for rule, count in jobs.items() if rule in made_of} == made_of
    assert set(REPORTING) <= set(jobs)


def test_other_tokens_leave_the_features_alone(project):
    jobs = project.jobs("--config", "datasets={small: {text: {threshold: 3}}}")
    assert {rule: jobs[rule] for rule in ("encode", "train", "play")} == {"encode": 1, "train": 2, "play": 8}
    assert not {"miniature", "extract", "normalise"} & set(jobs)


@pytest.mark.parametrize(
    ("step", "setting", "name", "what"),
    [
        ("encode", "text: {threshold: 3}", "data/small/dialogs.h5", "threshold 3, but the settings say 2"),
        ("normalise", "features: {length: 4}", "data/small/features.h5", "length 4.0, but the settings say 8.0"),
        (
            "train",
            "training: {dialog: {epochs: 1}}",
            "checkpoints/small/dialog-seed1.safetensors",
            "epochs 1, but the settings say 2",
        ),
    ],
)
def test_a_file_of_other_settings_from_a_backup_is_refused_where_it_is_used(project, step, setting, name, what):
    """Its time is older than those of all that was made from the right one, so Snakemake sees nothing new."""
    path, aside = project.folder / name, project.folder / "aside"
    shutil.copytree(project.folder / ".snakemake", aside)
    right, at = path.read_bytes(), path.stat().st_mtime - 1000
    made = project.snakemake(name, "--config", f"datasets={{small: {{{setting}}}}}", "--allowed-rules", step)
    assert made.returncode == 0, made.stdout
    os.utime(path, (at, at))
    shutil.rmtree(project.folder / ".snakemake")
    aside.rename(project.folder / ".snakemake")
    new = "conditions={dialog: {new: {channel: caption, kind: replace, p: 0.5}}}"
    try:
        done = project.snakemake("results/small/dialog-seed1/written/new.h5", "--config", new)
        assert done.returncode != 0
        assert f"{name}: {what}" in done.stdout
        assert "1 of 1 steps" not in done.stdout
        if step != "train":
            # Nor are bots trained on it.
            done = project.snakemake("checkpoints/small/dialog-seed5.safetensors")
            assert f"cooperation verify: {name}: {what}" in done.stdout
            assert not (project.folder / "checkpoints/small/dialog-seed5.safetensors").exists()
    finally:
        path.write_bytes(right)
        os.utime(path, (at, at))
    assert project.jobs() == {}


def test_a_result_of_other_bots_under_its_name_is_refused_by_the_report(project):
    one, other = (project.folder / f"results/small/{model}-seed1/written/none.h5" for model in ("dialog", "round"))
    right, times = one.read_bytes(), one.stat()
    shutil.copy(other, one)
    os.utime(one, ns=(times.st_atime_ns, times.st_mtime_ns))
    try:
        done = project.snakemake("--forcerun", "report")
        assert done.returncode != 0
        assert "dialog-seed1/written/none.h5: its model is round, but the settings ask for dialog" in done.stdout
    finally:
        one.write_bytes(right)
        os.utime(one, ns=(times.st_atime_ns, times.st_mtime_ns))
    # Snakemake deletes what a job that failed should have made.
    done = project.snakemake()
    assert done.returncode == 0, done.stdout
    assert project.jobs() == {}


def test_recorded_commands_are_read_at_a_glance(project):
    """The longest of the shipped settings' commands, as `snakemake -n --verbose` prints them."""
    root = Path(__file__).parents[1]
    place = "-s", str(root / "Snakefile"), "-d", str(root)
    planned = project.run(sys.executable, "-m", "snakemake", "-n", "--verbose", "--forceall", *place).stdout
    commands = re.findall(r"^ *(?:Shell command: )?(\(?cooperation .*)$", planned, re.MULTILINE)
    assert len(commands) > 8
    assert max(map(len, commands)) <= 400


def test_a_dry_run_prints_a_plan(project):
    """A line a rule: what is to do, what is there, and why."""
    report = project.folder / "reports/small/table_1.csv"
    right, times = report.read_bytes(), report.stat()
    report.unlink()
    try:
        done = project.snakemake("-n")
    finally:
        report.write_bytes(right)
        os.utime(report, ns=(times.st_atime_ns, times.st_mtime_ns))
    plan = done.stdout.split("The plan:")[1]
    assert re.search(r"^report +1 +0 +output files have to be generated$", plan, re.MULTILINE)
    assert re.search(r"^train, dialog +0 +1 *$", plan, re.MULTILINE)
    assert re.search(r"^in all +1 ", plan, re.MULTILINE)
    assert "hours" not in plan
    assert "Shell command" not in done.stdout


def test_the_plan_of_the_full_size_says_what_it_costs():
    root = Path(__file__).parents[1]
    words = ("-n", "--forceall", "--config", "dataset=visdial_1.0", "seeds=[4,5]")
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *words], cwd=root, check=True, capture_output=True, text=True
    )
    measured = pd.read_csv(root / "docs/scale.csv", comment="#", index_col="rule")
    hours = 2 * measured.loc["train, dialog", "hours_2_cores"]
    assert re.search(rf"^train, dialog +2 +0 +{hours:.1f} ", done.stdout, re.MULTILINE)
    assert len(done.stdout) < 5000


def test_edited_claims_are_checked_anew(project):
    path = project.folder / "paper/claims.csv"
    before = path.read_text()
    path.write_text(before.replace(".", "!", 1))
    try:
        assert project.jobs() == REPORTING
    finally:
        path.write_text(before)


@pytest.mark.parametrize(
    ("file", "jobs"),
    [
        ("reports/tables.py", REPORTING | {"play": None}),
        ("reports/figures/rounds.py", REPORTING | {"play": None}),
        ("reports/page.py", REPORTING | {"play": None}),
        # Of kinds and readers, those that are used.
        ("game/interventions/replace.py", {"play": 4, "train": None} | REPORTING),
        ("game/interventions/typos.py", {"play": None} | REPORTING),
        ("data/readers/miniature.py", {"encode": 1}),
        ("data/readers/authors.py", {"encode": None, "report": None}),
        ("bots/player.py", {"play": 8} | REPORTING),
        ("bots/updates.py", {"train": 2, "play": 8} | REPORTING),
    ],
)
def test_an_edited_source_redoes_what_it_makes(project, file, jobs):
    path = project.folder / "src/cooperation" / file
    before = path.read_text()
    path.write_text(before + "\n# An edit.\n")
    try:
        found = project.jobs()
        assert {rule: found.get(rule) for rule in jobs} == jobs
        assert "miniature" not in found
        assert "encode" not in found or "encode" in jobs
    finally:
        path.write_text(before)


@pytest.mark.parametrize(
    ("left_out", "gone", "files"),
    [("dialog", {"intervene_dialog"}, {"table_2"}), ("round", set(), {"table_1", "figure_1a", "figure_1b"})],
)
def test_a_model_without_conditions_is_in_no_table(project, left_out, gone, files):
    conditions = {model: found for model, found in CONFIG["conditions"].items() if model != left_out}
    project.configure({**CONFIG, "conditions": conditions})
    try:
        jobs = project.jobs("--forceall")
        said = project.snakemake("-n", "--verbose", "--forceall").stdout
    finally:
        project.configure(CONFIG)
    assert {name for name in ("table_1", "table_2", "figure_1a", "figure_1b") if name in said} == files
    assert not gone & set(jobs)
    assert jobs["train"] == 1


def test_a_table_of_which_no_condition_is_played_is_not_asked_for(project):
    project.configure({**CONFIG, "conditions": {**CONFIG["conditions"], "round": {"none": {}}}})
    try:
        said = project.snakemake("-n", "--verbose", "--forceall").stdout
    finally:
        project.configure(CONFIG)
    assert "table_1" in said
    assert "table_2" not in said


def test_every_report_is_a_target(project):
    planned = project.snakemake("-n", "--verbose", "--forceall").stdout
    [targets] = re.findall(r"rule all:\n    input: (.*)", planned)
    made = re.findall(r"rule report:\n(?:    .*\n)*?    output: (.*)", planned)
    assert len(made) == 1
    assert set(targets.split(", ")) == set(", ".join(made).split(", "))


def test_keys_that_stand_twice_in_another_file_of_settings_are_refused(project):
    path = project.folder / "mine.yaml"
    path.write_text("seeds: [2]\nseeds: [1]\n")
    done = project.snakemake("-n", "--configfile", "mine.yaml")
    assert done.returncode != 0
    assert "mine.yaml: not YAML ('seeds' is there twice" in done.stdout


@pytest.mark.parametrize(("text", "said"), [("seeds: [2]\n", "'seeds' is there twice"), ("x: {\n", "line")])
def test_what_is_written_wrongly_is_refused_with_its_line(project, text, said):
    path = project.folder / "config.yaml"
    before = path.read_text()
    path.write_text(before + text)
    try:
        done = project.snakemake("-n")
    finally:
        path.write_text(before)
    assert done.returncode != 0
    assert "config.yaml: not YAML" in done.stdout
    assert said in done.stdout
    assert "Traceback" not in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--config", "dataset=minature"], ["dataset", "minature", "small"]),
        (["--config", "conditions={dialog: {x: {chanel: image}}}"], ["conditions.dialog.x", "chanel", "channel"]),
        (["--config", "seeds=1"], ["seeds"]),
        (
            ["--config", "conditions={dialog: {caption-p0.2: {p: 0.3}}}"],
            ["conditions.dialog.caption-p0.2", "p: 0.3,", "paper/interventions.csv means", "p: 0.2,", "another name"],
        ),
        (
            ["--config", "conditions={dialog: {again: {channel: image, kind: noise, start: 5}}}"],
            ["conditions.dialog", "'again' and 'image-from5' are the same", "leave one out"],
        ),
    ],
)
def test_a_mistake_is_refused_before_any_job(project, words, said):
    done = project.snakemake(*words)
    assert done.returncode != 0
    assert all(word in done.stdout for word in said), done.stdout
    assert "Traceback" not in done.stdout
    assert "Job stats" not in done.stdout


def test_bots_of_ones_own_stand_beside_the_papers(project):
    """README's model and settings, from config.yaml to the page."""
    readme = (Path(__file__).parents[1] / "README.md").read_text(encoding="utf-8")
    (project.folder / "my_bots.py").write_text(re.search(r"```python\n(import re\n.*?)```", readme, re.DOTALL)[1])
    said = yaml.safe_load(re.search(r"```yaml\n(models:\n.*?)```", readme, re.DOTALL)[1])
    assert said["models"]["mine"]["load"] == "my_bots.py:Shades"
    before = (project.folder / "reports/small/manifest.json").read_bytes()
    project.configure({**CONFIG, **{key: {**CONFIG[key], **said[key]} for key in ("models", "conditions")}})
    try:
        done = project.snakemake()
        assert done.returncode == 0, done.stdout[-3000:]
        page = (project.folder / "reports/small/index.html").read_text(encoding="utf-8")
        assert "mine" in pd.read_csv(project.folder / "reports/small/mpr.csv")["model"].tolist()
        assert "my_bots.py:Shades" in page
    finally:
        project.configure(CONFIG)
        project.snakemake()
    after = json.loads((project.folder / "reports/small/manifest.json").read_bytes())
    assert after["settings"] == json.loads(before)["settings"]
