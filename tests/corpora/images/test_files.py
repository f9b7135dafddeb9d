"""A picture file as a source."""

import io
from pathlib import Path

import pytest
from PIL import Image

from ragweave.corpora.ingest.stages import prepare
from ragweave.models.errors import SourceError
from tests.corpora.images.conftest import BLUE, GREEN, RED, picture  # type: ignore[import-not-found]

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
    assert item.locator == {"kind": "image", "file": item.locator["file"], "image": f"{S}/{next(media.iterdir()).name}"}
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
    painted.texts = {RED: ["The first page is red and tells of " + "wind " * 40], GREEN: ["The second " + "wave " * 40]}
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


def test_of_an_animation_the_first_frame_counts_and_it_is_said(painted, put):
    frames = [Image.open(io.BytesIO(picture(c))) for c in (RED, GREEN, BLUE)]
    out = io.BytesIO()
    frames[0].save(out, "WEBP", save_all=True, append_images=frames[1:], lossless=True)
    made = read(put("a.webp", out.getvalue()))
    assert made.warnings == ("only the first of 3 frames of the animation was looked at",)
