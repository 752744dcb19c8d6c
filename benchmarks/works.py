"""The works that are measured: a row each, with its plain references and how it runs."""

import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from types import SimpleNamespace

import made_up
import numpy as np
import torch
from made_up import Sample, Size, build_plain
from nltk.tokenize import NLTKWordTokenizer
from timing import Run

from cooperation.bots.recalling import Tally
from cooperation.commands.samples import recalling
from cooperation.config.training import Training
from cooperation.data.archives import find_pictures
from cooperation.data.pictures import decode
from cooperation.data.tokeniser import tokenise, tokenise_question
from cooperation.data.vgg import PREPROCESSINGS, untrained
from cooperation.evaluation.ranking import Ranker, plain_ranks
from cooperation.game.match import Perturbation, Script
from cooperation.game.messages import ROUNDS, Floats, Rows
from cooperation.game.readings import READINGS
from cooperation.game.text import TextVocabulary

PICTURE = 2 * (15_346_630_656 + 25_088 * 4096 + 4096 * 4096)
"""Operations of VGG-16 on a picture of 224 × 224: twice the products of the convolutions, of fc6 and of fc7."""


@dataclass(frozen=True)
class Work:
    """One thing to measure: `run` makes `count` of `unit` in `flop` operations; 0 where none are counted.

    references: what takes turns with it, and how many of the unit that makes. precision: of its matrix products.
    """

    name: str
    setting: str
    count: int
    run: Run
    flop: int = 0
    references: Mapping[str, tuple[Run, int]] = field(default_factory=dict)
    unit: str = "dialogs"
    precision: torch.dtype = torch.float32


