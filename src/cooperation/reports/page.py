"""One self-contained page of tables, figures and sample dialogs; every number comes from a file."""

import base64
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cooperation import __version__
from cooperation.conditions import CONTROL
from cooperation.games.results import Result
from cooperation.games.transcripts import describe_manual, figure_of, transcript
from cooperation.reports import corpus, findings
from cooperation.reports.paper import CITATION, FIGURES, READING_TITLES, dataset_note, number
from cooperation.reports.reasons import describe_why
from cooperation.reports.statistics import across_seeds, readings, sizes
from cooperation.reports.tables import claims_view, environment, view
from cooperation.text import Vocabulary

NAMED = {"dataset", "model", "seed", "reading", "condition", "settings", "candidates"}
"""Attributes of a result that the page shows in a place of its own; the others are listed as they are."""
TITLES = {"features": "image features", "trained_on": "dialogs played that were trained on"}


@dataclass(frozen=True)
class Source:
    """Something read from a file, and the file's name as the page prints it."""

    path: Path
    content: Any


def render(
    summary: Source,
    tables: Mapping[int, Source],
    figures: Mapping[str, Source],
    results: Sequence[Source],
    vocabulary: Vocabulary | None,
    claims: Source | None = None,
    why: Source | None = None,
    why_figure: Source | None = None,
    manual: Sequence[tuple[Source, Source]] = (),
    statistics: Source | None = None,
) -> str:
    """The page as HTML.

    summary: the table of `statistics.summarise`. tables: number → frame of `tables.compare`. figures: name → SVG
    text. claims: the table of `claims.check`. why: the table of
    `diagnostics.diagnose`, why_figure: its SVG text. results: `Result`s whose attributes and (with a vocabulary)
    transcripts are shown, the control first. manual: result of `manual_games.play_manual` and SVG text of each figure.
    statistics: the table of `corpus.describe`.
    """
    frame: pd.DataFrame = summary.content
    dataset = str(frame["dataset"].iloc[0])
    return (
        environment()
        .get_template("page.html.j2")
        .render(
            dataset=dataset,
            note=dataset_note(dataset),
            citation=CITATION,
            facts=_facts(frame, results),
            sizes=sizes(frame),
            resamples=int(frame["resamples"].iloc[0]),
            readings=[(name, READING_TITLES.get(name, name)) for name in readings(frame["reading"])],
            figures=[_figure(frame, name, source) for name, source in figures.items()],
            tables=[view(source.content, number) | {"path": source.path} for number, source in tables.items()],
            claims=claims and claims_view(claims.content) | {"path": claims.path},
            why=why and findings.view(why.content) | {"path": why.path},
            why_figure=why and why_figure and _why_figure(why.content, why_figure),
            manual=[_manual(result, figure, vocabulary) for result, figure in manual],
            corpus=statistics and {"statistics": corpus.view(statistics.content), "path": statistics.path},
            conditions=_conditions(frame),
            summary_path=summary.path,
            transcripts=_transcripts(results, vocabulary) if vocabulary else [],
        )
    )


def _facts(summary: pd.DataFrame, results: Sequence[Source]) -> list[tuple[str, str]]:
    """Name and value of what was run: sizes, seeds, features, versions."""
    facts = [
        ("Data set", str(summary["dataset"].iloc[0])),
        ("Queries × candidates", sizes(summary)),
        ("Readings", ", ".join(readings(summary["reading"]))),
    ]
    attributes: dict[str, dict[str, str]] = {}
    for source in results:
        said = source.content.attributes
        for name, value in said.items():
            attributes.setdefault(name, {}).setdefault(said["model"], _flat(value))
    models = {source.content.attributes["model"] for source in results}
    for name in sorted(set(attributes) - NAMED):
        title = TITLES.get(name, name.replace("_", " "))
        values = attributes[name]
        if set(values) == models and len(set(values.values())) == 1:
            facts.append((title, next(iter(values.values()))))
        else:
            facts += [(f"{title}, {model}", value) for model, value in values.items()]
    return [*facts, ("Page made by", f"cooperation {__version__}, Python {platform.python_version()}")]


def _flat(value: Any) -> str:
    """A JSON object as `key: value; …`; anything else as it is."""
    try:
        fields = json.loads(value)
    except (TypeError, ValueError):
        return str(value)
    return "; ".join(f"{key}: {field}" for key, field in fields.items()) if isinstance(fields, dict) else str(value)


