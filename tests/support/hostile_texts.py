"""Hostile text, tables, mail and notebooks."""

from __future__ import annotations

import json
import os

from ragweave.tests.support.hostile_packages import zip_bombs
from ragweave.tests.support.hostile_parts import PAGE, SHEET, Files, mail, package
from ragweave.tests.support.zips import zip_bytes


def sparse() -> Files:
    for name in ("x.txt", "x.pdf", "x.json", "x.docx", "x.eml"):
        yield f"{name}.sparse", b""


def zeros() -> Files:
    for kind in ("md", "txt", "csv", "json", "html", "eml", "rst", "py"):
        yield f"between.{kind}", b"Plain\0 words\0" * 200
        yield f"only.{kind}", b"\0" * 5_000


def names() -> Files:
    for name in (
        "\u202egpj.md", "two\nlines.md", "\x1b[2Jscreen.md", "'; DROP TABLE items; --.md", "<script>.md",
        "%00.md", "x" * 240 + ".md", "🌊🌊.md", "a\u0301\u0301.md", " space .md", "-rf.md",
        "$(touch evil).md", "..md", "CON.md", "a:b.md", "\u200b.md",
    ):  # fmt: skip
        yield name, f"# Title\n\nPlain words of {len(name)}.".encode()


def bait() -> Files:
    texts = {
        "dots.md": "." * 100_000 + "a",
        "brackets.md": "[" * 15_000,
        "backticks.md": "".join(["`" * n + " " for n in range(400)]),
        "comment.md": "<!--" * 50_000,
        "links.md": "[a](" * 8_000,
        "front.md": "---\n" + "a: b\n" * 15_000,
        "table.md": "|" * 50_000 + "\n" + "|-" * 25_000,
        "roles.rst": ":" * 100_000,
        "stars.rst": "*a " * 3_000,
        "underline.txt": "a\n" + "=" * 100_000,
        "numbers.txt": "1." * 50_000 + "\n\nx",
        "spaces.txt": "a" + " " * 200_000 + "b",
        "tags.html": "<html><body>" + "<p " * 50_000,
        "entities.html": "<html><body><p>" + "&amp;" * 50_000,
        "headers.eml": "Subject: " + "=?utf-8?q?a?= " * 20_000 + "\nFrom: a@b\nTo: b@c\n\nwords",
        "quotes.csv": '"' * 200_001 + ",x\n",
    }
    for name, text in texts.items():
        yield name, text.encode()


def encodings() -> Files:
    yield "utf-16 without mark.txt", "Plain words of a text. ".encode("utf-16-le") * 40
    yield "utf-32.txt", ("Plain words. " * 40).encode("utf-32")
    yield "broken utf-8.txt", b"Plain words \xff\xfe\xc3 and \xed\xa0\x80 more. " * 40
    yield "gb18030.txt", ("长安城的大雁塔建于唐朝。" * 40).encode("gb18030")
    yield "utf-7.html", b"<html><meta charset=utf-7><body>+ADw-script+AD4- plain words</body></html>"
    yield (
        "liar.xml.html",
        b'<?xml version="1.0" encoding="ebcdic-cp-us"?><html><body><p>Plain words</p></body></html>',
    )
    yield "surrogates.json", b'{"a": "\\ud800 plain words \\udfff"}'
    yield "surrogates.html", b"<html><body><p>&#xD800; &#x110000; &#0; plain words</p></body></html>"
    yield "combining.txt", ("a" + "\u0301" * 500_000).encode()
    yield "direction.txt", ("\u202e" * 100_000 + "words").encode()


def tables() -> Files:
    yield "wide.csv", b"a," * 1_000_000 + b"\n1\n"
    yield "open quote.csv", b'a,b\n"' + b"x,y\n" * 100_000
    yield "formula.csv", b"name,value\n=cmd|' /C calc'!A0,@SUM(1)\n" * 20
    yield "long field.csv", b"a,b\n" + b"x" * 5_000_000 + b",y\n"
    words, sheets = SHEET % "words", "</sheetData>"
    for name, sheet in {
        "dimension": words.replace("<sheetData>", '<dimension ref="A1:XFD1048576"/><sheetData>'),
        "far cell": words.replace('r="A1"', 'r="XFD1048576"'),
        "no string": (
            words.replace('t="inlineStr"', 't="s"').replace("<is><t>words</t></is>", "<v>999999999</v>")
        ),
        "merged": words.replace(sheets, sheets + '<mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>'),
    }.items():
        yield f"{name}.xlsx", zip_bytes({**package("xlsx"), "xl/worksheets/sheet1.xml": sheet})


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
    yield "archive.txt", zip_bytes({"a.txt": "words"})
    yield "tape.json", b"\x1f\x8b\x08" + os.urandom(500)
    yield "noise.html", os.urandom(5_000)
    yield "old office.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 3_000
    yield "page.pdf", (PAGE % "Plain words in a page.").encode()
    yield "rich.txt", b"{\\rtf1 " + b"{\\b " * 10_000
    yield "playlist.txt", b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n"


def notebooks() -> Files:
    def book(cell: object) -> bytes:
        return json.dumps({"nbformat": 4, "metadata": {}, "cells": [cell]}).encode()

    printed = {"output_type": "stream", "name": "stdout", "text": "x " * 5_000_000}
    yield "output.ipynb", book({"cell_type": "code", "source": "1", "outputs": [printed]})
    yield "types.ipynb", book({"cell_type": 7, "source": {"a": 1}, "outputs": "none"})
    yield "cells.ipynb", json.dumps({"nbformat": 4, "metadata": [], "cells": {"a": 1}}).encode()
    yield "numbers.ipynb", book({"cell_type": "markdown", "source": [1, None, True]})
    yield "big number.ipynb", b'{"nbformat": ' + b"9" * 100_000 + b', "cells": []}'


def long_lines() -> Files:
    yield "one line.txt", b"word " * 8_000_000
    yield "no space.txt", b"x" * 20_000_000
    yield "no space 天.txt", "天".encode() * 3_000_000
    yield "lines.txt", b"a\n" * 2_000_000
    yield "headings.md", b"# a\n\nb\n\n" * 100_000
