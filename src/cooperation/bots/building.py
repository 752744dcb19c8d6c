"""Building the bots' networks: the one place that chooses how they compute, and how their weights begin."""

import math

import torch

from cooperation.bots.fast.networks import FastAnswerer, FastQuestioner
from cooperation.bots.networks import AnswererNetwork, Bot, QuestionerNetwork
from cooperation.config.training import Sizes, Training


def build(vocabulary: int, features: int, sizes: Sizes) -> tuple[QuestionerNetwork, AnswererNetwork]:
    """Build both networks, initialised by torch's global generator, for so many token ids and image features.

    They compute the fast way. `QuestionerNetwork` and `AnswererNetwork` themselves would do in their place: they have
    the same weights under the same names and give the same results to rounding.
    """
    return FastQuestioner(vocabulary, features, sizes), FastAnswerer(vocabulary, features, sizes)


def layers(vocabulary: int, sizes: Sizes) -> list[tuple[int, int]]:
    """(inputs, outputs) of the layers whose matrix products take nearly all of the time."""
    gates = 4 * sizes.hidden
    return [(sizes.embedding, gates), (sizes.hidden, gates), (sizes.hidden, vocabulary)]


def build_untrained(
    vocabulary: int, features: int, sizes: Sizes, training: Training
) -> tuple[QuestionerNetwork, AnswererNetwork]:
    """Build both networks with the weights that a training begins with: those of its seed and regime.

    Seeds torch's global generator.
    """
    torch.manual_seed(training.seed)
    questioner, answerer = build(vocabulary, features, sizes)
    if training.regime == "round":
        redraw_embeddings(questioner)
        redraw_embeddings(answerer)
    return questioner, answerer


def redraw_embeddings(bot: Bot) -> None:
    """Draw the embeddings from U(−√3, √3), as the authors' program of round updates does (protocol, section 1)."""
    with torch.no_grad():
        bot.embedding.weight.uniform_(-math.sqrt(3), math.sqrt(3))
        # PAD's stays zero.
        bot.embedding.weight[0] = 0
