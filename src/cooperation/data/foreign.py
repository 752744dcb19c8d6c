"""What files are that this program does not read, told by how they begin, and what to do about it.

So none of them is called damaged, and nobody deletes what is whole.
"""

from zipfile import ZipInfo

from cooperation.io.files import InputError

UNPACK = "unpack it and give the folder or file that is in it"
PAGE = "a page of a web site, not the file: delete it and download the file by hand"
BEGINS = {
    b"7z\xbc\xaf\x27\x1c": ("a 7z archive", UNPACK),
    b"Rar!\x1a\x07": ("a RAR archive", UNPACK),
    b"\x1f\x8b": ("packed with gzip", f"{UNPACK} (gunzip, tar -xzf)"),
    b"\xfd7zXZ\0": ("packed with xz", f"{UNPACK} (unxz, tar -xJf)"),
    b"\x28\xb5\x2f\xfd": ("packed with Zstandard", f"{UNPACK} (unzstd)"),
    b"BZh": ("packed with bzip2", f"{UNPACK} (bunzip2, tar -xjf)"),
    b"PAR1": ("a Parquet file", "write it as JSON: docs/data.md shows how"),
    b"version https://git-lfs": ("a pointer of Git LFS, not the file", "get the file itself with `git lfs pull`"),
}
MARKUP = (b"<!doctype", b"<html", b"<head", b"<body", b"<?xml")
# Where tar archives say what they are.
TAR_AT, TAR = 257, b"ustar"
LONGEST = TAR_AT + len(TAR)
"""How many bytes of a file tell what it is."""

PICTURES = {
    b"ftypavif": "AVIF",
    b"ftypavis": "AVIF",
    b"ftypheic": "HEIC",
    b"ftypheix": "HEIC",
    b"ftypmif1": "HEIF",
    b"ftypjxl ": "JPEG XL",
    b"\xff\x0a": "JPEG XL",
    b"jP  \r\n\x87\n": "JPEG 2000",
    b"\xff\x4f\xff\x51": "JPEG 2000",
}
"""How pictures begin whose codecs this program lacks, after the size of their first box where they have one."""

# Numbers that zip archives give to ways of packing that Python's zipfile does not know.
METHODS = {1: "Shrink", 6: "Implode", 9: "Deflate64", 93: "Zstandard", 95: "XZ", 96: "JPEG", 98: "PPMd", 99: "AES"}
KNOWN_METHODS = (0, 8, 12, 14)
ENCRYPTED = 1
REPACK = "unpack the archive (7z x) and give the folder, or pack it again (zip -r)"


def what_is_foreign(begins: bytes) -> tuple[str, str] | None:
    """What a file is, by its first `LONGEST` bytes, and a remedy; None for what is read here, or unknown."""
    if begins.lstrip(b"\xef\xbb\xbf \t\r\n").lower().startswith(MARKUP):
        return "HTML or XML", PAGE
    if begins[TAR_AT:].startswith(TAR):
        return "a tar archive", f"{UNPACK} (tar -xf)"
    return next((found for mark, found in BEGINS.items() if begins.startswith(mark)), None)


def codec_of(raw: bytes) -> str:
    """The codec of a picture that this program can't decode, by name; "" for others."""
    return next((name for mark, name in PICTURES.items() if raw.startswith(mark) or raw[4:].startswith(mark)), "")


def check_packing(member: ZipInfo, place: str) -> None:
    """Raise `InputError` for a member of a zip archive that is encrypted, or packed in a way that isn't known here."""
    if member.flag_bits & ENCRYPTED:
        raise InputError(f"{place}: encrypted; unpack the archive with its password (7z x) and give the folder")
    if member.compress_type not in KNOWN_METHODS:
        method = METHODS.get(member.compress_type, f"method {member.compress_type}")
        raise InputError(f"{place}: packed with {method}, which is not read here; {REPACK}")
