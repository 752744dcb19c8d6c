"""Download one file, checked before it gets its name; a file that is there already is checked and kept.

A broken transfer goes on where it ended. HTTPS_PROXY and HTTP_PROXY are honoured. The hash is recorded in FILE.sha256.
"""

import argparse
import string
from pathlib import Path

from cooperation.commands.outs import add_out
from cooperation.config.preparation import Download, Retries
from cooperation.data.download import HASH, obtain
from cooperation.io.settings import add_flags, from_flags
from cooperation.io.writing import check_kind, write_text


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--url", nargs="+", required=True, help="address of the file, then mirrors in order")
    add_out(parser, check_kind, "where the file goes or already is", required=True, metavar="FILE")
    parser.add_argument("--size", type=int, default=0, metavar="BYTES", help="its size, 0 where unknown (default: 0)")
    parser.add_argument(
        "--sha256",
        type=_hex,
        default="",
        metavar="HEX",
        help="its hash or the beginning (default: what FILE.sha256 says)",
    )
    parser.add_argument(
        "--holds", type=int, default=0, metavar="INT", help="pictures or dialogs in it, 0 where unknown (default: 0)"
    )
    parser.add_argument("--note", type=Path, help="file to write that says what was found (default: none)")
    parser.add_argument(
        "--have", type=Path, metavar="PATH", help="a copy elsewhere, packed or not, checked and linked to"
    )
    add_flags(parser, Retries)


def run(arguments: argparse.Namespace) -> None:
    download = Download(tuple(arguments.url), arguments.size, arguments.sha256, holds=arguments.holds)
    found, origin = obtain(arguments.out, download, from_flags(Retries, arguments), arguments.have)
    whole = HASH.fullmatch(found)
    what = f"{arguments.out.stat().st_size:,} bytes, sha256 {found}" if whole else found
    print(f"{arguments.out}: {origin}, {what}")
    if arguments.note:
        write_text(arguments.note, f"{found}  {arguments.out.name}\n")


def _hex(text: str) -> str:
    if (text and not 8 <= len(text) <= 64) or set(text) - set(string.hexdigits):
        raise argparse.ArgumentTypeError(f"{text!r} is not 8 to 64 hexadecimal digits")
    return text.lower()
