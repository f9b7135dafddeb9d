"""Pictures inside documents, each with its caption, its alternative text, its heading and the text around it."""

import io
import zipfile
from collections.abc import Sequence

import docx
import pptx
import pytest
from docx.shared import Inches
from pptx.util import Inches as SlideInches

from ragweave.corpora.ingest.stages import prepare
from ragweave.corpora.parts import part
from ragweave.corpora.types import Item
from tests.corpora.images.conftest import BLUE, GREEN, RED, picture  # type: ignore[import-not-found]

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


def test_a_text_outside_the_roots_opens_nothing(painted, put, media, tmp_path):
    put("img/mole.png", picture(RED))
    found, warnings = images(put("brest.md", MARKDOWN), media, [str(tmp_path / "elsewhere")])
    assert all("image" not in i.locator for i in found)
    assert "a linked picture lies outside the indexed folders (3 pictures)" in warnings


def test_html_figures_have_their_captions(painted, put, media):
    put("a.png", picture(RED))
    page = """<html><body><main><h1>Moles</h1><p>Some text before the figure stands here.</p>
    <figure><img src="a.png" alt="red"><figcaption>Fig. 1: The <b>mole</b></figcaption></figure>
    <p>Some text after the figure stands here.</p></main></body></html>"""
    [item], _ = images(put("a.html", page), media)
    assert part(item, "caption") == "Fig. 1: The mole" and item.heading == ("Moles",)
    assert "before the figure" in part(item, "around") and "after the figure" in part(item, "around")


def test_the_same_picture_twice_is_one_item_with_both_places(painted, put, media):
    put("a.png", picture(RED))
    put("b.bmp", picture(RED, format="BMP"))
    [item], _ = images(put("a.md", "# A\n\n![x](a.png)\n\n# B\n\n![y](b.bmp)\n"), media)
    assert item.heading == ("A",) and [p["heading"] for p in item.meta["also"]] == [["B"]]


def test_word_pictures_have_alt_text_caption_and_heading(painted, put, media):
    made = docx.Document()
    made.add_heading("Harbours", 1)
    made.add_paragraph("The mole was built long ago.")
    made.add_picture(io.BytesIO(picture(RED)), width=Inches(2))
    made.paragraphs[-1]._p.find(".//{*}docPr").set("descr", "a red wall")
    made.add_paragraph("Figure 3: The mole of Brest")
    made.add_paragraph("It is red.")
    table = made.add_table(rows=1, cols=1)
    table.cell(0, 0).paragraphs[0].add_run().add_picture(io.BytesIO(picture(GREEN)))
    out = io.BytesIO()
    made.save(out)
    found, _ = images(put("a.docx", out.getvalue()), media)
    mole = found[0]
    assert part(mole, "caption") == "Figure 3: The mole of Brest" and part(mole, "alt") == "a red wall"
    assert part(mole, "around") == "The mole was built long ago.\n\nIt is red." and mole.heading == ("Harbours",)
    assert part(found[1], "words") == "Green valley" and len(found) == 2


def test_every_slide_is_an_item_and_a_picture_that_fills_it_stands_for_it(painted, put, media):
    deck = pptx.Presentation()
    for title, colour, size in (("One", RED, 9), ("Two", GREEN, 2), ("Three", None, 0)):
        slide = deck.slides.add_slide(deck.slide_layouts[5])
        slide.shapes.title.text = title
        if colour:
            slide.shapes.add_picture(io.BytesIO(picture(colour)), 0, 0, SlideInches(size), SlideInches(size * 0.7))
    out = io.BytesIO()
    deck.save(out)
    found, _ = images(put("deck.pptx", out.getvalue()), media)
    slides = [(i.locator["page"], i.text.split("\n")[0], "image" in i.locator) for i in found]
    assert slides == [(1, "One", True), (2, "Two", False), (2, "Green valley", True), (3, "Three", False)]
    assert part(found[0], "words") == "One\nRed harbour\nopen all night"


def test_pictures_of_a_book_are_found_from_their_chapter(painted, put, media):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as z:
        z.writestr("mimetype", "application/epub+zip")
        z.writestr(
            "META-INF/container.xml",
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="OEBPS/a.opf"/></rootfiles></container>',
        )
        z.writestr(
            "OEBPS/a.opf",
            '<package xmlns="http://www.idpf.org/2007/opf"><manifest>'
            '<item id="c" href="text/c.xhtml" media-type="application/xhtml+xml"/></manifest>'
            '<spine><itemref idref="c"/></spine></package>',
        )
        z.writestr(
            "OEBPS/text/c.xhtml",
            "<html><body><h1>Chapter</h1><p>Words enough to be a text.</p>"
            '<img src="../images/a.png" alt="mole"/><img src="http://example.org/b.png" alt="x"/></body></html>',
        )
        z.writestr("OEBPS/images/a.png", picture(RED))
    [item], _ = images(put("a.epub", out.getvalue()), media)
    assert item.heading == ("Chapter",) and part(item, "alt") == "mole" and item.locator["image"].startswith(S)


@pytest.mark.parametrize("body", [b"no picture", b"", picture(BLUE)[:50]])
def test_a_damaged_picture_costs_itself_and_nothing_else(painted, put, media, body):
    put("bad.png", body)
    put("good.png", picture(RED))
    made = prepare(put("a.md", "# A\n\nText.\n\n![b](bad.png)\n\n![g](good.png)\n"), S, 300, media, [str(media.parent)])
    assert [i.corpus for i in made.items] == ["paragraph", "document", "image"]
    assert made.items[-1].locator["image"] and len(made.warnings) == 1


def test_without_the_packages_pictures_are_found_by_what_is_written_about_them(painted, put, media, monkeypatch):
    import sys

    put("img/mole.png", picture(RED))
    monkeypatch.setitem(sys.modules, "PIL", None)
    found, warnings = images(put("brest.md", MARKDOWN), media)
    assert part(found[0], "caption") == "The mole at low water." and "image" not in found[0].locator
    assert any("ragweave[images]" in w for w in warnings)


def test_what_is_written_for_another_picture_is_not_the_text_around_one(painted, put):
    text = "# Harbour\n\nThe quay is new.\n\n![The crane](a.png)\n\n![The lock gate](b.png)\n\nBoth work.\n"
    for name, colour in (("a.png", RED), ("b.png", BLUE)):
        put(name, picture(colour))
    crane, gate = images(put("harbour.md", text))[0]
    assert part(crane, "around") == part(gate, "around") == "The quay is new.\n\nBoth work."
