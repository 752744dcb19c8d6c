"""How much of everything is tried, and made-up dialogs, features, pictures and bots of that size.

Lengths are VisDial's, words follow Zipf's law and mean nothing. No message is made to repeat another, which genuine
ones often do, so nothing here is faster than on genuine text.
"""

import copy
import json
import zipfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch import Tensor, nn

from cooperation.bots.building import build
from cooperation.bots.networks import AnswererNetwork, QuestionerNetwork
from cooperation.bots.player import TOKEN_LIMIT, AnswererPlayer, QuestionerPlayer
from cooperation.bots.training import Trainer
from cooperation.bots.training_data import TrainingData, training_data
from cooperation.bots.updates import DialogUpdates, RoundUpdates
from cooperation.config.training import Sizes, Training
from cooperation.data.store import Dialogs
from cooperation.evaluation.ranking import Ranker
from cooperation.game.facts import FORMATS
from cooperation.game.match import Batch, Game, Match, Perturbation, Rank, Script
from cooperation.game.messages import ROUNDS, Floats, Rows, clean
from cooperation.game.place import Context
from cooperation.game.vocabulary import UNKNOWN, Vocabulary

LENGTHS = {"captions": (12, 40), "questions": (5.5, 20), "answers": (3, 20)}
"""Mean and greatest number of tokens."""
Build = Callable[[int, int, Sizes], tuple[QuestionerNetwork, AnswererNetwork]]


def build_plain(vocabulary: int, features: int, sizes: Sizes) -> tuple[QuestionerNetwork, AnswererNetwork]:
    """Build both networks as they are defined, of stock LSTMs."""
    return QuestionerNetwork(vocabulary, features, sizes), AnswererNetwork(vocabulary, features, sizes)


@dataclass(frozen=True)
class Size:
    """How much of everything; the paper's, where it says.

    words, features, sizes: of the bots; train, val: dialogs of the splits; learnt: dialogs an update; played, guesses:
    together; pictures, pixels: a batch of VGG-16's; texts: dialogs that are tokenised.
    """

    words: int = 9000
    features: int = 4096
    sizes: Sizes = field(default_factory=Sizes)
    train: int = 82_783
    val: int = 40_504
    learnt: int = 64
    played: int = 512
    guesses: int = 10_000
    pictures: int = 16
    pixels: int = 224
    texts: int = 2000
    turns: int = 3
    resamples: int = 10_000


SMALL = Size(60, 16, Sizes(8, 12, 2), 600, 48, 8, 8, 200, 2, 64, 20, 1, 200)
"""To try the programs."""


def dialogs(count: int, words: int, first_image: int = 0) -> Dialogs:
    """Dialogs with VisDial's lengths."""
    chance, said = np.random.default_rng([0, count, first_image]), {}
    for name, (mean, longest) in LENGTHS.items():
        shape = (count,) if name == "captions" else (count, ROUNDS)
        lengths = np.minimum(1 + chance.poisson(mean - 1, shape), longest).astype(np.int32)
        said[name] = clean(frequent(chance, (*shape, longest), words), lengths)
    return Dialogs(np.arange(count, dtype=np.int64) + first_image, **said)


def frequent(chance: np.random.Generator, shape: int | tuple[int, ...], words: int) -> npt.NDArray[np.int32]:
    """Ids [shape] of words, from 1 on, the first ones frequent."""
    return ((chance.zipf(1.1, shape) - 1) % words + 1).astype(np.int32)


def features(count: int, width: int) -> Floats:
    """Vectors of length 1, none negative, most numbers 0, as VGG-16's after ReLU: [count, width]."""
    vectors = np.random.default_rng([0, count, width]).standard_normal((count, width), np.float32)
    np.maximum(vectors - np.float32(0.7), 0, out=vectors)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.float32(1e-6))
    return vectors


