import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from small_files import jpeg, picture

from cooperation.data.pictures import decode
from cooperation.io.files import InputError

PHOTOS = Path("../shared/data/photos")


def pixels(image):
    return np.asarray(image).astype(int)


def test_colours_stay():
    raw = jpeg(picture(), quality=95, subsampling=0)
    assert np.abs(pixels(decode(raw, "p")) - pixels(picture())).mean() < 3


@pytest.mark.parametrize("mode", ["L", "CMYK", "1"])
def test_other_jpegs_get_three_channels(mode):
    image = picture().convert(mode)
    found = decode(jpeg(image, quality=95), "p")
    assert found.mode == "RGB"
    assert found.size == image.size
    assert np.abs(pixels(found) - pixels(image.convert("RGB"))).mean() < (20 if mode == "1" else 3)


@pytest.mark.parametrize("mode", ["P", "LA", "RGBA", "L", "I;16"])
def test_other_pictures_under_a_jpeg_name(mode):
    image = picture().convert("L").convert("I;16") if mode == "I;16" else picture().convert(mode)
    assert decode(jpeg(image, format="PNG"), "p").mode == "RGB"


def test_a_palette_keeps_its_colours():
    image = picture().convert("P", palette=Image.Palette.ADAPTIVE)
    assert (pixels(decode(jpeg(image, format="GIF"), "p")) == pixels(image.convert("RGB"))).all()


def test_the_exif_orientation_is_not_applied():
    exif = Image.Exif()
    exif[0x0112] = 6
    plain, turned = jpeg(picture()), jpeg(picture(), exif=exif)
    assert turned != plain
    assert (pixels(decode(turned, "p")) == pixels(decode(plain, "p"))).all()


def deep(values, kind):
    buffer = io.BytesIO()
    Image.fromarray(np.array(values, kind)).save(buffer, "TIFF")
    return pixels(decode(buffer.getvalue(), "p"))[..., 0].tolist()


@pytest.mark.parametrize(
    ("values", "kind", "expected"),
    [
        # Whole numbers of 16 bits: 255 · 32768 / 65535 = 127.5.
        ([[0, 257, 32896, 65535]], "u2", [[0, 1, 128, 255]]),
        ([[0, 65535]], "i4", [[0, 255]]),
        ([[0, 0.2, 1]], "f4", [[0, 51, 255]]),
        ([[0, 51, 255]], "f4", [[0, 51, 255]]),
        ([[-100, 0, 400]], "f4", [[0, 51, 255]]),
        ([[-5, -5]], "i4", [[0, 0]]),
    ],
)
def test_grey_of_more_than_eight_bits_is_scaled(values, kind, expected):
    assert deep(values, kind) == expected


def test_sixteen_bits_of_a_png():
    values = np.arange(0, 65536, 257, dtype="u2").reshape(16, 16)
    buffer = io.BytesIO()
    Image.fromarray(values).save(buffer, "PNG")
    assert (pixels(decode(buffer.getvalue(), "p"))[..., 0] == values // 257).all()


def test_numbers_that_are_none_are_refused():
    with pytest.raises(InputError, match="NaN or infinity"):
        deep([[0, np.nan]], "f4")


@pytest.mark.parametrize(
    ("begins", "name"),
    [
        (b"\0\0\0\x20ftypavif", "AVIF"), (b"\0\0\0\x18ftypheic", "HEIC"), (b"\xff\x0a", "JPEG XL"),
        (b"\0\0\0\x0cjP  \r\n\x87\n", "JPEG 2000"),
    ],
)  # fmt: skip
def test_codecs_that_are_missing_are_named(begins, name):
    with pytest.raises(InputError, match=f"p: is {name}, which is not decoded here; convert it to JPEG or PNG"):
        decode(begins + bytes(99), "p")


@pytest.mark.parametrize("size", [(40, 1), (1, 40), (1, 1)])
def test_one_pixel_high_or_wide(size):
    assert decode(jpeg(picture().resize(size)), "p").size == size


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_cut_short(share):
    raw = jpeg(picture(width=200, height=200), quality=95)
    with pytest.raises(InputError, match=r"^train\.zip, x\.jpg: cannot be decoded .*; replace the picture$"):
        decode(raw[: int(len(raw) * share)], "train.zip, x.jpg")


@pytest.mark.parametrize("raw", [b"", b"<html>404</html>", b"\xff\xd8\xff", b"\0" * 999])
def test_no_picture(raw):
    with pytest.raises(InputError, match=r"^here: cannot be decoded \(not a picture\)"):
        decode(raw, "here")


def test_a_picture_of_180_million_pixels_is_refused():
    buffer = io.BytesIO()
    Image.new("1", (20_000, 9_000)).save(buffer, "PNG")
    with pytest.raises(InputError, match="cannot be decoded"):
        decode(buffer.getvalue(), "here")


@pytest.mark.skipif(not PHOTOS.exists(), reason="the COCO photographs are not in ../shared/data")
def test_genuine_photographs():
    sources = [Image.open(path).mode for path in PHOTOS.glob("*.jpg")]
    assert sorted(set(sources)) == ["L", "RGB"]
    assert {decode(path.read_bytes(), "p").mode for path in PHOTOS.glob("*.jpg")} == {"RGB"}
