"""What is measured: each work of the package, its size, and what it takes turns with."""

import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import flops
import made_up
import numpy as np
import reference
import torch
from nltk.tokenize import NLTKWordTokenizer
from PIL import Image

from cooperation.bots.lessons import Lessons, lessons
from cooperation.bots.player import AnswererPlayer, QuestionerPlayer
from cooperation.bots.updates import DialogUpdates, RoundUpdates
from cooperation.data.archives import picture_names, read_member
from cooperation.data.pictures import decode
from cooperation.data.store import Dialogs
from cooperation.data.tokeniser import tokenise, tokenise_question
from cooperation.data.vgg import PREPROCESSINGS, untrained
from cooperation.games.ranking import Ranker
from cooperation.messages import Floats
from cooperation.method.facts import FORMATS
from cooperation.method.game import Game, Match, Rank, Script, Tampering
from cooperation.models import Sizes, Training
from cooperation.text import Vocabulary

CPU = torch.device("cpu")
Run = Callable[[], object]


@dataclass(frozen=True)
class Size:
    """How much of everything."""

    words: int = made_up.WORDS
    features: int = made_up.FEATURES
    sizes: Sizes = field(default_factory=Sizes)
    learnt: int = 64
    played: int = 512
    guesses: int = 10_000
    candidates: int = 40_504
    pictures: int = 16
    pixels: int = 224
    texts: int = 2000
    turns: int = 3


SMALL = Size(60, 32, Sizes(8, 12, 2), 8, 8, 200, 400, 2, 64, 20, 1)


@dataclass(frozen=True)
class Work:
    """One thing to measure: `run` makes `count` of `unit` in `flop` operations; 0 where none are counted.

    references: what takes turns with it, and how many of the unit that makes. precision: of its matrix products.
    once: what must be done before, once for many runs; its memory counts, its time doesn't.
    """

    name: str
    setting: str
    unit: str
    count: float
    flop: float
    run: Run
    references: Mapping[str, tuple[Run, float]]
    turns: int
    precision: torch.dtype = torch.float32
    once: Run | None = None


def works(size: Size) -> Iterator[Work]:
    """All of them, each made when its turn comes, so that none is in memory for another's."""
    yield from training(size)
    yield from playing(size)
    yield from ranking(size)
    yield from extraction(size)
    yield from pictures(size)
    yield tokenising(size)


def taught(size: Size, dialogs: Dialogs, images: Floats, device: torch.device = CPU) -> Lessons:
    """One batch of lessons."""
    words = made_up.vocabulary(size.words)
    batch = lessons(dialogs, images, words, FORMATS["marked"](words), device)
    return batch.of(torch.arange(len(batch), device=device))


def updating(size: Size, batch: Lessons, kind: type[DialogUpdates | RoundUpdates], training: Training) -> Run:
    """Updates of fresh bots, always with the same batch."""
    words = made_up.vocabulary(size.words)
    questioner, answerer = (bot.to(batch.images.device) for bot in made_up.bots(words, size.features, size.sizes))
    updates = kind(questioner, answerer, training)
    return lambda: updates.update(batch)


def training(size: Size) -> Iterator[Work]:
    """One update of both bots with a batch of dialogs."""
    words = made_up.vocabulary(size.words)
    dialogs, images = made_up.dialogs(size.learnt, size.words), made_up.features(size.learnt, size.features)
    batch = taught(size, dialogs, images)
    bots = made_up.bots(words, size.features, size.sizes)
    optimiser = torch.optim.Adam([*bots[0].parameters(), *bots[1].parameters()], fused=True)

    def learn(losses: Mapping[str, torch.Tensor]) -> None:
        optimiser.zero_grad()
        torch.autograd.backward([*losses.values()])
        torch.nn.utils.clip_grad_norm_(optimiser.param_groups[0]["params"], 5)
        optimiser.step()

    flop = flops.training(flops.Shape(words.size, size.features, size.sizes), batch)
    plain = "stock LSTM, one dialog, round and word at a time"
    stock = "stock LSTM, a batch round by round"
    references: dict[str, tuple[Run, float]] = {
        plain: (lambda: learn(reference.losses(*bots, words, dialogs[:1], images[:1])), 1),
        stock: (lambda: learn(reference.stock_losses(*bots, batch)), len(dialogs)),
    }
    setting = f"batches of {len(dialogs)}"
    float32 = updating(size, batch, DialogUpdates, Training())
    yield Work(
        "training, dialog updates",
        f"{setting}, float32",
        "dialogs",
        len(dialogs),
        flop,
        float32,
        references,
        size.turns,
    )
    bfloat16 = updating(size, batch, DialogUpdates, Training(precision="bfloat16"))
    yield Work(
        "training, dialog updates",
        f"{setting}, bfloat16",
        "dialogs",
        len(dialogs),
        flop,
        bfloat16,
        {"float32": (float32, len(dialogs))},
        size.turns,
        torch.bfloat16,
    )
    rounds = updating(size, batch, RoundUpdates, Training(regime="round"))
    yield Work(
        "training, round updates",
        f"{setting}, float32",
        "dialogs",
        len(dialogs),
        flop,
        rounds,
        {"dialog updates": (float32, len(dialogs))},
        size.turns,
    )


