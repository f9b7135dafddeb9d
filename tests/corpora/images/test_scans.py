"""PDF pages: scans are read and join the text, pictures on pages are kept with their captions."""

import io

import numpy as np
from PIL import Image

from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.parts import part
from ragweave.tests.support.pdfs import pdf_bytes
from tests.corpora.images.conftest import BLUE, GREEN, RED, picture  # type: ignore[import-not-found]

S = "a" * 24


def pdf(*pages):
    """Write pages of texts and of pictures, each a colour and its box [left, bottom, right, top]."""
    shown = [
        [(np.asarray(Image.open(io.BytesIO(picture(c, (80, 60))))), box) for c, box in held]
        for _, held in pages
    ]
    return pdf_bytes([text for text, _ in pages], pictures=shown, size=(600, 800))


def lines(*rows):
    return [(x, y, 12, "F1", text) for x, y, text in rows]


WHOLE = (0.0, 0.0, 600.0, 800.0)
PROSE = "The tide comes in twice a day and leaves the boats on the mud of the basin."


def test_a_scanned_page_becomes_text_with_boxes_on_the_page(painted, put, media):
    made = prepare(put("scan.pdf", pdf(([], [(RED, WHOLE)]), ([], [(GREEN, WHOLE)]))), S, 300, media)
    document = next(i for i in made.items if i.corpus == "document")
    assert "Red harbour open all night" in document.text and "Green valley" in document.text
    assert made.items[0].corpus == "paragraph"
    at = document.text.index("Green")
    found = document.locate(at, at + 5)
    assert found["kind"] == "page" and found["page"] == 2
    left, bottom, right, top = found["bbox"]
    assert 0 < left < right < 600 and 700 < bottom < top < 800  # the line stands at the top of the page
    images = [i for i in made.items if i.corpus == "image"]
    assert [(i.locator["page"], i.text) for i in images] == [
        (1, "Red harbour\nopen all night"),
        (2, "Green valley"),
    ]
    assert made.warnings == ()


def test_places_on_a_scan_that_is_turned_are_those_of_the_file(painted, put, media):
    data = pdf(([], [(RED, WHOLE)])).replace(
        b"/MediaBox [0 0 600 800]", b"/MediaBox [0 0 600 800] /Rotate 90"
    )
    made = prepare(put("scan.pdf", data), S, 300, media)
    document = next(i for i in made.items if i.corpus == "document")
    at = document.text.index("Red")
    left, bottom, right, top = document.locate(at, at + 3)["bbox"]
    assert (
        0 < left < right < 100 and 0 < bottom < top < 800
    )  # the top of the page, as it is shown, is its left side


def test_a_picture_on_a_page_is_kept_with_its_caption_and_not_the_page(painted, put, media):
    text = lines((50, 700, PROSE), (50, 380, "Figure 1: The green basin"), (50, 300, PROSE))
    made = prepare(put("a.pdf", pdf((text, [(GREEN, (50, 400, 350, 600))]))), S, 300, media)
    [item] = [i for i in made.items if i.corpus == "image"]
    assert part(item, "caption") == "Figure 1: The green basin" and part(item, "words") == "Green valley"
    assert item.locator["page"] == 1
    kept = Image.open(next(media.iterdir()))
    assert abs(kept.width / kept.height - 1.5) < 0.02


def test_a_page_that_is_mostly_picture_and_has_text_is_not_read_again(painted, put, media):
    text = lines(*((50, 760 - 14 * n, PROSE) for n in range(3)))
    made = prepare(put("a.pdf", pdf((text, [(BLUE, (0, 0, 600, 600))]))), S, 300, media)
    [item] = [i for i in made.items if i.corpus == "image"]
    assert painted.calls == 0 and PROSE in item.text
    at = item.text.index("tide")
    _, y0, _, y1 = item.locate(at, at + 4)["bbox"]
    assert 0 < y0 < y1 < 100  # pixels of the copy, from the top


def test_ornaments_are_left_out_and_a_logo_on_every_page_is_one_item(painted, put, media):
    page = (lines((50, 700, PROSE)), [(RED, (10, 10, 30, 30)), (GREEN, (400, 100, 560, 220))])
    made = prepare(put("a.pdf", pdf(page, page, page)), S, 300, media)
    [item] = [i for i in made.items if i.corpus == "image"]
    assert item.locator["page"] == 1 and [p["page"] for p in item.meta["also"]] == [2, 3]
