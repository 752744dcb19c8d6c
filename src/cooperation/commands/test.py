"""Test bots of your own: whether they keep to the rules of the game, all conditions, and one page of what came out.

What your functions return is kept in a cache, dialog by dialog, by the content of your files of Python, of the options
(and the files that they name), of what `describe` says and of what was given. So the same command goes on after a stop,
and asks for what is new alone. Of scores, the ranks are kept; an index that `prepare` returns is, too, if an array.
"""

import argparse
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from tqdm import tqdm

from cooperation.bots.draws import RewoundCalls
from cooperation.bots.memory import FILE as MEMORY
from cooperation.bots.memory import Memory
from cooperation.bots.recalling import Tally
from cooperation.commands.conform import add_samples, judge, made, read_sample
from cooperation.commands.loaded import TextPlayers, add_options, keep_files, options_of, read_loaded
from cooperation.commands.outs import add_out_folder, check_files
from cooperation.commands.players import add_game
from cooperation.commands.samples import BY_SEED, Sampling, folder_of_memory, recalling
from cooperation.commands.settings import add_config, read_settings
from cooperation.commands.trial import Trial, calls_of, with_people
from cooperation.config.conditions import LOADED_CONDITIONS, Playing
from cooperation.data.store import count_dialogs
from cooperation.evaluation.conformance import Finding, index_may_be_kept
from cooperation.evaluation.tested import FILE, RESULTS, Judged, Tested, read_tested, write_tested
from cooperation.game.readings import READINGS
from cooperation.io.files import InputError
from cooperation.io.provenance import software
from cooperation.io.settings import check_seed, from_flags
from cooperation.io.writing import check_folder
from cooperation.reports.card import CARD, write_card

QUERIES, BATCH = 200, 64


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("bots", metavar="FILE.py:NAME", help="what NAME returns; `cooperation.api` says what it does")
    add_options(parser)
    parser.add_argument("--features", type=Path, help="HDF5 file of image features")
    add_game(parser)
    parser.add_argument(
        "--queries",
        type=int,
        metavar="INT",
        help=f"play so many dialogs, drawn by the seed, among all candidates (default: {QUERIES}, or all if fewer)",
    )
    parser.add_argument(
        "--candidates",
        type=int,
        default=Playing().candidates,
        metavar="INT",
        help="the first so many validation images are guessed, among themselves (default: %(default)s)",
    )
    parser.add_argument(
        "--batch",
        type=int,
        default=BATCH,
        metavar="INT",
        help="dialogs that are played together (default: %(default)s)",
    )
    # Bots of a builder's own guess among the pictures of the dialogs.
    parser.set_defaults(among=Playing().among)
    add_samples(parser)
    parser.add_argument(
        "--cache", type=Path, metavar="DIR", help="folder of what your functions returned before (default: in --out)"
    )
    parser.add_argument(
        "--beside", type=Path, nargs="+", default=[], metavar="DIR", help="folders of other models' tests, for the page"
    )
    add_out_folder(parser, "folder of index.html, card.csv, test.json and results/READING/CONDITION.h5")
    add_config(parser)


def run(arguments: argparse.Namespace) -> None:
    from_flags(Playing, arguments)
    check_seed(arguments.seed, "--seed")
    arguments.load = arguments.bots
    keep_files(arguments)
    _name_model(arguments)
    _check_outs(arguments)
    sample = read_sample(arguments)
    sampling = Sampling.of(arguments)
    findings = judge(arguments, sample)
    if arguments.queries is None:
        arguments.queries = min(QUERIES, arguments.candidates, count_dialogs(arguments.dialogs, "val"))
    players = read_loaded(arguments)
    has_index = players.calls.has("prepare")
    keep = not has_index or index_may_be_kept(lambda: RewoundCalls(made(arguments).bots, arguments.bots), sample)
    if not keep:
        print(f"{arguments.bots}: needs more of `prepare` than it returns, so it is called each time", file=sys.stderr)
    players.announce()
    trials = _play(arguments, players, sampling, keep)
    if len(trials) > 1 and len({trial.baseline for trial in trials}) == 1:
        print(f"{arguments.bots}: draws nothing, all samples are the same; leave --samples out", file=sys.stderr)
    tested = _tested(arguments, players, sampling, findings, trials)
    _delete_others(arguments.out, tested)
    write_tested(arguments.out, tested)
    write_card(arguments.out, arguments.beside)
    print(arguments.out / "index.html")


