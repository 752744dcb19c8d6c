"""Manual interventions: their files, which dialog they choose, what they do, and how they are shown."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from fakes import PAPERS, STANDS_FOR, made_config, made_material, made_result, write_data, write_results
from hypothesis import given, settings
from hypothesis import strategies as st
from in_process import run_module
from PIL import Image
from small_files import album, jpeg, made_of, picture, write_json, write_zip

from cooperation.bots.building import build
from cooperation.bots.checkpoint import Checkpoint, save_checkpoint
from cooperation.bots.pair import TrainedBots
from cooperation.bots.scripted import OracleAnswerer, OracleQuestioner
from cooperation.commands import intervene, report
from cooperation.config.experiment import ManualGame, read
from cooperation.config.training import Sizes, Training
from cooperation.data.agreements import identity_of_intervention
from cooperation.data.captions import read_captions
from cooperation.data.store import Dialogs, Features, write_dialogs, write_features
from cooperation.evaluation.manual import (
    RULES,
    Manual,
    fill_slots,
    find_words,
    fitting_dialogs,
    parse_manual,
    perturbation,
    read_manual,
    rows_by_rule,
)
from cooperation.evaluation.manual_games import play_manual
from cooperation.evaluation.playing import Games
from cooperation.evaluation.ranking import Ranker
from cooperation.evaluation.recorded import Recorded
from cooperation.evaluation.results import read_result, write_result
from cooperation.evaluation.transcripts import as_text, describe_manual, title_of, transcript
from cooperation.game.interventions.noise import Noise
from cooperation.game.match import Batch, Match, Script
from cooperation.game.messages import Messages, stack_rounds
from cooperation.game.place import Context
from cooperation.game.readings import READINGS, own
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.files import InputError
from cooperation.reports.claims import check, read_claims
from cooperation.reports.drawing import save
from cooperation.reports.evidence import manual_evidence
from cooperation.reports.figures import manual as manual_figure
from cooperation.reports.manual_drawing import BLUE, COLUMN, TEXT, draw_manual, wrapped
from cooperation.reports.page import Contents, render

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
    return Checkpoint(*bots, VOCABULARY, np.array([1, 2]), sizes, vars(Training()), {}, {})


IMAGES = np.random.default_rng(4).normal(size=(6, 5)).astype(np.float32)
WRITTEN = READINGS["written"]


def played(checkpoint, given, reading="written", baseline=None, title="", seed=1):
    manual = parse_manual(given | ({"title": title} if title else {}), "here")
    names = {"dataset": "miniature", "model": "dialog", "seed": 1, "reading": reading, "condition": "figure_2"}
    bots, ranker = TrainedBots(checkpoint), Ranker(IMAGES, guess_basis=checkpoint.questioner.guess_basis().numpy())
    games = Games(bots, VOCABULARY, dialogs(), IMAGES, ranker, seed, 1)
    return play_manual(games, manual, READINGS[reading], baseline, names)


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
        perturbation(manual, {}, VOCABULARY, WRITTEN)


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
    assert rows_by_rule(Manual(rule), np.arange(5), ranks).tolist() == order


def test_an_image_id_is_looked_for_and_a_rule_needs_ranks():
    assert rows_by_rule(Manual(30), np.array([10, 30, 20]), None).tolist() == [1]
    with pytest.raises(InputError, match="image 31 is not among the 3 candidates"):
        rows_by_rule(Manual(31), np.array([10, 30, 20]), None)
    with pytest.raises(InputError, match="worst rank by caption"):
        rows_by_rule(Manual("worst rank by caption"), np.array([10, 30, 20]), None)


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
    assert find_words(manual, recorded, VOCABULARY) == {"color": "orange", "thing": "ball"}
    assert fill_slots("there is a {color} {thing}", {"color": "orange", "thing": "ball"}) == "there is an orange ball"
    assert fill_slots("a {color} ball", {"color": "red"}) == "a red ball"


COCO = {10: ("The ground.", "A ball, on the ground!", "a red ball"), 13: ("a ball on the ground", "what is it"), 16: ()}


def test_recorded_texts_and_other_captions_need_no_patterns():
    texts = {"caption": "{other_caption}", "questions": {2: "{question_3}"}, "answers": {1: "{answer_3} {caption}"}}
    manual = parse_manual({"dialog": 10} | texts, "here")
    assert manual.slots == ("other_caption", "question_3", "answer_3", "caption")
    recorded = Recorded.of(dialogs(), 1, VOCABULARY, COCO[10])
    # Its own caption differs from COCO's in case and punctuation; of the others it is the longest, if all is known.
    assert find_words(manual, recorded, VOCABULARY) == {
        "other_caption": "a red ball",
        "question_3": "what color is it ?",
        "answer_3": "yes orange",
        "caption": "a ball on the ground",
    }
    ((row, done),) = fitting_dialogs(manual, dialogs(), None, VOCABULARY, WRITTEN, COCO)
    place = Context(1, VOCABULARY).place
    assert row == 1
    heard = [
        done.caption(Messages.of([[1]]), place("caption", 0, np.array([10]))),
        done.question(Messages.of([[1]]), place("question", 2, np.array([10]))),
        done.answer(Messages.of([[1]]), place("answer", 1, np.array([10]))),
    ]
    eos = [VOCABULARY.eos]
    assert [message.lists()[0] for message in heard] == [
        encoded("a red ball"),
        [*encoded("what color is it ?"), *eos],
        [*encoded("yes orange a ball on the ground"), *eos],
    ]


@pytest.mark.parametrize(
    "captions",
    [
        {},
        {10: ()},
        # The only other caption has a word that the vocabulary lacks.
        {10: ("a ball on the ground", "a zebra")},
        # Captions of another picture: the dialog's own is not among them.
        {10: ("a red ball", "an orange ball")},
    ],
)
def test_a_dialog_without_another_caption_is_passed_over(captions):
    manual = parse_manual({"dialog": 10, "caption": "{other_caption}"}, "here")
    with pytest.raises(InputError, match="10: no such dialog has the words of other_caption"):
        list(fitting_dialogs(manual, dialogs(), None, VOCABULARY, WRITTEN, captions))
    with pytest.raises(InputError, match="one of COCO's captions; give their file as --captions"):
        list(fitting_dialogs(manual, dialogs(), None, VOCABULARY, WRITTEN))


@pytest.mark.parametrize("slot", ["question_0", "question_11", "answer_01", "captions", "other"])
def test_other_slots_need_a_pattern(slot):
    with pytest.raises(InputError, match=f"no word is described for {{{slot}}}"):
        parse_manual({"dialog": 10, "caption": f"a {{{slot}}}"}, "here")


def test_an_exchange_leaves_out_what_nobody_can_say():
    manual = parse_manual({"dialog": 7, "answers": {"exchange": ["red zebra orange"]}}, "here")
    done = perturbation(manual, {}, VOCABULARY, WRITTEN)
    heard = done.answer(
        Messages.of([encoded("red orange yes")]), Context(1, VOCABULARY).place("answer", 1, np.array([7]))
    )
    assert heard.lists() == [encoded("orange red yes")]
    with pytest.raises(InputError, match="not in the bots' vocabulary: “zebra”"):
        perturbation(
            parse_manual({"dialog": 7, "answers": {"exchange": ["red zebra"]}}, "here"), {}, VOCABULARY, WRITTEN
        )


def of_coco(images):
    return {"annotations": [{"id": n, "image_id": image, "caption": text} for n, (image, text) in enumerate(images)]}


def test_cocos_captions_in_every_shape(tmp_path):
    content = of_coco([(7, "A cat."), (9, "dogs"), (7, "a red cat")])
    others = {"annotations/instances_val2014.json": "{}", "annotations/captions_train2014.json": "{}"}
    name = "annotations/captions_val2014.json"
    shapes = [
        write_json(tmp_path / "renamed.json", content),
        write_zip(tmp_path / "annotations.zip", {**others, name: json.dumps(content)}),
        tmp_path / "folder",
    ]
    (tmp_path / "folder/annotations").mkdir(parents=True)
    write_json(tmp_path / "folder" / name, content)
    for path in shapes:
        assert read_captions(path) == {7: ("A cat.", "a red cat"), 9: ("dogs",)}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ({}, "no list “annotations”"),
        ([], "no list “annotations”"),
        ({"annotations": [{"image_id": 3}]}, "is no caption of an image"),
        ({"annotations": [{"image_id": "3", "caption": "a"}]}, "is no caption of an image"),
        ({"annotations": [5]}, "is no caption of an image"),
    ],
)
def test_what_is_not_cocos_captions_is_refused(tmp_path, content, said):
    with pytest.raises(InputError, match=said):
        read_captions(write_json(tmp_path / "c.json", content))


def test_annotations_without_captions_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"holds 0 files captions_val….json"):
        read_captions(write_zip(tmp_path / "a.zip", {"annotations/instances_val2014.json": "{}"}))


def test_dialogs_that_do_not_tell_all_words_are_passed_over():
    ranks = np.arange(6)[::-1, None] * np.ones(11)
    given = {"dialog": "worst rank by caption", "words": TOLD, "caption": "a {color} {thing}"}
    found = list(fitting_dialogs(parse_manual(given, "here"), dialogs(), ranks, VOCABULARY, WRITTEN))
    # The captions of rows 0 and 3 have no thing; the worst is row 0.
    assert [row for row, _ in found] == [1, 2, 4, 5]
    assert all(done.remember is own for _, done in found)
    heard = found[0][1].caption(Messages.of([[1, 2]]), Context(1, VOCABULARY).place("caption", 0, np.array([7])))
    assert heard.lists() == [encoded("an orange ball")]
    given["words"] = TOLD | {"sky": {"question": "sky"}}
    with pytest.raises(InputError, match="color, thing, sky"):
        list(fitting_dialogs(parse_manual(given, "here"), dialogs(), ranks, VOCABULARY, WRITTEN))


def test_an_oracle_lied_to_guesses_the_image_that_the_lie_names():
    # Three digits to base 5, the lowest first: 7 is “c b a”; a and b exchanged it is “c a b”, 2 + 25.
    candidates = np.random.default_rng(0).normal(size=(30, 6)).astype(np.float32)
    letters = Vocabulary.of([*"abcde", "UNK"])
    manual = parse_manual({"dialog": 7, "answers": {"exchange": ["a b"]}}, "here")
    ranker, truth, named = Ranker(candidates), 7, 27
    game = Match(
        OracleQuestioner(candidates, 5),
        OracleAnswerer(candidates, 5),
        Batch(np.array([truth]), Messages.of([[1]]), candidates[[truth]]),
        Script.silent(1),
        perturbation(manual, {}, letters, WRITTEN),
        Context(1, letters),
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
    assert result.perturbed_messages.tolist() == [0] * 5 + [1, 0, 0, 1, 0, 0]
    heard = getattr(result, f"{kind.removesuffix('s')}_heard")
    text = {"answers": "it is a ball", "questions": "it is a ball ?"}[kind]
    assert heard[1, 7].tokens[: heard.lengths[1, 7]].tolist() == [*encoded(text), VOCABULARY.eos]


def test_captions_and_images_change_from_the_beginning(checkpoint):
    caption = played(checkpoint, CAPTION)
    assert caption.caption_heard.lists() == [encoded("the ground"), encoded("a red ball")]
    assert caption.caption_said.lists() == [encoded("the ground")] * 2
    assert caption.perturbed_messages.tolist() == [1] + [0] * 10
    noise = played(checkpoint, {"dialog": 7, "image": "noise"})
    assert noise.perturbed_messages.tolist() == [0] + [1] * 10
    assert noise.perturbed_tokens.sum() == 0
    assert (noise.ranks[0] == caption.ranks[0]).all()


def test_without_a_change_it_is_an_error(checkpoint):
    with pytest.raises(InputError, match="nothing would be changed"):
        played(checkpoint, {"dialog": 7, "caption": "the ground"})


def test_the_noise_of_an_image_follows_the_seed_of_the_game(checkpoint):
    given = {"dialog": 7, "image": "noise"}
    one, again, other = (played(checkpoint, given, seed=seed) for seed in (1, 1, 2))
    assert (one.ranks == again.ranks).all()
    assert (one.ranks[0] == other.ranks[0]).all()
    # The answers of untrained bots may be the same; what the answerer sees is not.
    place = Context(1, VOCABULARY).place("image", 1, np.array([7]))
    shown = [Noise().show(IMAGES[:1], replace(place, seed=seed)) for seed in (1, 2)]
    assert (shown[0] != shown[1]).all()


def test_a_rule_needs_the_baseline_of_the_same_candidates(checkpoint):
    baseline = played(checkpoint, CAPTION)
    ids, ranks = dialogs().image_ids, np.arange(6.0)[:, None] * np.ones(11)
    baseline = replace(baseline, image_ids=ids, ranks=ranks)
    rule = CAPTION | {"dialog": "worst rank by dialog"}
    assert (played(checkpoint, rule, baseline=baseline).image_ids == ids[5]).all()
    with pytest.raises(InputError, match="5 dialogs"):
        played(checkpoint, rule, baseline=replace(baseline, image_ids=ids[:5], ranks=ranks[:5]))
    # Dialogs whose caption is that one already are passed over.
    ground = CAPTION | {"dialog": "worst rank by dialog", "caption": "a ball on the ground"}
    assert (played(checkpoint, ground, baseline=baseline).image_ids == ids[3]).all()


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


@pytest.fixture(scope="module")
def folder(checkpoint, tmp_path_factory):
    made = tmp_path_factory.mktemp("files")
    write_dialogs(made / "dialogs.h5", VOCABULARY, {"val": dialogs()}, {})
    write_features(made / "features.h5", {"val": Features(dialogs().image_ids, IMAGES, {})}, {"extractor": "none"})
    save_checkpoint(made / "bots.safetensors", replace(checkpoint, made_of=made_of(made)))
    return made


def files(folder):
    names = {"--checkpoint": "bots.safetensors", "--dialogs": "dialogs.h5", "--features": "features.h5"}
    return [word for flag, name in names.items() for word in (flag, folder / name)]


def test_from_the_command_line_to_a_drawing(folder, tmp_path, capsys):
    words = ["--image-id", 10, "--answer", "3=no", "--answer", "9=it is red", "--question", "2=what is it"]
    run_module(intervene, *files(folder), *words, "--out", tmp_path / "out", "--dataset", "toys")
    assert "it is red" in capsys.readouterr().out
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.h5")] == ["out/written/manual.h5"]
    result = read_result(tmp_path / "out/written/manual.h5")
    assert result.is_manual
    assert result.ranks.shape == (2, 11)
    assert [result.attributes[name] for name in ("model", "seed", "game_seed")] == ["dialog", 1, 1]
    assert json.loads(result.attributes["settings"])["answers"] == {"3": "no", "9": "it is red"}
    for ending in ("pdf", "svg", "png"):
        save(draw_manual(result, VOCABULARY, picture()), tmp_path / f"figure_2.{ending}")
        assert (tmp_path / f"figure_2.{ending}").stat().st_size > 1000

    path = tmp_path / "again.yaml"
    path.write_text(
        yaml.safe_dump({"dialog": 10, "answers": {3: "no", 9: "it is red"}, "questions": {2: "what is it"}})
    )
    run_module(intervene, *files(folder), "--manual", path, "--out", tmp_path / "out")
    assert (read_result(tmp_path / "out/written/again.h5").ranks == result.ranks).all()
    path.write_text(yaml.safe_dump({"dialog": 10, "caption": "zebra"}))
    with pytest.raises(InputError, match=rf"{path}: .*“zebra”"):
        run_module(intervene, *files(folder), "--manual", path)


def test_several_interventions_and_both_readings_in_one_go(folder, tmp_path):
    paths = [tmp_path / "figure_a.yaml", tmp_path / "figure_b.yaml"]
    paths[0].write_text(yaml.safe_dump({"dialog": 10, "answers": {3: "no"}}))
    paths[1].write_text(yaml.safe_dump({"dialog": 13, "image": "noise"}))
    words = ["--manual", *paths, "--reading", "written", "released", "--model", "w1"]
    run_module(intervene, *files(folder), *words, "--out", tmp_path / "out")
    for reading in ("written", "released"):
        found = [read_result(tmp_path / "out" / reading / f"{path.stem}.h5") for path in paths]
        assert [result.attributes["condition"] for result in found] == ["figure_a", "figure_b"]
        assert [result.attributes["reading"] for result in found] == [reading] * 2
        assert [result.attributes["model"] for result in found] == ["w1"] * 2
        assert [result.image_ids[0] for result in found] == [10, 13]
    (tmp_path / "other").mkdir()
    same_name = paths[0].rename(tmp_path / "other" / "figure_b.yaml")
    with pytest.raises(InputError, match="--manual: two files of one name"):
        run_module(intervene, *files(folder), "--manual", same_name, paths[1], "--out", tmp_path / "out")


def test_the_report_draws_a_manual_intervention_with_or_without_its_picture(tmp_path, monkeypatch, capsys):
    config = made_config(readings=["written"], conditions={"dialog": {"none": {}}})
    config["datasets"]["miniature"]["manual"] = {"dialog": ["paper/manual/miniature/figure_2.yaml"]}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(config))
    write_results(tmp_path / "results")
    intervened = made_result(
        np.ones((2, 11)), condition="figure_2", settings='{"dialog": 5, "image": "noise"}', title="A title", text="Why"
    )
    described = identity_of_intervention(MANUAL / "miniature/figure_2.yaml").only("intervention")
    made_of = {"identity": json.dumps({**json.loads(intervened.attributes["identity"]), **described})}
    intervened = replace(intervened, image_ids=np.array([10, 10]), attributes={**intervened.attributes, **made_of})
    write_result(tmp_path / "results/manual/dialog-seed1/written/figure_2.h5", intervened)
    write_data(tmp_path / "dialogs.h5")
    pictures = album(tmp_path / "val2014.zip", {10: jpeg(picture())}, "val")
    monkeypatch.chdir(MANUAL.parents[1])
    given = ["--config", tmp_path / "config.yaml", "--results", tmp_path / "results", "--resamples", 20]
    given += ["--dialogs", tmp_path / "dialogs.h5", "--out", tmp_path / "out", "--pictures"]
    run_module(report, *given, pictures)
    assert "no picture" not in capsys.readouterr().err
    drawn = [tmp_path / f"out/figure_2.{ending}" for ending in ("svg", "pdf", "png")]
    assert all(path.stat().st_size > 1000 for path in drawn)
    assert "<image" in drawn[0].read_text()
    # Archives may be deleted once features are made.
    run_module(report, *given, tmp_path / "deleted.zip")
    assert "no picture of the images 10" in capsys.readouterr().err
    assert "<image" not in drawn[0].read_text()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--caption", "red"], "--image-id"),
        (["--image-id", 7], "nothing is changed"),
        (["--image-id", 7, "--rule", RULES[0], "--noise-image"], "one of them"),
        (["--image-id", 7, "--answer", "no"], "3=text"),
        (["--image-id", 7, "--answer", "11=no"], "1 to 10"),
        (["--image-id", 7, "--answer", "3=no", "--answer", "3=yes"], "round 3 is there twice"),
        (["--rule", "worst rank by caption", "--answer", "3=no"], "as --baseline"),
        (["--rule", RULES[0], "--noise-image"], "baseline"),
        (["--image-id", 8, "--noise-image"], "image 8"),
        (["--manual", "x.yaml", "--noise-image"], "x.yaml"),
    ],
)
def test_wrong_flags_are_one_line(folder, words, said):
    with pytest.raises(InputError, match=said) as error:
        run_module(intervene, *files(folder), *words)
    assert "\n" not in str(error.value)


def test_the_claims_find_their_ranks(checkpoint):
    result = played(checkpoint, CAPTION)
    evidence = manual_evidence([result], 20)
    assert evidence["manual", "written", "figure_2-caption-changed"].each.tolist() == [(result.ranks[1] + 1).tolist()]
    claims = read_claims(MANUAL.parent / "claims.csv", PAPERS)
    verdicts = check(claims, evidence, STANDS_FOR, ["written"], "visdial").set_index("claim")
    assert verdicts.loc["better-caption-before", "ours"] == result.ranks[0, 10] + 1
    # One training decides nothing.
    for name, where in (("before", "outside"), ("after", "inside")):
        line = verdicts.loc[f"better-caption-{name}"]
        assert (line["verdict"], line["reason"]) == (
            "undecided",
            f"one training, seed 1: it lies {where} the range, others may not",
        )


@pytest.mark.parametrize(
    ("found", "last", "otherwise"),
    [
        ("better", (40, 39), False),
        ("better", (40, 40), True),
        ("better", (40, 60), True),
        # A fortieth of the 100 candidates.
        ("same", (40, 42.5), False),
        ("same", (40, 37.5), False),
        ("same", (40, 43), True),
        ("same", (40, 37), True),
        ("", (40, 90), False),
    ],
)
def test_a_figure_says_where_it_shows_something_else_than_the_paper(checkpoint, found, last, otherwise):
    first = played(checkpoint, CAPTION)
    ranks = np.tile(np.array(last)[:, None], 11).astype(float)
    shown = replace(first, ranks=ranks, attributes={**first.attributes, "found": found, "candidates": 100})
    same = replace(shown, ranks=np.full((2, 11), 40.0) - [[0], [found == "better"]])
    games = [ManualGame("miniature", "dialog", 1, reading, "2", "figure_2.yaml") for reading in ("written", "released")]
    material = made_material(manual=dict(zip(games, (shown, same), strict=True)), vocabulary=VOCABULARY)
    caption = manual_figure.describe(material, "2").caption
    assert ("here it is otherwise" in title_of(shown)) == otherwise
    assert ("here it is otherwise (written, seed 1)." in caption) == otherwise
    assert ("As in the paper" in caption) == bool(found and not otherwise)
    # Both readings' ranks are there.
    assert f"written: seed 1 (image 7) {last[0] + 1:g} → {last[1] + 1:g}. released: seed 1" in caption


def test_a_figure_speaks_of_every_training(checkpoint):
    """The first one's dialog is drawn; the ranks of the others are thin lines, and the caption has them all."""
    games = [ManualGame("miniature", "dialog", seed, "written", "2", "figure_2.yaml") for seed in (1, 4)]
    first = played(checkpoint, CAPTION)
    other = replace(first, ranks=first.ranks[:, ::-1] + 3, attributes={**first.attributes, "seed": 4})
    material = made_material(manual=dict(zip(games, (first, other), strict=True)), vocabulary=VOCABULARY)
    figure = manual_figure.draw(material, "2")
    thin = [line.get_ydata().tolist() for line in figure.axes[-1].get_lines() if line.get_linewidth() == 0.7]
    assert thin == (other.ranks + 1).tolist()
    assert figure.axes[0].texts[0].get_text().endswith("seed 1; thin lines: seed 4")
    ends = [
        f"seed {seed} (image {result.image_ids[0]}) {result.ranks[0, 10] + 1:g} → {result.ranks[1, 10] + 1:g}"
        for seed, result in ((1, first), (4, other))
    ]
    assert "; ".join(ends) in manual_figure.describe(material, "2").caption
    alone = replace(material, manual={games[0]: first})
    assert "one training, so others may show something else" in manual_figure.describe(alone, "2").caption
    assert not [line for line in manual_figure.draw(alone, "2").axes[-1].get_lines() if line.get_linewidth() == 0.7]


