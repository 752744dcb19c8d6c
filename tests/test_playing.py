"""The command that plays: what it refuses, its warnings, how many candidates there are, and its seeds."""

import numpy as np
import pytest
import torch
from in_process import code_of
from small_files import made_of

from cooperation.bots.building import build
from cooperation.bots.checkpoint import Checkpoint, save_checkpoint
from cooperation.config.training import REGIMES, Sizes, Training
from cooperation.data.store import Dialogs, Features, write_dialogs, write_features
from cooperation.evaluation.results import MESSAGES, read_result
from cooperation.game.messages import PAD, Messages
from cooperation.game.vocabulary import Vocabulary
from cooperation.reports.statistics import Scores

VOCABULARY = Vocabulary.of(["a", "no", "red", "yes", "?", "UNK"])
IDS = np.arange(5) + 40
VECTORS = np.random.default_rng(2).normal(size=(5, 6)).astype(np.float32)
TRAINING = Training()


def checkpoint(training, image_ids, identities):
    torch.manual_seed(training.seed + 1)
    bots = (bot.eval() for bot in build(VOCABULARY.size, 6, Sizes(4, 5, 1)))
    return Checkpoint(*bots, VOCABULARY, np.array(image_ids), Sizes(4, 5, 1), vars(training), identities, {})


@pytest.fixture
def play(tmp_path, monkeypatch, capsys):
    """Run a command on five dialogs: its exit code and the lines on standard error."""
    turns = Messages(np.tile(np.array([1, 3], np.int32), (5, 10, 1)), np.full((5, 10), 2, np.int32))
    # Captions that differ: a swapped one shows whose it is.
    dialogs = Dialogs(IDS, Messages.of([[1 + row, 3, 1, 3, 1, 3] for row in range(5)]), turns, turns)
    write_dialogs(tmp_path / "dialogs.h5", VOCABULARY, {"val": dialogs}, {})

    def run(*words, trained_on=(), trained_with=None, vectors=VECTORS, training=TRAINING, command="play", out="out"):
        write_features(tmp_path / "features.h5", {"val": Features(IDS, vectors, {})}, {"layer": "fc7"})
        found = made_of(tmp_path) | (trained_with or {})
        save_checkpoint(tmp_path / "bots.safetensors", checkpoint(training, [1, 2, *trained_on], found))
        files = {
            "--checkpoint": "bots.safetensors",
            "--dialogs": "dialogs.h5",
            "--features": "features.h5",
            "--out": out,
        }
        given = [word for pair in files.items() for word in pair]
        monkeypatch.chdir(tmp_path)
        code = code_of(monkeypatch, command, *given, *words)
        said = capsys.readouterr().err.splitlines()
        return code, said if code else [line for line in said if "batch" not in line]

    run.folder = tmp_path
    return run


