"""HTML and EPUB: prose is content whatever its part is called, and what elements say is read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ragweave.corpora.blocks import Parsed
from ragweave.corpora.formats.epub import parse as parse_book
from ragweave.corpora.formats.html import page
from ragweave.tests.support.zips import zip_bytes

LONG = (
    f"<p>{'The harbour of Skerry Holm lies on the north side of the island and is open all year. ' * 5}</p>"
)
FOUND = "The crack in the pier was found on 3 May"
LINKS = (
    "<ul><li><a href='a'>The tides of the north</a></li><li><a href='b'>The lamps of the mole</a></li></ul>"
)


def read(body: str) -> Parsed:
    return page(f"<html><body>{body}</body></html>".encode(), Path("a.html"))


def text(parsed: Parsed) -> str:
    return "\n".join(b.text for b in parsed.blocks)


@pytest.mark.parametrize(
    "part",
    [
        '<div role="alert">{}</div>',
        '<div class="sidebar"><h2>Box</h2><p>{}</p></div>',
        '<div class="menu">{}</div>',
        "<header><h2>Report</h2><p>{}</p></header>",
        '<aside role="complementary">{}</aside>',
        "<nav>{}</nav>",
        "<footer>{}</footer>",
        '<section role="banner"><p>{}</p></section>',
    ],
)
@pytest.mark.parametrize("around", ["{}", "<article>{}</article>", "<main><h1>Pump</h1>{}</main>"])
def test_prose_without_links_is_read_whatever_its_part_is_called(part: str, around: str) -> None:
    assert FOUND in text(read(around.format(LONG + part.format(FOUND))))


@pytest.mark.parametrize(
    "part",
    [
        f'<div class="sidebar">{LINKS}</div>',
        f"<header>{LINKS}</header>",
        f"<nav>{LINKS}</nav>",
        f"<footer>{LINKS}</footer>",
        f'<div role="navigation">{LINKS}</div>',
    ],
)
def test_parts_that_lead_elsewhere_are_left_out(part: str) -> None:
    assert "tides" not in text(read(LONG + part))


def test_headers_of_articles_and_sections_are_read() -> None:
    articles = "".join(f"<article><header><h2>Part {n}</h2></header>{LONG}</article>" for n in range(3))
    assert [b.text for b in read(articles).blocks if b.kind == "heading"] == ["Part 0", "Part 1", "Part 2"]


def test_prose_outside_the_main_part_is_read() -> None:
    found = read(f"<main><h1>Pump</h1>{LONG}</main><section><p>{FOUND} by Ada Tamm.</p></section>")
    assert FOUND in text(found)


def test_what_is_left_out_is_counted_by_kind() -> None:
    banner = f'<div class="cookie-banner">{FOUND} by Ada Tamm.</div>'
    found = read(f"{LONG}{banner}<iframe src='a'></iframe><iframe src='b'></iframe><video src='c'></video>")
    assert found.warnings == ("left out of the page: 2 frames, 1 part beside the text, 1 video",)


def test_boxes_lists_and_fields_say_what_they_hold() -> None:
    form = (
        "<label><input type=checkbox checked>Insured</label> <label><input type=checkbox>Retired</label>"
        "<select><option>Oslo</option><option selected>Bergen</option></select>"
        "<input value='Ada Tamm'><textarea>The lamp is lit.</textarea>"
        "<input type=hidden value=secret1><input type=password value=secret2>"
    )
    assert text(read(form)) == "☒ Insured ☐ Retired Bergen Ada Tamm The lamp is lit."


def test_a_button_that_opens_a_part_is_its_heading() -> None:
    assert (
        read("<h2><button>Opening hours</button></h2><p>Nine to five.</p>").blocks[0].text == "Opening hours"
    )


def test_formulas_are_read_as_their_page_writes_them() -> None:
    found = read(
        '<p>So <math alttext="E=mc^2"><mi>E</mi></math>, <math><mi>a</mi><mo>≤</mo><mn>4</mn></math>.</p>'
    )
    assert text(found) == "So E=mc^2, a≤4."


def test_a_chapter_of_a_book_is_read_whatever_its_kind_is_declared_to_be(
    write: Callable[[str, str | bytes], Path],
) -> None:
    rootfile = '<rootfile full-path="c.opf"/>'
    parts = {
        "META-INF/container.xml": (
            f'<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">{rootfile}</container>'
        ),
        "c.opf": (
            '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xml"'
            ' media-type="application/xml"/><item id="b" href="b.bin"'
            ' media-type="x/y"/></manifest><spine><itemref idref="a"/><itemref idref="b"/></spine></package>'
        ),
        "a.xml": (
            "<html"
            f' xmlns="http://www.w3.org/1999/xhtml"><body><header><p>{FOUND}.</p></header>{LONG}</body></html>'
        ),
        "b.bin": "0101",
    }
    book = parse_book(write("a.epub", zip_bytes(parts)))
    assert FOUND in text(book)
    assert book.warnings == ("the part b.bin was not read: it is no page",)


@pytest.mark.parametrize(
    "font", ['<font face="Wingdings">{}</font>', "<span style='font-family:Wingdings'>{}</span>"]
)
def test_letters_of_a_font_of_pictures_are_read_as_what_they_show(font: str) -> None:
    assert (
        text(read(f"<p>{font.format('þ')} insured, {font.format('o')} retired, <b>þing</b></p>"))
        == "☑ insured, ☐ retired, þing"
    )