def test_manual_interventions_are_played_by_every_training():
    config = yaml.safe_load((MANUAL.parents[1] / "config.yaml").read_text())
    games = read({**config, "seeds": [3, 5]}).manual_games()
    assert {(game.seed, game.reading, game.figure) for game in games} == {
        (seed, reading, figure) for seed in (3, 5) for reading in config["readings"] for figure in "2345"
    }
    # The first training stands first, for its dialog is shown.
    assert next(game.seed for game in games if game.figure == "4") == 3


def test_the_page_shows_figure_and_text_and_escapes_both(checkpoint):
    given = CAPTION | {"text": "Why & how"}
    result = played(checkpoint, given, title="<script>alert(1)</script>")
    game = ManualGame("miniature", "dialog", 1, "written", "2", "figure_2.yaml")
    material = made_material(manual={game: result}, vocabulary=VOCABULARY)
    svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    page = render(Contents(material, {}, {"2": (manual_figure.describe(material, "2"), svg)}))
    assert '<a href="#manual">Manual interventions</a>' in page
    assert "Figure 2. &lt;script&gt;alert(1)" in page
    assert "Why &amp; how" in page
    assert f'aria-label="{describe_manual(result)}"' in page
    assert "<mark>red</mark>" in page
    shown_ranks = [int(found) for found in re.findall(r"rank (\d+) of 6", page)]
    assert shown_ranks == [round(rank) + 1 for row in result.ranks for rank in row]
    assert "figure_2.h5" in page
    without = render(Contents(made_material(), {}, {}))
    assert "Manual interventions" not in without
