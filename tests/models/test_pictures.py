"""Opening pictures: every form comes out upright RGB, and what is hostile gets a sentence."""

import base64
import io
import struct
import sys
import tracemalloc
import zlib
from datetime import datetime

import numpy as np
import pytest
from PIL import Image

from ragweave.models.errors import SourceError
from ragweave.models.pictures import jpeg, load, open_picture, pages

HEIC = base64.b64decode(
    "AAAAHGZ0eXBoZWljAAAAAG1pZjFoZWljbWlhZgAAAVZtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAAAAAAAAAA"
    "ACJpbG9jAAAAAERAAAEAAQAAAAABegABAAAAAAAAABgAAAAjaWluZgAAAAAAAQAAABVpbmZlAgAAAAABAABodmMxAAAAAA5waXRt"
    "AAAAAAABAAAA1mlwcnAAAAC3aXBjbwAAAHhodmNDAQNwAAAAkAAAAAAAHvAA/P34+AAADwNgAAEAGEABDAH//wNwAAADAJAAAAMA"
    "AAMAHroCQGEAAQArQgEBA3AAAAMAkAAAAwAAAwAeoCCBBZbqSSmubgIaDAgAAAMAyAAAAwAIQGIAAQAHRAHBcrAiQAAAABNjb2xy"
    "bmNseAABAA0ABoAAAAAUaXNwZQAAAAAAAABAAAAAQAAAABBwaXhpAAAAAAMICAgAAAAXaXBtYQAAAAAAAAABAAEEgQIDBAAAACBt"
    "ZGF0AAAAFCgBrwQY/Hk46//9m1n7JScbEdDg"
)
"""A blue square of 64 pixels, as a telephone writes its photographs."""


def saved(image: Image.Image, format: str, **options) -> bytes:
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def gradient(mode: str = "RGB", size: tuple[int, int] = (60, 40)) -> Image.Image:
    values = np.zeros((size[1], size[0], 3), dtype=np.uint8)
    values[:, :, 0] = np.linspace(0, 255, size[0], dtype=np.uint8)
    values[:, :, 1] = np.linspace(0, 255, size[1], dtype=np.uint8)[:, None]
    return Image.fromarray(values).convert(mode)


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP"])
@pytest.mark.parametrize("mode", ["RGB", "L", "1", "P", "RGBA", "LA", "CMYK"])
def test_every_form_becomes_rgb_of_its_size(format, mode):
    try:
        data = saved(gradient(mode), format)
    except (OSError, ValueError):
        pytest.skip("the format has no such mode")
    pixels = load(data)
    assert pixels.shape == (40, 60, 3) and pixels.dtype == np.uint8
    if mode in ("RGB", "CMYK", "RGBA"):
        assert pixels[20, 55, 0] > 150 > pixels[20, 5, 0]


def test_a_cmyk_jpeg_is_not_inverted_and_what_is_transparent_is_white():
    assert load(saved(Image.new("CMYK", (50, 50), (0, 0, 0, 0)), "JPEG")).mean() > 250
    assert load(saved(Image.new("RGBA", (20, 20), (0, 0, 0, 0)), "PNG")).min() == 255
    assert load(saved(Image.new("P", (20, 20), 0), "GIF", transparency=0)).min() == 255


@pytest.mark.parametrize("format", ["PNG", "TIFF"])
def test_sixteen_bits_are_scaled_to_eight(format):
    values = np.linspace(0, 65535, 64 * 64).reshape(64, 64).astype(np.uint16)
    pixels = load(saved(Image.fromarray(values), format))
    assert pixels[0, 0, 0] < 3 and pixels[-1, -1, 0] > 252 and 120 < pixels[32, 0, 0] < 135


@pytest.mark.parametrize("orientation", range(1, 9))
def test_every_exif_orientation_comes_out_upright_and_the_date_is_read(orientation):
    upright = gradient(size=(64, 32))
    undo = {2: 0, 3: 3, 4: 1, 5: 5, 6: 2, 7: 6, 8: 4}
    stored = upright.transpose(Image.Transpose(undo[orientation])) if orientation in undo else upright
    exif = Image.Exif()
    exif[0x0112] = orientation
    exif[0x0132] = "2019:07:04 10:20:30" if orientation % 2 else "2019:99:99 10:20:30"
    found = open_picture(saved(stored, "JPEG", exif=exif, quality=95))
    assert (found.width, found.height) == (64, 32)
    assert found.date == (datetime(2019, 7, 4, 10, 20, 30) if orientation % 2 else None)
    assert np.abs(found.pixels.astype(int) - np.asarray(upright).astype(int)).mean() < 8


