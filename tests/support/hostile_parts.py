"""The parts that hostile files are made of: sound little files of every format."""

from __future__ import annotations

import json
from collections.abc import Iterator

from ragweave.tests.support.zips import zip_bytes

Files = Iterator[tuple[str, bytes]]
W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
WORD = f"<w:document {W}><w:body><w:p><w:r><w:t>%s</w:t></w:r></w:p></w:body></w:document>"
SHEET = (
    '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData><row r="1">'
    '<c r="A1" t="inlineStr"><is><t>%s</t></is></c></row></sheetData></worksheet>'
)
SLIDE = (
    '<p:sld xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" '
    'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main">'
    "<p:cSld><p:spTree><p:sp><p:txBody><a:p><a:r><a:t>%s</a:t>"
    "</a:r></a:p></p:txBody></p:sp></p:spTree></p:cSld></p:sld>"
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
        links = (
            f'<Relationships xmlns="{_P}"><Relationship Id="rId1" Type="{_R}/worksheet"'
            ' Target="worksheets/sheet1.xml"/></Relationships>'
        )
        return {
            "xl/workbook.xml": book,
            "xl/_rels/workbook.xml.rels": links,
            "[Content_Types].xml": (
                '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
                '<Default Extension="rels"'
                ' ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                '<Override PartName="/xl/workbook.xml"'
                ' ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>'
                '<Override PartName="/xl/worksheets/sheet1.xml"'
                ' ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/>'
                "</Types>"
            ),
            "_rels/.rels": (
                f'<Relationships xmlns="{_P}"><Relationship Id="r1" Type="{_R}/officeDocument"'
                ' Target="xl/workbook.xml"/></Relationships>'
            ),
            "xl/worksheets/sheet1.xml": before + SHEET % text,
        }
    if kind == "pptx":
        show = (
            '<p:presentation xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
            f' xmlns:r="{_R}"><p:sldIdLst><p:sldId id="256" r:id="rId1"/></p:sldIdLst></p:presentation>'
        )
        links = (
            f'<Relationships xmlns="{_P}"><Relationship Id="rId1" Type="{_R}/slide"'
            ' Target="slides/slide1.xml"/></Relationships>'
        )
        return {
            "ppt/presentation.xml": show,
            "ppt/_rels/presentation.xml.rels": links,
            "ppt/slides/slide1.xml": before + SLIDE % text,
        }
    return {
        "META-INF/container.xml": (
            '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
            '<rootfile full-path="c.opf"/></rootfiles></container>'
        ),
        "c.opf": (
            '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="a" href="a.xhtml" '
            'media-type="application/xhtml+xml"/></manifest><spine><itemref idref="a"/></spine></package>'
        ),
        "a.xhtml": before + PAGE % text,
    }


PACKAGES = ("docx", "xlsx", "pptx", "epub")


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
        b"<< /Type /Page /Parent 2 0 R /Contents 4 0 R "
        + resources
        + (page or b"/MediaBox [0 0 595 842]")
        + b" >>",
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
    head = f"From: a@example.org\nTo: b@example.org\nSubject: {subject}\n"
    out = f"{head}Date: Mon, 2 Jan 2023 10:00:00 +0000\n".encode()
    out += (
        b'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="=="\n\n--==\nContent-Type:'
        b" text/plain\n\nPlain words.\n"
    )
    kind = "Content-Type: application/octet-stream\nContent-Disposition: attachment; filename"
    for name, data in parts:
        out += f'--==\n{kind}="{name}"\n\n'.encode() + data + b"\n"
    return out + b"--==--\n"


NOTEBOOK = (
    '{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{"cell_type": "markdown", "metadata": {},'
    ' "source": ["# Plain words"]}]}'
)


def samples() -> dict[str, bytes]:
    """Return a sound file of each format."""
    return {
        **{f"s.{kind}": zip_bytes(package(kind, "Plain words. " * 50)) for kind in PACKAGES},
        "s.pdf": pdf(b"BT /F1 12 Tf 72 700 Td " + b"(Plain words.) Tj 0 -14 Td " * 30 + b" ET"),
        "s.eml": mail(("note.txt", b"Words in an attachment.")),
        "s.html": (PAGE % "<b>Plain</b> words.").encode() * 3,
        "s.json": json.dumps([{"name": "Plain words", "n": list(range(50))}] * 5).encode(),
        "s.ipynb": NOTEBOOK.encode(),
    }
