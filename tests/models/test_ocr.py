"""Reading words in pictures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from ragweave.models import ocr as read
from ragweave.models.ocr import ocr, reading_order
from ragweave.models.settings import model_settings

W, H = 100, 10


def row(x: float, y: float, width: float = 40) -> tuple[float, float, float, float]:
    return (x, y, x + width, y + H)


def test_rows_are_read_from_the_top_and_a_row_from_the_left():
    assert reading_order([row(60, 21), row(0, 0), row(0, 20)]) == [1, 2, 0]


def test_two_columns_are_read_one_after_the_other():
    left, right = [row(0, y) for y in (0, 12, 24, 36)], [row(60, y) for y in (1, 13, 25, 37)]
    mixed = [b for pair in zip(left, right, strict=True) for b in pair]
    assert reading_order(mixed) == [0, 2, 4, 6, 1, 3, 5, 7]


def test_a_title_over_two_columns_and_a_line_below_them_keep_their_places():
    boxes = [row(0, 0, W), *(row(x, y) for y in (14, 26, 38) for x in (0, 60)), row(0, 52, W)]
    assert reading_order(boxes) == [0, 1, 3, 5, 2, 4, 6, 7]


def test_two_short_cells_beside_each_other_are_a_row_and_no_columns():
    assert reading_order([row(0, 0), row(60, 0), row(0, 12), row(60, 12)]) == [0, 1, 2, 3]


@given(st.lists(st.tuples(*[st.floats(0, 1000)] * 2, *[st.floats(0.1, 300)] * 2), max_size=40))
def test_every_line_is_read_exactly_once(rows):
    boxes = [(x, y, x + w, y + h) for x, y, w, h in rows]
    assert sorted(reading_order(boxes)) == list(range(len(boxes)))


def test_it_is_off_where_the_setting_says_so_or_a_package_is_missing(monkeypatch):
    monkeypatch.setattr(read, "find_spec", lambda name: None if name == "rapidocr" else object())
    assert ocr() is None
    monkeypatch.undo()
    monkeypatch.setenv("RAGWEAVE_OCR", "off")
    model_settings.cache_clear()
    assert ocr() is None


@pytest.fixture(scope="module")
def engine():
    return read.Ocr()


def drawn(text: str) -> np.ndarray:
    image = Image.new("RGB", (640, 120), "white")
    ImageDraw.Draw(image).text((40, 30), text, "black", font=ImageFont.load_default(size=40))
    return np.asarray(image)


def test_printed_words_come_back_with_their_box(engine):
    lines = engine.lines(drawn("Harbour master 1987"))
    assert " ".join(line.text for line in lines) == "Harbour master 1987"
    assert min(line.confidence for line in lines) > 0.9
    x0, y0, x1, y1 = zip(*(line.box for line in lines), strict=True)
    assert 20 < min(x0) < 60 and 20 < min(y0) < 50 and 350 < max(x1) < 560 and 60 < max(y1) < 110


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (7, 7), (50, 50), (400, 3)])
def test_a_picture_without_words_gives_none(engine, shape):
    assert engine.lines(np.zeros((*shape, 3), dtype=np.uint8)) == []
