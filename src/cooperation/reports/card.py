"""The page of a test: what the model relies on, how well it plays, the rules that it keeps, and what it cost."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd

from cooperation.evaluation.tested import Count, Tested
from cooperation.game.messages import ROUNDS
from cooperation.io.writing import write_text
from cooperation.reports.bootstrap import RESAMPLES
from cooperation.reports.diagnostics import NOISE
from cooperation.reports.drawing import save
from cooperation.reports.headline import NAMES, listed
from cooperation.reports.paper import interval_of, reading_heading
from cooperation.reports.scores import HITS
from cooperation.reports.side_by_side import (
    CHANGED,
    LOST,
    OTHER_CAPTION,
    Folder,
    cell,
    compared,
    described,
    estimates,
    figure,
    intervals,
    read_folders,
    table,
)
from cooperation.reports.statistics import Resampled
from cooperation.reports.table import Block, Cell, Column, Table
from cooperation.reports.templates import environment, picture
from cooperation.reports.trainings import Estimate

CARD = ("index.html", "card.csv")
"""What is written."""
DASH = Cell("–")


@dataclass(frozen=True)
class Card:
    """A model that was tested, beside others. folders: its own first; numbers: as `side_by_side.compared` returns."""

    folders: Sequence[Folder]
    resampled: Resampled
    numbers: pd.DataFrame

    @property
    def tested(self) -> Tested:
        """The model that the page is about."""
        return self.folders[0].tested

    def estimates(self, reading: str) -> Mapping[tuple[str, str, int], Estimate]:
        """The model's own numbers under a reading."""
        return estimates(self.numbers, self.folders[0].label, reading)


def write_card(out: Path, beside: Sequence[Path] = (), resamples: int = RESAMPLES) -> None:
    """Write index.html and card.csv into the folder of a test; beside: folders of other models' tests, set beside it.

    Raises `InputError` where a result is missing or was edited, and where the others played other dialogs.
    """
    folders = read_folders([out, *beside])
    card = Card(folders, *compared(folders, resamples))
    page = (
        environment()
        .get_template("card.html.j2")
        .render(
            name=card.tested.described.get("name") or card.tested.load,
            findings=findings(card),
            figure=svg(card.resampled, card.numbers),
            alt=described(card.numbers),
            tables=[table(card.resampled, card.numbers), lost(card), rounds(card)],
            rules=rules(card.tested),
            broken=any(judged.state == "BREACH" for judged in card.tested.judged),
            costs=costs(card.tested),
            facts=list(facts(card)),
        )
    )
    write_text(out / "card.csv", card.numbers.to_csv(index=False, float_format="%.4f", lineterminator="\n"))
    write_text(out / "index.html", page)


def svg(resampled: Resampled, numbers: pd.DataFrame) -> str:
    """The figure as what an image in a page shows."""
    with TemporaryDirectory() as scratch:
        path = Path(scratch) / "figure.svg"
        save(figure(resampled, numbers), path)
        return picture(path.read_text(encoding="utf-8"))


def findings(card: Card) -> list[str]:
    """What the model relies on, and how well it plays, in sentences; those that hold in all readings are said once."""
    said = {reading: _said(card.estimates(reading)) for reading in card.resampled.readings}
    if len(said) > 1 and len(set(map(tuple, said.values()))) == 1:
        return next(iter(said.values()))
    return [f"Reading {reading}: {sentence}" for reading, sentences in said.items() for sentence in sentences]


def _said(found: Mapping[tuple[str, str, int], Estimate]) -> list[str]:
    """The sentences of a reading, from its estimates."""
    sentences = []
    kind = "swap" if any(key[0] == "swap" for key in found) else "noise"
    gaps = {channel: found[kind, channel, ROUNDS] for channel in NOISE if (kind, channel, ROUNDS) in found}
    # Nothing is said of a swap that changed nothing.
    alike = [channel for channel in NOISE if channel not in gaps and (CHANGED, channel, ROUNDS) in found]
    if gaps:
        place = {"swap": "another dialog’s", "noise": "noise or random words"}[kind]
        lines = sorted(((one, NAMES[channel]) for channel, one in gaps.items()), key=lambda line: -line[0].value)
        costs = [
            f"{name} {one.value:.1f} points {interval_of(one.low, one.high)}" for one, name in lines if one.above(0)
        ]
        none = [name for one, name in lines if not one.above(0)]
        lost = f"What is lost where {place} stands in the place of each: " + listed(costs) + "." if costs else ""
        unseen = f"No loss is seen for {listed(none)}." if none else ""
        sentences.append(" ".join(filter(None, (lost, unseen))))
    for channel in alike:
        noise = found.get(("noise", channel, ROUNDS))
        cost = ""
        if noise:
            points = f"{noise.value:.1f} points {interval_of(noise.low, noise.high)}"
            cost = f"; noise there costs {points}" if noise.above(0) else "; nor is a loss seen by noise"
        sentences.append(f"All dialogs have the same {NAMES[channel][4:]}, so none can be swapped{cost}.")
    talk, alone, people = (found.get(("mpr", *key)) for key in (("bots", ROUNDS), ("bots", 0), ("people", ROUNDS)))
    if talk and alone:
        heard = f", {people.value:.1f} when people talk" if people else ""
        level = f"MPR is {alone.value:.1f} by the caption alone and {talk.value:.1f} after the bots’ own ten rounds"
        sentences.append(f"{level}{heard}; chance is 50.")
    before = found.get(("mpr", OTHER_CAPTION, 0))
    if before and before.above(50):
        sentences.append(
            f"With another dialog’s caption, before a word is said, MPR is {before} where it must be 50: the "
            "questioner knows the picture from elsewhere."
        )
    return sentences


