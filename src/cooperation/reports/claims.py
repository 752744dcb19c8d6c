"""The paper's statements, checked: a quantity, a range fixed beforehand, and a verdict from its interval."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cooperation.config.conditions import Condition
from cooperation.config.interventions import Interventions
from cooperation.config.sources import SPLITS
from cooperation.evaluation.results import Result
from cooperation.evaluation.transcripts import places
from cooperation.game.interventions import CHANNELS
from cooperation.reports.bootstrap import Doubles
from cooperation.reports.paper import family, read_columns, refuse_twice
from cooperation.reports.quantities import check_quantity, chosen, estimate
from cooperation.reports.statistics import Evidence, Resampled
from cooperation.reports.table import Block, Cell, Column, Table, number_cell

CLAIMS = {
    "claim": "str",
    "statement": "str",
    "source": "str",
    "quantity": "str",
    "model": "str",
    "conditions": "str",
    "rounds": "str",
    "published": "str",
    "at_least": "float64",
    "at_most": "float64",
    "datasets": "str",
}
"""Columns of `paper/claims.csv`.

quantity: one of `quantities.ALL_QUANTITIES`, of these conditions (interventions of `paper/interventions.csv`, blanks
between them) of a model of the paper's, in these rounds (`10`, `1 10` or `1-10`; for `spread` also a list a condition,
`1-10; 2-10`, for the cells that Table 2 has). The model may be one of `WITHOUT_MODEL`: `dialogs` stands for the human
dialogs, `paper` for the paper's printed cells, `manual` for the ranks of single dialogs without
(`figure_2-caption-original`) and with manual interventions (`figure_2-caption-changed`) on the channels that are named.
published: as the paper has it. at_least, at_most: the range in which ours counts as reproduced,
empty where there is no bound. datasets: those on which ours can be compared, empty where any will do; a number needs
the paper's own, a direction or an order may be looked for in the miniature too.
"""
FOUND = ("reading", "ours", "low", "high", "verdict", "reason")
"""Further columns of `check`'s table; there, `model` is our model that stands for the paper's."""
WITHOUT_MODEL = {"dialogs": "the dialogs", "paper": "the paper", "manual": "single dialogs"}
"""What stands in the column `model` of claims that are not about a model's games, and how it is printed."""
CAPTION = (
    "Ours with 95 % intervals, in percentage points unless the claim says otherwise. A claim is reproduced if the whole"
    " interval lies inside a range that was fixed beforehand, and not comparable where the number belongs to the"
    " paper’s own data set or the intervention (paper/interventions.csv) was not played."
)


def read_claims(path: Path, interventions: Interventions) -> pd.DataFrame:
    """Read `paper/claims.csv`.

    Raises `InputError` for an unknown quantity or intervention, or what is no rounds.
    """
    claims = read_columns(path, CLAIMS, ("published", "datasets"))
    refuse_twice(claims, ("claim",), path)
    refuse_twice(claims[claims["model"].isin(WITHOUT_MODEL)], ("model", "conditions"), path)
    for line in claims.to_dict("records"):
        place = f"{path}: claim {line['claim']}"
        check_quantity(line, place)
        if line["model"] not in WITHOUT_MODEL:
            for label in line["conditions"].split():
                interventions.of(label, place)
    return claims


def check(
    claims: pd.DataFrame,
    evidence: Evidence,
    stands_for: Mapping[str, Sequence[str]],
    readings: Sequence[str],
    dataset: str,
) -> pd.DataFrame:
    """Every claim for each model that stands for the claim's, in every reading: columns of `CLAIMS`, then of `FOUND`.

    stands_for: model of the paper's → ours.
    """
    lines = [
        {**claim, "model": model, "reading": reading, **_checked(claim, evidence, (model, reading), dataset)}
        for claim in claims.to_dict("records")
        for model in stands_for.get(claim["model"], (claim["model"],))
        for reading in readings
    ]
    return pd.DataFrame(lines, columns=[*CLAIMS, *FOUND])


def _checked(claim: Mapping[Any, Any], evidence: Evidence, played: tuple[str, str], dataset: str) -> dict[str, object]:
    """Ours, low, high, verdict and reason of one claim for one model and reading."""
    keys = [(*played, name) for name in claim["conditions"].split()]
    missing = [key[2] for key in keys if key not in evidence]
    if missing:
        return {"verdict": "not comparable", "reason": f"not played: {', '.join(missing)}"}
    ours, low, high = estimate(claim["quantity"], chosen([evidence[key] for key in keys], claim["rounds"]))
    found: dict[str, object] = {"ours": ours, "low": low, "high": high}
    if claim["datasets"] and family(dataset) not in claim["datasets"].split():
        return found | {"verdict": "not comparable", "reason": f"for {' or '.join(claim['datasets'].split())} only"}
    return found | judge(low, high, claim["at_least"], claim["at_most"])


def judge(low: float, high: float, at_least: float, at_most: float) -> dict[str, object]:
    """Reproduced only if the whole interval lies inside the range, its bounds (NaN: none) excluded."""
    above, below = not low <= at_least, not high >= at_most
    if above and below:
        return {"verdict": "reproduced", "reason": "the whole interval lies inside the range"}
    if high <= at_least or low >= at_most:
        return {"verdict": "not reproduced", "reason": "the whole interval lies outside the range"}
    return {"verdict": "not reproduced", "reason": "the interval reaches outside the range"}


