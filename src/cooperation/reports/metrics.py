"""The mean percentile ranks as other programs read them."""

import json

import pandas as pd

from cooperation.reports.statistics import across_seeds

ROUNDS = (0, 1, 10)
"""Whose MPR is compared between versions: at the start, early and late."""


def to_csv(summary: pd.DataFrame) -> str:
    """All of the table of `statistics.summarise`."""
    return summary.to_csv(index=False, float_format="%.6f", lineterminator="\n")


def metrics(summary: pd.DataFrame) -> str:
    """JSON for `dvc metrics`: model → reading → condition → MPR [%] after some rounds.

    summary: the table of `statistics.summarise`.
    """
    rows = across_seeds(summary)
    found: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for row in rows[rows["round"].isin(ROUNDS)].itertuples():
        conditions = found.setdefault(str(row.model), {}).setdefault(str(row.reading), {})
        conditions.setdefault(str(row.condition), {})[f"round {row.round}"] = round(float(str(row.mpr)), 6)
    return json.dumps(found, indent=1) + "\n"
