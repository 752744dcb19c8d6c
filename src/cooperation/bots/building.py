"""Building the bots' networks: the one place that chooses how they compute, and how their weights begin."""

import math

import torch

from cooperation.bots.fast.networks import FastAnswerer, FastQuestioner
from cooperation.bots.networks import AnswererNetwork, Bot, QuestionerNetwork
from cooperation.config.training import Sizes, Training
from cooperation.io.memory import require


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

    Seeds torch's global generator. Raises `InputError` where their training can't fit into memory.
    """
    # Each weight has a gradient and two moments of Adam, all in float32.
    require(16 * weights_of(vocabulary, features, sizes), "training", "lower --hidden, --embedding or --layers")
    torch.manual_seed(training.seed)
    questioner, answerer = build(vocabulary, features, sizes)
    if training.regime == "round":
        redraw_embeddings(questioner)
        redraw_embeddings(answerer)
    return questioner, answerer


def weights_of(vocabulary: int, features: int, sizes: Sizes) -> int:
    """How many weights both networks have together."""
    E, H, L = sizes.embedding, sizes.hidden, sizes.layers  # noqa: N806

    def lstm(inputs: int) -> int:
        return 4 * H * (inputs + H + 2) + (L - 1) * 4 * H * (2 * H + 2)

    language = vocabulary * E + 2 * lstm(E) + (H + 1) * vocabulary
    questioner = language + lstm(H) + (H + 1) * features
    answerer = language + lstm(E) + lstm(2 * H) + 4 * H * features
    return questioner + answerer


def redraw_embeddings(bot: Bot) -> None:
    """Draw the embeddings from U(−√3, √3), as the authors' program of round updates does (protocol, section 1)."""
    with torch.no_grad():
        bot.embedding.weight.uniform_(-math.sqrt(3), math.sqrt(3))
        # PAD's stays zero.
        bot.embedding.weight[0] = 0
