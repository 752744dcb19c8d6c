"""JPEG bytes → pictures of three channels."""

import struct
import warnings
import zlib
from io import BytesIO

from PIL import Image, UnidentifiedImageError

from cooperation.files import DAMAGE, Errors, InputError

# Others, such as PostScript, would run programs.
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
    """Decode a picture of any kind (grey, CMYK, palette) to red-green-blue.

    Pixels stay as they are stored: EXIF orientation is not applied, as torchvision's and Caffe's loaders don't.
    Bytes that are cut short or no picture are an `InputError` that names `place`.
    """
    try:
        with warnings.catch_warnings(action="error", category=Image.DecompressionBombWarning):
            return Image.open(BytesIO(raw), formats=FORMATS).convert("RGB")
    except DECODING as error:
        reason = "not a picture" if isinstance(error, UnidentifiedImageError) else " ".join(f"{error}".split())
        raise InputError(f"{place}: cannot be decoded ({reason}); replace the picture") from error
