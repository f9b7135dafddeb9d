"""Files made to break a reader: each is read or refused with its sentence, and the run goes on."""

# ruff: noqa: E501 - a hostile file is easier to read on one line

from __future__ import annotations

import io
import json
import os
import random
import socket
import struct
import time
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from ragweave.corpora.ingest import index
from ragweave.corpora.library import open_library
from ragweave.corpora.readers import Readers
from ragweave.corpora.settings import corpora_settings
from ragweave.models.errors import SourceError

pytestmark = pytest.mark.hard

LIMIT = 20.0 if int(os.environ.get("TEST_KILLS", "10")) >= 100 else 6.0
"""Seconds for one file; the short form has no time to wait for the slowest."""
CANARY = "xanthophyll-canary"
"""Stands in a file outside the folder; nothing may carry it in."""

Files = Iterator[tuple[str, bytes]]
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
WORD = f"<w:document {W}><w:body><w:p><w:r><w:t>%s</w:t></w:r></w:p></w:body></w:document>"
SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1">'
    '<c r="A1" t="inlineStr"><is><t>%s</t></is></c></row></sheetData></worksheet>'
)
SLIDE = (
    '<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"><p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r>'
    "<a:t>%s</a:t></a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
)
PAGE = '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>t</title></head><body><p>%s</p></body></html>'
_R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_P = "http://schemas.openxmlformats.org/package/2006/relationships"


def package(kind: str, text: str = "Plain words.", before: str = "") -> dict[str, str | bytes]:
    """Return the parts of a small file of a zip-based format, its text part beginning with `before`."""
    if kind == "docx":
        return {"word/document.xml": before + WORD % text}
    if kind == "xlsx":
        book = (
            f'<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="{_R}">'
            '<sheets><sheet name="One" sheetId="1" r:id="rId1"/></sheets></workbook>'
        )
        links = f'<Relationships xmlns="{_P}"><Relationship Id="rId1" Type="{_R}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>'
        return {
            "xl/workbook.xml": book,
            "xl/_rels/workbook.xml.rels": links,
            "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
            '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
            '<Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
            '<Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
            "</Types>",
            "_rels/.rels": f'<Relationships xmlns="{_P}"><Relationship Id="r1" Type="{_R}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
            "xl/worksheets/sheet1.xml": before + SHEET % text,
        }
    if kind == "pptx":
        show = f'<p:presentation xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:r="{_R}"><p:sldIdLst><p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>'
        links = f'<Relationships xmlns="{_P}"><Relationship Id="rId1" Type="{_R}/slide" Target="slides/slide1.xml"/></Relationships>'
        return {
            "ppt/presentation.xml": show,
            "ppt/_rels/presentation.xml.rels": links,
            "ppt/slides/slide1.xml": before + SLIDE % text,
        }
    return {
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="c.opf"/></rootfiles></container>',
        "c.opf": '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" '
        'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>',
        "a.xhtml": before + PAGE % text,
    }


PACKAGES = ("docx", "xlsx", "pptx", "epub")


def zipped(parts: dict[str, str | bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, body in parts.items():
            archive.writestr(name, body)
    return out.getvalue()


def pdf(
    content: bytes = b"BT /F1 12 Tf 72 700 Td (Plain words.) Tj ET",
    *more: bytes,
    page: bytes = b"",
    filters: bytes = b"",
) -> bytes:
    """Write a PDF of one page; `more` are objects 6 and up, `page` goes into its dictionary."""
    resources = b"/Resources << /Font << /F1 5 0 R >> /XObject << /X 6 0 R >> >>"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R " + resources + (page or b"/MediaBox [0 0 595 842]") + b" >>",
        b"<< /Length %d %s >>\nstream\n%s\nendstream" % (len(content), filters, content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *(more or (b"<< >>",)),
    ]
    out, offsets = b"%PDF-1.5\n", []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n%s" % (len(objects) + 1, table)
    return out + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, start)


def mail(*parts: tuple[str, bytes], subject: str = "Ferry") -> bytes:
    """Write a message with attachments."""
    out = f"From: a@example.org\nTo: b@example.org\nSubject: {subject}\nDate: Mon, 2 Jan 2023 10:00:00 +0000\n".encode()
    out += b'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="=="\n\n--==\nContent-Type: text/plain\n\nPlain words.\n'
    for name, data in parts:
        out += (
            f'--==\nContent-Type: application/octet-stream\nContent-Disposition: attachment; filename="{name}"\n\n'.encode()
            + data
            + b"\n"
        )
    return out + b"--==--\n"


NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [{"cell_type": "markdown", "metadata": {}, "source": ["# Plain words"]}],
    }
)


