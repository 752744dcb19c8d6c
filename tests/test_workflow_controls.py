"""The optional target on a reduced world: `snakemake controls`."""

import pandas as pd
import pytest
from project import Project

TINY = {
    "source": "miniature",
    "raw": {"train": 24, "val": 12, "pixels": 32},
    "text": {"threshold": 2},
    "extraction": {"preprocessing": "small"},
    "features": {"normalisation": "standardise", "length": 8.0},
    "jobs": "model",
    "sizes": {"embedding": 8, "hidden": 12, "layers": 1},
    "training": {"dialog": {"epochs": 1, "batch": 24}},
}
CONFIG = {
    "dataset": "small",
    "seeds": [3],
    "readings": ["written"],
    "conditions": {"dialog": {"none": {}, "human": {"script": "dialog"}}},
    "models": {"dialog": {"regime": "dialog"}},
    "controls": {
        "worlds": ["blank"],
        "conditions": {"dialog": {"none": {}, "image": {"channel": "image", "kind": "noise"}}},
    },
    "datasets": {"small": TINY, "blank": {**TINY, "raw": {**TINY["raw"], "caption": 0, "dialog": 0, "picture": 0}}},
}
HEAD = "world,statement,quantity,conditions,rounds,at_least,at_most\n"
HOLDS = HEAD + "blank,it ranks,level,image,10,0,100\nscripted,it knows,level,none,10,99.609375,99.609375\n"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    made = Project(tmp_path_factory.mktemp("controls"), CONFIG)
    (made.folder / "workflow/controls.csv").write_text(HOLDS.replace("0,100", "101,102"))
    return made


def test_the_target_fails_with_a_line_and_the_table_stays(project):
    done = project.snakemake("controls")
    assert done.returncode != 0
    assert "blank, model dialog: it ranks: expected 101.0 to 102.0, found" in done.stdout
    assert "1 of 2 expectations do not hold" in done.stdout
    found = pd.read_csv(project.folder / "reports/controls/controls.csv")
    assert found["holds"].tolist() == [False, True]
    assert "| NO" in (project.folder / "reports/controls/controls.md").read_text()
    # The world has its own settings, and nothing was made of the chosen data set.
    assert "--caption 0" in done.stdout
    assert not (project.folder / "data/small").exists()
    assert (project.folder / "results/blank/dialog-seed3/written/image.h5").exists()


def test_another_expectation_replays_nothing(project):
    (project.folder / "workflow/controls.csv").write_text(HOLDS)
    assert project.jobs("controls") == {"expected_and_found": 1, "controls": 1}
    done = project.snakemake("controls")
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("blank,they matter,gap,none caption,10,0,100", "'blank' does not play 'caption'; choose from image, none"),
        (
            "scripted,they matter,gap,none human,10,0,100",
            "'scripted' does not play 'human'; choose from answer, answer-swap",
        ),
        (
            "empty,it ranks,level,none,10,0,100",
            "no world 'empty'; take the line out, or choose from scripted, ",
        ),
    ],
)
def test_an_expectation_of_a_game_that_is_not_played_is_refused_before_any_job(line, said, project):
    path = project.folder / "workflow/controls.csv"
    before = path.read_text()
    path.write_text(f"{HOLDS}\n{line}\n")
    try:
        done = project.snakemake("-n", "--forceall", "controls")
        assert done.returncode != 0
        assert f"workflow/controls.csv, line 5: {said}" in done.stdout
        assert project.snakemake("-n").returncode == 0
    finally:
        path.write_text(before)


def test_a_world_can_be_the_chosen_data_set(project):
    jobs = project.jobs("results/blank/dialog-seed3/written/human.h5", "--config", "dataset=blank")
    assert jobs == {"play_dialog": 1}


def test_it_is_not_part_of_all(project):
    assert not {"controls", "expected_and_found", "scripted", "play_worlds_dialog"} & set(project.jobs())
