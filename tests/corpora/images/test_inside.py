"""Pictures inside documents with what is written about them, and links to them, never over a network."""

import base64
import io
from collections.abc import Sequence

import pptx
import pytest
from pptx.util import Inches as SlideInches

from ragweave.corpora.images.links import linked
from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.parts import part
from ragweave.corpora.types import Item
from ragweave.models.errors import SourceError
from tests.corpora.images.conftest import GREEN, RED, picture  # type: ignore[import-not-found]

S = "a" * 24


def images(path, media=None, roots: Sequence[str] = ()) -> tuple[list[Item], tuple[str, ...]]:
    made = prepare(path, S, 300, media, roots or [str(path.parent)])
    return [i for i in made.items if i.corpus == "image"], made.warnings


MARKDOWN = """# Brest

## The port

Ships come in from the roads.

![A red mole](img/mole.png)
*The mole at low water.*

They leave with the tide.

## The town

![The town hall](img/hall.png "Built in 1961")

![gone](img/none.png) ![a view of the far bank](https://example.org/bank.png)
"""


def test_markdown_pictures_come_with_everything_that_is_written_about_them(painted, put, media):
    put("img/mole.png", picture(RED))
    put("img/hall.png", picture(GREEN))
    found, warnings = images(put("brest.md", MARKDOWN), media)
    mole, hall, bank = found
    assert part(mole, "caption") == "The mole at low water." and part(mole, "alt") == "A red mole"
    assert part(mole, "words") == "Red harbour\nopen all night"
    assert part(mole, "around") == "Ships come in from the roads.\n\nThey leave with the tide."
    assert mole.heading == ("Brest", "The port") and mole.locator["line"] == 7 and mole.title == "Brest"
    assert part(hall, "caption") == "Built in 1961" and hall.heading == ("Brest", "The town")
    assert bank.text.startswith("a view of the far bank") and "image" not in bank.locator
    assert warnings == ("a linked picture does not exist", "a picture on the web was not fetched")
    assert len(list(media.iterdir())) == 2
    put("img/hall.png", picture(RED, format="BMP"))
    [twice, _], _ = images(put("brest.md", MARKDOWN), media)
    assert twice.heading == ("Brest", "The port") and [p["heading"] for p in twice.meta["also"]] == [
        ["Brest", "The town"]
    ]


def test_a_text_outside_the_roots_opens_nothing(painted, put, media, tmp_path):
    put("img/mole.png", picture(RED))
    found, warnings = images(put("brest.md", MARKDOWN), media, [str(tmp_path / "elsewhere")])
    assert all("image" not in i.locator for i in found)
    assert "a linked picture lies outside the indexed folders (3 pictures)" in warnings


def test_every_slide_is_an_item_and_a_picture_that_fills_it_stands_for_it(painted, put, media):
    deck = pptx.Presentation()
    for title, colour, size in (("One", RED, 9), ("Two", GREEN, 2), ("Three", None, 0)):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = title
        if colour:
            slide.shapes.add_picture(
                io.BytesIO(picture(colour)), 0, 0, SlideInches(size), SlideInches(size * 0.7)
            )
    out = io.BytesIO()
    deck.save(out)
    found, _ = images(put("deck.pptx", out.getvalue()), media)
    slides = [(i.locator["page"], i.text.split("\n")[0], "image" in i.locator) for i in found]
    assert slides == [(1, "One", True), (2, "Two", False), (2, "Green valley", True), (3, "Three", False)]
    assert part(found[0], "words") == "One\nRed harbour\nopen all night"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "docs" / "img").mkdir(parents=True)
    (tmp_path / "docs" / "img" / "a b.png").write_bytes(picture())
    (tmp_path / "outside.png").write_bytes(picture())
    (tmp_path / "docs" / "note.md").write_text("x")
    return tmp_path / "docs"


@pytest.mark.parametrize(
    "ref", ["img/a b.png", "img/a%20b.png", "./img/../img/a b.png", "img\\a b.png", "img/a b.png#x"]
)
def test_local_links_are_opened(folder, ref):
    assert linked(folder / "note.md", ref, [str(folder)], {}) == (picture(), "a b.png")
    assert (
        linked(folder / "note.md", "../outside.png", [str(folder), str(folder.parent)], {})[1]
        == "outside.png"
    )
    written = "data:image/png;base64," + base64.b64encode(picture()).decode()
    assert linked(None, written, [], {}) == (picture(), "")


@pytest.mark.parametrize(
    ("ref", "why"),
    [
        ("http://example.org/a.png", "not fetched"),
        ("HTTPS://example.org/a.png", "not fetched"),
        ("//example.org/a.png", "not fetched"),
        ("ftp://example.org/a.png", "not fetched"),
        ("file:///etc/passwd", "not fetched"),
        ("javascript:alert(1)", "not fetched"),
        ("C:/Windows/a.png", "not fetched"),
        ("../outside.png", "outside the indexed folders"),
        ("/etc/passwd", "outside the indexed folders"),
        ("..%2foutside.png", "outside the indexed folders"),
        ("img/none.png", "does not exist"),
        ("img", "does not exist"),
        ("#only", "is empty"),
        ("img/\0.png", "is empty"),
        ("data:image/png;base64,A", "damaged"),
        ("a" * 300 + ".png", "does not exist"),
        ("a/" * 1_000 + "b.png", "too long"),
        ("\udc80\ud800.png", "not valid Unicode"),
    ],
)
def test_every_other_link_gets_its_reason(folder, ref, why):
    with pytest.raises(SourceError, match=why):
        linked(folder / "note.md", ref, [str(folder)], {})


def test_a_link_that_leads_outside_is_not_followed(folder, tmp_path):
    (folder / "img" / "sly.png").symlink_to(tmp_path / "outside.png")
    with pytest.raises(SourceError, match="outside"):
        linked(folder / "note.md", "img/sly.png", [str(folder)], {})