def samples() -> dict[str, bytes]:
    """Return a sound file of each format."""
    return {
        **{f"s.{kind}": zipped(package(kind, "Plain words. " * 50)) for kind in PACKAGES},
        "s.pdf": pdf(b"BT /F1 12 Tf 72 700 Td " + b"(Plain words.) Tj 0 -14 Td " * 30 + b" ET"),
        "s.eml": mail(("note.txt", b"Words in an attachment.")),
        "s.html": (PAGE % "<b>Plain</b> words.").encode() * 3,
        "s.json": json.dumps([{"name": "Plain words", "n": list(range(50))}] * 5).encode(),
        "s.ipynb": NOTEBOOK.encode(),
    }


def zip_bombs() -> Files:
    for kind in PACKAGES:
        yield f"media.{kind}", zipped({**package(kind), "media/x.bin": b"A" * (60 << 20)})
        yield f"many.{kind}", zipped({**package(kind), **{f"x/{n}": "" for n in range(10_050)}})
        yield f"text.{kind}", zipped(package(kind, "A" * (30 << 20)))


def laughs() -> Files:
    names = "abcdefghij"
    entities = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in pairwise(names))
    for kind in PACKAGES:
        yield f"laughs.{kind}", zipped(package(kind, "&j;", f'<!DOCTYPE d [<!ENTITY a "ha">{entities}]>'))
        quadratic = f'<!DOCTYPE d [<!ENTITY a "{"ha" * 50_000}">]>'
        yield f"quadratic.{kind}", zipped(package(kind, "&a;" * 10_000, quadratic))
    yield "laughs.html", f'<!DOCTYPE html [<!ENTITY a "ha">{entities}]>{PAGE % "&j; plain words"}'.encode()


def outside_entities(outside: Path) -> Files:
    for kind in PACKAGES:
        for name, what in {
            "file": f"file://{outside}",
            "web": "http://127.0.0.1:9/x",
            "passwd": "file:///etc/passwd",
        }.items():
            yield f"{name}.{kind}", zipped(package(kind, "&x;", f'<!DOCTYPE d [<!ENTITY x SYSTEM "{what}">]>'))
    yield (
        "utf16.docx",
        zipped(
            {
                "word/document.xml": (
                    f'<?xml version="1.0" encoding="utf-16"?><!DOCTYPE d [<!ENTITY x SYSTEM "file://{outside}">]>'
                    + WORD % "&x;"
                ).encode("utf-16")
            }
        ),
    )
    yield (
        "include.rst",
        f"Title\n=====\n\n.. include:: {outside}\n\n.. raw:: html\n   :file: {outside}\n\n.. csv-table::\n   :file: {outside}\n\nPlain words.\n".encode(),
    )
    yield (
        "frame.html",
        (PAGE % f'<iframe src="file://{outside}"></iframe><img src="file://{outside}"> plain words').encode(),
    )
    yield (
        "link.md",
        f"# Plain words\n\n![x](file://{outside}) [[{outside}]] <!--#include file='{outside}'-->\n".encode(),
    )


def zip_slips() -> Files:
    for kind in PACKAGES:
        for n, name in enumerate(("../../../evil.txt", "/tmp/evil.txt", "a\\..\\..\\evil.txt", "C:/evil.txt")):
            yield f"{n}.{kind}", zipped({**package(kind), name: "escaped"})


def nesting() -> Files:
    deep = 100_000
    yield "lists.json", b"[" * deep + b"]" * deep
    yield "objects.json", b'{"a":' * deep + b"1" + b"}" * deep
    yield "lines.jsonl", (b"[" * 5_000 + b"]" * 5_000 + b"\n") * 20
    yield "quotes.md", b"> " * deep + b"words"
    yield "lists.md", b"".join(b"  " * n + b"- x\n" for n in range(1_500))
    yield "stars.md", b"*a **b " * 20_000
    yield "divs.html", b"<html><body>" + b"<div>" * deep + b"words"
    yield "tables.html", b"<html><body>" + b"<table><tr><td>x" * 5_000
    yield "body.docx", zipped({"word/document.xml": f"<w:document {W}>" + "<w:p>" * deep})
    yield (
        "tables.docx",
        zipped(
            {
                "word/document.xml": f"<w:document {W}><w:body>"
                + "<w:tbl><w:tr><w:tc>" * 3_000
                + "</w:tc></w:tr></w:tbl>" * 3_000
                + "</w:body></w:document>"
            }
        ),
    )
    yield "cells.ipynb", b'{"nbformat":4,"metadata":{},"cells":' + b"[" * deep
    yield (
        "parts.eml",
        b"".join(b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (n, n) for n in range(2_000))
        + b"\nwords",
    )
    yield "array.pdf", pdf(b"[" * deep + b"]" * deep)


