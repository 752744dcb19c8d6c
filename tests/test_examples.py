"""Each example is short, keeps to the rules and plays; what it says is what people said of such a picture."""

import json
import os
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
import torch
import yaml
from in_process import run
from PIL import Image
from project import ROOT
from small_files import album, jpeg

from cooperation.data.store import Dialogs, Features, write_dialogs, write_features
from cooperation.evaluation.conformance import CHECKS
from cooperation.evaluation.results import read_result
from cooperation.game.messages import ROUNDS, Messages
from cooperation.game.vocabulary import Vocabulary

EXAMPLES = ROOT / "examples"
COLOURS = {"red": (220, 30, 30), "green": (30, 200, 60), "blue": (40, 40, 210)}
KNOWN = Vocabulary.of(["a", "ball", "blue", "color", "green", "red", "what", "?", "UNK"])
SPLITS = {"train": np.arange(100, 112), "val": np.arange(200, 209)}
ASKED = "what color ?"
VECTORS = np.random.default_rng(1).random((12, 8), np.float32)


def colour(image):
    return list(COLOURS)[image % len(COLOURS)]


def said(images, text):
    """A message of each image: [images, length]."""
    return Messages.of([[KNOWN.ids[word] for word in text(image).split()] for image in images.tolist()])


def every_round(messages):
    return Messages(np.repeat(messages.tokens[:, None], ROUNDS, 1), np.repeat(messages.lengths[:, None], ROUNDS, 1))


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Dialogs about balls of three colours, whose captions and answers name the colour; pictures and features."""
    monkeypatch.chdir(tmp_path)
    dialogs, features = {}, {}
    for split, images in SPLITS.items():
        turns = every_round(said(images, lambda _: ASKED)), every_round(said(images, colour))
        dialogs[split] = Dialogs(images, said(images, lambda image: f"a {colour(image)} ball"), *turns)
        pictures = {image: jpeg(Image.new("RGB", (32, 32), COLOURS[colour(image)])) for image in images.tolist()}
        album(tmp_path / f"{split}.zip", pictures, split)
        features[split] = Features(images, VECTORS[: len(images)], {})
    write_dialogs(tmp_path / "dialogs.h5", KNOWN, dialogs, {})
    made = {"extractor": "x", "normalisation": "none", "preprocessing": "small", "length": 1.0}
    write_features(tmp_path / "features.h5", features, made)
    return tmp_path


def played(monkeypatch, capsys, bots, options, *seen):
    """Check an example and play it; its baseline."""
    given = [EXAMPLES / bots, "--options", yaml.safe_dump(options, default_flow_style=True), "--dialogs", "dialogs.h5"]
    run(monkeypatch, "conform", *given, *seen)
    assert capsys.readouterr().out.count("ok  ") == len(CHECKS)
    run(monkeypatch, "play", "--load", *given, *seen, "--condition", "none={}", "--out", "out")
    return read_result(Path("out/written/none.h5"))


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.stem)
def test_an_example_is_short(example):
    assert len(example.read_text(encoding="utf-8").splitlines()) < 60


@pytest.fixture
def weights(tmp_path, monkeypatch):
    """The published reader of texts is read once, though bots are made anew for each check."""
    if find_spec("all_minilm_l6_v2") is None:
        pytest.skip("no published weights; `make retriever` installs them")
    import all_minilm_l6_v2
    import sentence_transformers

    folder = all_minilm_l6_v2.extract_model(str(tmp_path / "weights"))
    monkeypatch.setattr(all_minilm_l6_v2, "extract_model", lambda _: folder)
    monkeypatch.setattr(sentence_transformers, "SentenceTransformer", cache(sentence_transformers.SentenceTransformer))


def check_answers(monkeypatch, capsys, bots):
    """Check that bots ask what people asked and answer with the colour, and that they guess by it."""
    options = {"dialogs": "dialogs.h5", "pictures": ["train.zip"]}
    result = played(monkeypatch, capsys, bots, options, "--pictures", "val.zip")
    for row, image in enumerate(SPLITS["val"].tolist()):
        assert result.texts("question_said")[row] == [ASKED] * ROUNDS
        assert result.texts("answer_said")[row] == [colour(image)] * ROUNDS
    # Three of the nine pictures have the colour.
    assert result.ranks.max() <= 2


@pytest.mark.usefixtures("files")
def test_the_nearest_neighbours_say_what_people_said_of_such_a_picture(monkeypatch, capsys):
    check_answers(monkeypatch, capsys, "nearest_neighbour.py:NearestNeighbour")


@pytest.mark.usefixtures("files", "weights")
def test_the_retriever_says_what_people_said_of_such_a_picture(monkeypatch, capsys):
    check_answers(monkeypatch, capsys, "retriever.py:Retriever")


# The public layout of the checkout, in small. Bots say what they heard last; answers begin with the picture's word.
UTILITIES = """
import torch

class Encoder:
    image = None
    def embedInputDialog(self):
        self.embedded = len(self.heard)
    def __call__(self):
        self.batchSize = len(self.heard[-1])
        words = torch.nn.functional.pad(self.heard[-1], (0, 30))
        if self.image is not None:
            words[:, 0] = 1 + self.image.argmax(1)
        return [words]

