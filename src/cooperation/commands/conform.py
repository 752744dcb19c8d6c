"""Check whether bots of your own keep to the rules of the game, in seconds, and say what to mend."""

import argparse
import sys
from pathlib import Path

from cooperation.api import Dialog, Pool, as_said
from cooperation.bots.calls import BotError, Calls, load
from cooperation.bots.draws import RewoundCalls
from cooperation.commands.loaded import add_options, options_of
from cooperation.data.store import read_dialogs, read_vocabulary
from cooperation.evaluation.conformance import BREACH, Finding, conform
from cooperation.evaluation.made_up_dialogs import made_up
from cooperation.evaluation.rules import Sample
from cooperation.io.files import InputError
from cooperation.io.text import visible

DIALOGS, ROUNDS = 12, 2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bots", metavar="FILE.py:NAME", help="what NAME returns; `cooperation.api` says what it does")
    add_options(parser)
    parser.add_argument(
        "--dialogs", type=Path, help="HDF5 file of dialogs; a dozen of the val split are used (default: made-up ones)"
    )
    parser.add_argument("--features", type=Path, help="HDF5 file of image features")
    add_samples(parser)


def run(arguments: argparse.Namespace) -> None:
    judge(arguments, read_sample(arguments))


def add_samples(parser: argparse.ArgumentParser) -> None:
    """The flag of bots that draw at random."""
    parser.add_argument(
        "--samples",
        type=int,
        default=1,
        metavar="N",
        help="of bots that draw at random: N seeds, where NAME takes a `seed`, or N plays (default: %(default)s)",
    )


def made(arguments: argparse.Namespace) -> Calls:
    """The bots, made anew; raises `InputError` as `load`."""
    return Calls(load(arguments.bots, options_of(arguments)), arguments.bots)


def judge(arguments: argparse.Namespace, sample: Sample) -> list[Finding]:
    """Say how bots keep to each rule; raises `InputError` where they break any.

    arguments: `bots`, `samples`, and those of `add_options`.
    """
    place = arguments.bots
    if arguments.samples < 1:
        raise InputError(f"--samples: {arguments.samples} is too small; choose at least 1")
    try:
        first = made(arguments)
    except BotError as error:
        print(error.trace, end="", file=sys.stderr)
        raise
    spare, findings = [first], []
    drawing = (lambda: RewoundCalls(made(arguments).bots, place)) if arguments.samples > 1 else None
    for finding in conform(lambda: spare.pop() if spare else made(arguments), sample, drawing):
        print(finding.trace, end="", file=sys.stderr)
        print(visible(str(finding)), flush=True)
        findings.append(finding)
    broken = [finding.check.name for finding in findings if finding.state == BREACH]
    if broken:
        raise InputError(f"{place}: breaks {len(broken)} of the rules: {', '.join(broken)}")
    return findings


def read_sample(arguments: argparse.Namespace) -> Sample:
    """A dozen dialogs of the data set, or made-up ones; raises `InputError` for files that can't be used."""
    given = bool(arguments.pictures or arguments.features)
    if bool(arguments.dialogs) != given:
        remedy = "give --pictures or --features, too" if arguments.dialogs else "give --dialogs, too"
        raise InputError(f"--dialogs, --pictures, --features: belong together; {remedy}")
    if not given:
        return made_up()
    people = read_dialogs(arguments.dialogs, "val")[:DIALOGS]
    pool = Pool.of(arguments.dialogs, people.image_ids, arguments.pictures, arguments.features)
    vocabulary = read_vocabulary(arguments.dialogs)
    told = [as_said(people, number, vocabulary) for number in range(len(people))]
    return Sample(
        tuple(Dialog(dialog.caption, dialog.turns[:ROUNDS]) for dialog in told),
        tuple(dialog.turns[ROUNDS][0] for dialog in told),
        tuple(pool[image] for image in people.image_ids.tolist()),
    )