def truncated() -> Files:
    for name, data in samples().items():
        for tenth in range(1, 10):
            stem, _, kind = name.partition(".")
            yield f"{stem}{tenth}.{kind}", data[: len(data) * tenth // 10]


def flipped() -> Files:
    rng = random.Random(23)
    for name, data in samples().items():
        for n in range(5):
            broken = bytearray(data)
            for _ in range(1 + len(data) // 200):
                broken[rng.randrange(len(data))] = rng.randrange(256)
            stem, _, kind = name.partition(".")
            yield f"{stem}{n}.{kind}", bytes(broken)


def pdf_bombs() -> Files:
    words = b"BT /F1 12 Tf 72 700 Td (Plain words.) Tj ET "
    image = b"<< /Type /XObject /Subtype /Image /Width 100000 /Height 100000 /ColorSpace /DeviceRGB /BitsPerComponent 8 /Length 0 >>\nstream\n\nendstream"
    form = b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >> /Length 6 >>\nstream\n/X Do \nendstream"
    yield "image.pdf", pdf(words + b"/X Do", image)
    yield "form in itself.pdf", pdf(words + b"/X Do", form)
    yield "huge font.pdf", pdf(b"BT /F1 1000000000 Tf 72 700 Td (Plain words.) Tj ET")
    yield "tiny font.pdf", pdf(b"BT /F1 0.0000001 Tf 72 700 Td (Plain words.) Tj ET")
    yield "huge page.pdf", pdf(words, page=b"/MediaBox [0 0 1e30 1e30]")
    yield "no page.pdf", pdf(words, page=b"/MediaBox [0 0 0 0]")
    yield "stream bomb.pdf", pdf(zlib.compress(b" " * (400 << 20), 9), filters=b"/Filter /FlateDecode")
    twice = zlib.compress(zlib.compress(b"(a) Tj " * (20 << 20), 9), 9)
    yield "stream bomb twice.pdf", pdf(twice, filters=b"/Filter [/FlateDecode /FlateDecode]")
    yield "million words.pdf", pdf(b"BT /F1 1 Tf 72 700 Td " + b"(word) Tj 0 -1 Td " * 400_000 + b"ET")
    yield "pages in a ring.pdf", pdf().replace(b"/Kids [3 0 R] /Count 1", b"/Kids [2 0 R] /Count 9")
    yield (
        "million pages.pdf",
        pdf().replace(b"/Kids [3 0 R] /Count 1", b"/Kids [" + b"3 0 R " * 100_000 + b"] /Count 100000"),
    )
    yield "table in itself.pdf", pdf().replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev 9")
    yield (
        "font of zeros.pdf",
        pdf(words).replace(
            b"/BaseFont /Helvetica", b"/BaseFont /X /FirstChar 0 /LastChar 2147483647 /Widths [" + b"0 " * 10 + b"]"
        ),
    )


def sparse() -> Files:
    for name in ("x.txt", "x.pdf", "x.json", "x.docx", "x.eml"):
        yield f"{name}.sparse", b""


def zeros() -> Files:
    for kind in ("md", "txt", "csv", "json", "html", "eml", "rst", "py"):
        yield f"between.{kind}", b"Plain\0 words\0" * 200
        yield f"only.{kind}", b"\0" * 5_000


def names() -> Files:
    for name in (
        "\u202egpj.md", "two\nlines.md", "\x1b[2Jscreen.md", "'; DROP TABLE items; --.md", "<script>.md", "%00.md", "x" * 240 + ".md",
        "🌊🌊.md", "a\u0301\u0301.md", " space .md", "-rf.md", "$(touch evil).md", "..md", "CON.md", "a:b.md", "\u200b.md",
    ):  # fmt: skip
        yield name, f"# Title\n\nPlain words of {len(name)}.".encode()


def bait() -> Files:
    for name, text in {
        "dots.md": "." * 100_000 + "a", "brackets.md": "[" * 15_000, "backticks.md": "".join("`" * n + " " for n in range(400)),
        "comment.md": "<!--" * 50_000, "links.md": "[a](" * 8_000, "front.md": "---\n" + "a: b\n" * 15_000, "table.md": "|" * 50_000 + "\n" + "|-" * 25_000,
        "roles.rst": ":" * 100_000, "stars.rst": "*a " * 3_000, "underline.txt": "a\n" + "=" * 100_000, "numbers.txt": "1." * 50_000 + "\n\nx",
        "spaces.txt": "a" + " " * 200_000 + "b", "tags.html": "<html><body>" + "<p " * 50_000, "entities.html": "<html><body><p>" + "&amp;" * 50_000,
        "headers.eml": "Subject: " + "=?utf-8?q?a?= " * 20_000 + "\nFrom: a@b\nTo: b@c\n\nwords", "quotes.csv": '"' * 200_001 + ",x\n",
    }.items():  # fmt: skip
        yield name, text.encode()


def encodings() -> Files:
    yield "utf-16 without mark.txt", "Plain words of a text. ".encode("utf-16-le") * 40
    yield "utf-32.txt", ("Plain words. " * 40).encode("utf-32")
    yield "broken utf-8.txt", b"Plain words \xff\xfe\xc3 and \xed\xa0\x80 more. " * 40
    yield "gb18030.txt", ("长安城的大雁塔建于唐朝。" * 40).encode("gb18030")
    yield "utf-7.html", b"<html><meta charset=utf-7><body>+ADw-script+AD4- plain words</body></html>"
    yield "liar.xml.html", b'<?xml version="1.0" encoding="ebcdic-cp-us"?><html><body><p>Plain words</p></body></html>'
    yield "surrogates.json", b'{"a": "\\ud800 plain words \\udfff"}'
    yield "surrogates.html", b"<html><body><p>&#xD800; &#x110000; &#0; plain words</p></body></html>"
    yield "combining.txt", ("a" + "\u0301" * 500_000).encode()
    yield "direction.txt", ("\u202e" * 100_000 + "words").encode()


def tables() -> Files:
    yield "wide.csv", b"a," * 1_000_000 + b"\n1\n"
    yield "open quote.csv", b'a,b\n"' + b"x,y\n" * 100_000
    yield "formula.csv", b"name,value\n=cmd|' /C calc'!A0,@SUM(1)\n" * 20
    yield "long field.csv", b"a,b\n" + b"x" * 5_000_000 + b",y\n"
    big = SHEET.replace("<sheetData>", '<dimension ref="A1:XFD1048576"/><sheetData>') % "Plain words"
    yield "dimension.xlsx", zipped({**package("xlsx"), "xl/worksheets/sheet1.xml": big})
    yield (
        "far cell.xlsx",
        zipped({**package("xlsx"), "xl/worksheets/sheet1.xml": (SHEET % "words").replace('r="A1"', 'r="XFD1048576"')}),
    )
    yield (
        "no string.xlsx",
        zipped(
            {
                **package("xlsx"),
                "xl/worksheets/sheet1.xml": (SHEET % "words")
                .replace('t="inlineStr"', 't="s"')
                .replace("<is><t>words</t></is>", "<v>999999999</v>"),
            }
        ),
    )
    yield (
        "merged.xlsx",
        zipped(
            {
                **package("xlsx"),
                "xl/worksheets/sheet1.xml": (SHEET % "words").replace(
                    "</sheetData>", '</sheetData><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'
                ),
            }
        ),
    )


def mails() -> Files:
    yield "ten thousand attachments.eml", mail(*[(f"{n}.txt", b"x") for n in range(10_000)])
    yield "bomb attached.eml", mail(("bomb.docx", next(zip_bombs())[1]))
    yield "slip attached.eml", mail(("../../../evil.txt", b"escaped"))
    yield "long header.eml", mail(subject="a" * 2_000_000)
    yield "no such charset.eml", mail().replace(b"text/plain", b'text/plain; charset="no-such\0"')
    yield "no boundary.eml", mail().replace(b'boundary="=="', b"boundary=")
    yield "bad base64.eml", mail().replace(b"text/plain", b"text/plain\nContent-Transfer-Encoding: base64")
    yield "bad date.eml", mail().replace(b"Mon, 2 Jan 2023", b"Foo, 99 Zzz 999999999")
    nested = mail()
    for _ in range(30):
        nested = b"From: a@b.c\nTo: b@c.d\nSubject: again\nContent-Type: message/rfc822\n\n" + nested
    yield "mail in mail.eml", nested


def liars() -> Files:
    yield "program.pdf", b"MZ\x90\0" + os.urandom(2_000)
    yield "program.docx", b"\x7fELF\2\1\1" + b"\0" * 2_000
    yield "picture.md", b"\x89PNG\r\n\x1a\n" + os.urandom(2_000)
    yield "archive.txt", zipped({"a.txt": "words"})
    yield "tape.json", b"\x1f\x8b\x08" + os.urandom(500)
    yield "noise.html", os.urandom(5_000)
    yield "old office.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 3_000
    yield "page.pdf", (PAGE % "Plain words in a page.").encode()
    yield "rich.txt", b"{\\rtf1 " + b"{\\b " * 10_000
    yield "playlist.txt", b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"


def notebooks() -> Files:
    def book(cell: object) -> bytes:
        return json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell]}).encode()

    yield (
        "output.ipynb",
        book(
            {
                "cell_type": "code",
                "source": "1",
                "outputs": [{"output_type": "stream", "name": "stdout", "text": "x " * 5_000_000}],
            }
        ),
    )
    yield "types.ipynb", book({"cell_type": 7, "source": {"a": 1}, "outputs": "none"})
    yield "cells.ipynb", json.dumps({"nbformat": 4, "metadata": [], "cells": {"a": 1}}).encode()
    yield "numbers.ipynb", book({"cell_type": "markdown", "source": [1, None, True]})
    yield "big number.ipynb", b'{"nbformat": ' + b"9" * 100_000 + b', "cells": []}'


