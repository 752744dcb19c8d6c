"""Bytes of picture files → RGB pictures."""

import struct
import warnings
import zlib
from io import BytesIO

import numpy as np
from PIL import Image, UnidentifiedImageError

from cooperation.io.files import DAMAGE, Errors, InputError

# Others, such as PostScript, can run programs.
FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF")
UNREAD = {b"avif": "AVIF", b"avis": "AVIF", b"heic": "HEIC", b"heix": "HEIC", b"mif1": "HEIF"}
"""Marks of other formats, behind `ftyp`."""
WHITES = (1, 255, 65_535)
"""What white may be in pictures of one channel whose numbers are not bytes."""
DECODING: Errors = (
    *DAMAGE,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
    SyntaxError,
    EOFError,
    struct.error,
    zlib.error,
)
"""What Pillow's decoders raise for damaged files."""


def decode(raw: bytes, place: str) -> Image.Image:
    """Decode a picture of any mode (grey, CMYK, palette) to RGB; grey of more than 8 bits is scaled.

    EXIF orientation is not applied, as in torchvision's and Caffe's loaders. place: names the picture in messages.
    Raises `InputError` where the bytes are cut short, no picture, or too many pixels.
    """
    try:
        with warnings.catch_warnings(action="error", category=Image.DecompressionBombWarning):
            return _of_eight_bits(Image.open(BytesIO(raw), formats=FORMATS)).convert("RGB")
    except DECODING as error:
        if (codec := next((name for mark, name in UNREAD.items() if mark in raw[:32]), "")) and raw[4:8] == b"ftyp":
            raise InputError(f"{place}: {codec}, which is not decoded here; convert it to JPEG or PNG") from error
        reason = "not a picture" if isinstance(error, UnidentifiedImageError) else " ".join(f"{error}".split())
        raise InputError(f"{place}: cannot be decoded ({reason}); replace the picture") from error


def _of_eight_bits(picture: Image.Image) -> Image.Image:
    """Grey of 16 or 32 bits or of floats as bytes, since Pillow would cut all above 255; others as they are.

    White is 65,535 in pictures of 16 bits; in others the first of `WHITES` that no pixel exceeds, or the brightest.
    """
    if picture.mode[:1] not in ("I", "F"):
        return picture
    numbers = np.asarray(picture, np.float64)
    brightest = float(np.nan_to_num(numbers, nan=0, posinf=0).max())
    sixteen = picture.mode.startswith("I;16") or (picture.mode == "I" and picture.format == "PNG")
    white = WHITES[-1] if sixteen else next((one for one in WHITES if brightest <= one), brightest)
    scaled = np.nan_to_num(numbers / white, nan=0, posinf=1, neginf=0).clip(0, 1)
    return Image.fromarray((scaled * 255).round().astype(np.uint8))
