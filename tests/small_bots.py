"""Small networks and made-up dialogs, for the tests of the bots."""

import numpy as np
import torch

from cooperation.bots.fast.networks import FastAnswerer, FastQuestioner
from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork
from cooperation.bots.player import AnswererPlayer, QuestionerPlayer
from cooperation.bots.training_data import training_data
from cooperation.config.training import Sizes
from cooperation.data.store import Dialogs
from cooperation.game.facts import FORMATS
from cooperation.game.messages import clean
from cooperation.game.vocabulary import Vocabulary

VOCABULARY = Vocabulary.of([*"abcdefghijklmnopqrs", "UNK"])
SIZES = Sizes(embedding=12, hidden=24, layers=2)
FEATURES = 16
CPU = torch.device("cpu")
KINDS = {"plain": (QuestionerNetwork, AnswererNetwork), "fast": (FastQuestioner, FastAnswerer)}


def bots(kind="fast", seed=0, sizes=SIZES):
    torch.manual_seed(seed)
    questioner, answerer = KINDS[kind]
    return questioner(VOCABULARY.size, FEATURES, sizes), answerer(VOCABULARY.size, FEATURES, sizes)


def messages(generator, *shape, longest):
    lengths = generator.integers(1, longest + 1, size=shape).astype(np.int32)
    tokens = generator.integers(1, 21, size=(*shape, longest)).astype(np.int32)
    return clean(tokens, lengths)


def made_up(count, seed=0, longest=7):
    generator = np.random.default_rng(seed)
    dialogs = Dialogs(
        np.arange(count),
        messages(generator, count, longest=12),
        messages(generator, count, 10, longest=longest),
        messages(generator, count, 10, longest=min(longest, 4)),
    )
    images = generator.normal(size=(count, FEATURES)).astype(np.float32)
    return dialogs, images / np.linalg.norm(images, axis=1, keepdims=True)


def data_of(dialogs, images, name="marked"):
    return training_data(dialogs, images, VOCABULARY, FORMATS[name](VOCABULARY), CPU)


def batch_of(dialogs, images, name="marked"):
    data = data_of(dialogs, images, name)
    return data.batch(torch.arange(len(data)))


def players(pair, name="marked"):
    message_format = FORMATS[name](VOCABULARY)
    return QuestionerPlayer(pair[0], VOCABULARY, message_format), AnswererPlayer(pair[1], VOCABULARY, message_format)
