"""Bots of a builder's own (`cooperation.api`) in place of trained ones, for the commands that play them."""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from cooperation.api import Picture, Pool
from cooperation.bots.calls import BotError, Calls, WrongValueError, load
from cooperation.bots.made_of import made_of
from cooperation.bots.text_players import TextBots, as_images
from cooperation.commands.settings import read_settings
from cooperation.config.conditions import LOADED_CONDITIONS, Condition, check_name
from cooperation.config.training import file_and_name, files_of
from cooperation.data.agreements import check_together
from cooperation.data.archives import MADE_UP
from cooperation.data.identities import identity_of_dialogs, identity_of_features, settings_of_dialogs
from cooperation.data.store import (
    Dialogs,
    Ids,
    read_dialogs,
    read_vocabulary,
)
from cooperation.evaluation.checks import check_baseline, refuse_trained_on, trained_on
from cooperation.evaluation.playing import Games
from cooperation.evaluation.results import MESSAGES, Result, read_result
from cooperation.evaluation.scores import ranker_of
from cooperation.game import randomness
from cooperation.game.messages import Rows
from cooperation.game.text import TextVocabulary
from cooperation.io.devices import device, say_device
from cooperation.io.files import InputError
from cooperation.io.hdf5 import read_attributes
from cooperation.io.identity import ATTRIBUTE, Identity, content_hash, named
from cooperation.io.plain_yaml import read_yaml
from cooperation.io.provenance import inputs
from cooperation.io.settings import check_seed, mapping, plain
from cooperation.io.writing import keep

# What a name of a model can't hold, but what a builder calls it may.
NO_NAME = re.compile(r"[^A-Za-z0-9._-]+")


def add_loaded(parser: argparse.ArgumentParser, bots: argparse._ActionsContainer) -> None:
    """Flags for bots of a builder's own; bots: where the one that names them goes."""
    bots.add_argument(
        "--load",
        metavar="FILE.py:NAME",
        help="bots of your own: what NAME returns; `cooperation.api` says what they do",
    )
    add_options(parser)
    parser.add_argument(
        "--queries", type=int, metavar="INT", help="play so many dialogs, drawn by the seed, among all candidates"
    )


def add_options(parser: argparse.ArgumentParser) -> None:
    """Flags for what bots of a builder's own are made with and see; `--features` is added by each command."""
    parser.add_argument("--options", default="", metavar="YAML", help="what NAME is called with: '{size: 3}'")
    parser.add_argument(
        "--pictures", type=Path, nargs="+", default=[], metavar="PATH", help="archives or folders of pictures (JPEG)"
    )


def options_of(arguments: argparse.Namespace) -> Mapping[str, Any]:
    """The bots' options; raises `InputError` where they are no mapping."""
    given = mapping(read_yaml(arguments.options, "--options"), "--options") if arguments.options else {}
    return dict(plain(given, "--options"))


def keep_files(arguments: argparse.Namespace) -> None:
    """Let nothing be written to the files of the bots from now on; raises as `options_of`."""
    keep([_file(arguments), *files_of(options_of(arguments))])


@contextmanager
def naming(condition: str, reading: str) -> Iterator[None]:
    """Name condition and reading in what is said of bots that raise or return something wrong.

    A builder's traceback goes to standard error. Raises `InputError` for both.
    """
    try:
        yield
    except (BotError, WrongValueError) as error:
        print(getattr(error, "trace", ""), end="", file=sys.stderr)
        raise InputError(f"{error} (condition {condition}, reading {reading})") from error


@dataclass(frozen=True)
class TextPlayers:
    """A builder's bots, the dialogs that they play, and all candidates.

    about: a hash of the bots, whatever they see. candidates: a hash of all pictures; pool: these; rows: those of the
    dialogs' pictures among them, [dialogs]. conditions: those of the model. attributes: those that all results have in
    common (see `Result`). inputs: role of a file → its SHA-256; identities: role → what it is made of.
    """

    about: str
    calls: Calls
    vocabulary: TextVocabulary
    dialogs: Dialogs
    candidates: str
    pool: tuple[Picture, ...]
    rows: Rows
    conditions: Mapping[str, Condition]
    attributes: dict[str, Any]
    inputs: dict[str, str]
    identities: dict[str, Identity]

    def named(self, **attributes: Any) -> dict[str, Any]:
        """The attributes of a result: these beside those of all."""
        return {**self.attributes, **attributes}

    def check_condition(self, condition: Condition) -> None:
        """Raise `InputError` for a condition that they can't play."""
        condition.check_text()

    def same_in_all_readings(self, condition: Condition) -> bool:
        """Whether a condition gives the same game under all readings."""
        return condition.same_in_text

    def read_baseline(self, place: Path, reading: str) -> Result:
        """The baseline in the file `place`, in the words of the game.

        Raises `InputError` where it is not the condition none of these bots, dialogs, pictures and a reading.
        """
        baseline = read_result(place)
        check_baseline(baseline, {**self.attributes, "reading": reading}, self.dialogs.image_ids, place)
        for role, identity in self.identities.items():
            check_together("baseline", baseline.identity(place), role, identity)
        if baseline.vocabulary is None:
            raise InputError(f"{place}: has no words, so bots of another kind played it; give that of these bots")
        adopted = {name: self.vocabulary.adopted(getattr(baseline, name), baseline.vocabulary) for name in MESSAGES}
        return replace(baseline, **adopted)  # type: ignore[arg-type]

    def announce(self) -> None:
        """Print the device, before anything is played."""
        say_device(", unless the bots choose another")

    def games(self, seed: int, batch: int = 1) -> Games:
        """Games of these bots and dialogs; batch: dialogs played at a time."""
        bots = TextBots(self.calls, self.vocabulary, self.pool)
        with naming("none", "all"):
            ranker = ranker_of(self.calls, self.pool, self.rows)
        return Games(bots, self.vocabulary, self.dialogs, as_images(self.rows), ranker, seed, batch)