def guesses(count: int, pool: Floats, dimensions: int) -> tuple[Floats, Floats]:
    """Guesses [count, features] of a pool's first images, and a basis of the space of guesses [dimensions, features].

    They are about as good as trained bots', of a mean percentile rank (MPR) of some 94.
    """
    chance, width = np.random.default_rng(0), pool.shape[1]
    basis = np.linalg.qr(chance.normal(size=(width, min(dimensions, width))))[0].T.astype(np.float32)
    places = pool[:count] @ basis.T
    mean = places.mean(0)
    # Regression shrinks differences between images towards the mean.
    scattered = chance.normal(size=places.shape).astype(np.float32) * (0.3 * np.linalg.norm(mean) / len(basis) ** 0.5)
    return ((mean + (places - mean) / 20 + scattered) @ basis).astype(np.float32), basis


class Chatter(nn.Linear):
    """Scores all words, as a decoder does, and then says one by chance: words and lengths as of made-up dialogs.

    Untrained bots never end and say one word again and again, and such messages cost less to read.
    """

    def __init__(self, generator: nn.Linear, words: Vocabulary, mean: float) -> None:
        super().__init__(generator.in_features, generator.out_features)
        self.load_state_dict(generator.state_dict())
        self.words, self.chance, self.said = words, np.random.default_rng(0), 0
        # None has more words than a bot may say, and one has as many.
        lengths = np.append(np.minimum(1 + self.chance.poisson(mean - 1, 100_000), TOKEN_LIMIT - 1), TOKEN_LIMIT - 1)
        # The share of the messages with so many words that have no more.
        self.ending = [(lengths == said).sum() / (lengths >= said).sum() for said in range(TOKEN_LIMIT)]

    def forward(self, hidden: Tensor) -> Tensor:
        """Scores [..., vocabulary] of hidden states [..., hidden], the drawn word's the greatest."""
        scores = super().forward(hidden)
        rows = scores.view(-1, self.out_features)
        ends = self.chance.random(len(rows)) < self.ending[self.said]
        drawn = np.where(ends, self.words.eos, frequent(self.chance, len(rows), len(self.words.words)))
        rows[torch.arange(len(rows)), torch.from_numpy(drawn)] = float("inf")
        self.said = 0 if ends.all() else self.said + 1
        return scores


@dataclass(frozen=True)
class Sample:
    """Two untrained bots, on their device, and dialogs about images [dialogs, features]; facts have their markers."""

    size: Size
    questioner: QuestionerNetwork
    answerer: AnswererNetwork
    words: Vocabulary
    dialogs: Dialogs
    images: Floats

    @classmethod
    def of(cls, size: Size, count: int, build: Build = build) -> "Sample":
        """So many dialogs."""
        words = Vocabulary.of([*(f"word{number}" for number in range(size.words - 1)), UNKNOWN])
        torch.manual_seed(1)
        bots = build(words.size, size.features, size.sizes)
        return cls(size, *bots, words, dialogs(count, size.words), features(count, size.features))

    def chatting(self) -> "Sample":
        """The same bots, who say what `Chatter` says."""
        for bot, channel in ((self.questioner, "questions"), (self.answerer, "answers")):
            bot.generator = Chatter(bot.generator, self.words, LENGTHS[channel][0])
        return self

    def on(self, device: torch.device) -> "Sample":
        """The same with copies of the bots on a device."""
        questioner, answerer = (copy.deepcopy(bot).to(device) for bot in (self.questioner, self.answerer))
        return replace(self, questioner=questioner, answerer=answerer)

    def batches(self) -> list[TrainingData]:
        """The dialogs as the bots learn from them, update by update."""
        device = self.questioner.embedding.weight.device
        data = training_data(self.dialogs, self.images, self.words, FORMATS["marked"](self.words), device)
        return [data.batch(rows) for rows in torch.arange(len(data)).split(self.size.learnt)]

    def updates(self, training: Training) -> DialogUpdates | RoundUpdates:
        """What trains the bots."""
        return Trainer(self.questioner, self.answerer, training).updates

    def ranker(self) -> Ranker:
        """What ranks the questioner's guesses among the images."""
        device = self.questioner.embedding.weight.device
        return Ranker(self.images, device, self.questioner.guess_basis().cpu().numpy())

    def match(self, script: Script | None = None, rank: Rank | None = None) -> Match:
        """A match about all images; without a script the bots say everything, without a rank all ranks are 0."""
        reads = FORMATS["marked"](self.words)
        players = QuestionerPlayer(self.questioner, self.words, reads), AnswererPlayer(self.answerer, self.words, reads)
        batch = Batch(self.dialogs.image_ids, self.dialogs.captions, self.images)
        rules = script or Script.silent(len(self.dialogs)), Perturbation(), Context(1, self.words)
        return Match(*players, batch, *rules, rank or (lambda guesses: np.zeros(len(guesses))))

    def play(self, script: Script | None = None, rank: Rank | None = None) -> Game:
        """Such a match to its end."""
        return self.match(script, rank).finish()

    def flop(self, captions: Rows, questions: Rows, answers: Rows, guesses: int) -> int:
        """Least operations of games [dialogs, rounds] by lengths of what is said, EOS included: two a weight and token.

        Element-wise ones and softmax are left out; so is that messages that repeat, or begin alike, cost less.
        """
        # Both bots read facts, with START, but the answerer not the last; and the answerer reads questions.
        facts, asked = questions + answers + 2, questions + 1
        tokens = 2 * captions.sum() + facts.sum() + facts[:, :-1].sum() + asked.sum()
        steps = {
            self.questioner.decoder: tokens + questions.sum() + answers.sum(),
            self.questioner.generator: questions.sum() + answers.sum(),
            self.questioner.history_encoder: facts.size + len(facts),
            self.answerer.history_encoder: facts.size,
            # The image's share of the answerer's history is the same in every round.
            self.answerer.image_encoder: len(facts),
            self.questioner.regressor: guesses * len(facts),
        }
        weights = {part: sum(one.numel() for one in part.parameters() if one.ndim > 1) for part in steps}
        return sum(2 * weights[part] * int(taken) for part, taken in steps.items())