def _name_model(arguments: argparse.Namespace) -> None:
    """Give the model the name that it has in the settings, where these load the same, and no other name is given."""
    if arguments.model or not arguments.config.is_file():
        return
    own = arguments.load, dict(options_of(arguments))
    loaded = read_settings(arguments.config).loaded.items()
    arguments.model = next((name for name, one in loaded if (one.load, dict(one.options)) == own), None)


def _check_outs(arguments: argparse.Namespace) -> None:
    """Raise `InputError` where a file can't be written, or the cache can't be used.

    Which model it is, is not known before it is loaded, so the files of any are looked at.
    """
    names = {*with_people(LOADED_CONDITIONS)}
    if arguments.config.is_file():
        experiment = read_settings(arguments.config)
        names.update(*(experiment.conditions.get(name, {}) for name in experiment.loaded))
    _refuse_other(arguments)
    folders = _folders(arguments)
    written = (f"{folder}/{reading}/{name}.h5" for folder in folders for reading in READINGS for name in sorted(names))
    check_files(arguments.out, [FILE, *CARD, *written])
    folder = folder_of_memory(arguments)
    check_folder(folder)
    if (folder / MEMORY).exists():
        Memory(folder, "").close()


def _refuse_other(arguments: argparse.Namespace) -> None:
    """Raise `InputError` where the folder holds the test of another model, which would be lost."""
    try:
        there = read_tested(arguments.out).load
    except InputError:  # none, or none that could be read again
        return
    if Path(there).name != Path(arguments.bots).name:
        raise InputError(f"{arguments.out}: holds the test of {there}; choose another --out, or delete that folder")


def _folders(arguments: argparse.Namespace) -> list[str]:
    """Folders of each sample's results."""
    if arguments.samples == 1:
        return [RESULTS]
    return [f"{RESULTS}/sample-{number}" for number in range(1, arguments.samples + 1)]


def _play(arguments: argparse.Namespace, players: TextPlayers, sampling: Sampling, keep: bool) -> list[Trial]:
    """Play all conditions, sample by sample; keep: whether the index may be kept."""
    conditions, trials = with_people(players.conditions), []
    calls = sum(
        calls_of(one) * (1 if players.same_in_all_readings(one) else len(READINGS)) for one in conditions.values()
    )
    total = sampling.count * calls * len(players.rows)
    with tqdm(total=total, desc="test", unit="call", disable=None) as bar:
        for number, folder in enumerate(_folders(arguments), 1):
            own = sampling.sample(players, arguments, number)
            trial = Trial(number, own, arguments.out, folder, Tally(bar.update))
            with recalling(arguments, own, trial.tally, keep) as games:
                trial.play(conditions, games)
            trials.append(trial)
    return trials


def _tested(
    arguments: argparse.Namespace,
    players: TextPlayers,
    sampling: Sampling,
    findings: Sequence[Finding],
    trials: Sequence[Trial],
) -> Tested:
    """What was done, for its file."""
    described = players.calls.describe()
    described.pop("trained_on", None)
    trained_on = players.attributes["trained_on"]
    options = options_of(arguments)
    return Tested(
        arguments.load,
        {name: value for name, value in options.items() if (name, sampling.by) != ("seed", BY_SEED)},
        players.attributes["model"],
        described,
        trained_on if isinstance(trained_on, int) else None,
        "score" if players.calls.has("score") else "guess",
        arguments.dataset,
        players.attributes["candidates"],
        len(players.rows),
        arguments.seed,
        sampling.count,
        sampling.by,
        {channel: _share(trial.words[channel] for trial in trials) for channel in trials[0].words},
        sum(trial.prepared for trial in trials),
        tuple(Judged(one.check.name, one.state, one.seen, one.check.asks, one.check.means) for one in findings),
        tuple(played for trial in trials for played in trial.played),
        software(),
    )


def _share(counts: Iterable[tuple[int, int]]) -> float | None:
    """The share of unknown words; counts: words and unknown ones of each sample. None where there are no words."""
    words, unknown = (sum(count) for count in zip(*counts, strict=True))
    return unknown / words if words else None


def _delete_others(out: Path, tested: Tested) -> None:
    """Delete results of an earlier test that this one did not play, lest they be taken for this one's."""
    with suppress(InputError):
        files = {played.file for played in tested.played}
        for played in read_tested(out).played:
            if played.file and played.file not in files:
                (out / played.file).unlink(missing_ok=True)
                for folder in (out / played.file).parents[:2]:
                    with suppress(OSError):
                        folder.rmdir()