@pytest.mark.parametrize(
    "bytes_", [b"Exif\0\0garbage", b"Exif\0\0II*\0\xff\xff\xff\xff", b"Exif\0\0MM\0*" + b"\xff" * 60_000]
)
def test_exif_data_that_cannot_be_read_count_as_none(bytes_):
    plain = saved(gradient(), "JPEG")
    segment = b"\xff\xe1" + struct.pack(">H", len(bytes_) + 2) + bytes_
    found = open_picture(plain[:2] + segment + plain[2:])
    assert found.date is None and found.pixels.shape == (40, 60, 3)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def bomb(width: int, height: int) -> bytes:
    """A PNG of the size stated, one bit a pixel, all zeros."""
    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0))
    rows = zlib.compressobj(9)
    line = b"\0" * (width // 8 + 2)
    body = b"".join(rows.compress(line) for _ in range(min(height, 2_000))) + rows.flush()
    return b"\x89PNG\r\n\x1a\n" + head + chunk(b"IDAT", body) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("width", "height"), [(50_000, 50_000), (12_000, 12_000), (2**31 - 1, 1), (1, 2**31 - 1)]
)
def test_a_decompression_bomb_is_refused_before_it_is_decoded(width, height):
    data = bomb(width, height)
    tracemalloc.start()
    with pytest.raises(SourceError, match="pixels"):
        open_picture(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 50 * 2**20


def test_a_jpeg_of_too_many_pixels_is_opened_at_a_fraction_and_the_limit_of_pillow_stays():
    before = Image.MAX_IMAGE_PIXELS
    out = io.BytesIO()
    Image.new("L", (14_000, 14_000), 128).save(out, "JPEG", quality=10)
    found = open_picture(out.getvalue())
    assert (found.width, found.height, max(found.pixels.shape)) == (14_000, 14_000, 2_000)
    assert before == Image.MAX_IMAGE_PIXELS


def test_a_bomb_of_compressed_text_beside_the_picture_is_refused_or_left_out():
    data = saved(gradient(), "PNG")
    text = chunk(b"zTXt", b"Comment\0\0" + zlib.compress(b"a" * 80_000_000))
    try:
        assert open_picture(data[:33] + text + data[33:]).pixels.shape == (40, 60, 3)
    except SourceError as error:
        assert "damaged" in error.what


@pytest.mark.parametrize("format", ["PNG", "JPEG", "WEBP", "GIF", "TIFF", "BMP"])
@pytest.mark.parametrize("part", [0.1, 0.5, 0.9])
def test_a_truncated_file_gets_a_sentence(format, part):
    noise = Image.fromarray(np.random.default_rng(1).integers(0, 255, (80, 80, 3), dtype=np.uint8))
    data = saved(noise, format)
    with pytest.raises(SourceError, match="damaged, truncated or of another kind"):
        open_picture(data[: int(len(data) * part)])


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"%PDF-1.4", b"\x89PNG\r\n\x1a\n", b"%!PS-Adobe-3.0 EPSF-3.0\n"]
)
def test_what_is_no_picture_gets_a_sentence(data):
    with pytest.raises(SourceError):
        open_picture(data)


def test_an_animation_has_its_first_frame_and_a_tiff_all_its_pages():
    frames = [Image.new("RGB", (30, 30), (n * 80, 0, 0)) for n in range(3)]
    gif = list(pages(saved(frames[0], "GIF", save_all=True, append_images=frames[1:])))
    assert gif[0].frames == 3
    tiff = list(pages(saved(frames[0], "TIFF", save_all=True, append_images=frames[1:])))
    assert [int(p.pixels[0, 0, 0]) for p in tiff] == [0, 80, 160]


def test_the_copy_that_is_kept_is_small_and_holds_no_exif_data():
    data = jpeg(np.asarray(gradient(size=(3_000, 1_500))))
    image = Image.open(io.BytesIO(data))
    assert image.size == (1_024, 512) and not image.getexif() and len(data) < 100_000


def test_a_photograph_of_a_telephone_is_opened():
    (picture,) = pages(HEIC)
    assert (picture.width, picture.height, picture.format) == (64, 64, "HEIF")
    red, green, blue = picture.pixels[32, 32]
    assert blue > 100 > max(red, green)


def test_without_its_package_such_a_photograph_has_a_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "pi_heif", None)
    with pytest.raises(SourceError, match=r"HEIC.*Save it as JPEG.*ragweave\[images\]"):
        open_picture(HEIC)


def test_an_avif_needs_no_further_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "pi_heif", None)
    assert open_picture(saved(gradient(), "AVIF")).format == "AVIF"
