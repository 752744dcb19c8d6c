"""Manual interventions: their files, which dialog they choose, what they do, and how they are shown."""

import argparse
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from fakes import made_summary
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from small_files import album, jpeg, picture

from cooperation.bots.checkpoint import Checkpoint, build, save_checkpoint
from cooperation.bots.scripted import OracleAnswerer, OracleQuestioner
from cooperation.commands import figure as figure_command
from cooperation.commands import intervene
from cooperation.data.store import Dialogs, Features, write_dialogs, write_features
from cooperation.files import InputError
from cooperation.games.manual_games import play_manual
from cooperation.games.ranking import Ranker
from cooperation.games.results import read_result
from cooperation.games.transcripts import as_text, describe_manual, title_of, transcript
from cooperation.messages import Messages, stack_rounds
from cooperation.method.game import Match, Script, own
from cooperation.method.interventions import Where
from cooperation.method.manual import (
    RULES,
    Manual,
    Recorded,
    chosen,
    filled,
    interventions,
    parse_manual,
    read_manual,
    tampering,
    written,
)
from cooperation.method.readings import READINGS
from cooperation.models import Sizes, Training
from cooperation.reports.claims import check, manual_evidence, read_claims
from cooperation.reports.figures import save
from cooperation.reports.manual_figures import BLUE, COLUMN, TEXT, draw_manual, wrapped
from cooperation.reports.page import Source, render
from cooperation.text import Vocabulary

MANUAL = Path(__file__).parents[1] / "paper" / "manual"
WORDS = ["a", "an", "ball", "color", "ground", "is", "it", "no", "on", "orange", "red", "the", "there", "what", "yes"]
VOCABULARY = Vocabulary.of([*WORDS, "?", "UNK"])
CAPTION = {"dialog": 7, "caption": "a red ball"}


def encoded(text):
    return VOCABULARY.encode(text.split())


def dialogs(count=6):
    """Every dialog asks and answers the same in round r, but for the colour in round 3 and the caption's thing."""
    colors = ["red", "orange"] * count
    questions = [encoded("is it a ball ?")] * 2 + [encoded("what color is it ?")] + [encoded("is it red ?")] * 7
    answers = [[*[encoded("no")] * 2, encoded(f"yes {color}"), *[encoded("no")] * 7] for color in colors[:count]]
    return Dialogs(
        np.arange(count) * 3 + 7,
        Messages.of([encoded("a ball on the ground" if row % 3 else "the ground") for row in range(count)]),
        stack_rounds([Messages.of([question] * count) for question in questions]),
        stack_rounds([Messages.of(list(said)) for said in zip(*answers, strict=True)]),
    )


@pytest.fixture(scope="module")
def checkpoint():
    torch.manual_seed(3)
    sizes = Sizes(6, 8, 1)
    bots = (bot.eval() for bot in build(VOCABULARY.size, 5, sizes))
    return Checkpoint(*bots, VOCABULARY, np.array([1, 2]), sizes, vars(Training()), {})


IMAGES = np.random.default_rng(4).normal(size=(6, 5)).astype(np.float32)


