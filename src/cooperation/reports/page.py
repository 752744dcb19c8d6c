"""One self-contained page of tables, figures and sample dialogs; every number comes from a file."""

import json
import platform
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cooperation import __version__
from cooperation.config.conditions import Condition
from cooperation.config.experiment import Experiment, Game, ManualGame
from cooperation.config.rehearsal import SUFFIX
from cooperation.data.agreements import OTHERS
from cooperation.data.archives import MADE_UP
from cooperation.evaluation.results import IDLE, Result
from cooperation.evaluation.transcripts import transcript
from cooperation.io.identity import ATTRIBUTE
from cooperation.io.origin import read_origin
from cooperation.reports.claims import counted, standing
from cooperation.reports.conditions import conditions_table
from cooperation.reports.diagnostics import NOISE
from cooperation.reports.figures import Description
from cooperation.reports.headline import headline
from cooperation.reports.material import Material
from cooperation.reports.needed import path_of
from cooperation.reports.paper import CITATION, READING_TITLES, dataset_note
from cooperation.reports.svg import inlined
from cooperation.reports.table import Table
from cooperation.reports.templates import environment

SHOWN = (Condition(), NOISE["image"], NOISE["answer"])
"""Conditions under which a dialog is printed."""
NAMED = {"dataset", "model", "seed", "game_seed", "reading", "condition", "settings", "candidates"}
NAMED |= {"val_dialogs", "training", "sizes", ATTRIBUTE, *OTHERS}
"""Attributes of a result that the page shows in a place of its own; the others are listed as they are."""
TITLES = {
    "dialogs": "dialogs, as encoded",
    "features": "image features",
    "trained_on": "dialogs played that were trained on",
}
DATA = {
    "vocabulary": "Vocabulary",
    "train dialogs": "Dialogs of the training",
    "val dialogs": "Dialogs played",
    "features": "Kind of features",
    "val images": "Images guessed",
    MADE_UP: "Made-up files",
}
"""Things that results are made of, with the hashes of their content, and how the page calls them."""


@dataclass(frozen=True)
class Contents:
    """What the page joins. tables: by the names of their files, without ending. figures: by name, with SVG text."""

    material: Material
    tables: Mapping[str, Table]
    figures: Mapping[str, tuple[Description, str]]


def render(contents: Contents) -> str:
    """The page as HTML; it lies beside the files of its tables and figures, and needs none of them."""
    material, experiment = contents.material, contents.material.experiment
    tables, figures = contents.tables, _figures(contents)
    claims = tables.get("claims")
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            dataset=experiment.dataset,
            notes=list(_notes(material)),
            citation=CITATION,
            facts=_facts(material),
            resamples=int(material.summary["resamples"].iloc[0]),
            readings=[(name, READING_TITLES.get(name, name)) for name in experiment.readings],
            counted=counted(claims.frame) if claims else [],
            standing=standing(claims.frame) if claims else (0, 0),
            claims=claims,
            **{name: tables.get(name) for name in ("statistics", "diagnostics", "models")},
            paper_tables={name: table for name, table in tables.items() if name.startswith("table_")},
            conditions=conditions_table(material.summary),
            headline=list(headline(material.diagnostics, claims.frame)) if claims and not material.rehearsal else [],
            first_figures=figures.pop("first", []),
            manual_figures=figures.pop("manual", []),
            why_figures=figures.pop("why", []),
            own_figures=[figure for section in figures.values() for figure in section],
            transcripts=_transcripts(material),
        )
    )


def games_shown(experiment: Experiment) -> list[Game]:
    """The games whose settings and, if they are several of a model, dialogs are printed.

    They are each model's under `SHOWN`, or else its first one, of the first seed and reading.
    """
    found: list[Game] = []
    for model, conditions in experiment.conditions.items():
        own = [
            game
            for game in experiment.games(experiment.dataset)
            if (game.model, game.seed, game.reading) == (model, experiment.seeds[0], experiment.readings[0])
        ]
        chosen = [game for one in SHOWN for game in own if conditions[game.condition] == one]
        found += chosen or own[:1]
    return found


def _notes(material: Material) -> Iterator[str]:
    """What must be read first: of the data set, and of what is left out."""
    dataset = material.experiment.dataset
    # That of a data set's rehearsal says less.
    yield from filter(None, (material.rehearsal, "" if dataset.endswith(SUFFIX) else dataset_note(dataset)))
    for model, reading, condition in material.idle:
        yield f"The condition {condition} of the model {model} ({reading}) is left out: it {IDLE}."


