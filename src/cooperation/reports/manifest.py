"""What a report is made of, by content: the file beside its products that `cooperation provenance` reads."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from cooperation.config.experiment import PAPER, Experiment
from cooperation.config.made import said_by_bots
from cooperation.data.archives import MADE_UP
from cooperation.io.files import InputError, digest, parse_errors
from cooperation.io.identity import Identity
from cooperation.io.sealed import read_sealed, write_sealed
from cooperation.reports.products import MANIFEST
from cooperation.reports.scores import Scores

COMMON = ("vocabulary", "train dialogs", "val dialogs", "features", "val images", "candidates", "game seed", MADE_UP)
"""What all results of a report have in common."""


def settings_of(experiment: Experiment, resamples: int) -> dict[str, Any]:
    """The settings that a report follows from; resamples: of the bootstrap."""
    dataset, seed = experiment.dataset, experiment.seeds[0]
    bots: dict[str, Any] = {}
    for model in experiment.conditions:
        if model in experiment.loaded:
            bots[model] = asdict(experiment.loaded[model])
        else:
            bots[model] = said_by_bots(experiment, dataset, model, seed)
            del bots[model]["seed"]
    return {
        "seeds": experiment.seeds,
        "game_seed": experiment.game_seed,
        "bootstrap_seed": experiment.bootstrap_seed,
        "resamples": resamples,
        "readings": experiment.readings,
        "models": bots,
        "paper": dict(experiment.stands_for),
        "conditions": {
            model: {name: condition.settings for name, condition in conditions.items()}
            for model, conditions in experiment.conditions.items()
        },
        "candidates": experiment.data.playing.candidates,
    }


def made_of(
    scores: Sequence[Scores], manual: Sequence[Identity], folder: Path, pictures: Iterable[int]
) -> dict[str, Any]:
    """What a report was made of, but for its settings.

    manual: what the results of manual interventions are made of; folder: of all results; pictures: ids of the images
    that are shown. Raises `InputError` where a result does not say what it is.
    """
    bots = {f"{score.model}, seed {score.seed}": score.identity.of("bots") for score in scores}
    mixed = {f"{score.model}, seed {score.seed}": dict(score.others) for score in scores if score.others}
    played = [*(score.identity for score in scores), *manual]
    return {
        "data": scores[0].identity.said(*COMMON),
        "bots": bots,
        **({"mixed as an experiment": mixed} if mixed else {}),
        "results": {str(identity.place.relative_to(folder)): identity.of("game") for identity in played},
        "pictures": sorted(pictures),
        "paper": {path: digest(Path(path)) for path in PAPER},
    }


def write_manifest(out: Path, products: Iterable[str], about: Mapping[str, Any]) -> None:
    """Write the hashes of a report's files, in the folder `out`, and what they were made of (`about`)."""
    found = {"products": {name: digest(out / name) for name in products}, **about}
    write_sealed(out / MANIFEST, found)


def looked_up(path: Path) -> dict[str, Any]:
    """Whether a file beside a manifest is as the report wrote it, and what it was made of; {} where there is none.

    Raises `InputError` where the manifest is damaged.
    """
    manifest = path.with_name(MANIFEST)
    if not manifest.is_file():
        return {}
    what, remedy = "damaged or not a report's", "make the report again"
    found, intact = read_sealed(manifest, what, remedy)
    with parse_errors(manifest, what, remedy):
        products = dict(found.pop("products"))
    if path.name == MANIFEST:
        return {"report": "as written" if intact else "edited since", **found}
    if not intact:
        raise InputError(f"{manifest}: edited since the report was made; make the report again to know about {path}")
    if path.name not in products:
        return {"report": f"{MANIFEST} does not name it, so it is not of the report in this folder"}
    return {"report": "as written" if products[path.name] == digest(path) else "edited since", **found}
