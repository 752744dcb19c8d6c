"""The released reading equals the authors' own program, on a tiny trained instance, by plain and by fast networks.

Another instance is tried with COOPERATION_GOLDEN=/path/to/prefix (prefix.json and prefix.npz).
"""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
import torch

from cooperation.bots.fast.networks import FastAnswerer, FastQuestioner
from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork
from cooperation.bots.player import AnswererPlayer, QuestionerPlayer
from cooperation.bots.training_data import training_data
from cooperation.bots.updates import teacher_forced
from cooperation.config.training import Sizes
from cooperation.data.store import Dialogs
from cooperation.evaluation.ranking import Ranker
from cooperation.game.facts import bare, marked
from cooperation.game.interventions.negate import Negate
from cooperation.game.match import Batch, Match, Perturbation, Script
from cooperation.game.messages import Messages, stack_rounds
from cooperation.game.place import Context
from cooperation.game.readings import READINGS
from cooperation.game.vocabulary import Vocabulary

PREFIX = os.environ.get("COOPERATION_GOLDEN", str(Path(__file__).parent / "golden" / "released_tiny"))
RENAMED = {
    "embeddings": "embedding",
    "q_encoder": "question_encoder",
    "q_decoder": "decoder",
    "a_decoder": "decoder",
    "q_generator": "generator",
    "a_generator": "generator",
}
DESCRIPTION = json.loads(Path(PREFIX + ".json").read_text())
ARRAYS = np.load(PREFIX + ".npz")
CONDITIONS = sorted(DESCRIPTION["games"])
KINDS = {"plain": (QuestionerNetwork, AnswererNetwork), "fast": (FastQuestioner, FastAnswerer)}
SPEAKING = [name for name in CONDITIONS if re.match("none|negation|image|caption", name)]


def vocabulary() -> Vocabulary:
    ids = DESCRIPTION["word2ind"]
    words = sorted((word for word in ids if ids[word] not in (DESCRIPTION["eos"],) and word != "<START>"), key=ids.get)
    return Vocabulary(tuple(words), DESCRIPTION["start"], DESCRIPTION["eos"])


def network(kind: type, bot: str):
    sizes = Sizes(DESCRIPTION["embed_dim"], DESCRIPTION["rnn_dim"], DESCRIPTION["num_layers"])
    weights = {}
    for key in ARRAYS.files:
        if key.startswith(f"weights/{bot}.") and "crit" not in key:
            module, rest = key.removeprefix(f"weights/{bot}.").split(".", 1)
            weights[f"{RENAMED.get(module, module)}.{rest}"] = torch.from_numpy(ARRAYS[key])
    if bot == "abot":
        # There one matrix reads [image, question, fact]; here the image's columns stand apart.
        columns = [DESCRIPTION["image_dim"], 2 * DESCRIPTION["rnn_dim"]]
        image, words = weights.pop("history_encoder.weight_ih_l0").split(columns, 1)
        weights |= {"image_encoder.weight": image, "history_encoder.weight_ih_l0": words}
    made = kind(len(weights["embedding.weight"]), DESCRIPTION["image_dim"], sizes)
    made.load_state_dict(weights)
    return made


@pytest.fixture(params=KINDS)
def pair(request):
    """The trained networks, plain or fast."""
    questioner, answerer = KINDS[request.param]
    return network(questioner, "qbot"), network(answerer, "abot")


def padded(tokens: np.ndarray) -> Messages:
    return Messages(tokens.astype(np.int32), (tokens != 0).sum(-1).astype(np.int32))


def recorded(games: list, field: str) -> Messages:
    return stack_rounds([Messages.of([game[field][number] for game in games]) for number in range(10)])


def trimmed(messages: Messages, number: int) -> list[list[int]]:
    return messages[:, number].lists()


def played(pair, condition: str, message_format, *, speak: bool):
    """Play the condition's 40 games: the bots' own words, or the recorded ones."""
    games = DESCRIPTION["games"][condition]
    words = vocabulary()
    rows = np.arange(len(games))
    start = int(re.search(r"from(\d+)", condition)[1])
    caption = Messages.of([game["caption"] for game in games])
    perturbation = {"start": start, "remember": READINGS["released"].remember}
    if condition.startswith("image"):
        noise = ARRAYS[f"game/{condition}/noise"]
        perturbation["image"] = lambda _images, _place: noise
    if speak:
        if condition.startswith("negation"):
            perturbation["answer"] = READINGS["released"].deliver(Negate())
        script = Script.silent(len(games))
    else:
        question, answer = recorded(games, "q_heard"), recorded(games, "a_heard")
        perturbation["question"] = lambda _said, place: question[:, place.round - 1]
        perturbation["answer"] = lambda _said, place: answer[:, place.round - 1]
        script = Script(recorded(games, "q_said"), recorded(games, "a_said"), np.zeros((len(games), 0)))
    ranker = Ranker(ARRAYS["val/image"])
    guesses = []

    def rank(guess):
        guesses.append(guess)
        return ranker.rank(guess, rows)

    game = Match(
        QuestionerPlayer(pair[0], words, message_format(words)),
        AnswererPlayer(pair[1], words, message_format(words)),
        Batch(rows, caption, ARRAYS["val/image"][rows]),
        script,
        Perturbation(**perturbation),
        Context(0, words),
        rank,
    ).finish()
    return game, np.stack(guesses, 1)


def test_teacher_forced_losses(pair):
    words = vocabulary()
    dialogs = Dialogs(
        np.arange(len(ARRAYS["teacher/image"])),
        padded(ARRAYS["teacher/caption"]),
        padded(ARRAYS["teacher/question"]),
        padded(ARRAYS["teacher/answer"]),
    )
    data = training_data(dialogs, ARRAYS["teacher/image"], words, marked(words), torch.device("cpu"))
    batch = data.batch(torch.arange(len(data)))
    with torch.no_grad():
        losses = teacher_forced(*pair, batch)
    for name, loss in losses.items():
        assert loss.item() == pytest.approx(float(ARRAYS[f"teacher/loss_{name}"]), rel=1e-4)


@pytest.mark.parametrize("condition", CONDITIONS)
def test_replayed_messages_give_the_same_guesses(pair, condition):
    _, guesses = played(pair, condition, bare, speak=False)
    np.testing.assert_allclose(guesses[:, 1:], ARRAYS[f"game/{condition}/prediction"], rtol=0, atol=1e-4)


@pytest.mark.parametrize("condition", SPEAKING)
def test_the_bots_say_the_same_words_and_reach_the_same_ranks(pair, condition):
    games = DESCRIPTION["games"][condition]
    game, _ = played(pair, condition, bare, speak=True)
    for ours, theirs in (
        (game.question_said, "q_said"),
        (game.question_heard, "q_heard"),
        (game.answer_said, "a_said"),
        (game.answer_heard, "a_heard"),
    ):
        for number in range(10):
            assert trimmed(ours, number) == [played_game[theirs][number] for played_game in games]
    candidates = len(ARRAYS["val/image"])
    np.testing.assert_allclose(
        (game.ranks[:, 1:] + 0.5) / candidates, ARRAYS[f"game/{condition}/fractional_rank"], rtol=0, atol=1e-9
    )
