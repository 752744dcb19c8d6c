"""Bytes of picture files → RGB pictures."""

import struct
import warnings
import zlib
from io import BytesIO

from PIL import Image, UnidentifiedImageError

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


def decode(raw: bytes, place: str) -> Image.Image:
    """Decode a picture of any mode (grey, CMYK, palette) to RGB.

    EXIF orientation is not applied, as in torchvision's and Caffe's loaders. place: names the picture in messages.
    Raises `InputError` where the bytes are cut short, no picture, or too many pixels.
    """
    try:
        with warnings.catch_warnings(action="error", category=Image.DecompressionBombWarning):
            return Image.open(BytesIO(raw), formats=FORMATS).convert("RGB")
    except DECODING as error:
        reason = "not a picture" if isinstance(error, UnidentifiedImageError) else " ".join(f"{error}".split())
        raise InputError(f"{place}: cannot be decoded ({reason}); replace the picture") from error
