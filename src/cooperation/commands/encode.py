"""Tokenise VisDial JSON of both splits into one HDF5 file of dialogs."""

import argparse
from pathlib import Path
from typing import Any

from cooperation.data.encoding import encode
from cooperation.data.store import write_dialogs
from cooperation.data.visdial import read_visdial
from cooperation.preparation import Encoding
from cooperation.settings import add_flags, from_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--train", type=Path, required=True, help="VisDial JSON of the train split, bare or zipped")
    parser.add_argument("--val", type=Path, required=True, help="VisDial JSON of the val split, bare or zipped")
    parser.add_argument("--out", type=Path, required=True, help="HDF5 file of dialogs to write")
    add_flags(parser, Encoding)


def run(arguments: argparse.Namespace) -> None:
    settings = from_flags(Encoding, arguments)
    splits = {split: read_visdial(getattr(arguments, split), split, settings.cut_short) for split in ("train", "val")}
    vocabulary, dialogs, counts = encode(splits, settings)
    write_dialogs(arguments.out, vocabulary, dialogs, counts)
    for split in splits:
        print(_line(split, counts))
    print(f"vocabulary: {len(vocabulary.words)} words, UNK included")


def _line(split: str, counts: dict[str, Any]) -> str:
    found = {name.removeprefix(f"{split}_"): count for name, count in counts.items() if name.startswith(f"{split}_")}
    return (
        f"{split}: {found['read']:,} dialogs read, {found['kept']:,} kept, {found['refused']:,} refused; answers "
        f"exactly yes/no {found['exactly_yes_no']:.1%}, beginning with yes/no {found['beginning_yes_no']:.1%}; cut "
        f"{found['cut_captions']:,} captions, {found['cut_questions']:,} questions, {found['cut_answers']:,} answers; "
        f"{found['empty_answers']:,} answers empty"
    )