def reproduced(verdicts: pd.DataFrame) -> list[tuple[str, int, int]]:
    """How many claims are reproduced and how many can be compared, by reading, and by model where one has a rival."""
    rivals = verdicts.groupby("claim")["model"].nunique().max() > 1
    said: dict[str, list[str]] = {}
    for line in verdicts.to_dict("records"):
        model = WITHOUT_MODEL.get(line["model"], f"model {line['model']}")
        about = f"{line['reading']}, {model}" if rivals else line["reading"]
        said.setdefault(about, []).append(line["verdict"])
    return [
        (about, verdict.count("reproduced"), len(verdict) - verdict.count("not comparable"))
        for about, verdict in said.items()
    ]


def claims_table(verdicts: pd.DataFrame, dataset: str, size: str) -> Table:
    """A row a claim and model: the statement, the paper's number, the range, and for each reading ours and the verdict.

    verdicts: the table of `check`. size: queries × candidates, in words.
    """
    readings = list(dict.fromkeys(verdicts["reading"]))
    columns = [Column("Claim", "claim"), Column("Source", "text source"), Column("Model", "text")]
    columns += [Column("Paper"), Column("Range")]
    for reading in readings:
        columns += [Column(f"{reading}: ours"), Column(f"{reading}: verdict", "text")]
    rows: dict[tuple[str, str], list[Cell]] = {}
    for line in verdicts.to_dict("records"):
        row = rows.setdefault((line["claim"], line["model"]), _claimed(line))
        row += _found(line)
    block = Block("", tuple(columns), tuple(tuple(row) for row in rows.values()))
    return Table("claims", "Claims of the paper", (block,), verdicts, dataset, CAPTION, size, sortable=True)


def _claimed(line: Mapping[Any, Any]) -> list[Cell]:
    """What the paper says."""
    model = WITHOUT_MODEL.get(line["model"], line["model"])
    published = str(line["published"]).replace("-", "−")
    words = (line["statement"], line["source"], model, published, _range(line["at_least"], line["at_most"]))
    return [Cell(text) for text in words]


def _range(at_least: float, at_most: float) -> str:
    low, high = f"{at_least:g}".replace("-", "−"), f"{at_most:g}".replace("-", "−")
    if pd.isna(at_least):
        return f"below {high}"
    return f"above {low}" if pd.isna(at_most) else f"{low} to {high}"


def _found(line: Mapping[Any, Any]) -> list[Cell]:
    """Ours and the verdict."""
    verdict, reason = line["verdict"], line["reason"]
    style = f"verdict {verdict.replace(' ', '-')}"
    return [
        number_cell(line["ours"], line["low"], line["high"]),
        Cell(verdict, (reason,), (f"{verdict}: {reason}",), style),
    ]


def all_evidence(
    resampled: Resampled,
    interventions: Interventions,
    published: pd.DataFrame,
    counts: Mapping[str, Any],
    manual: Sequence[Result],
) -> Evidence:
    """What claims are checked against: games, the paper's cells, counts of the dialogs, and manual interventions.

    interventions: of the paper. published: `paper.read_published`'s table. counts: the attributes of a file of dialogs.
    manual: results of manual interventions.
    """
    everywhere = {"paper": paper_evidence(published), "dialogs": dialog_evidence(counts)}
    of_readings = {
        (model, reading, name): drawn
        for model, found in everywhere.items()
        for reading in resampled.readings
        for name, drawn in found.items()
    }
    games = resampled.labelled(interventions.conditions)
    return {**games, **of_readings, **manual_evidence(manual)}


def dialog_evidence(counts: Mapping[str, Any]) -> dict[str, Doubles]:
    """`train-exactly` and the like → percentage of a split's answers that are, or begin with, yes or no, [2, 1].

    counts: the attributes of a file of dialogs, which counted them when it was made. The paper states what its data
    are, not what they are a sample of: so a value and its equal, without an interval.
    """
    shares = {
        f"{split}-{name}": counts.get(f"{split}_{name}_yes_no") for split in SPLITS for name in ("exactly", "beginning")
    }
    return {name: np.full((2, 1), 100.0 * share) for name, share in shares.items() if share is not None}


def manual_evidence(results: Sequence[Result]) -> dict[tuple[str, str, str], Doubles]:
    """`figure_2-caption-original` and the like → ranks (1 is best) in a reading, [2, 11]: a value and its equal.

    The channels that the intervention changes stand between the figure's name and `original` or `changed`.
    """
    found = {}
    for result in results:
        names = result.attributes
        about = "-".join((names["condition"], *_changed(json.loads(names["settings"]))))
        for title, ranks in zip(("original", "changed"), places(result.ranks), strict=True):
            found["manual", names["reading"], f"{about}-{title}"] = np.stack([ranks, ranks])
    return found


def _changed(changes: Mapping[str, Any]) -> list[str]:
    """The channels that a manual intervention changes. changes: what `Manual.changes` says."""
    keys = {"caption": ("caption",), "image": ("image",), "question": ("questions",), "answer": ("answers", "exchange")}
    return [channel for channel in CHANNELS if any(key in changes for key in keys[channel])]


def paper_evidence(published: pd.DataFrame) -> dict[str, Doubles]:
    """`gap-COLUMN` → the gaps that Table 1's printed cells give, [2, 11] (a value and a draw that equals it)."""
    cells = published[(published["table"] == 1) & (published["quantity"] == "mpr")]
    baseline = cells[cells["settings"] == Condition().text].set_index("round")["value"]
    found = {}
    for column, values in cells.groupby("column"):
        gaps = np.full(11, np.nan)
        rounds = values["round"].to_numpy()
        gaps[rounds] = np.round(baseline.reindex(rounds).to_numpy() - values["value"].to_numpy(), 1)
        found[f"gap-{column}"] = np.stack([gaps, gaps])
    return found
