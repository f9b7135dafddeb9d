"""Opening pictures: every form comes out upright RGB, and what is hostile gets a sentence."""

from __future__ import annotations

import base64
import io
import struct
import sys
import tracemalloc
import zlib
from datetime import datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from ragweave.components.indexing import LONGEST, captioner
from ragweave.models import image_text as see
from ragweave.models import ocr as read
from ragweave.models.chat import override
from ragweave.models.errors import InputError, MissingExtra, ModelError, SourceError
from ragweave.models.image_text import ImageEncoder, image_encoder
from ragweave.models.ocr import reading_order
from ragweave.models.pictures import jpeg, load, open_picture, pages
from ragweave.tests.support import ScriptedChat

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


W, H = 100, 10


def row(x: float, y: float, width: float = 40) -> tuple[float, float, float, float]:
    return (x, y, x + width, y + H)


BODY = [row(x, y) for y in (14, 26, 38) for x in (0, 60)]


@pytest.mark.parametrize(
    ("boxes", "order"),
    [
        ([row(60, 21), row(0, 0), row(0, 20)], [1, 2, 0]),
        (BODY, [0, 2, 4, 1, 3, 5]),
        ([row(0, 0, W), *BODY, row(0, 52, W)], [0, 1, 3, 5, 2, 4, 6, 7]),
        ([row(0, 0), row(60, 0), row(0, 12), row(60, 12)], [0, 1, 2, 3]),
    ],
    ids=["rows", "two columns", "columns between a title and a line", "short cells are a row"],
)
def test_lines_are_read_in_the_order_of_the_page(boxes, order):
    assert reading_order(boxes) == order


@given(st.lists(st.tuples(*[st.floats(0, 1000)] * 2, *[st.floats(0.1, 300)] * 2), max_size=40))
def test_every_line_is_read_exactly_once(rows):
    boxes = [(x, y, x + w, y + h) for x, y, w, h in rows]
    assert sorted(reading_order(boxes)) == list(range(len(boxes)))


@pytest.fixture(scope="module")
def reader():
    return read.Ocr()


def drawn(text: str) -> np.ndarray:
    image = Image.new("RGB", (640, 120), "white")
    ImageDraw.Draw(image).text((40, 30), text, "black", font=ImageFont.load_default(size=40))
    return np.asarray(image)


def test_printed_words_come_back_with_their_box(reader):
    lines = reader.lines(drawn("Harbour master 1987"))
    assert " ".join(line.text for line in lines) == "Harbour master 1987"
    assert min(line.confidence for line in lines) > 0.9
    x0, y0, x1, y1 = zip(*(line.box for line in lines), strict=True)
    assert 20 < min(x0) < 60 and 20 < min(y0) < 50 and 350 < max(x1) < 560 and 60 < max(y1) < 110


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (7, 7), (50, 50), (400, 3)])
def test_a_picture_without_words_gives_none(reader, shape):
    assert reader.lines(np.zeros((*shape, 3), dtype=np.uint8)) == []


PICTURE = [b"\xff\xd8one"]


@pytest.fixture
def named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAGWEAVE_VISION", "eye-1")


async def said(model: ScriptedChat, language: str = "French") -> str | None:
    with override(vision=model):
        made = captioner()
        assert made is not None
        return await made.ask(PICTURE, "page 3 <<<x>>>", language)


@pytest.mark.usefixtures("named")
async def test_the_vision_model_gets_the_picture_the_context_as_data_and_the_language():
    model = ScriptedChat(replies=["Un  phare\nau bord de la mer.", " ", "word " * 2000, ModelError("down")])
    assert await said(model) == "Un phare au bord de la mer."
    system, user = model.calls[0].messages
    assert "Write in French." in str(system.content)
    assert "‹‹‹x›››" in user.content[0]["text"]
    assert user.content[1]["image_url"]["url"].startswith("data:image/jpeg;base64,")
    assert await said(model) is None
    assert len(await said(model) or "") <= LONGEST
    with pytest.raises(ModelError, match="down"):
        await said(model)


PICTURES = [np.full((4, 6, 3), n, dtype=np.uint8) for n in (10, 200)]


@pytest.fixture
def chosen(put: Any) -> Any:
    see._load.cache_clear()
    yield lambda name, **more: put(image_text=name, **more)
    see._load.cache_clear()


@pytest.mark.parametrize("name", ["clip", "openai:clip", "hf:", ":x", "fastembed:"])
def test_a_name_of_no_known_form_is_refused(chosen: Any, name: str) -> None:
    chosen(name)
    with pytest.raises(InputError, match="RAGWEAVE_IMAGE_TEXT"):
        image_encoder()


@pytest.mark.parametrize(
    ("name", "extra"), [("fastembed:x/clip-vision", "fastembed"), ("hf:owner/model", "hf")]
)
def test_a_missing_package_names_its_extra(
    chosen: Any, monkeypatch: pytest.MonkeyPatch, name: str, extra: str
) -> None:
    for module in ("fastembed", "torch"):
        monkeypatch.setitem(sys.modules, module, None)
    chosen(name)
    with pytest.raises(MissingExtra, match=rf"ragweave\[{extra}\]"):
        image_encoder()


def test_fastembed_pairs_the_two_towers_of_a_space(chosen: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[str, str, bool]] = []

    class Tower:
        def __init__(self, model_name: str, cache_dir: str, local_files_only: bool) -> None:
            made.append((model_name, Path(cache_dir).name, local_files_only))

        def embed(self, batch: list[Any], batch_size: int) -> Any:
            return iter([np.array([3.0, 4.0]) for _ in batch])

    monkeypatch.setitem(sys.modules, "fastembed", SimpleNamespace(ImageEmbedding=Tower, TextEmbedding=Tower))
    chosen("fastembed:Qdrant/clip-ViT-B-32-vision", offline="true")
    found = image_encoder()
    assert found is not None and found is image_encoder()
    assert made == [
        ("Qdrant/clip-ViT-B-32-vision", "fastembed", True),
        ("Qdrant/clip-ViT-B-32-text", "fastembed", True),
    ]
    assert found.name == "fastembed:Qdrant/clip-ViT-B-32-vision" and found.dim == 2
    assert np.allclose(found.images(PICTURES), [[0.6, 0.8]] * 2) and np.allclose(
        found.texts(["a"]), [[0.6, 0.8]]
    )


@pytest.mark.parametrize(
    "wrong", [lambda b: np.ones(3), lambda b: np.ones((1, 3)), lambda b: 1 / 0, lambda b: ["x"] * len(b)]
)
def test_an_encoder_that_fails_or_returns_nonsense_is_a_sentence(wrong: Any) -> None:
    with pytest.raises(ModelError, match="image encoder t"):
        ImageEncoder("t", wrong, wrong).images(PICTURES)
