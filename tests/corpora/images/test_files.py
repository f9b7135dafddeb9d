"""A picture file as a source, and looking at the pictures of one file within its limits."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from ragweave.corpora.images import reader as module
from ragweave.corpora.images.reader import PictureReader
from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.parts import part
from ragweave.models.errors import SourceError
from ragweave.models.pictures import open_picture
from ragweave.tests.support.pdfs import pdf_bytes
from tests.corpora.images.conftest import (  # type: ignore[import-not-found]
    BLUE,  # type: ignore[import-not-found]
    GREEN,
    RED,
    picture,
)

S = "a" * 24


def read(path: Path, media: Path | None = None):
    return prepare(path, S, 300, media)


def test_a_picture_becomes_one_item_with_its_words_and_their_boxes(painted, put, media):
    made = read(put("Red_quay.png", picture(RED)), media)
    [item] = made.items
    assert (made.kind, item.corpus, item.title, item.text) == (
        "image",
        "image",
        "Red_quay",
        "Red harbour\nopen all night",
    )
    assert item.locator == {
        "kind": "image",
        "file": item.locator["file"],
        "image": f"{S}/{next(media.iterdir()).name}",
    }
    assert item.meta["name"] == "Red quay" and item.meta["confidence"] == 0.9
    assert item.locate(12, 20)["bbox"] == [10.0, 40.0, 190.0, 60.0]
    assert made.terms[0][1].split()  # found by its name as well


@pytest.mark.parametrize(
    ("body", "why"),
    [(picture(RED, (2, 2)), "shows nothing"), (picture(RED, (200, 200))[:120], "damaged, truncated")],
)
def test_a_picture_that_cannot_be_shown_gets_a_sentence(painted, put, body, why):
    with pytest.raises(SourceError, match=why):
        read(put("dot.png", body))


def test_a_page_of_text_becomes_paragraphs_with_boxes_as_well(painted, put, media):
    painted.texts = {RED: [f"Line {n} of the logbook tells of wind and weather at sea." for n in range(12)]}
    made = read(put("logbook.png", picture(RED, (900, 600))), media)
    assert [i.corpus for i in made.items] == ["paragraph", "document", "image"]
    paragraph = made.items[0]
    assert paragraph.locator["kind"] == "image" and paragraph.locator["image"].startswith(S)
    at = paragraph.text.index("Line 3")
    assert paragraph.locate(at, at + 6)["bbox"] == [10.0, 100.0, 890.0, 120.0]


def test_the_pages_of_a_tiff_are_pages(painted, put, media):
    painted.texts = {
        RED: ["The first page is red and tells of " + "wind " * 40],
        GREEN: ["The second " + "wave " * 40],
    }
    frames = [Image.open(io.BytesIO(picture(c, (400, 300)))) for c in (RED, GREEN)]
    out = io.BytesIO()
    frames[0].save(out, "TIFF", save_all=True, append_images=frames[1:])
    made = read(put("scan.tif", out.getvalue()), media)
    images = [i for i in made.items if i.corpus == "image"]
    assert [i.locator["page"] for i in images] == [1, 2]
    [document] = [i for i in made.items if i.corpus == "document"]
    at = document.text.index("The second")
    found = document.locate(at, at + 10)
    assert found["page"] == 2 and found["image"] == images[1].locator["image"]


def test_a_copy_is_kept_and_the_words_are_placed_in_it(painted, media):
    told = []
    reader = PictureReader(media, 60, lambda: told.append(True))
    shot = reader.look(picture(RED, (1_600, 800)))
    assert told == [True, True]  # before the first one, and behind each that was read
    assert shot.size == (1_600, 800) and shot.stored == (1_024, 512)
    assert [line.text for line in shot.lines] == ["Red harbour", "open all night"]
    assert shot.lines[0].box == (6.4, 6.4, 1_017.6, 19.2)
    assert (media / shot.name).stat().st_size > 0
    assert reader.warnings() == []


def test_icons_are_left_out_and_damaged_pictures_are_named(painted, media):
    reader = PictureReader(media, 60)
    assert reader.look(picture(RED, (30, 200))) is None
    assert reader.shoot(open_picture(picture(RED, (30, 200))), small=True) is not None
    for data in (b"no picture", picture(GREEN)[:60]):
        assert reader.look(data) is None
    [warning] = reader.warnings()
    assert warning.startswith("a picture was left out: the picture is damaged") and warning.endswith(
        "(2 pictures)"
    )


def test_when_time_is_up_pictures_are_still_kept_but_not_read(painted, media, monkeypatch):
    reader = PictureReader(media, 10)
    now = 100.0
    monkeypatch.setattr(module.time, "process_time", lambda: now)
    assert reader.look(picture(RED)).lines
    now = 111.0
    assert reader.look(picture(GREEN)).lines == ()
    assert reader.warnings() == [
        "the words in one picture were not read: reading them takes longer than 10 seconds of the processor "
        "(RAGWEAVE_PARSE_SECONDS)"
    ]


def test_an_engine_that_fails_costs_one_picture(painted, media, monkeypatch):
    def broken(image):
        raise RuntimeError("bad allocation")

    monkeypatch.setattr(painted, "lines", broken)
    reader = PictureReader(media, 60)
    assert reader.look(picture(RED)).lines == ()
    assert reader.warnings() == ["the words of a picture could not be read"]


def test_no_more_pictures_are_looked_at_than_the_limit(painted, media, monkeypatch):
    monkeypatch.setattr(module, "MOST", 2)
    reader = PictureReader(media, 60)
    found = [reader.look(picture((n * 40, 90, 90))) for n in range(4)]
    assert [f is not None for f in found] == [True, True, False, False]
    assert reader.warnings() == ["only the first 2 pictures were looked at (2 pictures)"]


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