@dataclass(frozen=True)
class Players:
    """Two bots, what they play about, and a game of it."""

    questioner: QuestionerPlayer
    answerer: AnswererPlayer
    dialogs: Dialogs
    images: Floats

    @classmethod
    def of(cls, bots: made_up.Bots, words: Vocabulary, dialogs: Dialogs, images: Floats) -> "Players":
        """Bots that read facts with their markers."""
        reads = FORMATS["marked"](words)
        return cls(QuestionerPlayer(bots[0], words, reads), AnswererPlayer(bots[1], words, reads), dialogs, images)

    def match(self, script: Script, rank: Rank = lambda guesses: np.zeros(len(guesses))) -> Match:
        """A match that begins, without ranking if nothing else is said."""
        return Match(
            self.questioner,
            self.answerer,
            self.dialogs.captions,
            self.images,
            self.dialogs.image_ids,
            1,
            script,
            Tampering(),
            rank,
        )

    def play(self, script: Script, rank: Rank = lambda guesses: np.zeros(len(guesses))) -> Game:
        """Ten rounds."""
        return self.match(script, rank).finish()


def playing(size: Size) -> Iterator[Work]:
    """Ten rounds, greedily, and the last five of them, as of a condition that starts late."""
    words = made_up.vocabulary(size.words)
    bots = made_up.chatting(made_up.bots(words, size.features, size.sizes), words)
    dialogs, images = made_up.dialogs(size.played, size.words), made_up.features(size.played, size.features)
    players = Players.of(bots, words, dialogs, images)
    silent = Script.silent(len(dialogs))
    game = players.play(silent)
    said = (int(messages.lengths.sum()) for messages in (dialogs.captions, game.question_said, game.answer_said))
    shape = flops.Shape(words.size, size.features, size.sizes)
    flop = flops.playing(shape, *said, len(dialogs))

    def alone() -> None:
        list(reference.talks(*bots, words, dialogs[:1], images[:1]))

    def whole() -> Game:
        return players.play(silent)

    plain: dict[str, tuple[Run, float]] = {"stock LSTM, one dialog and word at a time": (alone, 1)}
    setting = f"batches of {len(dialogs)}, greedy, ten rounds, no ranking"
    yield Work("playing", setting, "dialogs", len(dialogs), flop, whole, plain, size.turns)
    first = slice(5)
    script = Script(game.question_said[:, first], game.answer_said[:, first], game.ranks[:, :6])
    # With bots of its own, for others play in between.
    match = players.match(silent).fork(Tampering())
    for _ in range(5):
        match.play_round()
    for start, run in (
        ("in the control's process", lambda: match.fork(Tampering(start=6)).finish()),
        ("in another, which reads the control's first five", lambda: players.play(script)),
    ):
        yield Work(
            "playing from round 6",
            start,
            "dialogs",
            len(dialogs),
            0,
            run,
            {"all ten rounds": (whole, len(dialogs))},
            max(size.turns - 1, 1),
        )


def guessed(size: Size, pool: Floats, guesses: int) -> tuple[Floats, Floats]:
    """Guesses [guesses, features] of the first images, and the vectors that they are sums of multiples of.

    They are about as good as trained bots', of a mean percentile rank (MPR) of some 94.
    """
    chance = np.random.default_rng(0)
    span = np.linalg.qr(chance.normal(size=(size.features, min(size.sizes.hidden + 1, size.features))))[0].T
    span = span.astype(np.float32)
    places = pool[:guesses] @ span.T
    mean = places.mean(0)
    # Regression shrinks what it tells apart towards the mean.
    scattered = chance.normal(size=places.shape).astype(np.float32) * (0.3 * np.linalg.norm(mean) / len(span) ** 0.5)
    return ((mean + (places - mean) / 20 + scattered) @ span).astype(np.float32), span