def write_pictures(archive: Path, count: int) -> None:
    """JPEGs of COCO's usual size under its names in a zip archive."""
    noise = np.random.default_rng(0).integers(0, 255, (15, 20, 3), np.uint8)
    with zipfile.ZipFile(archive, "w") as file:
        for number in range(count):
            picture = Image.fromarray(np.roll(noise, number)).resize((640, 480))
            with file.open(f"{archive.stem}/COCO_{archive.stem}_{number:012d}.jpg", "w") as member:
                picture.save(member, "jpeg", quality=90)


def write_visdial(path: Path, split: str, count: int, first_image: int = 0) -> None:
    """Write a made-up VisDial file, with the genuine one's share of distinct questions and answers (46 % and 41 %)."""
    chance = np.random.default_rng([len(split), count])
    questions, answers = texts(int(4.6 * count) + 1, 6, chance), texts(int(4.1 * count) + 1, 3, chance)
    with path.open("w") as file:
        file.write(f'{{"version": "0.9", "split": "{split}", "data": {{"questions": {json.dumps(questions)}, ')
        file.write(f'"answers": {json.dumps(answers)}, "dialogs": [')
        # One by one: 83 million options would fill the memory.
        for number, caption in enumerate(texts(count, 12, chance)):
            options, truths = chance.integers(len(answers), size=(10, 100)), chance.integers(100, size=10)
            asked = chance.integers(len(questions), size=10).tolist()
            rounds = [
                {"question": question, "answer": row[truth], "answer_options": row, "gt_index": truth}
                for question, row, truth in zip(asked, options.tolist(), truths.tolist(), strict=True)
            ]
            dialog = {"image_id": first_image + number, "caption": caption, "dialog": rounds}
            file.write(("," if number else "") + json.dumps(dialog))
        file.write("]}}")


def texts(count: int, mean_length: float, chance: np.random.Generator) -> list[str]:
    """Made-up texts of so many words on average."""
    words = np.array([f"word{number}" for number in range(20_000)] + ["isn't", "he's", "cannot"])
    lengths = 1 + chance.poisson(mean_length - 1, count)
    drawn = words[(chance.zipf(1.3, lengths.sum()) - 1) % len(words)]
    return [" ".join(part) for part in np.split(drawn, np.cumsum(lengths)[:-1])]
