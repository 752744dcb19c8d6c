"""What `cooperation test` did with a model: the file `test.json` beside its results."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from cooperation.io.files import InputError, digest
from cooperation.io.sealed import read_sealed, write_sealed

FILE, RESULTS = "test.json", "results"
"""The file, and the folder of results, in the folder of a test."""
REMEDY = "run `cooperation test` again, which takes from its cache what it played before"


@dataclass(frozen=True)
class Judged:
    """How a model kept to a rule. name: of the check; state: `ok`, `BREACH`, `doubtful`, `not judged` or `samples`.

    asks: what is looked at; seen: what was seen, "" where the state is ok; means: what a breach does to the results.
    """

    name: str
    state: str
    seen: str
    asks: str
    means: str


@dataclass(frozen=True)
class Count:
    """How often a function was called, once for each dialog, and how often its outcome was known from before.

    seconds: that the calls took, within the builder's function.
    """

    made: int = 0
    cached: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Played:
    """A condition that was played under a reading by a sample of the model.

    sample: from 1; 1 for a model that doesn't sample. settings: of the condition, as config.yaml writes them. file: of
    its result, relative to the folder of the test, and its sha256; both "" where there is none. same_as: the reading
    whose game this is, "" where it was played here; calls and seconds then are none. note: why there is no result, or
    that nothing was perturbed, where it is so. calls: function (ask, answer, score or guess) → its calls. seconds: for
    all of it.
    """

    sample: int
    reading: str
    condition: str
    settings: Mapping[str, Any]
    file: str
    sha256: str
    same_as: str
    note: str
    calls: Mapping[str, Count]
    seconds: float


@dataclass(frozen=True)
class Tested:
    """A model and how it was tested.

    load: FILE.py:NAME; options: what NAME is called with; model: its name in the results; described: what its
    `describe` returns (name, version, weights, …), without the images trained on. trained_on: how many of the dialogs
    played are about images that it was trained on, None where that is not known. ranks_by: `score` or `guess`.
    dataset: its name. candidates: their number; queries: dialogs played; seed: of the games. samples: their number;
    sampled_by: `seed` where each sample is a seed that the model is made with, `plays` where it just plays again, ""
    for one sample. Sample k's results have the attribute `seed` k.
    unknown_words: channel (question, answer) → share, 0 to 1, of the words that the bots say unperturbed that the data
    set does not know in any casing and punctuation; None where they say nothing.
    prepared_seconds: that `prepare` took, within the seconds of the conditions. judged: the conformance; played: each
    condition. versions: of the program and what it runs on.
    """

    load: str
    options: Mapping[str, Any]
    model: str
    described: Mapping[str, Any]
    trained_on: int | None
    ranks_by: str
    dataset: str
    candidates: int
    queries: int
    seed: int
    samples: int
    sampled_by: str
    unknown_words: Mapping[str, float | None]
    prepared_seconds: float
    judged: tuple[Judged, ...]
    played: tuple[Played, ...]
    versions: Mapping[str, str]

    def check_results(self, out: Path) -> None:
        """Raise `InputError` where a result in the folder of the test is missing, or another than it was."""
        for played in self.played:
            path = out / played.file
            if not played.file:
                continue
            if not path.is_file():
                raise InputError(f"{path}: no such file, but {FILE} names it; {REMEDY}")
            if digest(path) != played.sha256:
                raise InputError(f"{path}: not the result that {FILE} was written with; {REMEDY}")


def write_tested(out: Path, tested: Tested) -> None:
    """Write what was tested into the folder of the test."""
    # What a builder describes may be anything.
    write_sealed(out / FILE, json.loads(json.dumps(asdict(tested), default=str)))


def read_tested(out: Path) -> Tested:
    """Read what was tested from the folder of a test.

    Raises `InputError` where it is missing, edited, or not of this version.
    """
    path = out / FILE
    if not path.is_file():
        raise InputError(f"{path}: no such file; {out} is not the folder of a test: run `cooperation test`")
    found, intact = read_sealed(path, "damaged or not a test's", REMEDY)
    if not intact:
        raise InputError(f"{path}: edited since the test; {REMEDY}")
    try:
        judged = tuple(Judged(**one) for one in found.pop("judged"))
        played = tuple(_played(one) for one in found.pop("played"))
        return Tested(**found, judged=judged, played=played)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: of another version of this program ({error}); {REMEDY}") from error


def _played(found: Mapping[str, Any]) -> Played:
    return Played(**{**found, "calls": {name: Count(**count) for name, count in found["calls"].items()}})
