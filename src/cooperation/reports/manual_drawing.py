"""A drawing of one dialog without and with a manual intervention, and of its ranks (the paper's Figures 2 to 5)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from PIL import Image

from cooperation.evaluation.results import Result
from cooperation.evaluation.transcripts import WHO, Message, places, sees_noise, title_of, transcript
from cooperation.game.vocabulary import Vocabulary
from cooperation.reports.drawing import styled

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Colours as in the paper; the lines differ in markers and dashes, too.
ORIGINAL: dict[str, Any] = {"color": "#08306b", "marker": "o", "markersize": 4, "linewidth": 1.3, "zorder": 3}
CHANGED: dict[str, Any] = {"color": "#4292c6", "marker": "s", "markersize": 6, "linewidth": 2.2, "linestyle": "--"}
BLUE, SOFT = "#0b5fb0", "#55585f"
# Sizes in inches, and of type in points.
COLUMN, GAP, PANEL, MARGIN = 3.1, 0.25, 3.4, 0.15
LINE, ROUND_GAP, TYPE = 0.165, 0.06, 8.0
NUMBER, TEXT = 0.22, 0.42
HEAD, FOOT, LEAST, TALLEST = 0.55, 0.15, 4.6, 3.2


@dataclass(frozen=True)
class Block:
    """A message as it is drawn: the lines it takes, whether it was changed, and its label (round, Q or A)."""

    lines: tuple[str, ...]
    changed: bool
    round: int
    who: str


@styled()
def draw_manual(
    result: Result, vocabulary: Vocabulary, picture: Image.Image | None = None, others: Sequence[Result] = ()
) -> "Figure":
    """Draw both transcripts side by side, the picture where there is one, and the ranks over rounds 0–10.

    result: of `manual_games.play_manual`; changed messages are blue and have a bar at their left. others: the same of
    other trainings, whose ranks are thin lines.
    """
    from matplotlib.figure import Figure  # noqa: PLC0415

    columns = [_blocks(result, row, vocabulary) for row in (0, 1)]
    heights = [max(len(left.lines), len(right.lines)) for left, right in zip(*columns, strict=True)]
    tops = _tops(columns[0], heights)
    width = 2 * MARGIN + 2 * (COLUMN + GAP) + PANEL
    height = max(HEAD + 0.3 + tops[-1] + FOOT, LEAST)
    figure = Figure(figsize=(width, height))
    page = figure.add_axes((0, 0, 1, 1))
    page.set(xlim=(0, width), ylim=(height, 0))
    page.set_axis_off()
    page.text(MARGIN, 0.1, title_of(result) + _thin(others), fontsize=9, va="top", parse_math=False)
    for row, (blocks, name) in enumerate(zip(columns, ("Without", "With the intervention"), strict=True)):
        left = MARGIN + row * (COLUMN + GAP)
        page.text(left, HEAD, name, fontsize=TYPE, color=SOFT, va="top")
        page.plot([left, left + COLUMN], [HEAD + 0.19] * 2, color="#b8bbc2", linewidth=0.8)
        for block, top in zip(blocks, tops, strict=False):
            _write(page, block, left, HEAD + 0.27 + top)
    axes = _panel(figure, result, picture, (width, height))
    for other in others:
        for ranks, style in zip(places(other.ranks), (ORIGINAL, CHANGED), strict=True):
            axes.plot(range(len(ranks)), ranks, color=style["color"], linewidth=0.7, zorder=1)
    return figure


def _thin(others: Sequence[Result]) -> str:
    """What the thin lines are."""
    seeds = ", ".join(str(other.attributes["seed"]) for other in others)
    return f"; thin lines: seed {seeds}" if others else ""


def _blocks(result: Result, row: int, vocabulary: Vocabulary) -> list[Block]:
    """One block a message, the caption first; a line about noise above it where the answerer sees noise."""
    blocks = []
    if sees_noise(result):
        text = "the answerer sees noise" if row else "the answerer sees the picture"
        blocks.append(Block((text,), bool(row), 0, "image"))
    return [*blocks, *(_block(message) for message in transcript(result, row, vocabulary))]


def _block(message: Message) -> Block:
    caption = message.who == "caption"
    room = COLUMN - (0.1 if caption else TEXT)
    lines = tuple(wrapped(message.heard or "(nothing)", room, bold=caption))
    return Block(lines, message.changed, message.round, message.who)


def _tops(blocks: Sequence[Block], heights: Sequence[int]) -> list[float]:
    """Where each block begins, in inches from the first, and where the last one ends."""
    tops, top = [], 0.0
    for block, lines in zip(blocks, heights, strict=True):
        top += ROUND_GAP if block.who == "asks" else 0
        tops.append(top)
        top += lines * LINE
    return [*tops, top]


def _write(page: "Axes", block: Block, left: float, top: float) -> None:
    """Write a message: round and speaker, its lines, and a bar where it was changed."""
    color = BLUE if block.changed else "#000000"
    start = left + (0.1 if block.who in ("caption", "image") else TEXT)
    style: dict[str, Any] = {"fontsize": TYPE, "va": "top", "parse_math": False}
    if block.who == "asks":
        page.text(left + NUMBER - 0.03, top, f"{block.round}", color=SOFT, ha="right", **style)
    page.text(left + NUMBER + 0.03, top, WHO.get(block.who, ""), color=SOFT, **style)
    weight = "bold" if block.who == "caption" else "normal"
    for number, line in enumerate(block.lines):
        page.text(start, top + number * LINE, line, color=color, weight=weight, **style)
    if block.changed:
        bottom = top + len(block.lines) * LINE - 0.045
        page.plot([start - 0.045] * 2, [top - 0.01, bottom], color=BLUE, linewidth=2, solid_capstyle="butt")


def _panel(figure: "Figure", result: Result, picture: Image.Image | None, size: tuple[float, float]) -> "Axes":
    """Draw picture and ranks in the column at the right, and return the ranks' axes; size of the figure in inches."""
    width, height = size
    left, bottom, top = width - PANEL - MARGIN, 0.5, height - HEAD
    if picture is not None:
        tall = min(0.38 * (top - bottom), TALLEST, PANEL * picture.height / picture.width)
        shown = figure.add_axes((left / width, (top - tall) / height, PANEL / width, tall / height), anchor="N")
        shown.imshow(np.asarray(picture), interpolation="nearest")
        shown.set_axis_off()
        top -= tall + 0.1
    # Room for the legend above the axes and the ticks' numbers beside them; a long dialog leaves them their height.
    top -= 0.4
    bottom = max(bottom, top - TALLEST)
    inset = 0.55
    axes = figure.add_axes(((left + inset) / width, bottom / height, (PANEL - inset) / width, (top - bottom) / height))
    _ranks(axes, result)
    return axes


