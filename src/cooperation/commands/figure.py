"""Draw one of the paper's figures."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from cooperation.data.archives import picture_names, read_member
from cooperation.data.pictures import decode
from cooperation.data.store import read_vocabulary
from cooperation.files import InputError
from cooperation.games.results import read_result
from cooperation.reports.figures import draw, save
from cooperation.reports.manual_figures import draw_manual
from cooperation.reports.paper import FIGURES
from cooperation.reports.statistics import only_dataset, read_summary

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("figure", help=f"{', '.join(FIGURES)}, or a manual intervention's: 2, 3, 4, 5 or its own name")
    parser.add_argument("--summary", type=Path, help="Figures 1: CSV that `cooperation summarise` wrote")
    parser.add_argument("--result", type=Path, help="others: HDF5 result of `cooperation intervene`")
    parser.add_argument("--dialogs", type=Path, help="others: HDF5 file of dialogs, for their words")
    parser.add_argument("--pictures", type=Path, help="others: archive or folder that may hold the picture")
    parser.add_argument(
        "--out", type=Path, nargs="+", required=True, help="files to write; the ending says what: .pdf .svg .png"
    )


def run(arguments: argparse.Namespace) -> None:
    figure = _mean_ranks(arguments) if arguments.figure in FIGURES else _manual(arguments)
    for path in arguments.out:
        save(figure, path)


def _mean_ranks(arguments: argparse.Namespace) -> "Figure":
    if not arguments.summary:
        raise InputError(f"figure {arguments.figure}: give the --summary that it is drawn from")
    summary = read_summary(arguments.summary)
    only_dataset(summary, arguments.summary)
    return draw(summary, arguments.figure)


def _manual(arguments: argparse.Namespace) -> "Figure":
    if not (arguments.result and arguments.dialogs):
        raise InputError(
            f"figure {arguments.figure}: give --result and --dialogs of a manual intervention, or choose from "
            + ", ".join(FIGURES)
        )
    result = read_result(arguments.result)
    if result.attributes["model"] != "manual":
        raise InputError(f"{arguments.result}: no result of a manual intervention; make one with cooperation intervene")
    picture = _picture(arguments.pictures, int(result.image_ids[0])) if arguments.pictures else None
    return draw_manual(result, read_vocabulary(arguments.dialogs), picture)


def _picture(archive: Path, image_id: int) -> Image.Image | None:
    """The picture of an image, where the archive is still there and has it."""
    names = picture_names(archive) if archive.exists() else {}
    if image_id not in names:
        print(f"{archive}: no picture of image {image_id}, so the figure has none", file=sys.stderr)
        return None
    return decode(read_member(archive, names[image_id]), f"{archive}, {names[image_id]}")