def boxes() -> Files:
    inner = next(zip_bombs())[1]
    yield "office in office.docx", zipped({**package("docx"), "word/embeddings/a.docx": inner})
    data = inner
    for _ in range(6):
        data = zipped({"a.zip": data})
    yield "six deep.zip", data
    yield "six deep.docx", zipped({**package("docx"), "a.zip": data})
    twice = io.BytesIO()
    with zipfile.ZipFile(twice, "w") as archive, pytest.warns(UserWarning):
        for text in ("first", "second"):
            archive.writestr("word/document.xml", WORD % text)
    yield "same name twice.docx", twice.getvalue()
    liar = bytearray(zipped({"word/document.xml": WORD % ("words " * 50_000)}))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = liar.index(signature) + offset
        liar[at : at + 4] = struct.pack("<I", 50)
    yield "wrong size.docx", bytes(liar)


def long_lines() -> Files:
    yield "one line.txt", b"word " * 8_000_000
    yield "no space.txt", b"x" * 20_000_000
    yield "no space 天.txt", "天".encode() * 3_000_000
    yield "lines.txt", b"a\n" * 2_000_000
    yield "headings.md", b"# a\n\nb\n\n" * 100_000


CLASSES: dict[str, Callable[..., Files]] = {
    "zip bombs": zip_bombs,
    "billion laughs": laughs,
    "outside entities and includes": outside_entities,
    "zip slip": zip_slips,
    "deep nesting": nesting,
    "truncated at every tenth": truncated,
    "random bytes exchanged": flipped,
    "PDF fonts, images, streams, rings": pdf_bombs,
    "1 GiB of nothing": sparse,
    "null bytes": zeros,
    "names": names,
    "bait for regular expressions": bait,
    "encodings": encodings,
    "tables": tables,
    "mail": mails,
    "not what they say": liars,
    "notebooks": notebooks,
    "archives in archives": boxes,
    "long lines": long_lines,
}


