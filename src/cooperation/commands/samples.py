"""The samples of a builder's model that draws at random: made with a seed each, or the same bots that play again."""

import argparse
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from cooperation.bots.calls import Calls, load, takes_seed
from cooperation.bots.draws import reseed
from cooperation.bots.memory import Memory
from cooperation.bots.recalling import RecallingCalls, Tally
from cooperation.bots.text_players import TextBots, as_images
from cooperation.commands.loaded import TextPlayers, options_of
from cooperation.evaluation.playing import Games
from cooperation.evaluation.scores import RecallingRanker, ranker_of
from cooperation.game.text import TextVocabulary
from cooperation.game.vocabulary import Vocabulary
from cooperation.io.files import InputError
from cooperation.io.identity import ATTRIBUTE, Identity, named

BY_SEED, BY_PLAYS = "seed", "plays"


@dataclass(frozen=True)
class Sampling:
    """How a model is sampled. count: how often; by: `BY_SEED`, `BY_PLAYS`, or "" where it is not."""

    count: int
    by: str

    @classmethod
    def of(cls, arguments: argparse.Namespace) -> "Sampling":
        """By the flags and the model, whose options get the first seed where it takes one.

        Raises `InputError` where a seed is among the options, too, and as `load`.
        """
        if arguments.samples == 1:
            return cls(1, "")
        options = options_of(arguments)
        if not takes_seed(arguments.load):
            return cls(arguments.samples, BY_PLAYS)
        if "seed" in options:
            raise InputError(
                f"--options: seed, but --samples makes the bots with 1 to {arguments.samples}; leave it out"
            )
        arguments.options = json.dumps({**options, "seed": 1})
        return cls(arguments.samples, BY_SEED)

    def sample(self, players: TextPlayers, arguments: argparse.Namespace, number: int) -> TextPlayers:
        """A sample's players; players: the first's; number: from 1. Raises as `load`."""
        if not self.by:
            return players
        calls = players.calls
        if self.by == BY_SEED and number > 1:
            calls = Calls(load(arguments.load, {**options_of(arguments), "seed": number}), arguments.load)
        if self.by == BY_PLAYS:
            reseed(calls.bots, number)
        own = players.identities["checkpoint"]
        bots = named(f"{arguments.load}, sample {number}", own.of("bots"))
        made_of = {**json.loads(players.attributes[ATTRIBUTE]), "bots": bots}
        training = {**json.loads(players.attributes["training"]), "seed": number}
        return replace(
            players,
            about=f"{players.about}, sample {number}",
            calls=calls,
            vocabulary=TextVocabulary(Vocabulary.of(players.vocabulary.words[: players.vocabulary.known])),
            attributes={
                **players.attributes,
                "seed": number,
                "training": json.dumps(training),
                ATTRIBUTE: json.dumps(made_of),
            },
            identities={**players.identities, "checkpoint": Identity(own.place, {**own.made_of, "bots": bots})},
        )


def folder_of_memory(arguments: argparse.Namespace) -> Path:
    """The folder of what bots said before: the one that is named, or one in that of the test."""
    return Path(arguments.cache or Path(arguments.out, "cache"))


@contextmanager
def recalling(arguments: argparse.Namespace, players: TextPlayers, tally: Tally, keep: bool) -> Iterator[Games]:
    """Games of bots that are asked for what was not asked for before.

    tally: is told of each call; keep: whether their index may be kept.
    """
    with closing(Memory(folder_of_memory(arguments), players.about)) as memory:
        ranker = cache(lambda: ranker_of(calls, players.pool, players.rows))
        calls = RecallingCalls(
            players.calls.bots, players.calls.place, memory, tally, ranker, players.candidates * keep
        )
        bots = TextBots(calls, players.vocabulary, players.pool)
        ranks = RecallingRanker(calls, ranker, players.candidates, players.rows)
        yield Games(
            bots, players.vocabulary, players.dialogs, as_images(players.rows), ranks, arguments.seed, arguments.batch
        )