def _ranks(axes: "Axes", result: Result) -> None:
    """Draw both dialogs' ranks on a logarithmic axis, the best one on top."""
    from matplotlib.ticker import FuncFormatter, NullFormatter  # noqa: PLC0415

    candidates = result.attributes["candidates"]
    for name, ranks, style in zip(("without", "with"), places(result.ranks), (ORIGINAL, CHANGED), strict=True):
        axes.plot(range(len(ranks)), ranks, label=f"{name}: {ranks[0]:,g} … {ranks[-1]:,g}", **style)
    axes.set_yscale("log")
    axes.set_ylim(candidates * 1.25, 0.8)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_ylabel(f"Rank, 1 is best of {candidates:,}", fontsize=TYPE)
    axes.set_xlabel("Round (0: caption only)", fontsize=TYPE)
    axes.set_xticks(range(result.ranks.shape[1]))
    axes.tick_params(labelsize=TYPE)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.legend(fontsize=TYPE, loc="lower left", bbox_to_anchor=(0, 1.0), frameon=False, borderaxespad=0.2)


def wrapped(text: str, room: float, bold: bool = False) -> Iterator[str]:
    """Break a text into lines that are at most `room` inches wide as they are drawn; a longer word is cut."""
    line = ""
    for word in text.split():
        rest = word
        while rest:
            together = f"{line} {rest}" if line else rest
            if _inches(together, bold) <= room:
                line, rest = together, ""
            elif line:
                yield line
                line = ""
            else:
                fits = next(n for n in range(len(rest), 0, -1) if n == 1 or _inches(rest[:n], bold) <= room)
                yield rest[:fits]
                rest = rest[fits:]
    if line:
        yield line


def _inches(text: str, bold: bool) -> float:
    width, _, _ = _measure().get_text_width_height_descent(text, _font(bold), ismath=False)
    return float(width) / 72


@cache
def _measure() -> Any:
    from matplotlib.textpath import TextToPath  # noqa: PLC0415

    return TextToPath()


@cache
def _font(bold: bool) -> Any:
    from matplotlib.font_manager import FontProperties  # noqa: PLC0415

    return FontProperties(size=TYPE, weight="bold" if bold else "normal")
