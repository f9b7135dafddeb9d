"""Word: structure, properties, and the parts that are easily lost."""

from __future__ import annotations

import time
from datetime import datetime
from pathlib import Path

import docx
import pytest
from docx.document import Document

from ragweave.corpora.formats.docx import parse
from ragweave.tests.support.frames import PIXEL


@pytest.fixture
def document() -> Document:
    made = docx.Document()
    made.core_properties.title = ""
    made.core_properties.author = ""
    return made


def read(document: Document, tmp_path: Path) -> list[tuple[str, int, str]]:
    path = tmp_path / "a.docx"
    document.save(str(path))
    return [(b.kind, b.level, b.text) for b in parse(path).blocks]


def test_headings_lists_tables_and_properties(document: Document, tmp_path: Path) -> None:
    document.core_properties.author = "R. Marsh"
    document.core_properties.created = datetime(2020, 3, 4)
    document.add_heading("Tides", 0)
    document.add_heading("Spring", 1)
    document.add_paragraph("They come at new moon.")
    document.add_paragraph("one", style="List Bullet")
    document.add_paragraph("two", style="List Number")
    table = document.add_table(rows=2, cols=2)
    for cell, text in zip(
        [c for r in table.rows for c in r.cells], ["Place", "Height", "Fundy", "16 m"], strict=True
    ):
        cell.text = text
    document.add_heading("Neap", 2)
    document.add_paragraph("They are low.")
    assert read(document, tmp_path) == [
        ("heading", 1, "Tides"),
        ("heading", 2, "Spring"),
        ("text", 0, "They come at new moon."),
        ("list", 0, "- one\n1. two"),
        ("table", 1, "Place | Height\nFundy | 16 m"),
        ("heading", 3, "Neap"),
        ("text", 0, "They are low."),
    ]
    parsed = parse(tmp_path / "a.docx")
    assert (parsed.title, parsed.author) == ("Tides", "R. Marsh")
    assert parsed.date is not None and parsed.date.date().isoformat() == "2020-03-04"


def test_headers_footers_and_comments_are_read(document: Document, tmp_path: Path) -> None:
    section = document.sections[0]
    section.header.paragraphs[0].text = "Rohde & Sons, Quay 4"
    section.header.add_paragraph("Tides")
    section.footer.paragraphs[0].text = "Page 3 of 12"
    section.footer.add_paragraph("Account 4711")
    document.add_heading("Tides", 1)
    told = document.add_paragraph("They come at new moon.")
    document.add_comment(told.runs, text="Ask the harbour master.", author="Ilse Kern")
    assert read(document, tmp_path) == [
        ("text", 0, "Rohde & Sons, Quay 4\nAccount 4711"),
        ("heading", 1, "Tides"),
        ("text", 0, "They come at new moon."),
        ("text", 0, "Comment by Ilse Kern: Ask the harbour master."),
    ]


def test_a_comment_stands_under_the_heading_that_it_is_on(document: Document, tmp_path: Path) -> None:
    for heading, text, style in (
        ("Rent", "It is 500.", None),
        ("Pets", "Dogs", "List Bullet"),
        ("Keys", "Two.", None),
    ):
        document.add_heading(heading, 1)
        told = document.add_paragraph(text, style)
        document.add_comment(told.runs, text=f"Still so for {heading}?", author="Bo")
        if style:
            document.add_paragraph("Cats", style)
        (tmp_path / "a.jpg").write_bytes(PIXEL)
        document.add_picture(str(tmp_path / "a.jpg"))
        document.add_paragraph(f"Figure 1: {heading}")
    path = tmp_path / "a.docx"
    document.save(str(path))
    parsed = parse(path)
    assert [b.text for b in parsed.blocks][1:8] == [
        "It is 500.",
        "Comment by Bo: Still so for Rent?",
        "Figure 1: Rent",
        "Pets",
        "- Dogs\n- Cats",
        "Comment by Bo: Still so for Pets?",
        "Figure 1: Pets",
    ]
    assert [f.caption for f in parsed.figures] == ["Figure 1: Rent", "Figure 1: Pets", "Figure 1: Keys"]


def test_a_long_ruler_in_a_footer_costs_no_time(document: Document, tmp_path: Path) -> None:
    ruler = "1" + "-" * 50_000 + "a"
    document.sections[0].footer.paragraphs[0].text = ruler
    document.add_paragraph("Words.")
    begun = time.process_time()
    assert read(document, tmp_path)[0] == ("text", 0, ruler) and time.process_time() - begun < 10
