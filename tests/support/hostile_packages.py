"""Hostile archives, office files and PDFs."""

from __future__ import annotations

import io
import random
import struct
import zipfile
import zlib
from itertools import pairwise
from pathlib import Path

import pytest

from ragweave.tests.support.hostile_parts import PACKAGES, PAGE, WORD, Files, W, package, pdf, samples
from ragweave.tests.support.zips import zip_bytes


def zip_bombs() -> Files:
    for kind in PACKAGES:
        yield f"media.{kind}", zip_bytes({**package(kind), "media/x.bin": b"A" * (60 << 20)})
        yield f"many.{kind}", zip_bytes({**package(kind), **{f"x/{n}": "" for n in range(10_050)}})
        yield f"text.{kind}", zip_bytes(package(kind, "A" * (30 << 20)))


def laughs() -> Files:
    names = "abcdefghij"
    entities = "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in pairwise(names))
    for kind in PACKAGES:
        yield f"laughs.{kind}", zip_bytes(package(kind, "&j;", f'<!DOCTYPE d [<!ENTITY a "ha">{entities}]>'))
        quadratic = f'<!DOCTYPE d [<!ENTITY a "{"ha" * 50_000}">]>'
        yield f"quadratic.{kind}", zip_bytes(package(kind, "&a;" * 10_000, quadratic))
    yield "laughs.html", f'<!DOCTYPE html [<!ENTITY a "ha">{entities}]>{PAGE % "&j; plain words"}'.encode()


def outside_entities(outside: Path) -> Files:
    for kind in PACKAGES:
        for name, what in (
            ("file", f"file://{outside}"),
            ("web", "http://127.0.0.1:9/x"),
            ("passwd", "file:///etc/passwd"),
        ):
            yield (
                f"{name}.{kind}",
                zip_bytes(package(kind, "&x;", f'<!DOCTYPE d [<!ENTITY x SYSTEM "{what}">]>')),
            )
    wide = (
        '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE d [<!ENTITY x SYSTEM'
        f' "file://{outside}">]>{WORD % "&x;"}'
    )
    yield "utf16.docx", zip_bytes({"word/document.xml": wide.encode("utf-16")})
    for name, text in {
        "include.rst": (
            f"Title\n=====\n\n.. include:: {outside}\n\n.. raw:: html\n   :file: {outside}\n\n.."
            f" csv-table::\n   :file: {outside}\n\nPlain words.\n"
        ),
        "frame.html": (
            PAGE % f'<iframe src="file://{outside}"></iframe><img src="file://{outside}"> plain words'
        ),
        "link.md": (
            f"# Plain words\n\n![x](file://{outside}) [[{outside}]] <!--#include file='{outside}'-->\n"
        ),
    }.items():
        yield name, text.encode()


def zip_slips() -> Files:
    for kind in PACKAGES:
        for n, name in enumerate(
            ("../../../evil.txt", "/tmp/evil.txt", "a\\..\\..\\evil.txt", "C:/evil.txt")
        ):
            yield f"{n}.{kind}", zip_bytes({**package(kind), name: "escaped"})


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
    yield "body.docx", zip_bytes({"word/document.xml": f"<w:document {W}>" + "<w:p>" * deep})
    rows = "<w:tbl><w:tr><w:tc>" * 3_000 + "</w:tc></w:tr></w:tbl>" * 3_000
    yield (
        "tables.docx",
        zip_bytes({"word/document.xml": f"<w:document {W}><w:body>{rows}</w:body></w:document>"}),
    )
    yield "cells.ipynb", b'{"nbformat":4,"metadata":{},"cells":' + b"[" * deep
    parts = (b'Content-Type: multipart/mixed; boundary="b%d"\n\n--b%d\n' % (n, n) for n in range(2_000))
    yield "parts.eml", b"".join(parts) + b"\nwords"
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
    image = (
        b"<< /Type /XObject /Subtype /Image /Width 100000 /Height 100000 /ColorSpace /DeviceRGB"
        b" /BitsPerComponent 8 /Length 0 >>\nstream\n\nendstream"
    )
    form = (
        b"<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] /Resources << /XObject << /X 6 0 R >> >> /Length 6"
        b" >>\nstream\n/X Do \nendstream"
    )
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
    kids, font = b"/Kids [3 0 R] /Count 1", b"/BaseFont /Helvetica"
    yield "pages in a ring.pdf", pdf().replace(kids, b"/Kids [2 0 R] /Count 9")
    yield "million pages.pdf", pdf().replace(kids, b"/Kids [" + b"3 0 R " * 100_000 + b"] /Count 100000")
    yield "table in itself.pdf", pdf().replace(b"/Root 1 0 R", b"/Root 1 0 R /Prev 9")
    widths = b"/BaseFont /X /FirstChar 0 /LastChar 2147483647 /Widths [" + b"0 " * 10 + b"]"
    yield "font of zeros.pdf", pdf(words).replace(font, widths)


def boxes() -> Files:
    inner = next(zip_bombs())[1]
    yield "office in office.docx", zip_bytes({**package("docx"), "word/embeddings/a.docx": inner})
    data = inner
    for _ in range(6):
        data = zip_bytes({"a.zip": data})
    yield "six deep.zip", data
    yield "six deep.docx", zip_bytes({**package("docx"), "a.zip": data})
    twice = io.BytesIO()
    with zipfile.ZipFile(twice, "w") as archive, pytest.warns(UserWarning):
        for text in ("first", "second"):
            archive.writestr("word/document.xml", WORD % text)
    yield "same name twice.docx", twice.getvalue()
    liar = bytearray(zip_bytes({"word/document.xml": WORD % ("words " * 50_000)}))
    for signature, offset in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        at = liar.index(signature) + offset
        liar[at : at + 4] = struct.pack("<I", 50)
    yield "wrong size.docx", bytes(liar)
