"""Dialogs, features and bots of the paper's sizes, made up: VisDial's lengths, words by Zipf's law, no meaning.

No message is made to repeat another, which genuine ones often do, so nothing here is faster than on genuine text.
"""

import json
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from cooperation.bots.checkpoint import build
from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork
from cooperation.bots.player import LIMIT
from cooperation.data.store import Dialogs
from cooperation.messages import Floats, Messages, clean
from cooperation.models import Sizes
from cooperation.text import UNKNOWN, Vocabulary

WORDS, FEATURES = 9000, 4096
Bots = tuple[QuestionerNetwork, AnswererNetwork]
LENGTHS = {"captions": (12, 40), "questions": (5.5, 20), "answers": (3, 20)}
"""Mean and greatest number of tokens."""


def vocabulary(words: int = WORDS) -> Vocabulary:
    """So many words, UNK included."""
    return Vocabulary.of([*(f"word{number}" for number in range(words - 1)), UNKNOWN])


def dialogs(count: int, words: int = WORDS, seed: int = 0, first_image: int = 0) -> Dialogs:
    """Dialogs with VisDial's lengths."""
    generator = np.random.default_rng([seed, count, first_image])
    shapes = {"captions": (count,), "questions": (count, 10), "answers": (count, 10)}
    said = {name: _messages(generator, shape, *LENGTHS[name], words) for name, shape in shapes.items()}
    return Dialogs(np.arange(count, dtype=np.int64) + first_image, **said)


def _messages(chance: np.random.Generator, shape: tuple[int, ...], mean: float, longest: int, words: int) -> Messages:
    lengths = np.minimum(1 + chance.poisson(mean - 1, shape), longest).astype(np.int32)
    tokens = (chance.zipf(1.1, (*shape, longest)) - 1) % words + 1
    return clean(tokens.astype(np.int32), lengths)


def features(count: int, width: int = FEATURES, seed: int = 0) -> Floats:
    """Vectors of length 1, none negative, most numbers 0, as VGG-16's after ReLU: [count, width]."""
    generator = np.random.default_rng([seed, count, width])
    vectors = np.empty((count, width), np.float32)
    for start in range(0, count, 4096):
        block = vectors[start : start + 4096]
        generator.standard_normal(dtype=np.float32, out=block)
        np.maximum(block - np.float32(0.7), 0, out=block)
        block /= np.maximum(np.linalg.norm(block, axis=1, keepdims=True), np.float32(1e-6))
    return vectors


class Chatter(nn.Linear):
    """Scores all words, as a decoder does, and then says one by chance: words and lengths as of made-up dialogs.

    Untrained bots never end and say one word again and again, and such messages cost less to read.
    """

    def __init__(self, generator: nn.Linear, words: Vocabulary, mean: float) -> None:
        super().__init__(generator.in_features, generator.out_features)
        self.load_state_dict(generator.state_dict())
        self.words, self.chance, self.said = words, np.random.default_rng(0), 0
        lengths = 1 + self.chance.poisson(mean - 1, 100_000)
        # How many of those messages that have so many words have no more; none has more than a bot may say.
        self.ending = [(lengths == said).sum() / max((lengths >= said).sum(), 1) for said in range(LIMIT - 1)] + [1.0]

    def forward(self, hidden: Tensor) -> Tensor:
        """Scores [..., vocabulary], the drawn word's the greatest."""
        scores = super().forward(hidden)
        rows = scores.view(-1, self.out_features)
        ends = self.chance.random(len(rows)) < self.ending[self.said]
        drawn = np.where(ends, self.words.eos, (self.chance.zipf(1.1, len(rows)) - 1) % len(self.words.words) + 1)
        rows[torch.arange(len(rows)), torch.from_numpy(drawn)] = float("inf")
        self.said = 0 if ends.all() else self.said + 1
        return scores


def bots(words: Vocabulary, width: int = FEATURES, sizes: Sizes | None = None) -> Bots:
    """Untrained bots."""
    torch.manual_seed(1)
    return build(words.size, width, sizes or Sizes())


def chatting(bots: Bots, words: Vocabulary) -> Bots:
    """The bots, who say from now on what `Chatter` says."""
    for bot, channel in zip(bots, ("questions", "answers"), strict=True):
        bot.generator = Chatter(bot.generator, words, LENGTHS[channel][0])
    return bots


def write_visdial(path: Path, split: str, count: int, first_image: int = 0) -> None:
    """Write a made-up VisDial file, with the genuine one's share of distinct questions and answers (46 % and 41 %)."""
    random = np.random.default_rng([len(split), count])
    questions, answers = texts(int(4.6 * count) + 1, 6, random), texts(int(4.1 * count) + 1, 3, random)
    captions = texts(count, 12, random)
    with path.open("w") as file:
        file.write(f'{{"version": "0.9", "split": "{split}", "data": {{"questions": {json.dumps(questions)}, ')
        file.write(f'"answers": {json.dumps(answers)}, "dialogs": [')
        for number, caption in enumerate(captions):
            options = random.integers(len(answers), size=(10, 100))
            truths = random.integers(100, size=10)
            asked = random.integers(len(questions), size=10).tolist()
            rounds = [
                {"question": q, "answer": row[t], "answer_options": row, "gt_index": t}
                for q, row, t in zip(asked, options.tolist(), truths.tolist(), strict=True)
            ]
            dialog = {"image_id": first_image + number, "caption": caption, "dialog": rounds}
            file.write(("," if number else "") + json.dumps(dialog))
        file.write("]}}")


def texts(count: int, mean_length: float, random: np.random.Generator) -> list[str]:
    """Made-up texts of so many words on average."""
    words = np.array([f"word{number}" for number in range(20_000)] + ["isn't", "he's", "cannot"])
    lengths = 1 + random.poisson(mean_length - 1, count)
    drawn = words[(random.zipf(1.3, lengths.sum()) - 1) % len(words)]
    return [" ".join(part) for part in np.split(drawn, np.cumsum(lengths)[:-1])]