NONE = ("--condition", "none={}")
COMMANDS = {
    "play": ({"command": "play"}, NONE, "out/written/none.h5"),
    "intervene": ({"command": "intervene"}, ("--image-id", 41, "--noise-image"), "out/written/manual.h5"),
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
    assert line == "features.h5: 2 of the images were trained on, so the bots may have memorised them"
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
    assert play(*NONE, "--candidates", candidates) == (0, [])
    result = read_result(play.folder / "out/written/none.h5")
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
    code, (line,) = play(*NONE, vectors=vectors)
    assert code == 2
    assert line == "cooperation play: features.h5: NaN or infinity in the features of image 43; extract it again"


@pytest.mark.parametrize("kind", ["replace", "typos", "drop"])
def test_a_condition_that_perturbs_nothing_is_named(play, kind):
    """The other games are played nonetheless: one idle condition costs nobody a night."""
    rarely = f"rarely={{channel: question, kind: {kind}, p: 0.000000001}}"
    code, said = play(*NONE, "--condition", rarely, "--condition", "late={channel: image, kind: noise, start: 4}")
    assert code == 0
    [line] = [line for line in said if "warning" in line]
    assert "written/rarely perturbed nothing, which would look like robustness" in line
    assert {file.name for file in (play.folder / "out/written").glob("*.h5")} == {"none.h5", "rarely.h5", "late.h5"}


def test_a_swap_may_deliver_the_same(play):
    """Bots that say the same in every dialog are no mistake of the condition's; all images alike make them such."""
    swap = "swap={channel: answer, kind: swap}"
    vectors = np.tile(VECTORS[:1], (5, 1))
    code, said = play(*NONE, "--condition", swap, vectors=vectors)
    assert (code, len(said)) == (0, 1)
    result = read_result(play.folder / "out/written/swap.h5")
    assert (result.answer_said.tokens == result.answer_said.tokens[:1]).all()
    assert not result.perturbed_messages.any()


@pytest.mark.parametrize("command", COMMANDS)
def test_features_that_the_bots_were_not_trained_with_are_refused_unless_it_is_said(play, command):
    how, words, written = COMMANDS[command]
    other = {"features": "other features (0123456789ab)"}
    code, (line,) = play(*words, trained_with=other, **how)
    assert code == 2
    assert "bots.safetensors and features.h5 do not belong together: features: other features (0123456789ab)" in line
    assert not (play.folder / written).exists()
    assert play(*words, "--allow-other-features", trained_with=other, **how) == (0, [])
    assert read_result(play.folder / written).attributes["other_features"]
    assert play(*words, **how) == (0, [])
    assert "other_features" not in read_result(play.folder / written).attributes
    code, (line,) = play(*words, trained_with={"vocabulary": "other words (0123456789ab)"}, **how)
    assert code == 2
    assert "bots.safetensors and dialogs.h5 do not belong together: vocabulary: other words (0123456789ab)" in line


@pytest.mark.parametrize("command", COMMANDS)
def test_features_of_another_width_are_refused_even_where_others_are_allowed(play, command):
    how, words, written = COMMANDS[command]
    code, (line,) = play(*words, "--allow-other-features", vectors=VECTORS[:, :5], **how)
    assert code == 2
    assert "features.h5: an image has 5 features, but the bots have learnt 6; give features like those" in line
    assert not (play.folder / written).exists()


@pytest.mark.parametrize("candidates", [0, -3])
@pytest.mark.parametrize("command", COMMANDS)
def test_too_few_candidates_are_refused(play, command, candidates):
    how, words, _ = COMMANDS[command]
    code, (*_, line) = play(*words, "--candidates", candidates, **how)
    assert code == 2
    assert line == f"cooperation {command}: candidates: {candidates} is too small; choose at least 1"


def test_late_conditions_are_the_same_in_the_baselines_process_and_in_their_own(play):
    late = (
        "image={channel: image, kind: noise, start: 3}",
        "answer={channel: answer, kind: replace, start: 8}",
        "typos={channel: question, kind: typos, start: 2}",
        "drop={channel: answer, kind: drop, p: 0.5, start: 4}",
        "swap={channel: image, kind: swap, start: 10}",
    )
    flags = [word for one in late for word in ("--condition", one)]
    assert play(*NONE, *flags, "--batch", 2)[0] == 0
    assert play("--baseline", "out/written/none.h5", *flags, "--batch", 2, out="alone")[0] == 0
    for name in ("image", "answer", "typos", "drop", "swap"):
        files = [play.folder / folder / "written" / f"{name}.h5" for folder in ("out", "alone")]
        assert files[0].read_bytes() == files[1].read_bytes()
        assert (read_result(files[0]).question_said.lengths > 0).all()


@pytest.mark.parametrize(
    ("condition", "words", "what"),
    [
        ("human={script: dialog}", (), 'condition is {"script": "dialog", "facts": "reading"}, not {'),
        ("bare={facts: bare}", (), 'condition is {"script": "none", "facts": "bare"}, not {'),
        ("none={}", ("--candidates", 3), "3 dialogs are not the 5 that are played here"),
        ("none={}", ("--seed", 2), "game seed is 2, not 1 as here"),
        ("none={}", ("--model", "w1"), "model is w1, not dialog as here"),
    ],
)
def test_another_game_is_no_baseline(play, condition, words, what):
    assert play("--condition", condition, *words, out="other")[0] == 0
    name = condition.partition("=")[0]
    late = ("--condition", "late={channel: image, kind: noise, start: 3}")
    code, (*_, line) = play("--baseline", f"other/written/{name}.h5", *late)
    assert code == 2
    assert f"{name}.h5: its {what}" in line


def test_names_that_differ_in_case_alone_are_refused(play):
    code, (line,) = play("--condition", "a={}", "--condition", "A={channel: image, kind: noise}")
    assert code == 2
    assert "'a' and 'A' differ in case alone" in line


@pytest.mark.parametrize("kind", ["replace", "typos", "drop", "swap"])
@pytest.mark.parametrize(("reading", "code"), [("written", 2), ("released", 0)])
def test_a_question_that_nobody_hears_is_no_channel(play, kind, reading, code):
    settings = f"deaf={{channel: question, kind: {kind}, script: dialog}}"
    found, lines = play("--condition", settings, "--reading", reading)
    assert found == code
    assert code == 0 or "condition deaf: channel: question, but where people answer nobody hears" in lines[-1]


def test_the_baseline_is_nothing_else(play):
    code, (line,) = play("--condition", "none={channel: image, kind: noise}")
    assert code == 2
    assert line.endswith("--condition: 'none' is the baseline of all others; leave it {}")


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("channel", ["caption", "question", "answer"])
def test_bots_play_on_where_messages_get_lost(play, regime, channel):
    lost = f"lost={{channel: {channel}, kind: drop}}"
    readings = ("--reading", "written", "released")
    assert play(*NONE, "--condition", lost, *readings, "--candidates", 4, training=Training(regime=regime))[0] == 0
    for reading in ("written", "released"):
        none, result = (read_result(play.folder / "out" / reading / f"{name}.h5") for name in ("none", "lost"))
        assert np.isfinite(result.ranks).all()
        assert not getattr(result, f"{channel}_heard").lengths.any()
        rounds = [1, *[0] * 10] if channel == "caption" else [0, *[1] * 10]
        assert result.perturbed_messages.tolist() == [4 * number for number in rounds]
        # Untrained bots may say PAD, whose loss shows nowhere.
        assert result.perturbed_tokens.sum() == (getattr(result, f"{channel}_said").tokens != PAD).sum()
        if channel != "caption":
            # Nothing was lost before the first question was asked.
            assert (result.ranks[:, 0] == none.ranks[:, 0]).all()
            assert result.question_said[:, 0].lists() == none.question_said[:, 0].lists()


PERTURBED = {
    "none": "none={}",
    "caption": "caption={channel: caption, kind: replace, p: 0.5}",
    "question": "question={channel: question, kind: replace, p: 0.5}",
    "answer": "answer={channel: answer, kind: drop, p: 0.5}",
    "image": "image={channel: image, kind: noise}",
    "swap": "swap={channel: caption, kind: swap}",
}


def played(play, *words, **settings):
    """The results of all of `PERTURBED`, by name."""
    conditions = [word for one in PERTURBED.values() for word in ("--condition", one)]
    assert play(*conditions, *words, **settings)[0] == 0
    return {name: read_result(play.folder / settings["out"] / "written" / f"{name}.h5") for name in PERTURBED}


def same(one, other):
    """Whether two results have the same ranks and messages."""
    arrays = [
        [result.ranks, *(part for name in MESSAGES for part in vars(getattr(result, name)).values())]
        for result in (one, other)
    ]
    return all(map(np.array_equal, *arrays))


def test_the_seed_of_the_game_is_that_of_perturbations_and_partners_alone(play):
    one, again, other = (played(play, "--seed", seed, out=out) for seed, out in ((1, "a"), (1, "b"), (2, "c")))
    for name in PERTURBED:
        assert same(one[name], again[name])
        assert [result[name].attributes["seed"] for result in (one, other)] == [1, 1]
        assert [result[name].attributes["game_seed"] for result in (one, other)] == [1, 2]
    assert same(one["none"], other["none"])
    for name in ("caption", "question", "answer", "image"):
        assert not same(one[name], other[name])
    assert one["image"].question_said[:, 0].lists() == other["image"].question_said[:, 0].lists()
    partners = [result["swap"].caption_heard.tokens[:, 0].tolist() for result in (one, other)]
    assert partners[0] != partners[1]


def test_the_seed_of_training_changes_the_bots_and_not_what_is_perturbed(play):
    one, other = (played(play, training=Training(seed=seed), out=str(seed)) for seed in (2, 3))
    assert not same(one["none"], other["none"])
    for name in PERTURBED:
        assert [result[name].attributes["seed"] for result in (one, other)] == [2, 3]
        assert [result[name].attributes["game_seed"] for result in (one, other)] == [1, 1]
    for name in ("caption", "swap"):
        assert one[name].caption_heard.lists() == other[name].caption_heard.lists()
    # Whatever was asked, the same tokens stand in the same places.
    pairs = [(result["question"].question_said, result["question"].question_heard) for result in (one, other)]
    width = min(spoken.width for spoken, _ in pairs)
    asked, heard = (np.stack([pair[which].tokens[..., :width] for pair in pairs]) for which in (0, 1))
    words = VOCABULARY.is_word[asked].all(0)
    hit = words & (asked != heard).any(0)
    assert 0.2 < hit.sum() / words.sum() < 0.7
    assert (heard[0][hit] == heard[1][hit]).all()
    # The same messages get lost.
    lost = [result["answer"].answer_heard.lengths == 0 for result in (one, other)]
    assert (lost[0] == lost[1]).all()
    assert 0 < lost[0].sum() < lost[0].size
