"""What the page says first: what the bots rely on, and whether that is the paper's finding."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from cooperation.reports.paper import READING_TITLES, number
from cooperation.reports.trainings import Estimate
from cooperation.reports.verdicts import FAILS, HOLDS

NAMES = {"image": "the picture", "caption": "the caption", "question": "the questions", "answer": "the answers"}
"""Channel → how sentences call it."""
FINDING = "caption-falls-most"
"""The claim that is the paper's finding: the caption matters most."""
MUCH = 0.5
"""Share of the largest gap from which on a channel is among those that matter most."""
SAID = {HOLDS: "holds", FAILS: "does not hold"}


def headline(diagnostics: pd.DataFrame, verdicts: pd.DataFrame) -> Iterator[str]:
    """One sentence a reading and model that stands for the paper's, most important channel first.

    diagnostics: of `diagnostics.diagnose`; verdicts: of `claims.check`.
    """
    judged = {
        (line["model"], line["reading"]): line["verdict"]
        for line in verdicts.to_dict("records")
        if line["claim"] == FINDING
    }
    several = len({model for model, _ in judged}) > 1
    for (model, reading), verdict in judged.items():
        gaps = gaps_of(diagnostics, model, reading, "noise")
        if gaps:
            whose = f", {model}" * several
            title = READING_TITLES.get(reading, reading).capitalize()
            yield f"{title}{whose}: {_relied_on(gaps)} {_judged(str(verdict))}"


def gaps_of(diagnostics: pd.DataFrame, model: str, reading: str, kind: str) -> dict[str, Estimate]:
    """Channel → gap at round 10, by noise or by swap; nothing where they were not played."""
    rows = diagnostics[(diagnostics["table"] == "swap") & (diagnostics["column"] == kind)]
    rows = rows[(rows["model"] == model) & (rows["reading"] == reading)]
    return {line["row"]: Estimate.of(line) for line in rows.to_dict("records") if line["row"] in NAMES}


def _relied_on(gaps: Mapping[str, Estimate]) -> str:
    ordered = sorted(gaps, key=lambda channel: -gaps[channel].value)
    largest = gaps[ordered[0]].value
    if largest <= 0:
        return "no channel matters here: perturbing it costs nothing."
    most = [channel for channel in ordered if gaps[channel].value >= MUCH * largest]
    rest = [channel for channel in ordered if channel not in most]
    less = f", {listed([NAMES[channel] for channel in rest])} less ({_points(gaps, rest)})" if rest else ""
    verb = "matters" if most in (["image"], ["caption"]) else "matter"
    points = "points of MPR" if not rest else "points"
    return f"{listed([NAMES[channel] for channel in most])} {verb} most here ({_points(gaps, most)} {points}){less}."


def _judged(verdict: str) -> str:
    """What the paper finds, and whether it is found here."""
    said = SAID.get(verdict, "is undecided")
    return f"The paper’s finding, that the caption matters most by far, {said} here."


def _points(gaps: Mapping[str, Estimate], channels: list[str]) -> str:
    return listed([number(gaps[channel].value) for channel in channels])


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them: a, b and c."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