def _facts(material: Material) -> list[tuple[str, str]]:
    """Name and value of what was run: sizes, seeds, features, versions."""
    experiment = material.experiment
    facts = [
        ("Data set", experiment.dataset),
        ("Queries × candidates", material.size),
        ("Readings", ", ".join(experiment.readings)),
        ("Seeds of training", ", ".join(map(str, experiment.seeds))),
        ("Seed of the games", str(experiment.game_seed)),
        ("Seed of the bootstrap", str(experiment.bootstrap_seed)),
        *_identities(material),
    ]
    attributes: dict[str, dict[str, str]] = {}
    for game, result in material.results.items():
        origin = read_origin(path_of(game, material.folder))
        for name, value in {**result.attributes, **origin}.items():
            attributes.setdefault(name, {}).setdefault(game.model, _flat(value))
    models = {game.model for game in material.results}
    for name in sorted(set(attributes) - NAMED):
        title = TITLES.get(name, name.replace("_", " "))
        values = attributes[name]
        if set(values) == models and len(set(values.values())) == 1:
            facts.append((title, next(iter(values.values()))))
        else:
            facts += [(f"{title}, {model}", value) for model, value in values.items()]
    return [*facts, ("Page made by", f"cooperation {__version__}, Python {platform.python_version()}")]


def _identities(material: Material) -> Iterator[tuple[str, str]]:
    """What was run, by content: the data, the bots, and what was mixed as an experiment."""
    made_of = material.scores[0].identity.made_of
    yield from ((title, made_of[name]) for name, title in DATA.items() if name in made_of)
    bots = {(score.model, score.seed): score.identity.of("bots") for score in material.scores}
    for (model, seed), found in bots.items():
        yield f"Bots, {model}, seed {seed}", found
    played = [((score.model, score.seed), score.others) for score in material.scores]
    played += [((game.model, game.seed), result.attributes) for game, result in material.manual.items()]
    for name in OTHERS:
        mixed = {who: attributes[name] for who, attributes in played if name in attributes}
        for (model, seed), what in mixed.items():
            yield f"{name.replace('_', ' ').capitalize()} than in the training, {model}, seed {seed}", what


def _flat(value: Any) -> str:
    """A JSON object as `key: value; …`; anything else as it is."""
    try:
        fields = json.loads(value)
    except (TypeError, ValueError):
        return str(value)
    return "; ".join(f"{key}: {field}" for key, field in fields.items()) if isinstance(fields, dict) else str(value)


def _figures(contents: Contents) -> dict[str, list[dict[str, Any]]]:
    """Section of the page → its figures."""
    found: dict[str, list[dict[str, Any]]] = {}
    for name, (description, svg) in contents.figures.items():
        talks = _both(contents.material, name) if description.section == "manual" else []
        shown = {
            "name": name,
            "about": description,
            "image": inlined(svg, f"figure-{name}", description.alt),
            "talks": talks,
        }
        found.setdefault(description.section, []).append(shown)
    return found


def _both(material: Material, figure: str) -> list[dict[str, Any]]:
    """Both transcripts of a manual intervention."""
    game = material.manual_games(figure)[0]
    without, with_it = (_transcript(material, game, material.manual[game], row) for row in (0, 1))
    return [without | {"condition": "Without", "settings": ""}, with_it | {"condition": "With"}]


def _transcripts(material: Material) -> list[dict[str, Any]]:
    """One dialog, of median final rank in the first result, in the games shown of the models that show several."""
    if not material.results:
        return []
    models = [game.model for game in material.results]
    several = {model for model in models if models.count(model) > 1} or {models[0]}
    shown = {game: result for game, result in material.results.items() if game.model in several}
    first = next(iter(shown.values()))
    dialog = int(np.argsort(first.ranks[:, -1], kind="stable")[len(first.ranks) // 2])
    found = []
    for game, result in shown.items():
        row = int(np.flatnonzero(result.image_ids == first.image_ids[dialog])[0])
        found.append(_transcript(material, game, result, row))
    return found


def _transcript(material: Material, game: Game | ManualGame, result: Result, row: int) -> dict[str, Any]:
    """A dialog as the template prints it; row: of the result."""
    names = ("model", "reading", "condition", "candidates")
    return {
        "path": material.path(game),
        "image_id": result.image_ids[row],
        "messages": transcript(result, row, material.vocabulary),
        "settings": _flat(result.attributes["settings"]),
        **{name: result.attributes[name] for name in names},
    }
