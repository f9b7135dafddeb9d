"""Bad input: every file is read, or refused with one sentence that names it and says what to do."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from ragweave.corpora import archive
from ragweave.corpora.formats import KINDS, parse
from ragweave.corpora.formats.probe import probe
from ragweave.models.errors import SourceError
from ragweave.tests.support.items import documents, paragraphs
from ragweave.tests.support.zips import zip_bytes

Write = Callable[[str, str | bytes], Path]
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
BODY = f"<w:document {W}><w:body><w:p><w:r><w:t>Words.</w:t></w:r></w:p></w:body></w:document>"
LAUGHS = (
    '<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "ha">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefghi", "bcdefghij", strict=True))
    + f"]><w:document {W}><w:body><w:p><w:r><w:t>&j;</w:t></w:r></w:p></w:body></w:document>"
)


def read(path: Path) -> str:
    """Take a file the whole way, and return its text."""
    parsed = parse(path, probe(path))
    items = paragraphs("s", str(path), parsed)
    assert documents("s", str(path), parsed)
    return "\n".join(i.text for i in items)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_kind_has_a_reader(kind: str, write: Write) -> None:
    with pytest.raises(SourceError):
        parse(write("a.bin", b"\0\0"), kind)


def test_a_file_that_vanishes_after_the_probe_is_refused(write: Write) -> None:
    for kind, body in (("markdown", "# x"), ("pdf", "x"), ("docx", "x"), ("html", "x")):
        path = write("a", body)
        path.unlink()
        with pytest.raises(SourceError):
            parse(path, kind)


XXE = '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + BODY.replace("Words.", "&x;")
BOMB = b"A" * (40 * 1024 * 1024)


MAIN = {"docx": "word/document.xml", "xlsx": "xl/workbook.xml", "pptx": "ppt/presentation.xml"}
MAIN |= dict.fromkeys(("odt", "ods", "odp"), "content.xml")


@pytest.mark.parametrize("kind", MAIN)
@pytest.mark.parametrize(
    ("body", "why"),
    [
        (LAUGHS, "document type"),
        (XXE, "document type"),
        ('<!DOCTYPE d SYSTEM "http://127.0.0.1:9/x.dtd"><x/>', "document type"),
        ("<x><unclosed>", "damaged"),
        (b"\0\1\2", "damaged"),
        ("", "damaged"),
        ("<x>" * 100_000, "damaged"),
    ],
)
def test_hostile_parts_are_refused(write: Write, kind: str, body: str | bytes, why: str) -> None:
    with pytest.raises(SourceError, match=why):
        parse(write(f"a.{kind}", zip_bytes({MAIN[kind]: body})), kind)


@pytest.mark.parametrize(
    ("kind", "name", "body", "why"),
    [
        *((kind, "media/x.bin", BOMB, "would unpack") for kind in MAIN),
        *(
            ("docx", name, "x", "leads outside")
            for name in ("../../evil", "/etc/evil", "a\\..\\..\\evil", "C:/evil")
        ),
        *(
            (kind, "META-INF/manifest.xml", "<m:encryption-data/>", "password")
            for kind in ("odt", "ods", "odp")
        ),
    ],
)
def test_hostile_packages_are_refused(
    write: Write, kind: str, name: str, body: str | bytes, why: str
) -> None:
    with pytest.raises(SourceError, match=why):
        parse(write(f"a.{kind}", zip_bytes({MAIN[kind]: "<x/>", name: body})), kind)


def test_too_many_entries_are_refused(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive, "MAX_ENTRIES", 20)
    with pytest.raises(SourceError, match="entries"):
        read(write("a.docx", zip_bytes({"word/document.xml": BODY, **{f"x{n}": "" for n in range(21)}})))


def test_an_entry_that_lies_about_its_size_is_refused(write: Write) -> None:
    data = bytearray(zip_bytes({"word/document.xml": BODY + " " * 100_000}))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = data.index(signature) + offset
        data[at : at + 4] = struct.pack("<I", 50)
    with pytest.raises(SourceError, match="damaged"):
        read(write("a.docx", bytes(data)))


def test_a_zip_in_a_zip_is_never_opened(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = zip_bytes({"word/document.xml": BODY.replace("Words.", "inner words")})
    opened: list[object] = []
    original = zipfile.ZipFile.__init__

    def counting(self: zipfile.ZipFile, file: object, *args: object, **kwargs: object) -> None:
        opened.append(file)
        original(self, file, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(zipfile.ZipFile, "__init__", counting)
    path = write("a.docx", zip_bytes({"word/document.xml": BODY, "word/embeddings/b.docx": inner}))
    opened.clear()
    assert read(path) == "Words."
    assert set(map(str, opened)) == {str(path)}
    assert not any(isinstance(o, io.BytesIO) for o in opened)


BAIT = {
    "dots.md": "." * 100_000 + "a",
    "brackets.md": "[" * 15_000,
    "stars.md": "*a " * 30_000,
    "backticks.md": "".join("`" * n + " " for n in range(400)),
    "quotes.md": "> " * 20_000 + "x",
    "comment.md": "<!--" * 50_000,
    "links.md": "[a](" * 8_000,
    "emails.md": "<a@" * 20_000 + "\n",
    "front.md": "---\n" + "a: b\n" * 15_000,
    "table.md": "|" * 50_000 + "\n" + "|-" * 25_000,
    "roles.rst": ":" * 100_000,
    "stars.rst": "*a " * 3_000,
    "underline.txt": "a\n" + "=" * 100_000,
    "rules.txt": "===\n" * 20_000 + "x",
    "headings.txt": "a\n===\n" * 20_000 + "x",
    "numbers.txt": "1." * 50_000 + "\n\nx",
    "spaces.txt": "a" + " " * 200_000 + "b",
    "lines.txt": "a\n" * 20_000,
    "oneline.txt": "word " * 40_000,
    "nospace.txt": "天" * 60_000,
    "zalgo.txt": "a" + "\u0301" * 100_000,
    "bidi.txt": "\u202e" * 50_000 + "abc",
    "tags.html": "<html><body>" + "<p " * 50_000,
    "comments.html": "<!--x-->" * 5_000 + "<p>x</p>",
    "attributes.html": "<html><body><p " + "a=1 " * 50_000 + ">x</p>",
    "entities.html": "<html><body><p>" + "&amp;" * 50_000,
    "deep.html": "<html><body>" + "<div>" * 50_000 + "x",
    "lists.html": "<html><body>" + "<ul><li>x" * 3_000,
    "tables.html": "<html><body>" + "<table><tr><td>x" * 2_000,
}


@pytest.mark.parametrize("name", sorted(BAIT))
def test_bait_for_slow_patterns_is_read_or_refused_in_bounded_work(write: Write, name: str) -> None:
    # A quadratic step on these sizes would take minutes and show as a hanging test.
    path = write(name, BAIT[name])
    try:
        assert read(path)
    except SourceError as exc:
        assert exc.remedy