def played(checkpoint, given, reading="written", control=None, **attributes):
    manual = parse_manual(given, "here")
    names = {"dataset": "miniature", "reading": reading, "condition": "figure_2"} | attributes
    return play_manual(checkpoint, dialogs(), IMAGES, control, manual, READINGS[reading], names)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], ["here", "keys"]),
        ({"dialog": 7}, ["here", "nothing is changed", "caption"]),
        (CAPTION | {"captoin": "x"}, ["here", "captoin", "caption"]),
        (CAPTION | {"dialog": "worst rank"}, ["here: dialog", "worst rank", *RULES]),
        (CAPTION | {"dialog": True}, ["here: dialog", "True"]),
        (CAPTION | {"caption": True}, ["here: caption", "True", "quotes"]),
        (CAPTION | {"caption": " "}, ["here: caption: the text is empty"]),
        (CAPTION | {"caption": "a {color} ball"}, ["here: caption", "{color}", "words"]),
        (CAPTION | {"answers": {11: "yes"}}, ["here: answers", "11", "1 to 10"]),
        (CAPTION | {"answers": {"3": "yes"}}, ["here: answers", "'3'", "1 to 10"]),
        (CAPTION | {"answers": {3: False}}, ["here: answers.3", "False", "quotes"]),
        (CAPTION | {"questions": "what"}, ["here: questions", "what", "keys"]),
        (CAPTION | {"answers": {"exchange": [[True, False]]}}, ["here: answers.exchange", "yes no"]),
        (CAPTION | {"answers": {"exchange": ["yes no", "red yes"]}}, ["here: answers.exchange", "'yes'", "twice"]),
        (CAPTION | {"image": "blank"}, ["here: image", "blank", "noise"]),
        (CAPTION | {"words": {"color": {}}}, ["here: words.color", "answer"]),
        (CAPTION | {"words": {"color": {"reply": "red"}}}, ["here: words.color", "reply", "answer"]),
        (CAPTION | {"words": {"color": {"answer": "(red"}}}, ["here: words.color", "regular expression"]),
        (CAPTION | {"words": {"color": {"answer": True}}}, ["here: words.color.answer", "quotes"]),
    ],
)
def test_mistakes_are_named_in_one_line(given, said):
    with pytest.raises(InputError) as error:
        parse_manual(given, "here")
    assert "\n" not in str(error.value)
    assert all(word in str(error.value) for word in said), error.value