def ranking(size: Size) -> Iterator[Work]:
    """One round's guesses among all candidates."""
    plain, matrix = "one guess at a time, all distances in float64, sorted", "matrix of distances, argsort, float32"
    for guesses, candidates in ((size.guesses, size.guesses), (size.guesses // 5, size.candidates)):
        pool = made_up.features(candidates, size.features)
        guess, span = guessed(size, pool, guesses)
        truth = np.arange(guesses)
        work = _ranking(size, pool, guess, span)
        some = slice(max(guesses // 1000, 1))
        references: dict[str, tuple[Run, float]] = {
            plain: (partial(reference.ranks, guess[some], pool, truth[some]), some.stop)
        }
        if guesses == candidates:
            tensors = [torch.from_numpy(array) for array in (guess, pool, truth)]
            references[matrix] = (partial(reference.ranks_by_matrix, *tensors), guesses)
        yield replace(work, references=references)


def _ranking(size: Size, pool: Floats, guess: Floats, span: Floats) -> Work:
    ranker = Ranker(pool, span=span)
    truth = np.arange(len(guess))
    ranks = ranker.rank(guess, truth)
    mean = 100 * (1 - (ranks.mean() + 0.5) / len(pool))
    return Work(
        "ranking",
        f"a round, {len(guess):,} × {len(pool):,}, MPR {mean:.1f}",
        "dialogs",
        len(guess),
        flops.ranking(len(guess), len(pool), size.features),
        lambda: ranker.rank(guess, truth),
        {},
        max(size.turns - 1, 1),
        once=lambda: Ranker(pool, span=span).rank(guess, truth),
    )


def extraction(size: Size) -> Iterator[Work]:
    """VGG-16 on pictures that are in memory."""
    network, _ = untrained(1)
    batch = torch.randn(size.pictures, 3, size.pixels, size.pixels)

    @torch.inference_mode()
    def together() -> None:
        network(batch)

    @torch.inference_mode()
    def alone() -> None:
        network(batch[:1])

    yield Work(
        "extracting features",
        f"batches of {size.pictures}, VGG-16 to fc7, {size.pixels} × {size.pixels}",
        "images",
        size.pictures,
        size.pictures * flops.PICTURE if size.pixels == 224 else 0,
        together,
        {"one image at a time": (alone, 1)},
        max(size.turns - 1, 1),
    )


def pictures(size: Size) -> Iterator[Work]:
    """Reading pictures of COCO's usual size from its archive, and preparing them for VGG-16."""
    with tempfile.TemporaryDirectory() as scratch:
        archive, folder = Path(scratch) / "train2014.zip", Path(scratch) / "train2014"
        write_pictures(archive, size.pictures, 480)
        zipfile.ZipFile(archive).extractall(scratch)
        names = {place: list(picture_names(place).values()) for place in (archive, folder)}

        def read(place: Path) -> None:
            for name in names[place]:
                PREPROCESSINGS["torchvision"](decode(read_member(place, name), name))

        yield Work(
            "reading pictures",
            "one process, JPEGs of 640 × 480 from a zip archive, prepared for VGG-16",
            "images",
            size.pictures,
            0,
            lambda: read(archive),
            {"from a folder": (lambda: read(folder), size.pictures)},
            size.turns,
        )


def write_pictures(archive: Path, count: int, height: int) -> None:
    """JPEGs under COCO's names in a zip archive, a third wider than high."""
    noise = np.random.default_rng(0).integers(0, 255, (15, 20, 3), np.uint8)
    with zipfile.ZipFile(archive, "w") as file:
        for number in range(count):
            picture = Image.fromarray(np.roll(noise, number)).resize((height * 4 // 3, height))
            with file.open(f"{archive.stem}/COCO_{archive.stem}_{number:012d}.jpg", "w") as member:
                picture.save(member, "jpeg", quality=90)


def tokenising(size: Size) -> Work:
    """A caption, ten questions and ten answers a dialog."""
    chance = np.random.default_rng(0)
    texts = [
        made_up.texts(count, mean, chance)
        for count, mean in ((1, 12), (10, 6), (10, 3))
        for count in [count * size.texts]
    ]
    nltk = NLTKWordTokenizer()

    def ours() -> None:
        for split, some in zip((tokenise, tokenise_question, tokenise), texts, strict=True):
            for text in some:
                split(text)

    def stock() -> None:
        for ending, some in zip(("", "?", ""), texts, strict=True):
            for text in some[: len(some) // 10]:
                nltk.tokenize(text.lower() + ending)

    name = "NLTK's word tokeniser on whole texts"
    return Work(
        "tokenising", "21 texts a dialog", "dialogs", size.texts, 0, ours, {name: (stock, size.texts // 10)}, size.turns
    )