def special(folder: Path, outside: Path) -> list[Path]:
    """Make links, pipes and the like; each has to be left out, or to be read where it lies."""
    made = []
    for name, target in {
        "to a file outside.md": outside, "to the folder outside": outside.parent, "to passwd.txt": Path("/etc/passwd"), "to nothing.md": Path("gone"),
        "to itself.md": Path("to itself.md"), "to zeros.txt": Path("/dev/zero"), "to the root": Path("/"), "up": Path(".."), "proc.txt": Path("/proc/self/environ"),
    }.items():  # fmt: skip
        (folder / name).symlink_to(target)
        made.append(folder / name)
    os.mkfifo(folder / "pipe.md")
    with socket.socket(socket.AF_UNIX) as door:
        here = os.getcwd()
        os.chdir(folder)  # the name of a socket may have 107 characters
        door.bind("socket.md")
        os.chdir(here)
    (folder / "folder.md").mkdir()
    (folder / "chain a.md").symlink_to("chain b.md")
    (folder / "chain b.md").symlink_to(outside)
    return [*made, folder / "pipe.md", folder / "socket.md", folder / "chain a.md", folder / "chain b.md"]


def lay_out(root: Path, outside: Path) -> dict[str, list[Path]]:
    """Write every file into a folder of its class."""
    made: dict[str, list[Path]] = {}
    for title, make in CLASSES.items():
        folder = root / title
        folder.mkdir(parents=True)
        made[title] = []
        for name, data in make(outside) if make is outside_entities else make():
            path = folder / name.removesuffix(".sparse")
            path.write_bytes(data)
            if name.endswith(".sparse"):
                os.truncate(path, 2**30)
            made[title].append(path)
    folder = root / "links and devices"
    folder.mkdir()
    made[folder.name] = special(folder, outside)
    return made


