"""What the dialogs of a data set are made of, in numbers, beside those that the paper states of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from cooperation.config.sources import SPLITS
from cooperation.game.messages import ROUNDS
from cooperation.reports.table import Block, Cell, Column, Table

VALUES = {
    "train": "Train",
    "val": "Validation",
    "paper_train": "Paper, train",
    "paper_val": "Paper, validation",
}
"""Columns of numbers, ours and the paper's of both splits, and their titles."""
FORMS = {"": "{:,.0f}", "tokens": "{:,.2f} tokens", "%": "{:.1f} %"}


@dataclass(frozen=True)
class Statistic:
    """One line: its name, unit, the count that it is (of those in a file of dialogs), and the claim of the paper's."""

    name: str
    unit: str
    count: str
    claim: str = ""


STATISTICS = (
    Statistic("Dialogs read", "", "read"),
    Statistic("Dialogs kept", "", "kept"),
    Statistic("Dialogs refused", "", "refused"),
    Statistic("Rounds", "", "rounds"),
    Statistic("Words in the vocabulary, UNK included", "", "words"),
    Statistic("Tokens that are UNK", "%", "unknown"),
    Statistic("Mean length of captions", "tokens", "mean_length_captions"),
    Statistic("Mean length of questions", "tokens", "mean_length_questions"),
    Statistic("Mean length of answers", "tokens", "mean_length_answers"),
    Statistic("Captions cut at the longest length", "", "cut_captions"),
    Statistic("Questions cut at the longest length", "", "cut_questions"),
    Statistic("Answers cut at the longest length", "", "cut_answers"),
    Statistic("Empty answers", "", "empty_answers"),
    Statistic("Answers that are exactly yes or no", "%", "exactly_yes_no", "exactly"),
    Statistic("Answers that begin with yes or no", "%", "beginning_yes_no", "beginning"),
    Statistic("Blind: right by always giving training's most frequent answer", "%", "usual_answer"),
    Statistic("Blind: right by training's most frequent answer to the question", "%", "usual_answer_to_question"),
    Statistic("Blind: right by the answer to training's nearest question", "%", "nearest_answer"),
)
SHARES = ("exactly_yes_no", "beginning_yes_no", "usual_answer", "usual_answer_to_question", "nearest_answer")
"""Counts that are shares."""


def describe(counts: Mapping[str, Any], words: int, claims: pd.DataFrame) -> pd.DataFrame:
    """Lay out `STATISTICS`: the columns statistic, unit (a key of `FORMS`) and `VALUES`; what isn't known is NaN.

    counts: the attributes of a file of dialogs (`encoding.encode`), their names begin with the split's; words: size of
    the vocabulary; claims: `paper/claims.csv`, which has the paper's numbers.
    """
    stated = claims[claims["model"] == "dialogs"].set_index("conditions")["published"]
    found = {split: _of_split(counts, split, words) for split in SPLITS}
    lines = [
        {"statistic": line.name, "unit": line.unit}
        | {split: found[split].get(line.count) for split in SPLITS}
        | {f"paper_{split}": stated.get(f"{split}-{line.claim}") for split in SPLITS}
        for line in STATISTICS
    ]
    return pd.DataFrame(lines, columns=["statistic", "unit", *VALUES]).astype(dict.fromkeys(VALUES, "float64"))


def _of_split(counts: Mapping[str, Any], split: str, words: int) -> dict[str, Any]:
    found = {name.removeprefix(f"{split}_"): count for name, count in counts.items() if name.startswith(f"{split}_")}
    derived = {"words": words}
    if "kept" in found:
        derived["rounds"] = found["kept"] * ROUNDS
    shares: dict[str, float] = {name: found[name] for name in SHARES if name in found}
    if found.get("tokens"):
        shares["unknown"] = found["unknown_tokens"] / found["tokens"]
    return found | derived | {name: 100 * share for name, share in shares.items()}


def statistics_table(statistics: pd.DataFrame, dataset: str) -> Table:
    """The table of `describe`: a row a statistic, with units; an en dash where there is no number."""
    rows = tuple(
        (Cell(line["statistic"]), *(Cell(_printed(line[name], line["unit"])) for name in VALUES))
        for line in statistics.to_dict("records")
    )
    columns = (Column("Statistic", "text"), *(Column(title) for title in VALUES.values()))
    caption = (
        "Lengths after cutting. The paper does not say whether its shares are of exactly yes or no, or begin so. Blind "
        "answerers see no picture and learn from the training dialogs; the nearest question shares most words."
    )
    return Table("statistics", f"The dialogs of “{dataset}”", (Block("", columns, rows),), statistics, dataset, caption)


def _printed(value: float, unit: str) -> str:
    return "–" if pd.isna(value) else FORMS[unit].format(value)
