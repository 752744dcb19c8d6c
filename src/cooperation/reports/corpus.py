"""What the dialogs of a data set are made of, in numbers, beside those that the paper states of its own."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from cooperation.messages import ROUNDS
from cooperation.reports.paper import dataset_note, read_columns
from cooperation.reports.tables import environment, paragraphs

SPLITS = {"train": "Train", "val": "Validation"}
COLUMNS = {
    "statistic": "str",
    "unit": "str",
    "train": "float64",
    "val": "float64",
    "paper_train": "float64",
    "paper_val": "float64",
}
"""Columns of `statistics.csv`: what is counted, its unit (a key of `FORMS`), ours and the paper's of both splits."""
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
)


def describe(counts: Mapping[str, Any], words: int, claims: pd.DataFrame) -> pd.DataFrame:
    """Lay out `STATISTICS` with the columns of `COLUMNS`.

    counts: the attributes of a file of dialogs (`encoding.encode`), their names begin with the split's; words: size of
    the vocabulary; claims: `paper/claims.csv`. What isn't known, or the paper doesn't say, is NaN.
    """
    stated = claims[claims["model"] == "dialogs"].set_index("conditions")["published"]
    found = {split: _of_split(counts, split, words) for split in SPLITS}
    lines = [
        {"statistic": line.name, "unit": line.unit}
        | {split: found[split].get(line.count) for split in SPLITS}
        | {f"paper_{split}": stated.get(f"{split}-{line.claim}") for split in SPLITS}
        for line in STATISTICS
    ]
    return pd.DataFrame(lines, columns=list(COLUMNS)).astype(COLUMNS)


def _of_split(counts: Mapping[str, Any], split: str, words: int) -> dict[str, Any]:
    found = {name.removeprefix(f"{split}_"): count for name, count in counts.items() if name.startswith(f"{split}_")}
    derived = {"words": words}
    if "kept" in found:
        derived["rounds"] = found["kept"] * ROUNDS
    shares: dict[str, float] = {name: found[name] for name in ("exactly_yes_no", "beginning_yes_no") if name in found}
    if found.get("tokens"):
        shares["unknown"] = found["unknown_tokens"] / found["tokens"]
    return found | derived | {name: 100 * share for name, share in shares.items()}


def read_statistics(path: Path) -> pd.DataFrame:
    """Read a file that `cooperation corpus` wrote."""
    return read_columns(path, COLUMNS, ("unit",))


def view(statistics: pd.DataFrame) -> list[dict[str, str]]:
    """What is printed: a row a statistic, the values with their units; an en dash where there is none."""
    return [
        {"statistic": line["statistic"]}
        | {name: _printed(line[name], line["unit"]) for name in COLUMNS if COLUMNS[name] == "float64"}
        for line in statistics.to_dict("records")
    ]


def _printed(value: float, unit: str) -> str:
    return "–" if pd.isna(value) else FORMS[unit].format(value)


def to_markdown(statistics: pd.DataFrame, dataset: str) -> str:
    """A Markdown table with a title and what must be known of the data set."""
    cells = pd.DataFrame(view(statistics))
    cells.columns = pd.Index(["", *SPLITS.values(), *(f"Paper, {title.lower()}" for title in SPLITS.values())])
    table = cells.to_markdown(index=False, disable_numparse=True, colalign=("left", *["right"] * 4))
    return paragraphs(f"**The dialogs of “{dataset}”**", dataset_note(dataset), table)


def to_html(statistics: pd.DataFrame, dataset: str) -> str:
    """A self-contained HTML page of the table."""
    template = environment().get_template("corpus.html.j2")
    return template.render(statistics=view(statistics), dataset=dataset, note=dataset_note(dataset))