def everything(folder: Path) -> set[Path]:
    """Return every path below a folder, the home left out."""
    return {p for p in folder.rglob("*") if p.relative_to(folder).parts[0] != "home"}


async def test_hostile_files_are_read_or_refused_and_nothing_else_happens(
    tmp_path: Path, kit: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    outside = tmp_path / "outside" / "secret.md"
    outside.parent.mkdir()
    outside.write_text(f"# Secret\n\n{CANARY}\n")
    root = tmp_path / "root" / "files"
    made = lay_out(root, outside)
    good = root / "good.md"
    good.write_text("# Good\n\nThe lighthouse stood on Pharos.\n")
    before = everything(tmp_path)
    monkeypatch.setenv("RAGWEAVE_PARSE_SECONDS", str(LIMIT))
    monkeypatch.setenv("RAGWEAVE_PARSE_MEMORY_MB", "2048")
    monkeypatch.setenv("RAGWEAVE_PARSE_WORKERS", "1")
    corpora_settings.cache_clear()
    took: dict[str, float] = {}
    ended: list[str] = []
    read = Readers.read

    def timed(self: Readers, path: str, *given: object) -> object:
        began = time.monotonic()
        try:
            return read(self, path, *given)
        except SourceError as error:
            if "ended the reading process" in str(error):
                ended.append(path)
            raise
        finally:
            took[path] = time.monotonic() - began

    monkeypatch.setattr(Readers, "read", timed)
    report = await index([root])

    library = await open_library()
    sources = {path: s for s in await library.sources() for path in s.paths}
    said = {**dict(report.failed), **{str(p): why for p, why in report.skipped}}
    said = {p: why for p, why in said.items() if p not in sources or sources[p].status == "failed"}
    rows: list[list[object]] = []
    silent: list[str] = []
    count: dict[str, int] = defaultdict(int)
    for title, paths in made.items():
        seen = [p for p in paths if str(p) in sources and sources[str(p)].status != "failed"]
        refused = [p for p in paths if str(p) in said]
        silent += [str(p) for p in paths if p not in seen and p not in refused]
        slowest = max((took.get(str(p), 0.0) for p in paths), default=0.0)
        example = said[str(refused[0])].split(". ")[0] if refused else ""
        rows.append([title, len(paths), len(seen), len(refused), f"{slowest:.1f}", example[:70].replace("\n", " ")])
        count["files"] += len(paths)
        count["read"] += len(seen)
        count["refused"] += len(refused)
    after = everything(tmp_path)
    [lists] = await library.search("paragraph", ["canary xanthophyll root daemon bin nologin"], 200)
    texts = [i.text for i in (await library.items([h.id for h in (*lists.dense, *lists.lexical)])).values()]
    escapes = [t for t in texts if CANARY in t or "root:x:0:0" in t]
    rows.append(["all", count["files"], count["read"], count["refused"], f"{max(took.values()):.1f}", ""])
    kit.show("Hostile files", rows, ["class", "files", "read", "refused", "slowest s", "for example"])
    print(
        f"reading processes lost {len(ended)}, escapes {len(escapes) + len(after - before)}, "
        f"over the limit of {LIMIT:g} s {sum(t > LIMIT + 5 for t in took.values())}, without a sentence {len(silent)}"
    )
    for path in ended:
        print(f"  ended its reading process: {path}")
    assert count["files"] >= 200 and len(made) >= 20
    assert not silent, silent
    assert not ended, ended
    assert after == before
    assert not escapes
    assert all(t <= LIMIT + 5 for t in took.values())
    assert all(why.endswith(".") or p in {str(s) for s, _ in report.skipped} for p, why in said.items())
    [lists] = await library.search("paragraph", ["lighthouse on Pharos"])
    found = await library.items([h.id for h in lists.lexical])
    assert str(good) in {i.locator["file"] for i in found.values()}