def lost(card: Card) -> Table:
    """A row a channel: what noise and another dialog's cost, paired."""
    heads = ("noise or random words", "another dialog’s", "messages that the latter changes")
    columns = (Column("Channel", "text"), *map(Column, heads))
    blocks = []
    for reading in card.resampled.readings:
        found = card.estimates(reading)
        rows = tuple(
            (
                Cell(channel),
                *(cell(found.get((kind, channel, ROUNDS))) for kind in LOST),
                _percent(found.get((CHANGED, channel, ROUNDS))),
            )
            for channel in NOISE
        )
        blocks.append(Block(reading_heading(reading), columns, rows))
    caption = f"Points of MPR lost at round 10, with 95\N{NO-BREAK SPACE}% intervals {intervals(card.resampled)}."
    return Table("lost", "By channel", tuple(blocks), card.numbers, caption=caption)


def _percent(found: Estimate | None) -> Cell:
    return Cell(f"{found.value:.0f} %") if found else DASH


def rounds(card: Card) -> Table:
    """A row a round: MPR and Hits@k of the bots' own talk, and MPR of people's."""
    heads = ["MPR, own talk", *(f"Hits@{k}" for k in HITS), "MPR, people’s talk"]
    columns = (Column("Round"), *map(Column, heads))
    keys = [("mpr", "bots"), *(("hits", str(k)) for k in HITS), ("mpr", "people")]
    blocks = []
    for reading in card.resampled.readings:
        found = card.estimates(reading)
        rows = tuple(
            (Cell(str(after)), *(cell(found.get((*key, after))) for key in keys)) for after in range(ROUNDS + 1)
        )
        blocks.append(Block(reading_heading(reading), columns, rows))
    caption = "Round by round [%]; 0 is by the caption alone. Hits@k: the image is among the k likeliest."
    return Table("rounds", "By round", tuple(blocks), card.numbers, caption=caption)


def rules(tested: Tested) -> Table:
    """The rules of the game, and how the model kept to them."""
    columns = (Column("Rule", "text"), Column("", "text"), Column("What was looked at, or seen", "text"))
    rows = tuple(
        (Cell(one.name), Cell(one.state), Cell(f"{one.seen}. It means: {one.means}." if one.seen else one.asks))
        for one in tested.judged
    )
    return Table("rules", "Rules", (Block("", columns, rows),), pd.DataFrame())


def costs(tested: Tested) -> Table:
    """Calls of each function, how many were known from before, and seconds, in all conditions."""
    made: dict[str, Count] = {}
    for played in tested.played:
        for name, count in played.calls.items():
            before = made.get(name, Count())
            made[name] = Count(before.made + count.made, before.cached + count.cached, before.seconds + count.seconds)
    columns = tuple(map(Column, ("Function", "calls", "known from before", "seconds", "ms a call")))
    rows = tuple(
        (
            Cell(name),
            Cell(f"{count.made:,}"),
            Cell(f"{count.cached:,}"),
            Cell(f"{count.seconds:.1f}"),
            Cell(f"{1000 * count.seconds / count.made:.2f}") if count.made else DASH,
        )
        for name, count in made.items()
    )
    seconds = sum(played.seconds for played in tested.played)
    dialogs = tested.queries * sum(1 for played in tested.played if played.file and not played.same_as)
    each = f", {1000 * seconds / dialogs:,.1f} ms a dialog and condition" if dialogs else ""
    prepared = f"of which {tested.prepared_seconds:,.1f} to prepare"
    caption = f"{seconds:,.1f} seconds in all{each}, {prepared}. A call is for one dialog."
    return Table("costs", "Costs", (Block("", columns, rows),), pd.DataFrame(), caption=caption)


def facts(card: Card) -> Iterator[tuple[str, Any]]:
    """Name and value of what was tested."""
    tested = card.tested
    yield "Model", tested.load
    if tested.options:
        yield "Options", "; ".join(f"{name}: {value}" for name, value in tested.options.items())
    yield from ((str(name).capitalize(), value) for name, value in tested.described.items())
    yield "Trained on", "not known" if tested.trained_on is None else f"{tested.trained_on} of the images played"
    yield "Data set", tested.dataset
    yield "Queries × candidates", f"{tested.queries:,} × {tested.candidates:,}, ranked by {tested.ranks_by}"
    yield "Seed of the games", tested.seed
    if tested.samples > 1:
        yield "Samples", f"{tested.samples}, by {tested.sampled_by}"
    for channel, share in tested.unknown_words.items():
        known = "–" if share is None else f"{100 * share:.1f} %"
        yield f"Words of its {channel}s that the data set does not know", known
    notes = [f"{played.reading}, {played.condition}: {played.note}" for played in tested.played if played.note]
    if notes:
        yield "Notes", "; ".join(notes)
    yield from ((name.replace("_", " ").capitalize(), value) for name, value in tested.versions.items())