class Decoder:
    def wordEmbed(self, words):
        return words
    def rnn(self, words, state):
        return state[0][:, None, :1], [state[0][:, 1:]]
    def outNet(self, output):
        scores = torch.nn.functional.one_hot(output[:, 0], self.endToken + 1).float()
        scores[:, [0, self.startToken]] = 2.0  # never to be said
        return scores

class Bot(torch.nn.Module):
    def __init__(self, agent, saved):
        super().__init__()
        self.agent, self.encoder, self.decoder = agent, Encoder(), Decoder()
        self.decoder.startToken, self.decoder.endToken = saved["words"] + 1, saved["words"] + 2
    def reset(self):
        self.encoder.heard, self.encoder.embedded, self.encoder.image = [], 0, None
    def observe(self, turn, **given):
        encoder = self.encoder
        if "image" in given:
            assert self.agent == "abot" and turn == -1
            assert torch.allclose(given["image"].norm(dim=1), torch.ones(len(given["image"])))
            encoder.image = given["image"]
        for name in {"caption", "ques", "ans"} & {*given}:
            rows, lengths = given[name], given[name + "Lens"]
            assert encoder.embedded == len(encoder.heard) and turn == (len(encoder.heard) + 1) // 2 - 1
            assert (name == "ques") == (len(encoder.heard) % 2 == 1) and (name == "caption") == (turn == -1)
            assert (rows[:, 0] == self.decoder.startToken).all()
            assert (rows.gather(1, lengths) == self.decoder.endToken).all()
            encoder.heard.append(rows[:, 1:])
    def predictImage(self):
        return torch.stack([message.sum(1) for message in self.encoder.heard]).sum(0)[:, None].float().expand(-1, 8)

def loadModel(params, agent="abot", overwrite=False):
    return Bot(agent, torch.load(params["startFrom" if agent == "abot" else "qstartFrom"])), {}, None
"""


@pytest.fixture
def checkpoints(files, monkeypatch):
    """Options of the adapter but for the checkout; what it imports is forgotten afterwards."""
    ids = {word: number for word, number in KNOWN.ids.items() if number <= len(KNOWN.words)}
    (files / "words.json").write_text(json.dumps({"word2ind": ids}))
    monkeypatch.setattr(sys, "path", [*sys.path])
    yield {"answerer": "abot.vd", "questioner": "qbot.vd", "words": "words.json"}
    for name in [name for name in sys.modules if name.split(".")[0] in ("utils", "visdial")]:
        del sys.modules[name]


def test_the_adapter_tells_the_checkouts_bots_all_that_was_said(files, monkeypatch, capsys, checkpoints):
    (files / "checkout" / "utils").mkdir(parents=True)
    (files / "checkout" / "utils" / "utilities.py").write_text(UTILITIES)
    for name in ("abot.vd", "qbot.vd"):
        torch.save({"words": len(KNOWN.words)}, name)
    options = {"checkout": "checkout", **checkpoints}
    result = played(monkeypatch, capsys, "visdial_rl.py:VisdialRL", options, "--features", "features.h5")
    seen = KNOWN.words[int(VECTORS[0].argmax())]
    first = f"a {colour(200)} ball"
    answer = " ".join([seen, *first.split()[1:]])
    assert result.texts("question_said")[0] == [first, *[answer] * (ROUNDS - 1)]
    assert result.texts("answer_said")[0] == [answer] * ROUNDS


def test_the_adapter_plays_the_checkouts_own_bots(monkeypatch, capsys, checkpoints):
    checkout = os.environ.get("VISDIAL_RL")
    if not checkout:
        pytest.skip("VISDIAL_RL names no checkout of github.com/batra-mlp-lab/visdial-rl")
    sys.path.insert(0, checkout)
    from utils.utilities import loadModel, saveModel

    sizes = {"vocabSize": len(KNOWN.words) + 3, "embedSize": 8, "rnnHiddenSize": 8, "imgEmbedSize": 8}
    kinds = dict.fromkeys(("encoder", "qencoder"), "hre-ques-lateim-hist") | {"decoder": "gen", "qdecoder": "gen"}
    usual = {"numLayers": 2, "useHistory": True, "useIm": "late", "imgFeatureSize": 8, "numRounds": 10, "dropout": 0.0}
    training = {
        "useGPU": False,
        "continue": False,
        "numEpochs": 1,
        "startFrom": "",
        "qstartFrom": "",
        "ckpt_lRate": 0.1,
    }
    params = sizes | kinds | usual | training
    torch.manual_seed(1)
    for who in ("abot", "qbot"):
        bot = loadModel(params, who)[0]
        for weights in bot.parameters():
            weights.data *= 3  # so that what is heard decides
        saveModel(bot, torch.optim.SGD(bot.parameters()), f"{who}.vd", params)
    result = played(
        monkeypatch,
        capsys,
        "visdial_rl.py:VisdialRL",
        {"checkout": checkout, **checkpoints},
        "--features",
        "features.h5",
    )
    said = {text for name in ("question_said", "answer_said") for row in result.texts(name) for text in row}
    assert len(said) > 5
    assert {word for text in said for word in text.split()} <= {*KNOWN.words}