def works(size: Size) -> Iterator[Work]:
    """All of them, each made when its turn comes, so that none is in memory for another's."""
    yield from training(size)
    yield from playing(size, size.played)
    yield ranking(size, size.guesses, size.guesses)
    yield ranking(size, size.guesses // 5, size.val)
    yield own_bots(size)
    yield extraction(size)
    yield from pictures(size)
    yield tokenising(size)


def learning(sample: Sample, training: Training) -> Work:
    """Updates of both bots with all dialogs."""
    batches, updates, dialogs = sample.batches(), sample.updates(training), sample.dialogs

    def run() -> None:
        for batch in batches:
            updates.update(batch)

    name, setting = f"training, {training.regime} updates", f"batches of {sample.size.learnt}, {training.precision}"
    said = dialogs.captions.lengths, dialogs.questions.lengths + 1, dialogs.answers.lengths + 1
    # Backward costs twice as much as forward.
    flop = 3 * sample.flop(*said, guesses=10)
    return Work(name, setting, len(dialogs), run, flop, precision=getattr(torch, training.precision))


def training(size: Size) -> Iterator[Work]:
    """One update of both bots with a batch of dialogs."""
    count = size.learnt
    dialog = learning(Sample.of(size, count), Training())
    alone, together = (learning(Sample.of(size, many, build_plain), Training()) for many in (1, count))
    plain = {
        "stock LSTM, one dialog at a time": (alone.run, 1),
        "stock LSTM, a batch at a time": (together.run, count),
    }
    yield replace(dialog, references=plain)
    bfloat16 = learning(Sample.of(size, count), Training(precision="bfloat16"))
    yield replace(bfloat16, references={"float32": (dialog.run, count)})
    rounds = learning(Sample.of(size, count), Training(regime="round"))
    yield replace(rounds, references={"dialog updates": (dialog.run, count)})


def playing(size: Size, count: int) -> Iterator[Work]:
    """Ten rounds, greedily, and the last five of them, as of a condition that starts late."""
    sample = Sample.of(size, count).chatting()
    game = sample.play()
    said = game.caption_heard.lengths, game.question_said.lengths, game.answer_said.lengths
    plain = {"stock LSTM, one dialog and word at a time": (Sample.of(size, 1, build_plain).chatting().play, 1)}
    setting, flop = f"batches of {count}, greedy, ten rounds, no ranking", sample.flop(*said, guesses=11)
    yield Work("playing", setting, count, sample.play, flop, plain)
    late = partial(Work, "playing from round 6", count=count, references={"all ten rounds": (sample.play, count)})
    match = sample.match()
    match.open()
    for _ in range(5):
        match.play_round()
    yield late("in the baseline's process", run=lambda: match.fork(Perturbation(start=6)).finish())
    first = slice(5)
    script = Script(game.question_said[:, first], game.answer_said[:, first], game.ranks[:, :6])
    yield late("in another, which reads the baseline's first five", run=partial(sample.play, script))


def ranks_by_matrix(guesses: Floats, candidates: Floats, truth: Rows) -> torch.Tensor:
    """Ranks as programs of this kind make them: all distances at once in float32, all sorted, ties by position.

    guesses: [guesses, features]; candidates: [candidates, features]; truth: rows of the candidates [guesses].
    """
    order = torch.cdist(torch.from_numpy(guesses), torch.from_numpy(candidates)).argsort(1)
    return (order == torch.from_numpy(truth)[:, None]).int().argmax(1)


def ranking(size: Size, count: int, candidates: int) -> Work:
    """One round's guesses of so many dialogs, ranked among all candidates."""
    pool = made_up.features(candidates, size.features)
    guesses, basis = made_up.guesses(count, pool, size.sizes.hidden + 1)
    truth, few, prepare = np.arange(count), max(count // 1000, 1), partial(Ranker, pool, guess_basis=basis)
    mean = prepare().rank(guesses, truth).mean()
    setting = f"a round, {count:,} × {candidates:,}, MPR {100 * (1 - (mean + 0.5) / candidates):.1f}"
    # Prepared once, in the first run, so that its memory counts and its time does not.
    ranker = cache(prepare)
    alone = partial(plain_ranks, guesses[:few], pool, truth[:few])
    plain = {"one guess at a time, all distances in float64": (alone, few)}
    if count == candidates:
        plain["matrix of distances, argsort, float32"] = partial(ranks_by_matrix, guesses, pool, truth), count
    # Distances of all guesses to all candidates, by one matrix product.
    flop = 2 * count * candidates * size.features
    return Work("ranking", setting, count, lambda: ranker().rank(guesses, truth), flop, plain)


def own_bots(size: Size) -> Work:
    """What a builder's bots cost beyond themselves: these say new words, at once, and all scores are there."""
    people, pool = made_up.dialogs(200, size.words), [SimpleNamespace(name="a", content=str)] * max(size.val, 200)
    scores, rows, rounds = np.random.default_rng(0).random((200, len(pool)), np.float32), np.arange(200), 200 * ROUNDS
    bots = SimpleNamespace(ask=lambda dialogs: [f"{number} {one.caption[:30]}" for number, one in enumerate(dialogs)])
    bots.answer = lambda *given: [f"{len(f'{one}')} {one.caption[-9:]}" for one in given[1]]
    bots.score = lambda dialogs, candidates: scores[: len(dialogs), : len(candidates)]
    who = {"calls": SimpleNamespace(bots=bots, place=""), "about": "", "candidates": "", "pool": pool, "rows": rows}

    def play(batch: int) -> None:
        words = TextVocabulary.of_words([*map(str, range(size.words))], size.words)
        own = SimpleNamespace(**who, dialogs=people, vocabulary=words, seed=1, batch=batch)
        with tempfile.TemporaryDirectory() as own.cache, recalling(own, own, Tally(), keep=False) as games:
            games.play_branching([], READINGS["written"])

    setting, alone = f"200 × {len(pool):,}, batches of 64", {"one at a time": (partial(play, 1), rounds)}
    return Work("a builder's bots, themselves free", setting, rounds, partial(play, 64), 0, alone, "dialog-rounds")


def extraction(size: Size) -> Work:
    """VGG-16 on pictures that are in memory."""
    (network, _), batch = untrained(1), torch.randn(size.pictures, 3, size.pixels, size.pixels)
    run = torch.inference_mode()(lambda count: network(batch[:count]))
    setting = f"batches of {size.pictures}, VGG-16 to fc7, {size.pixels} × {size.pixels}"
    flop = size.pictures * PICTURE if size.pixels == 224 else 0
    plain = {"one image at a time": (partial(run, 1), 1)}
    return Work("extracting features", setting, size.pictures, partial(run, size.pictures), flop, plain, "images")


def pictures(size: Size) -> Iterator[Work]:
    """Reading pictures of COCO's usual size from its archive, and preparing them for VGG-16."""
    with tempfile.TemporaryDirectory() as scratch:
        archive, folder = Path(scratch) / "train2014.zip", Path(scratch) / "train2014"
        made_up.write_pictures(archive, size.pictures)
        zipfile.ZipFile(archive).extractall(scratch)
        there = {place: find_pictures([place]).values() for place in (archive, folder)}

        def read(place: Path) -> None:
            for picture in there[place]:
                PREPROCESSINGS["torchvision"](decode(picture.read(), str(picture)))

        setting = "one process, JPEGs of 640 × 480 from a zip archive, prepared for VGG-16"
        plain = {"from a folder": (partial(read, folder), size.pictures)}
        yield Work("reading pictures", setting, size.pictures, partial(read, archive), 0, plain, "images")


def tokenising(size: Size) -> Work:
    """A caption, ten questions and ten answers a dialog."""
    chance = np.random.default_rng(0)
    texts = [made_up.texts(many * size.texts, mean, chance) for many, mean in ((1, 12), (10, 6), (10, 3))]
    nltk = NLTKWordTokenizer()

    def split() -> None:
        for tokenised, some in zip((tokenise, tokenise_question, tokenise), texts, strict=True):
            for text in some:
                tokenised(text)

    def split_whole() -> None:
        for ending, some in zip(("", "?", ""), texts, strict=True):
            for text in some[: len(some) // 10]:
                nltk.tokenize(text.lower() + ending)

    plain = {"NLTK's word tokeniser on whole texts": (split_whole, size.texts // 10)}
    return Work("tokenising", "21 texts a dialog", size.texts, split, 0, plain)