def read_loaded(arguments: argparse.Namespace) -> TextPlayers:
    """Load the bots, and read dialogs and pictures.

    Raises `InputError` for a file that can't be used, bots that can't be loaded, and images that they say they were
    trained on, unless these are allowed.
    """
    check_seed(arguments.seed, "--seed")
    keep_files(arguments)
    if arguments.among != "dialogs":
        raise InputError("--among: bots of your own guess among the pictures of the dialogs; leave it out")
    device()
    with naming("none", "all"):
        calls = Calls(load(arguments.load, options_of(arguments)), arguments.load)
        described = calls.describe()
    everything = read_dialogs(arguments.dialogs, "val", arguments.features)[: arguments.candidates]
    if not arguments.pictures and not arguments.features:
        raise InputError("--pictures: give archives or folders of pictures, or --features, or both")
    rows = drawn(everything.image_ids, arguments.queries, arguments.seed)
    pool = Pool.of(arguments.dialogs, everything.image_ids, arguments.pictures, arguments.features)
    trained = described.pop("trained_on", None)
    overlap = trained_on(np.asarray(trained if trained is not None else [], np.int64), everything)
    if not arguments.allow_trained_on:
        refuse_trained_on(overlap)
    model = arguments.model or NO_NAME.sub("-", str(described.get("name", _file(arguments).stem))).strip("-._")
    check_name(model, "--model", "model")
    seed, conditions = _stated(arguments, model)
    seen = _seen(pool, everything.image_ids, arguments.features)
    identities = _identities(arguments, described, seen)
    attributes = {
        "dataset": arguments.dataset,
        "model": model,
        "seed": seed,
        "game_seed": arguments.seed,
        "training": json.dumps({"regime": "loaded", "load": arguments.load, **described}, default=str),
        "candidates": len(everything),
        "trained_on": "not known" if trained is None else len(overlap),
        "dialogs": json.dumps(settings_of_dialogs(arguments.dialogs)),
        "features": json.dumps(_features(arguments.features)),
        ATTRIBUTE: json.dumps(_made_of(identities)),
    }
    files = {"dialogs": arguments.dialogs, "features": arguments.features}
    return TextPlayers(
        content_hash(made_of(arguments.load, options_of(arguments)), _as_text(described)),
        calls,
        TextVocabulary(read_vocabulary(arguments.dialogs)),
        everything[rows],
        content_hash(seen, everything.image_ids.tolist()),
        tuple(pool[image] for image in everything.image_ids.tolist()),
        rows,
        conditions,
        attributes,
        inputs(bots=_file(arguments), **files),
        identities,
    )


def _file(arguments: argparse.Namespace) -> Path:
    return Path(file_and_name(arguments.load)[0])


def drawn(image_ids: Ids, queries: int | None, seed: int) -> Rows:
    """Rows [queries] of the dialogs that are played, in their order: all where no number is given.

    image_ids: [dialogs]. Raises `InputError` for a number that is not between 1 and that of the dialogs.
    """
    if queries is None:
        return np.arange(len(image_ids))
    if not 1 <= queries <= len(image_ids):
        raise InputError(f"--queries: {queries}, but there are {len(image_ids):,} dialogs; choose from 1 to so many")
    order = np.argsort(randomness.uniform(seed, "query", image_ids), kind="stable")
    return np.sort(order[:queries])


def _stated(arguments: argparse.Namespace, model: str) -> tuple[int, Mapping[str, Condition]]:
    """The seed in the names of the model's results and its conditions, from the settings where these know it."""
    if arguments.config.is_file():
        experiment = read_settings(arguments.config)
        if model in experiment.loaded:
            conditions = experiment.conditions_of(arguments.dataset).get(model, LOADED_CONDITIONS)
            return experiment.seeds[0], conditions
    return 1, LOADED_CONDITIONS


def _features(path: Path | None) -> dict[str, str]:
    if path is None:
        return {"extractor": "the model's own, from pictures"}
    return {key: str(value) for key, value in read_attributes(path).items()}


def _seen(pool: Pool, image_ids: Ids, features: Path | None) -> dict[str, str]:
    """What bots see of the candidates [images]: the features, the content of the pictures, or both."""
    found = dict(identity_of_features(features).made_of) if features else {}
    if pool.files:
        found["pictures"] = content_hash(*(pool.files[image].checksum() for image in image_ids.tolist()))
    return found


def _as_text(about: Mapping[str, Any]) -> str:
    """What a model says of itself, which may be anything."""
    return json.dumps(about, default=str)


def _identities(
    arguments: argparse.Namespace, about: Mapping[str, Any], seen: Mapping[str, str]
) -> dict[str, Identity]:
    """What bots and dialogs are made of, by role; what the bots see is theirs, as weights are."""
    bots = named(arguments.load, made_of(arguments.load, options_of(arguments)), _as_text(about), seen)
    return {
        "checkpoint": Identity(_file(arguments), {"bots": bots, "training": arguments.load}),
        "dialogs": identity_of_dialogs(arguments.dialogs),
    }


def _made_of(identities: Mapping[str, Identity]) -> dict[str, str]:
    """What a result is made of."""
    return {
        **identities["checkpoint"].only("bots", "training"),
        **identities["dialogs"].only("vocabulary", "val dialogs"),
        **identities["dialogs"].said(MADE_UP),
    }
