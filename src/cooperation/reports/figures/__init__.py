"""Figures of the report. One file a kind of figure, found by being in this folder.

A file holds the functions of `Kind`. Importing it needs the standard library alone, since the Snakefile asks which
figures there will be; what draws (NumPy, pandas, matplotlib) is imported within the functions.
"""

import pkgutil
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Protocol, cast

from cooperation.config.experiment import Experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from cooperation.reports.material import Material


@dataclass(frozen=True)
class Description:
    """How the page describes a figure.

    title: its heading. alt: the figure in words, for those who cannot see it. caption: stands below it. source: file
    that the numbers come from. section: of the page, `first`, `manual` or `why`; otherwise it has one of its own.
    """

    title: str
    alt: str
    caption: str
    source: str
    section: str = ""


class Kind(Protocol):
    """The functions of a figure's file."""

    def names(self, experiment: Experiment) -> Iterable[str]:
        """Names of the figures that are drawn of an experiment: `1a` is written to figure_1a.svg and so on."""

    def draw(self, material: "Material", name: str) -> "Figure":
        """Draw one of them."""

    def describe(self, material: "Material", name: str) -> Description:
        """Describe one of them for the page."""


@cache
def kinds() -> tuple[Kind, ...]:
    """All kinds of figures, one for each file of this folder."""
    return tuple(cast("Kind", import_module(f"{__name__}.{module.name}")) for module in pkgutil.iter_modules(__path__))


def figures_of(experiment: Experiment) -> dict[str, Kind]:
    """Name → kind of every figure of an experiment, ordered by name.

    Raises `InputError` where paper/figures.csv cannot be read, and `ValueError` where two kinds give a figure the same
    name.
    """
    found = [(name, kind) for kind in kinds() for name in kind.names(experiment)]
    if len(dict(found)) < len(found):
        raise ValueError(f"reports/figures: two figures of one name among {', '.join(name for name, _ in found)}")
    return dict(sorted(found, key=lambda pair: pair[0]))
