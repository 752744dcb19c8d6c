"""What all figures share: styles, and how they are written."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from cooperation.config.conditions import Condition
from cooperation.io.files import InputError
from cooperation.io.text import visible
from cooperation.io.writing import written_whole
from cooperation.reports.svg import with_values

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from cooperation.reports.trainings import Estimate

# Okabe and Ito's colours, which the colour-blind can distinguish; lines differ in markers and dashes, too.
STYLES: list[dict[str, Any]] = [
    {"color": "#000000", "marker": "o", "linestyle": "-"},
    {"color": "#0072B2", "marker": "s", "linestyle": "--"},
    {"color": "#D55E00", "marker": "^", "linestyle": "-."},
    {"color": "#009E73", "marker": "D", "linestyle": ":"},
    {"color": "#AA4499", "marker": "v", "linestyle": (0, (5, 1, 1, 1, 1, 1))},
]


def styles(conditions: Sequence[Condition]) -> list[dict[str, Any]]:
    """The style of the line of each condition: beyond the fifth, colours come again with other markers.

    Where all that are perturbed are so in the same way, with another probability p, their colours go from light to dark
    as p rises (viridis, which the colour-blind can order, too).
    """
    import matplotlib as mpl  # noqa: PLC0415

    found = []
    for number in range(len(conditions)):
        again, place = divmod(number, len(STYLES))
        found.append({**STYLES[place], "marker": STYLES[(place + again) % len(STYLES)]["marker"]})
    settings = {number: condition.settings for number, condition in enumerate(conditions) if condition.kind}
    p = {number: own.pop("p", None) for number, own in settings.items()}
    if len(p) > 1 and None not in p.values() and all(own == settings[min(p)] for own in settings.values()):
        for rank, number in enumerate(sorted(p, key=lambda number: p[number])):
            found[number]["color"] = mpl.colors.to_hex(mpl.colormaps["viridis"](0.8 - 0.65 * rank / (len(p) - 1)))
    return found


def points(axes: "Axes", estimates: Mapping[float, "Estimate"], label: str, rows: Sequence[str], **look: Any) -> None:
    """Draw estimates with their intervals, and a stroke for each of several trainings; estimates: by height.

    rows: what each is of.

    A bar that would have to reach back, since an interval of few samples may leave its value out, has no length.
    """
    import numpy as np  # noqa: PLC0415

    lengths = [(one.value - one.low, one.high - one.value) for one in estimates.values()]
    error = np.clip(np.nan_to_num(np.array(lengths).reshape(-1, 2)), 0, None).T
    values = [one.value for one in estimates.values()]
    drawn = axes.errorbar(values, list(estimates), xerr=error, label=label, capsize=2, linestyle="none", **look)
    say(drawn.lines[0], [f"{row}, {label}: {one}" for row, one in zip(rows, estimates.values(), strict=True)])
    for place, one in estimates.items():
        if len(one.each) > 1:
            axes.plot(one.each, [place] * len(one.each), "|", color=look["color"], markersize=6)
    axes.grid(axis="x", color="#dddddd", linewidth=0.6)


RC: Any = {
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "cooperation",
    "pdf.fonttype": 42,
}


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the style of this program within the block: matplotlib's own defaults and `RC`, none of the user's."""
    import matplotlib as mpl  # noqa: PLC0415

    defaults = {name: value for name, value in mpl.rcParamsDefault.items() if "backend" not in name}
    with mpl.rc_context({**defaults, **RC}):
        yield


SAID: WeakKeyDictionary[Any, tuple[str, ...]] = WeakKeyDictionary()
"""Lines of figures → what is told at each of their points."""


def say(line: "Line2D", texts: Sequence[str]) -> None:
    """Let an SVG tell at each point of a line what it is; texts: one a point, in their order, drawn or not."""
    import numpy as np  # noqa: PLC0415

    drawn = np.isfinite(np.array(line.get_xydata(), float)).all(1)
    SAID[line] = tuple(text for text, there in zip(texts, drawn, strict=True) if there)


def _write_out(figure: "Figure") -> None:
    """Write out invisible characters, for which formats have no glyph, and read nothing as a formula."""
    from matplotlib.text import Text  # noqa: PLC0415

    for text in figure.findobj(Text):
        text.set_parse_math(False)
        said = text.get_text()
        if shown := "\n".join(map(visible, said.split("\n"))):
            text.set_text(shown)


def save(figure: "Figure", path: Path) -> None:
    """Write a figure as .pdf, .svg or .png; the same figure gives the same bytes.

    Raises `InputError` for another ending, and where the file cannot be written.
    """
    undated = {".pdf": {"CreationDate": None}, ".svg": {"Date": None}, ".png": {}}
    if path.suffix not in undated:
        raise InputError(f"{path}: unknown ending; choose .pdf, .svg or .png")
    from matplotlib.lines import Line2D  # noqa: PLC0415

    telling = [line for line in figure.findobj(Line2D) if line in SAID]
    for number, line in enumerate(telling):
        line.set_gid(f"values-{number}")
    with styled(), written_whole(path) as temporary:
        _write_out(figure)
        figure.savefig(temporary, dpi=200, metadata=undated[path.suffix])
        if path.suffix == ".svg":
            drawn = temporary.read_text(encoding="utf-8")
            temporary.write_text(with_values(drawn, [SAID[line] for line in telling]), encoding="utf-8")
