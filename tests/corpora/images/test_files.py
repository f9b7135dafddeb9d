"""A picture file as a source, and looking at the pictures of one file within its limits."""

import io
from pathlib import Path

import pytest
from PIL import Image

from ragweave.corpora.images import reader as module
from ragweave.corpora.images.reader import PictureReader
from ragweave.corpora.ingest.stages import prepare
from ragweave.models.errors import SourceError
from ragweave.models.pictures import open_picture
from tests.corpora.images.conftest import GREEN, RED, picture  # type: ignore[import-not-found]

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
