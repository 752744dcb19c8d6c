"""A rehearsal: the whole path on a data set's real files in minutes, with a few dialogs and small bots.

Needs nothing but the standard library, since the Snakefile reads it.
"""

from collections.abc import Mapping
from dataclasses import replace

from cooperation.config.datasets import Dataset
from cooperation.config.training import Sizes
from cooperation.io.files import InputError

SUFFIX = "_rehearsal"
"""Ends the name of a rehearsal: its dialogs, features, bots, results and page lie beside those of the data set."""
DIALOGS = 300
"""Dialogs of each split: the first."""
SIZES = Sizes(embedding=32, hidden=64, layers=1)
EPOCHS, BATCH = 3, 32


def add_rehearsals(datasets: Mapping[str, Dataset], chosen: str) -> dict[str, Dataset]:
    """The data sets and, if one is chosen, its rehearsal and that of the data set whose bots play on it.

    Raises `InputError` where dialogs come as token ids, so that it would read all of them.
    """
    found, base = dict(datasets), chosen.removesuffix(SUFFIX)
    if chosen in found or base not in found:
        return found
    for name in filter(None, (base, found[base].bots)):
        found[name + SUFFIX] = _rehearsal(found[name], name)
    return found


def _rehearsal(data: Dataset, name: str) -> Dataset:
    if "text" not in data.steps:
        raise InputError(f"rehearsal: {name} has no texts to choose a few dialogs of; leave it out")
    return replace(
        data,
        bots=data.bots and data.bots + SUFFIX,
        raw_of=name,
        shards=min(data.shards, 1),
        jobs="model",
        steps={**data.steps, "text": replace(data.steps["text"], first=DIALOGS)},
        sizes=SIZES,
        training={regime: replace(how, epochs=EPOCHS, batch=BATCH) for regime, how in data.training.items()},
    )
