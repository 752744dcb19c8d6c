"""Bytes of picture files → RGB pictures."""

import struct
import warnings
import zlib
from io import BytesIO

import numpy as np
from PIL import Image, UnidentifiedImageError

from cooperation.data.foreign import codec_of
from cooperation.io.files import DAMAGE, Errors, InputError

# Others, such as PostScript, can run programs.
FORMATS = ("JPEG", "PNG", "GIF", "BMP", "WEBP", "TIFF")
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


class DamagedError(InputError):
    """A picture that was read, but can't be decoded."""


def decode(raw: bytes, place: str) -> Image.Image:
    """Decode a picture of any mode (grey, CMYK, palette) to RGB.

    Grey of more than eight bits is scaled, see `eight_bits`. EXIF orientation is not applied, as in torchvision's and
    Caffe's loaders. place: names the picture in messages. Raises `InputError` where the bytes are cut short, no
    picture, or too many pixels: that is a `DamagedError`.
    """
    try:
        with warnings.catch_warnings(action="error", category=Image.DecompressionBombWarning):
            return eight_bits(Image.open(BytesIO(raw), formats=FORMATS)).convert("RGB")
    except DECODING as error:
        if codec := codec_of(raw):
            raise InputError(f"{place}: is {codec}, which is not decoded here; convert it to JPEG or PNG") from error
        reason = "not a picture" if isinstance(error, UnidentifiedImageError) else " ".join(f"{error}".split())
        raise DamagedError(f"{place}: cannot be decoded ({reason}); replace the picture") from error


def eight_bits(picture: Image.Image) -> Image.Image:
    """A picture of grey numbers beyond eight bits scaled to 0–255, which Pillow would clip; others as they are.

    Whole numbers are read as 16 bits, 0–65535, floating-point ones as 0–1 or else as 0–255, where they lie within;
    others are stretched from their least to their greatest. Raises `ValueError` where one is NaN or infinite.
    """
    if not picture.mode.startswith(("I", "F")):
        return picture
    grey = np.asarray(picture).astype(np.float64)
    if not np.isfinite(grey).all():
        raise ValueError("NaN or infinity among its numbers")
    least, most = grey.min(), grey.max()
    whites = (1, 255) if picture.mode == "F" else (65535,)
    if least >= 0:
        least, most = next(((0, white) for white in whites if most <= white), (least, most))
    return Image.fromarray(np.rint((grey - least) * (255 / ((most - least) or 1))).astype(np.uint8))