@pytest.mark.parametrize(("text", "said"), [("a: [", "not YAML"), ("a: b: c", "line 1"), (None, "no such file")])
def test_files_that_are_none_are_named(tmp_path, text, said):
    path = tmp_path / "figure_2.yaml"
    if text:
        path.write_text(text)
    with pytest.raises(InputError, match=said) as error:
        read_manual(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_the_shipped_set_has_all_four_kinds():
    kinds = [set(read_manual(path).changes()) for path in sorted(MANUAL.glob("miniature/*"))]
    assert kinds == [{"dialog", kind} for kind in ("caption", "exchange", "image", "questions")]


def test_words_not_in_the_vocabulary_are_named():
    manual = parse_manual({"dialog": 7, "caption": "A zebra!", "answers": {2: "purple"}}, "here")
    with pytest.raises(InputError, match="“zebra”, “!”, “purple”"):
        tampering(manual, {}, VOCABULARY, own)


@pytest.mark.parametrize(
    ("rule", "order"),
    [
        ("best rank by caption", [3, 1, 0, 2, 4]),
        ("worst rank by caption", [4, 2, 0, 1, 3]),
        ("median rank by caption", [0, 1, 2, 3, 4]),
        ("best rank by dialog", [0, 1, 2, 3, 4]),
        ("worst rank by dialog", [4, 3, 2, 1, 0]),
    ],
)
def test_a_rule_orders_dialogs_by_their_ranks(rule, order):
    ranks = np.zeros((5, 11))
    ranks[:, 0] = [20, 10, 30, 0, 40]
    ranks[:, 10] = range(5)
    assert chosen(Manual(rule), np.arange(5), ranks).tolist() == order


def test_an_image_id_is_looked_for_and_a_rule_needs_ranks():
    assert chosen(Manual(30), np.array([10, 30, 20]), None).tolist() == [1]
    with pytest.raises(InputError, match="image 31 is not among the 3 candidates"):
        chosen(Manual(31), np.array([10, 30, 20]), None)
    with pytest.raises(InputError, match="worst rank by caption"):
        chosen(Manual("worst rank by caption"), np.array([10, 30, 20]), None)


TOLD = {
    "color": {"answer": r"\b(red|orange)\b", "question": "color"},
    "thing": {"caption": r"\ba (ball)\b"},
}


def test_words_come_from_the_round_where_all_patterns_are_found():
    manual = parse_manual(CAPTION | {"words": TOLD}, "here")
    recorded = Recorded.of(dialogs(), 1, VOCABULARY)
    assert recorded.caption == "a ball on the ground"
    assert recorded.questions[2:4] == ("what color is it ?", "is it red ?")
    # Not “red” of round 4's question: its answer has no colour.
    assert filled(manual, recorded) == {"color": "orange", "thing": "ball"}
    assert written("there is a {color} {thing}", {"color": "orange", "thing": "ball"}) == "there is an orange ball"
    assert written("a {color} ball", {"color": "red"}) == "a red ball"


def test_dialogs_that_do_not_tell_all_words_are_passed_over():
    ranks = np.arange(6)[::-1, None] * np.ones(11)
    given = {"dialog": "worst rank by caption", "words": TOLD, "caption": "a {color} {thing}"}
    found = list(interventions(parse_manual(given, "here"), dialogs(), ranks, VOCABULARY, own))
    # The captions of rows 0 and 3 have no thing; the worst is row 0.
    assert [row for row, _ in found] == [1, 2, 4, 5]
    assert all(done.remembered is own for _, done in found)
    heard = found[0][1].caption(Messages.of([[1, 2]]), Where(1, "caption", np.array([7]), 0))
    assert heard.lists() == [encoded("an orange ball")]
    given["words"] = TOLD | {"sky": {"question": "sky"}}
    with pytest.raises(InputError, match="color, thing, sky"):
        list(interventions(parse_manual(given, "here"), dialogs(), ranks, VOCABULARY, own))


def test_an_oracle_lied_to_guesses_the_image_that_the_lie_names():
    # Three digits to base 5, the lowest first: 7 is “c b a”; a and b exchanged it is “c a b”, 2 + 25.
    candidates = np.random.default_rng(0).normal(size=(30, 6)).astype(np.float32)
    letters = Vocabulary.of([*"abcde", "UNK"])
    manual = parse_manual({"dialog": 7, "answers": {"exchange": ["a b"]}}, "here")
    ranker, truth, named = Ranker(candidates), 7, 27
    game = Match(
        OracleQuestioner(candidates, 5),
        OracleAnswerer(candidates, 5),
        Messages.of([[1]]),
        candidates[[truth]],
        np.array([truth]),
        1,
        Script.silent(1),
        tampering(manual, {}, letters, own),
        lambda guess: ranker.rank(guess, np.array([truth])),
    ).finish()
    assert letters.decode(game.answer_said[0, 0].tokens) == "c b a"
    assert letters.decode(game.answer_heard[0, 0].tokens) == "c a b"
    nearer = np.linalg.norm(candidates - candidates[named], axis=1)
    assert game.ranks[0, 1:].tolist() == [(nearer < nearer[truth]).sum()] * 10


def same(result, name, rounds):
    messages = getattr(result, name)[:, rounds]
    return (messages.tokens[0] == messages.tokens[1]).all() and (messages.lengths[0] == messages.lengths[1]).all()


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("kind", ["answers", "questions"])
def test_rounds_before_the_first_change_are_identical(checkpoint, reading, kind):
    result = played(checkpoint, {"dialog": 13, kind: {5: "red", 8: "it is a ball"}}, reading)
    assert (result.image_ids == 13).all()
    assert (result.ranks[0, :5] == result.ranks[1, :5]).all()
    for name in ("question_said", "answer_said", "question_heard", "answer_heard"):
        assert same(result, name, slice(4))
    assert result.tampered_messages.tolist() == [0] * 5 + [1, 0, 0, 1, 0, 0]
    heard = getattr(result, f"{kind.removesuffix('s')}_heard")
    text = {"answers": "it is a ball", "questions": "it is a ball ?"}[kind]
    assert heard[1, 7].tokens[: heard.lengths[1, 7]].tolist() == [*encoded(text), VOCABULARY.eos]


def test_captions_and_images_change_from_the_beginning(checkpoint):
    caption = played(checkpoint, CAPTION)
    assert caption.caption_heard.lists() == [encoded("the ground"), encoded("a red ball")]
    assert caption.caption_said.lists() == [encoded("the ground")] * 2
    assert caption.tampered_messages.tolist() == [1] + [0] * 10
    noise = played(checkpoint, {"dialog": 7, "image": "noise"})
    assert noise.tampered_messages.tolist() == [0] + [1] * 10
    assert noise.tampered_tokens.sum() == 0
    assert (noise.ranks[0] == caption.ranks[0]).all()


def test_without_a_change_it_is_an_error(checkpoint):
    with pytest.raises(InputError, match="nothing would be changed"):
        played(checkpoint, {"dialog": 7, "caption": "the ground"})


def test_a_rule_needs_the_control_of_the_same_candidates(checkpoint):
    control = played(checkpoint, CAPTION)
    ids, ranks = dialogs().image_ids, np.arange(6.0)[:, None] * np.ones(11)
    control = replace(control, image_ids=ids, ranks=ranks)
    rule = CAPTION | {"dialog": "worst rank by dialog"}
    assert (played(checkpoint, rule, control=control).image_ids == ids[5]).all()
    with pytest.raises(InputError, match="5 dialogs"):
        played(checkpoint, rule, control=replace(control, image_ids=ids[:5], ranks=ranks[:5]))
    # Of captions that say so already, the rule goes on to the next dialog.
    ground = CAPTION | {"dialog": "worst rank by dialog", "caption": "a ball on the ground"}
    assert (played(checkpoint, ground, control=control).image_ids == ids[3]).all()


def test_changed_messages_are_marked(checkpoint):
    result = played(checkpoint, {"dialog": 7, "answers": {2: "yes", 4: "it is red"}}, title="A title")
    lines = as_text(result, VOCABULARY).splitlines()
    without, with_it = lines[: len(lines) // 2], lines[len(lines) // 2 :]
    assert not any(line.startswith("*") for line in without)
    marked = [line for line in with_it if line.startswith("*")]
    assert ["yes" in marked[0], "it is red" in marked[1], len(marked)] == [True, True, 2]
    assert f"rank {result.ranks[1, 2] + 1:g}" in marked[0]
    blue = [text.get_text() for text in draw_manual(result, VOCABULARY).axes[0].texts if text.get_color() == BLUE]
    assert blue == ["yes", "it is red"]
    bars = [line for line in draw_manual(result, VOCABULARY).axes[0].lines if line.get_color() == BLUE]
    assert len(bars) == 2


def test_a_figure_shows_all_that_was_heard_and_the_ranks(checkpoint):
    result = played(checkpoint, {"dialog": 7, "image": "noise", "caption": "a red ball"}, title="Noise")
    figure = draw_manual(result, VOCABULARY, Image.new("RGB", (40, 30), "red"))
    page, shown, ranks = figure.axes
    texts = " ".join(text.get_text() for text in page.texts)
    for row in (0, 1):
        for message in transcript(result, row, VOCABULARY):
            assert message.heard in re.sub(r"\s+", " ", texts) or not message.heard
    assert "the answerer sees noise" in texts
    assert title_of(result).splitlines()[0] == "Figure 2. Noise"
    assert len(shown.images) == 1
    assert [line.get_ydata().tolist() for line in ranks.lines] == (result.ranks + 1).tolist()
    assert ranks.get_yscale() == "log"
    assert {line.get_marker() for line in ranks.lines} == {"o", "s"}
    assert len(draw_manual(result, VOCABULARY).axes) == 2
    described = describe_manual(result)
    assert "caption, image" in described
    assert f"{result.ranks[1, 10] + 1:g} in round 10" in described


@pytest.mark.parametrize("ending", ["svg", "pdf", "png"])
def test_the_same_result_gives_the_same_bytes(checkpoint, ending, tmp_path):
    result = played(checkpoint, CAPTION, title="A title")
    for copy in ("a", "b"):
        save(draw_manual(result, VOCABULARY, picture()), tmp_path / f"{copy}.{ending}")
    assert (tmp_path / f"a.{ending}").read_bytes() == (tmp_path / f"b.{ending}").read_bytes()


@settings(max_examples=25, deadline=None)
@given(text=st.text(st.sampled_from("aiwW.$_^ "), max_size=150), bold=st.booleans())
def test_lines_are_no_wider_than_their_room_and_lose_nothing(text, bold):
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    lines = list(wrapped(text, COLUMN - TEXT, bold))
    assert "".join(lines).replace(" ", "") == "".join(text.split())
    figure = Figure(figsize=(20, 2), dpi=72)
    FigureCanvasAgg(figure)
    for line in lines:
        drawn = figure.text(0, 0, line, fontsize=8, weight="bold" if bold else "normal", parse_math=False)
        # Hinting moves each letter by less than a pixel.
        assert drawn.get_window_extent().width <= 72 * (COLUMN - TEXT) * 1.06


def command(module, *words):
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    module.run(parser.parse_args([str(word) for word in words]))


@pytest.fixture(scope="module")
def folder(checkpoint, tmp_path_factory):
    made = tmp_path_factory.mktemp("files")
    save_checkpoint(made / "bots.safetensors", checkpoint)
    write_dialogs(made / "dialogs.h5", VOCABULARY, {"val": dialogs()}, {})
    write_features(made / "features.h5", {"val": Features(dialogs().image_ids, IMAGES, {})}, {"extractor": "none"})
    return made


def files(folder):
    names = {"--checkpoint": "bots.safetensors", "--dialogs": "dialogs.h5", "--features": "features.h5"}
    return [word for flag, name in names.items() for word in (flag, folder / name)]


def test_from_the_command_line_to_a_figure(folder, tmp_path, capsys):
    out, drawn = tmp_path / "figure_2.h5", [tmp_path / f"figure_2.{ending}" for ending in ("pdf", "svg", "png")]
    words = [
        "--image-id",
        10,
        "--answer",
        "3=no",
        "--answer",
        "9=it is red",
        "--question",
        "2=what is it",
        "--out",
        out,
    ]
    command(intervene, *files(folder), *words, "--dataset", "miniature")
    assert "it is red" in capsys.readouterr().out
    result = read_result(out)
    assert result.ranks.shape == (2, 11)
    assert result.attributes["model"] == "manual"
    assert json.loads(result.attributes["settings"])["answers"] == {"3": "no", "9": "it is red"}
    pictures = album(tmp_path / "val2014.zip", {10: jpeg(picture())}, "val")
    given = ["--result", out, "--dialogs", folder / "dialogs.h5", "--pictures", pictures]
    command(figure_command, "2", *given, "--out", *drawn)
    assert all(path.stat().st_size > 1000 for path in drawn)

    # Archives may be deleted once features are made.
    given[-1] = tmp_path / "deleted.zip"
    command(figure_command, "2", *given, "--out", drawn[1])
    assert "no picture of image 10" in capsys.readouterr().err

    path = tmp_path / "manual.yaml"
    path.write_text(
        yaml.safe_dump({"dialog": 10, "answers": {3: "no", 9: "it is red"}, "questions": {2: "what is it"}})
    )
    command(intervene, *files(folder), "--manual", path, "--out", tmp_path / "again.h5")
    assert (read_result(tmp_path / "again.h5").ranks == result.ranks).all()
    path.write_text(yaml.safe_dump({"dialog": 10, "caption": "zebra"}))
    with pytest.raises(InputError, match=rf"{path}: .*“zebra”"):
        command(intervene, *files(folder), "--manual", path)


def test_several_interventions_in_one_go(folder, tmp_path):
    paths, outs = [tmp_path / "a.yaml", tmp_path / "b.yaml"], [tmp_path / "figure_a.h5", tmp_path / "figure_b.h5"]
    paths[0].write_text(yaml.safe_dump({"dialog": 10, "answers": {3: "no"}}))
    paths[1].write_text(yaml.safe_dump({"dialog": 13, "image": "noise"}))
    command(intervene, *files(folder), "--manual", *paths, "--out", *outs)
    found = [read_result(path) for path in outs]
    assert [result.attributes["condition"] for result in found] == ["figure_a", "figure_b"]
    assert [result.image_ids[0] for result in found] == [10, 13]
    with pytest.raises(InputError, match="1 files for 2 interventions"):
        command(intervene, *files(folder), "--manual", *paths, "--out", outs[0])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--caption", "red"], "--image-id"),
        (["--image-id", 7], "nothing is changed"),
        (["--image-id", 7, "--rule", RULES[0], "--noise-image"], "one of them"),
        (["--image-id", 7, "--answer", "no"], "3=text"),
        (["--image-id", 7, "--answer", "11=no"], "1 to 10"),
        (["--image-id", 7, "--answer", "3=no", "--answer", "3=yes"], "round 3 is there twice"),
        (["--rule", "worst rank by caption", "--answer", "3=no"], "as --control"),
        (["--rule", RULES[0], "--noise-image"], "control"),
        (["--image-id", 8, "--noise-image"], "image 8"),
        (["--manual", "x.yaml", "--noise-image"], "x.yaml"),
    ],
)
def test_wrong_flags_are_one_line(folder, words, said):
    with pytest.raises(InputError, match=said) as error:
        command(intervene, *files(folder), *words)
    assert "\n" not in str(error.value)


