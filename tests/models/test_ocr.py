"""Reading words in pictures."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw, ImageFont

from ragweave.models import ocr as read
from ragweave.models.ocr import reading_order

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
