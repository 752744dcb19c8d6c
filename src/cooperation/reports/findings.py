"""What follows from the diagnostics: sentences filled from their numbers, each true of every training."""

from collections.abc import Iterator, Mapping

import pandas as pd

from cooperation.reports.paper import number, signed
from cooperation.reports.statistics import readings
from cooperation.reports.trainings import Estimate

CHANGED = "messages a swap changes [%]"
"""A column of the table `swap`."""
ALL = 99.5
"""Percent of the messages from which on a swap changes as many as noise."""
WRONG = 0.05
"""The share of 95 % intervals that do not hold the truth."""
Numbers = Mapping[tuple[str, str, str, str], Estimate]
"""Of a model: (table, reading, row, column) → number."""


def findings(diagnostics: pd.DataFrame) -> list[str]:
    """Sentences on what the diagnostics show, in the order of the tables; what was not played is left out.

    A sentence says that something is more or less than something else only where the interval and every training do.
    diagnostics: the table of `diagnostics.diagnose`.
    """
    each: dict[str, dict[tuple[str, str, str, str], Estimate]] = {}
    for line in diagnostics.to_dict("records"):
        place = (line["table"], line["reading"], line["row"], line["column"])
        each.setdefault(line["model"], {})[place] = Estimate.of(line)
    who = {model: f"{model}, {_trainings(numbers)}" for model, numbers in each.items()}
    played = readings(diagnostics.loc[diagnostics["table"] != "readings", "reading"])
    sentences = [
        f"{who[model]}, as {reading}: {sentence}"
        for of in (_swap, _talk)
        for model, numbers in each.items()
        for reading in played
        for sentence in of(numbers, reading)
    ]
    sentences += [
        f"{who[model]}, as written: {sentence}" for model, found in each.items() for sentence in _facts(found)
    ]
    return sentences + [
        f"{who[model]}, both readings: {sentence}" for model, found in each.items() for sentence in _readings(found)
    ]


def _trainings(numbers: Numbers) -> str:
    seeds = sorted({seed for found in numbers.values() for seed in found.seeds})
    return f"one training (seed {seeds[0]})" if len(seeds) == 1 else f"seeds {', '.join(map(str, seeds))}"


def _rows(numbers: Numbers, table: str, reading: str, column: str) -> dict[str, Estimate]:
    """Row → number of one column."""
    return {key[2]: found for key, found in numbers.items() if (key[0], key[1], key[3]) == (table, reading, column)}


def _swap(numbers: Numbers, reading: str) -> Iterator[str]:
    swaps, further = (_rows(numbers, "swap", reading, column) for column in ("swap", "noise − swap"))
    if not swaps:
        return
    ordered = sorted(swaps, key=lambda row: -swaps[row].value)
    listed = ", ".join(f"{row} {swaps[row]}" for row in ordered)
    yield f"gap where another dialog’s stands in its place (swap), which is in distribution: {listed}."
    changed = _rows(numbers, "swap", reading, CHANGED)
    if same := [row for row in ordered if row in changed and changed[row].value < ALL]:
        listed = ", ".join(f"{row} {number(changed[row].value)} %" for row in same)
        yield f"other dialogs often say the same, so that a swap changes fewer messages than noise does: {listed}."
    sides = {
        "noise, which changes all messages and is out of distribution, costs more than a swap": [
            row for row in ordered if _decided(further[row]) and further[row].above(0)
        ],
        "a swap, which is plausible and misleads, costs more than noise": [
            row for row in ordered if _decided(further[row]) and further[row].below(0)
        ],
    }
    for what, rows in sides.items():
        if rows:
            yield f"{what}: noise − swap is {', '.join(f'{row} {signed(further[row].value)}' for row in rows)}."
    unclear = [row for row in ordered if not _decided(further[row])]
    if unclear:
        listed = ", ".join(f"{row} {_between(further[row])}" for row in unclear)
        yield f"whether noise or swap costs more cannot be told: noise − swap is {listed}."


def _decided(found: Estimate) -> bool:
    """Whether it can be said on which side of zero a number is: of one training alone nothing is said of others."""
    return len(found.seeds) != 1 and found.excludes_zero


def _between(found: Estimate) -> str:
    """A number with its interval, and what each of several trainings gives."""
    return f"{found} ({found.of_each})" if len(found.seeds) > 1 else str(found)


def _talk(numbers: Numbers, reading: str) -> Iterator[str]:
    def at(row: str, column: str) -> Estimate | None:
        return numbers.get(("talk", reading, row, column))

    ends = {row: at(row, "MPR, round 10") for row in ("bots", "people")}
    start = at("bots", "MPR by caption")
    bots, people = ends["bots"], ends["people"]
    if start and bots and people:
        yield (
            f"the caption alone gives an MPR of {start}; ten rounds of the bots’ own talk make it "
            f"{bots}, ten rounds of the recorded human dialog {people}."
        )
    mine, theirs = (at(row, "different questions a dialog") for row in ends)
    again = at("bots", "questions asked before [%]")
    if mine and theirs and again:
        yield (
            f"the bots ask {number(mine.value)} different questions in ten rounds (people "
            f"{number(theirs.value)}); {number(again.value)} % of their questions were asked before in the same dialog."
        )
    same, usual = at("people ask, bots answer", "answers as people’s [%]"), at("people", "most frequent answer [%]")
    blind = at("people", "most frequent answer to the question [%]")
    if same and usual and blind:
        yield (
            f"asked people’s questions, the answerer says what people said in {same} % of the rounds; "
            f"always giving the most frequent answer would match {number(usual.value)} %, and giving each question "
            f"its own most frequent answer, without the picture, {number(blind.value)} %."
        )


def _facts(numbers: Numbers) -> Iterator[str]:
    for row, lost in _rows(numbers, "facts", "written", "bare − as in training").items():
        kind, who = row.split(", ")
        if kind != "MPR":
            continue
        whose = {"bots talk": "the bots’ own dialog", "people talk": "the recorded human dialog"}[who]
        if _decided(lost):
            verb = "costs" if lost.value < 0 else "gains"
            low, high = sorted((abs(lost.low), abs(lost.high)))
            size = Estimate(abs(lost.value), low, high)
            seeds = f" ({lost.of_each})" if len(lost.seeds) > 1 else ""
            yield f"reading facts bare, not as in training, {verb} {whose} {size} points of MPR{seeds}."
        else:
            yield (
                f"whether reading facts bare, not as in training, makes a difference to {whose} cannot be told: "
                f"{_between(lost)}."
            )


def _readings(numbers: Numbers) -> Iterator[str]:
    differences = _rows(numbers, "readings", "both", "released − written")
    clear = [f"{row} {found}" for row, found in differences.items() if _decided(found)]
    number_of, chance = len(differences), WRONG * len(differences)
    if not differences:
        return
    if all(len(found.seeds) == 1 for found in differences.values()):
        yield "whether gaps differ between the readings cannot be told from one training."
        return
    named = f": released − written is {', '.join(clear)}" if clear else ""
    yield (
        f"for {len(clear)} of {number_of} conditions the interval of the difference between the gaps at round 10 leaves"
        f" zero out{named}. Of so many, {number(chance)} would if none differed; of the others it cannot be told."
    )