def _image(source: Source) -> str:
    # As a data address an SVG keeps its ids to itself; two inlined ones would share them.
    return "data:image/svg+xml;base64," + base64.b64encode(source.content.encode()).decode()


def _why_figure(diagnostics: pd.DataFrame, source: Source) -> dict[str, Any]:
    return {"alt": describe_why(diagnostics), "image": _image(source), "path": source.path}


def _manual(source: Source, figure: Source, vocabulary: Vocabulary | None) -> dict[str, Any]:
    """A figure of a manual intervention, and both of its transcripts as text."""
    result: Result = source.content
    names = {name: result.attributes[name] for name in ("title", "text", "reading", "seed")}
    talks = [_transcript(source, row, vocabulary) for row in (0, 1)] if vocabulary else []
    for talk, title in zip(talks, ({"condition": "Without", "settings": ""}, {"condition": "With"}), strict=False):
        talk.update(title)
    pictures = {"alt": describe_manual(result), "image": _image(figure), "path": figure.path}
    return {"name": figure_of(result), "result_path": source.path, "talks": talks} | names | pictures


def _figure(summary: pd.DataFrame, name: str, source: Source) -> dict[str, Any]:
    return {
        "name": name,
        "title": FIGURES[name].title,
        "alt": describe(summary, name),
        "image": _image(source),
        "path": source.path,
    }


def describe(summary: pd.DataFrame, name: str) -> str:
    """A figure in words, for those who can't see it: each line's MPR in rounds 1 and 10."""
    figure, rows = FIGURES[name], across_seeds(summary)
    rows = rows[rows["model"] == figure.model]
    parts = [f"Line chart of MPR in percent over rounds 1 to 10. {figure.title}."]
    for reading in readings(rows["reading"]):
        ends = []
        for condition, label in figure.lines.items():
            line = rows[(rows["reading"] == reading) & (rows["condition"] == condition)].set_index("round")["mpr"]
            ends += [f"{label} from {number(line[1])} to {number(line[10])}"] if len(line) else []
        parts.append(f"Reading {reading}: {'; '.join(ends)}.")
    return " ".join(parts)


def _conditions(summary: pd.DataFrame) -> list[dict[str, Any]]:
    """Every condition's MPR after some rounds, final gap and amount of tampering, by model and reading."""
    rows = across_seeds(summary)
    groups = []
    for model in dict.fromkeys(rows["model"]):
        for reading in readings(rows["reading"]):
            chosen = rows[(rows["model"] == model) & (rows["reading"] == reading)]
            names = sorted(dict.fromkeys(chosen["condition"]), key=lambda name: name != CONTROL)
            lines = [_condition(name, chosen[chosen["condition"] == name]) for name in names]
            groups.append({"model": model, "reading": reading, "rows": lines})
    return [group for group in groups if group["rows"]]


def _condition(name: str, rows: pd.DataFrame) -> dict[str, Any]:
    by_round = rows.set_index("round")
    last = by_round.loc[by_round.index.max()]
    return {
        "condition": name,
        "mpr": [by_round["mpr"].get(number, float("nan")) for number in (0, 1, 5, 10)],
        "gap": last["gap"],
        "gap_low": last["gap_low"],
        "gap_high": last["gap_high"],
        "messages": round(rows["tampered_messages"].sum()),
        "tokens": round(rows["tampered_tokens"].sum()),
    }


def _transcripts(results: Sequence[Source], vocabulary: Vocabulary) -> list[dict[str, Any]]:
    """The same dialog under the conditions of the first model: the one of median final rank in the first result."""
    if not results:
        return []
    first: Result = results[0].content
    shown = [source for source in results if source.content.attributes["model"] == first.attributes["model"]]
    dialog = int(np.argsort(first.ranks[:, -1], kind="stable")[len(first.ranks) // 2])
    rows = [int(np.flatnonzero(source.content.image_ids == first.image_ids[dialog])[0]) for source in shown]
    return [_transcript(source, row, vocabulary) for source, row in zip(shown, rows, strict=True)]


def _transcript(source: Source, row: int, vocabulary: Vocabulary) -> dict[str, Any]:
    result: Result = source.content
    names = ("model", "reading", "condition", "candidates")
    settings = _flat(result.attributes["settings"])
    messages = transcript(result, row, vocabulary)
    image_id = result.image_ids[row]
    return {"path": source.path, "image_id": image_id, "messages": messages, "settings": settings} | {
        name: result.attributes[name] for name in names
    }
