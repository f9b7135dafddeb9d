"""Word: structure, properties, and the parts that are easily lost."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import docx
import pytest
from docx.document import Document

from ragweave.corpora.formats.docx import parse
from ragweave.corpora.formats.probe import PICTURE, probe
from ragweave.models.errors import SourceError
from ragweave.tests.support.frames import PIXEL
from ragweave.tests.support.zips import zip_bytes


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


Write = Callable[[str, str | bytes], Path]
DRAWING = zip_bytes({"mimetype": "application/vnd.oasis.opendocument.graphics", "content.xml": "<x/>"})


@pytest.mark.parametrize("name", ["a.md", "a.txt", "a.pdf", "a.docx", "a", "a.html"])
@pytest.mark.parametrize("body", [b"", b" \n\t \r\n ", b"\xef\xbb\xbf", b"\xff\xfe", b"\0\0\0\0"])
def test_empty_files_are_said_to_be_empty(write: Write, name: str, body: bytes) -> None:
    with pytest.raises(SourceError, match=f"{name} is empty"):
        probe(write(name, body))


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (bytes(range(256)) * 50, "binary"),
        (os.urandom(4096).replace(b"PK", b"xx") + b"\0\1\2", "binary"),
        (b"\x7fELF\x02\x01\x01" + b"\0" * 200, "a program"),
        (b"RIFF\x00\x00\x00\x00WAVEfmt " + b"\0\1" * 50, "a recording"),
        (b"\0\0\0\x18ftypmp42" + b"\0" * 99, "a video"),
        (b"\x1f\x8b\x08" + b"\0\xff" * 99, "gzip"),
        (b"SQLite format 3\0" + b"\0\1" * 99, "an SQLite database"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600, "before 2007"),
        (b"PK\x03\x04 this is no zip", "damaged or truncated zip"),
        (zip_bytes({"readme.txt": "x"}), "(?i)unpack it"),
        (DRAWING, "an OpenDocument file of a kind that is not read"),
    ],
)
def test_what_is_no_text_is_named_for_what_it_is(write: Write, body: bytes, sentence: str) -> None:
    with pytest.raises(SourceError, match=sentence) as found:
        probe(write("notes.md", body))
    assert found.value.remedy and "\n" not in str(found.value)


def test_names_of_every_kind_are_told_by_content_not_by_extension(write: Write) -> None:
    found = {
        name: probe(write(name, body))
        for name, body in {
            "pdf.txt": b"%PDF-1.7\n",
            "docx.pdf": zip_bytes({"word/document.xml": "x"}),
            "page.md": "<!DOCTYPE html>\n<html><body><p>x</p></body></html>",
            "page2.txt": '<?xml version="1.0"?><!-- a --><!-- b -->\n<html xmlns="x"><body>x</body></html>',
            "plain.html": "no markup at all, 3 < 4",
            "notes.rst": "Title\n=====\n",
            "notes.markdown": "# x",
            "README": "plain words",
            "BM.txt": "BM is how this text begins",
        }.items()
    }
    assert found == {
        "pdf.txt": "pdf",
        "docx.pdf": "docx",
        "page.md": "html",
        "page2.txt": "html",
        "plain.html": "text",
        "notes.rst": "rst",
        "notes.markdown": "markdown",
        "README": "text",
        "BM.txt": "text",
    }


def test_folders_pipes_and_missing_files_are_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, sentence in (
        (tmp_path, "regular file"),
        (tmp_path / "pipe", "regular file"),
        (tmp_path / "no", "exist"),
    ):
        with pytest.raises(SourceError, match=sentence):
            probe(path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(write: Write) -> None:
    path = write("a.md", "x")
    path.chmod(0)
    with pytest.raises(SourceError, match="may not be read"):
        probe(path)


def test_a_sparse_giant_costs_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with path.open("wb") as file:
        file.write(b"words ")
        file.truncate(1 << 30)
    with pytest.raises(SourceError):
        probe(path)
    with path.open("r+b") as file:
        file.write(b"words " * 20_000)
    with pytest.raises(SourceError, match="1024 MB"):
        probe(path)


def test_a_protected_zip_is_said_to_be_protected(write: Write) -> None:
    data = bytearray(zip_bytes({"word/document.xml": "x"}))
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(signature) + offset] |= 1
    with pytest.raises(SourceError, match="password"):
        probe(write("a.docx", bytes(data)))


@pytest.mark.parametrize(
    "body",
    [
        b"\x89PNG\r\n\x1a\n" + b"\0" * 200,
        b"\xff\xd8\xff\xe0" + b"\0\x10JFIF" * 20,
        b"GIF89a" + b"\0\xff" * 50,
        b"II*\0" + b"\0\xff" * 50,
        b"RIFF\0\0\0\0WEBPVP8 " + b"\0\xff" * 50,
        b"BM" + b"\0\xff" * 50,
    ],
)
@pytest.mark.parametrize("name", ["a.png", "a.txt", "a.md"])
def test_pictures_are_known_by_their_content_whatever_their_name(
    write: Write, body: bytes, name: str
) -> None:
    assert probe(write(name, body)) == PICTURE
