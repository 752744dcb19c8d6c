"""What claims are checked against: games, the paper's cells, counts of the dialogs, and manual interventions."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from cooperation.config.conditions import Condition
from cooperation.config.interventions import Interventions
from cooperation.config.sources import SPLITS
from cooperation.evaluation.results import Result
from cooperation.evaluation.transcripts import places
from cooperation.game.interventions import CHANNELS
from cooperation.reports import talk
from cooperation.reports.bootstrap import Doubles
from cooperation.reports.statistics import Evidence, Resampled
from cooperation.reports.trainings import Drawn


def all_evidence(
    resampled: Resampled,
    interventions: Interventions,
    published: pd.DataFrame,
    counts: Mapping[str, Any],
    manual: Sequence[Result],
) -> Evidence:
    """All that claims may be about.

    interventions: of the paper. published: `paper.read_published`'s table. counts: the attributes of a file of dialogs.
    manual: results of manual interventions.
    """
    candidates = {"candidates": Drawn.stated(np.array([resampled.scores[0].candidates]))}
    everywhere = {"paper": paper_evidence(published), "dialogs": dialog_evidence(counts) | candidates}
    of_readings = {
        (model, reading, name): drawn
        for model, found in everywhere.items()
        for reading in resampled.readings
        for name, drawn in found.items()
    }
    games = resampled.labelled(interventions.conditions)
    return {**games, **of_readings, **manual_evidence(manual, resampled.resamples)}


def dialog_evidence(counts: Mapping[str, Any]) -> dict[str, Drawn]:
    """`train-exactly` and the like → percentage of a split's answers that are, or begin with, yes or no, of [1].

    counts: the attributes of a file of dialogs, which counted them when it was made. The paper states what its data
    are, not what they are a sample of: so a value without an interval.
    """
    shares = {
        f"{split}-{name}": counts.get(f"{split}_{name}_yes_no") for split in SPLITS for name in ("exactly", "beginning")
    }
    return {name: Drawn.stated(np.array([100.0 * share])) for name, share in shares.items() if share is not None}


def manual_evidence(results: Sequence[Result], resamples: int) -> dict[tuple[str, str, str], Drawn]:
    """`figure_2-caption-original` and the like → ranks (1 is best) in a reading, of [11], in each training.

    The channels that the intervention changes stand between the figure's name and `original` or `changed`;
    `figure_4-image-answers` is how many of the answers until a round are different. No sample of dialogs moves them.
    """
    found: dict[tuple[str, str, str], dict[int, Doubles]] = {}
    for result in results:
        names = result.attributes
        about = "-".join((names["condition"], *_changed(json.loads(names["settings"]))))
        numbers = dict(zip(("original", "changed"), places(result.ranks), strict=True))
        for title, values in {**numbers, "answers": _different_answers(result)}.items():
            found.setdefault(("manual", names["reading"], f"{about}-{title}"), {})[int(names["seed"])] = values
    return {key: Drawn(tuple(each), _repeated(list(each.values()), resamples)) for key, each in found.items()}


def _repeated(values: Sequence[Doubles], resamples: int) -> Doubles:
    """The values of the trainings in samples that equal them: [rounds] each → [trainings, 1 + resamples, rounds].

    One training has none, for nothing would move them.
    """
    stacked = np.stack(values)[:, None]
    samples = resamples if len(values) > 1 else 0
    return np.broadcast_to(stacked, (len(values), 1 + samples, stacked.shape[-1]))


def _different_answers(result: Result) -> Doubles:
    """How many of the answers until each round are others with the intervention than without: [11]."""
    [codes] = talk.encode(result.answer_said)
    return np.concatenate([[0.0], np.cumsum(codes[0] != codes[1])])


def _changed(changes: Mapping[str, Any]) -> list[str]:
    """The channels that a manual intervention changes. changes: what `Manual.changes` says."""
    keys = {"caption": ("caption",), "image": ("image",), "question": ("questions",), "answer": ("answers", "exchange")}
    return [channel for channel in CHANNELS if any(key in changes for key in keys[channel])]


def paper_evidence(published: pd.DataFrame) -> dict[str, Drawn]:
    """`gap-COLUMN` → the gaps that Table 1's printed cells give, of [11]."""
    cells = published[(published["table"] == 1) & (published["quantity"] == "mpr")]
    baseline = cells[cells["settings"] == Condition().text].set_index("round")["value"]
    found = {}
    for column, values in cells.groupby("column"):
        gaps = np.full(11, np.nan)
        rounds = values["round"].to_numpy()
        gaps[rounds] = np.round(baseline.loc[rounds].to_numpy() - values["value"].to_numpy(), 1)
        found[f"gap-{column}"] = Drawn.stated(gaps)
    return found
