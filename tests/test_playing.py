"""The command that plays: what it refuses, what it says of odd images, and how many are guessed among how many."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from cooperation.bots.checkpoint import Checkpoint, build, save_checkpoint
from cooperation.cli import main
from cooperation.data.store import Dialogs, Features, write_dialogs, write_features
from cooperation.files import digest
from cooperation.games.results import read_result
from cooperation.messages import Messages
from cooperation.models import Sizes, Training
from cooperation.reports.statistics import Scores
from cooperation.text import Vocabulary

VOCABULARY = Vocabulary.of(["a", "no", "red", "yes", "?", "UNK"])
IDS = np.arange(5) + 40
VECTORS = np.random.default_rng(2).normal(size=(5, 6)).astype(np.float32)


def checkpoint():
    torch.manual_seed(2)
    bots = (bot.eval() for bot in build(VOCABULARY.size, 6, Sizes(4, 5, 1)))
    return Checkpoint(*bots, VOCABULARY, np.array([1, 2]), Sizes(4, 5, 1), vars(Training()), {})


@pytest.fixture
def play(tmp_path, monkeypatch, capsys):
    """Run a command on five dialogs: its exit code and the lines on standard error."""
    turns = Messages(np.tile(np.array([1, 3], np.int32), (5, 10, 1)), np.full((5, 10), 2, np.int32))
    dialogs = Dialogs(IDS, Messages.of([[1, 3]] * 5), turns, turns)
    write_dialogs(tmp_path / "dialogs.h5", VOCABULARY, {"val": dialogs}, {})

    def run(*words, trained_on=(), learnt_from=None, vectors=VECTORS, command="play", out="out"):
        provenance = {"inputs": {"features": learnt_from}} if learnt_from else {}
        bots = replace(checkpoint(), image_ids=np.array([1, 2, *trained_on]), provenance=provenance)
        save_checkpoint(tmp_path / "bots.safetensors", bots)
        write_features(tmp_path / "features.h5", {"val": Features(IDS, vectors, {})}, {"layer": "fc7"})
        files = {
            "--checkpoint": "bots.safetensors",
            "--dialogs": "dialogs.h5",
            "--features": "features.h5",
            "--out": out,
        }
        given = [word for pair in files.items() for word in pair]
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["cooperation", command, *given, *map(str, words)])
        try:
            main()
        except SystemExit as stop:
            return stop.code, capsys.readouterr().err.splitlines()
        return 0, [line for line in capsys.readouterr().err.splitlines() if "batch" not in line]

    run.folder = tmp_path
    return run


COMMANDS = {
    "play": ({"command": "play", "out": "out"}, (), "out/none.h5"),
    "intervene": ({"command": "intervene", "out": "one.h5"}, ("--image-id", 41, "--noise-image"), "one.h5"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_images_trained_on_are_refused_unless_it_is_said(play, command):
    how, words, written = COMMANDS[command]
    code, (line,) = play(*words, trained_on=[44, 41], **how)
    assert code == 2
    assert "trained on image 41 (2 such images)" in line
    assert line.endswith("or give --allow-trained-on")
    assert not (play.folder / written).exists()

    code, (line,) = play(*words, "--allow-trained-on", trained_on=[44, 41], **how)
    assert code == 0
    assert line == "features.h5: 2 of the images were trained on, so their ranks may be known by heart"
    forced = read_result(play.folder / written)
    assert forced.attributes["trained_on"] == 2

    assert play(*words, **how) == (0, [])
    usual = read_result(play.folder / written)
    assert usual.attributes["trained_on"] == 0
    assert (usual.ranks == forced.ranks).all()


@pytest.mark.parametrize("command", COMMANDS)
def test_images_with_the_same_features_are_counted_and_share_their_ranks(play, command):
    how, words, written = COMMANDS[command]
    vectors = VECTORS.copy()
    vectors[[0, 2, 3]] = VECTORS[1]
    code, (line,) = play(*words, vectors=vectors, **how)
    assert code == 0
    assert line == "features.h5: 3 of the images have the very features of another, so they share their ranks"
    result = read_result(play.folder / written)
    assert '"duplicates_val": "3"' in result.attributes["features"]
    if command == "play":
        # Four are equally near to any guess: each has half of the other three before it.
        assert set((result.ranks[[0, 1, 2, 3]] % 1).ravel()) == {0.5}


@pytest.mark.parametrize(("candidates", "played"), [(3, 3), (5, 5), (40_000, 5)])
def test_fewer_candidates_than_dialogs_the_first_are_guessed_among_themselves(play, candidates, played):
    assert play("--candidates", candidates) == (0, [])
    result = read_result(play.folder / "out/none.h5")
    assert result.image_ids.tolist() == IDS[:played].tolist()
    assert result.attributes["candidates"] == played
    assert (result.ranks < played).all()
    scores = Scores.of(play.folder, result)
    assert (len(scores.image_ids), scores.candidates) == (played, played)


@pytest.mark.parametrize("command", COMMANDS)
def test_images_that_are_not_played_may_be_trained_on(play, command):
    how, words, written = COMMANDS[command]
    assert play(*words, "--candidates", 3, trained_on=[44], **how) == (0, [])
    assert read_result(play.folder / written).attributes["trained_on"] == 0


def test_features_that_are_no_numbers_are_named(play):
    vectors = VECTORS.copy()
    vectors[3, 2] = np.inf
    code, (line,) = play(vectors=vectors)
    assert code == 2
    assert line == "cooperation play: features.h5: NaN or infinity in the features of image 43; extract it again"


def test_a_condition_that_tampers_with_nothing_is_refused(play):
    code, (*_, line) = play("--condition", "none={}", "--condition", "rarely={channel: question, p: 0.000000001}")
    assert code == 2
    assert "the condition rarely tampered with nothing, which would look like robustness" in line
    assert sorted(file.name for file in (play.folder / "out").iterdir()) == ["none.h5"]


def test_a_swap_may_put_the_same_in_place(play):
    """Bots that say the same in every dialog are no mistake of the condition's; all images alike make them such."""
    swap = "swap={channel: answer, by: swap}"
    vectors = np.tile(VECTORS[:1], (5, 1))
    code, said = play("--condition", "none={}", "--condition", swap, vectors=vectors)
    assert (code, len(said)) == (0, 1)
    result = read_result(play.folder / "out/swap.h5")
    assert (result.answer_said.tokens == result.answer_said.tokens[:1]).all()
    assert not result.tampered_messages.any()


