"""What the page says first: what the bots rely on, and whether that is the paper's finding."""

from collections.abc import Iterator, Mapping, Sequence

import pandas as pd

from cooperation.reports.paper import READING_TITLES, number
from cooperation.reports.trainings import Estimate
from cooperation.reports.verdicts import FAILS, HOLDS, RATE

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
    judged = verdicts[verdicts["claim"] == FINDING]
    several = len(set(judged["model"])) > 1
    for line in judged.to_dict("records"):
        gaps = gaps_of(diagnostics, line["model"], line["reading"], "noise")
        if gaps:
            whose = f", {line['model']}" * several
            title = READING_TITLES.get(line["reading"], line["reading"]).capitalize()
            yield f"{title}{whose}: {_relied_on(gaps)} {_judged(line['verdict'], line['q'])}"


def gaps_of(diagnostics: pd.DataFrame, model: str, reading: str, kind: str) -> dict[str, Estimate]:
    """Channel → gap at round 10, by noise or by swap; nothing where they were not played."""
    rows = diagnostics[(diagnostics["table"] == "swap") & (diagnostics["column"] == kind)]
    rows = rows[(rows["model"] == model) & (rows["reading"] == reading)]
    return {line["row"]: Estimate.of(line) for line in rows.to_dict("records") if line["row"] in NAMES}


def _relied_on(gaps: Mapping[str, Estimate]) -> str:
    seen = {channel: gap for channel, gap in gaps.items() if gap.above(0)}
    alone = " (one training alone; others may differ)" if any(len(gap.seeds) == 1 for gap in gaps.values()) else ""
    if not seen:
        return f"no loss is seen here, whichever channel is perturbed{alone}."
    ordered = sorted(seen, key=lambda channel: -seen[channel].value)
    largest = seen[ordered[0]].value
    most = [channel for channel in ordered if gaps[channel].value >= MUCH * largest]
    rest = [channel for channel in ordered if channel not in most]
    less = f", {listed([NAMES[channel] for channel in rest])} less ({_points(gaps, rest)})" if rest else ""
    verb = "matters" if most in (["image"], ["caption"]) else "matter"
    points = "points of MPR" if not rest else "points"
    unseen = f"; no loss is seen for {listed([NAMES[one] for one in gaps if one not in seen])}" if seen != gaps else ""
    what = listed([NAMES[channel] for channel in most])
    return f"{what} {verb} most here ({_points(gaps, most)} {points}){less}{unseen}{alone}."


def _judged(verdict: str, q: float) -> str:
    """What the paper finds, and whether it is found here; q: of `verdicts.discoveries`."""
    said = SAID.get(verdict, "is undecided")
    alone = ", judged by itself" if verdict in SAID and q > RATE else ""
    return f"The paper’s finding, that the caption matters most, {said} here{alone}."


def _points(gaps: Mapping[str, Estimate], channels: list[str]) -> str:
    return listed([number(gaps[channel].value) for channel in channels])


def listed(words: Sequence[str]) -> str:
    """Words as a sentence lists them: a, b and c."""
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))