def test_a_manual_figure_needs_its_result(tmp_path):
    with pytest.raises(InputError, match="--result"):
        command(figure_command, "2", "--out", tmp_path / "x.svg")
    with pytest.raises(InputError, match="--summary"):
        command(figure_command, "1a", "--out", tmp_path / "x.svg")


def test_the_claims_find_their_ranks(checkpoint):
    result = played(checkpoint, CAPTION)
    evidence = manual_evidence([result])
    assert evidence["manual", "written", "figure_2-changed"].tolist() == [(result.ranks[1] + 1).tolist()] * 2
    claims = read_claims(MANUAL.parent / "claims.csv")
    verdicts = check(claims, evidence, ["written"], "visdial").set_index("claim")
    assert verdicts.loc["better-caption-before", "ours"] == result.ranks[0, 10] + 1
    assert verdicts.loc["better-caption-before", "verdict"] == "not reproduced"
    assert verdicts.loc["better-caption-after", "verdict"] == "reproduced"


def test_the_page_shows_figure_and_text_and_escapes_both(checkpoint):
    result = played(checkpoint, CAPTION, title="<script>alert(1)</script>", text="Why & how")
    svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    shown = [(Source(Path("figure_2.h5"), result), Source(Path("figure_2.svg"), svg))]
    page = render(Source(Path("mpr.csv"), made_summary()), {}, {}, [], VOCABULARY, manual=shown)
    assert '<a href="#manual">Manual interventions</a>' in page
    assert "Figure 2. &lt;script&gt;alert(1)" in page
    assert "Why &amp; how" in page
    assert f'alt="{describe_manual(result)}"' in page
    assert "<mark>red</mark>" in page
    shown_ranks = [int(found) for found in re.findall(r"rank (\d+) of 6", page)]
    assert shown_ranks == [round(rank) + 1 for row in result.ranks for rank in row]
    assert "figure_2.h5" in page
    without = render(Source(Path("mpr.csv"), made_summary()), {}, {}, [], VOCABULARY)
    assert "Manual interventions" not in without
