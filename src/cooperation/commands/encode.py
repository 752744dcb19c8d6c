"""Turn the dialogs of a source into token ids: one HDF5 file of both splits' dialogs and the vocabulary."""

import argparse
import json
from pathlib import Path
from typing import Any

from cooperation.commands.outs import add_out_file
from cooperation.config.preparation import Encoding
from cooperation.config.sources import SPLITS, declared, source_names
from cooperation.data.archives import json_digest, made_up
from cooperation.data.reading import Files, reader_of
from cooperation.data.store import write_dialogs
from cooperation.io.settings import add_flags, flag, from_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    sources = parser.add_subparsers(
        dest="source", required=True, metavar="SOURCE", help=f"what the files are: {', '.join(source_names())}"
    )
    for name in source_names():
        source = declared(name)
        chosen = sources.add_parser(name, description=f"Read files of the source {name}.")
        for role, text in source.files.items():
            needed = role not in source.optional
            chosen.add_argument(
                flag(role),
                type=Path,
                nargs="+",
                required=needed,
                default=[],
                metavar="FILE",
                help=text.replace("%", "%%"),
            )
        add_out_file(chosen, "HDF5 file of dialogs to write")
        if source.text:
            add_flags(chosen, Encoding)


def run(arguments: argparse.Namespace) -> None:
    source = declared(arguments.source)
    files = {role: getattr(arguments, role) for role in source.files}
    settings = [from_flags(Encoding, arguments)] if source.text else []
    vocabulary, dialogs, counts = reader_of(arguments.source).read(files, *settings)
    write_dialogs(arguments.out, vocabulary, dialogs, {**_origin(arguments.source, files), **counts})
    for split in SPLITS:
        print(_line(split, counts))
    print(f"vocabulary: {len(vocabulary.words)} words, UNK included")


def _origin(name: str, files: Files) -> dict[str, str]:
    """What the dialogs were made of: the source, the SHA-256 of its files by role, and how they were made up."""
    texts = {role: [json_digest(path) for path in files[role]] for role in declared(name).texts}
    settings = made_up([path for paths in files.values() for path in paths])
    return {"source": name, "files": json.dumps(texts), **({"made_up": settings} if settings else {})}


def _line(split: str, counts: Any) -> str:
    found = {name.removeprefix(f"{split}_"): count for name, count in counts.items() if name.startswith(f"{split}_")}
    cut = ", ".join(
        f"{found[f'cut_{part}']:,} {part}" for part in ("captions", "questions", "answers") if f"cut_{part}" in found
    )
    return (
        f"{split}: {found['read']:,} dialogs read, {found['kept']:,} kept, {found['refused']:,} refused; answers "
        f"exactly yes/no {found['exactly_yes_no']:.1%}, beginning with yes/no {found['beginning_yes_no']:.1%}; "
        + (f"cut {cut}; " if cut else "")
        + f"{found['empty_answers']:,} answers empty"
    )
