"""All conditions in one table: MPR after some rounds, the gap at the end, and how much was perturbed."""

import pandas as pd

from cooperation.config.conditions import BASELINE
from cooperation.reports.paper import interval_of, number, reading_heading, signed
from cooperation.reports.statistics import across_seeds, readings, sizes
from cooperation.reports.table import Block, Cell, Column, Table, alone

ROUNDS = (0, 1, 5, 10)
CAPTION = (
    "MPR [%] by caption alone (round 0) and after rounds 1, 5 and 10; the gap at round 10 to the unperturbed game of"
    " the same facts, with its paired interval; after round 10 the mean reciprocal rank (MRR) [%] and the share of"
    " dialogs whose image is among the ten likeliest (Hits@10) [%]; and how much was perturbed, all rounds and dialogs"
    " together (an image that was replaced counts as one message a round). What was done is in the last column."
)
COLUMNS = (
    Column("Condition", "text"),
    *(Column(f"Round {after}" if after == 0 else str(after)) for after in ROUNDS),
    *map(Column, ("Gap at 10", "Interval of the gap", "MRR", "Hits@10", "Messages perturbed", "Tokens perturbed")),
    Column("Settings", "text"),
)


def conditions_table(summary: pd.DataFrame) -> Table:
    """A block a model and reading, a row a condition, the baseline first. summary: of `statistics.summarise`."""
    rows = across_seeds(summary)
    blocks = []
    for model in dict.fromkeys(rows["model"]):
        for reading in readings(rows["reading"]):
            chosen = rows[(rows["model"] == model) & (rows["reading"] == reading)]
            names = sorted(dict.fromkeys(chosen["condition"]), key=lambda name: name != BASELINE)
            cells = tuple(_row(name, chosen[chosen["condition"] == name]) for name in names)
            blocks += [Block(f"Model “{model}”. {reading_heading(reading)}", COLUMNS, cells)] if cells else []
    dataset = str(summary["dataset"].iloc[0])
    return Table("conditions", "All conditions", tuple(blocks), summary, dataset, CAPTION, sizes(summary))


def _row(name: str, rows: pd.DataFrame) -> tuple[Cell, ...]:
    by_round = rows.set_index("round")
    last = by_round.loc[by_round.index.max()]
    mprs = [number(by_round["mpr"].get(after, float("nan"))) for after in ROUNDS]
    gap = (signed(last["gap"]), " ".join((interval_of(last["gap_low"], last["gap_high"]), *alone(last["seeds"]))))
    amounts = [f"{round(rows[amount].sum()):,}" for amount in ("perturbed_messages", "perturbed_tokens")]
    others = [number(last[measure]) for measure in ("mrr", "hits_10")]
    return tuple(map(Cell, (name, *mprs, *gap, *others, *amounts, last["settings"])))