@pytest.mark.parametrize("command", COMMANDS)
def test_features_that_the_bots_did_not_learn_from_are_named(play, command):
    how, words, _ = COMMANDS[command]
    code, (line,) = play(*words, learnt_from="0" * 64, **how)
    assert code == 0
    assert line.startswith("features.h5: not the file that the bots learnt from")
    assert play(*words, learnt_from=digest(play.folder / "features.h5"), **how) == (0, [])


@pytest.mark.parametrize("candidates", [0, -3])
@pytest.mark.parametrize("command", COMMANDS)
def test_too_few_candidates_are_refused(play, command, candidates):
    how, words, _ = COMMANDS[command]
    code, (*_, line) = play(*words, "--candidates", candidates, **how)
    assert code == 2
    assert line == f"cooperation {command}: candidates: {candidates} is too small; choose at least 1"


def test_late_conditions_are_the_same_in_the_controls_process_and_in_their_own(play):
    late = (
        "image={channel: image, start: 3}",
        "answer={channel: answer, start: 8}",
        "swap={channel: image, by: swap, start: 10}",
    )
    flags = [word for one in late for word in ("--condition", one)]
    assert play("--condition", "none={}", *flags, "--batch", 2)[0] == 0
    assert play("--control", "out/none.h5", *flags, "--batch", 2, out="alone")[0] == 0
    for name in ("image", "answer", "swap"):
        files = [play.folder / folder / f"{name}.h5" for folder in ("out", "alone")]
        assert files[0].read_bytes() == files[1].read_bytes()
        assert (read_result(files[0]).question_said.lengths > 0).all()


@pytest.mark.parametrize(
    ("condition", "words", "what"),
    [
        ("human={script: dialog}", (), "condition"),
        ("bare={facts: bare}", (), "condition"),
        ("none={}", ("--candidates", 3), "dialogs"),
    ],
)
def test_another_game_is_no_control(play, condition, words, what):
    assert play("--condition", condition, *words, out="other")[0] == 0
    name = condition.partition("=")[0]
    late = ("--condition", "late={channel: image, start: 3}")
    code, (*_, line) = play("--control", f"other/{name}.h5", *late)
    assert code == 2
    assert f"its {what} is not that of this game" in line


def test_names_that_differ_in_case_alone_are_refused(play):
    code, (line,) = play("--condition", "a={}", "--condition", "A={channel: image}")
    assert code == 2
    assert "'a' and 'A' differ in case alone" in line


@pytest.mark.parametrize(("reading", "code"), [("written", 2), ("released", 0)])
def test_a_question_that_nobody_heeds_is_no_channel(play, reading, code):
    settings = "deaf={channel: question, script: dialog}"
    found, lines = play("--condition", settings, "--reading", reading)
    assert found == code
    assert code == 0 or "nobody heeds what the answerer hears" in lines[-1]


def test_the_control_is_nothing_else(play):
    code, (line,) = play("--condition", "none={channel: image}")
    assert code == 2
    assert line.endswith("--condition none: is what all others are compared with; leave it {}")
