"""Files that are nearly sound: those of `corpus` and small ones of every format, changed in a few places."""

# ruff: noqa: E501 - what is inserted is easier to read on long lines

from __future__ import annotations

import io
import re
import zipfile
from functools import cache
from pathlib import Path

from hypothesis import strategies as st

from ragweave.tests.support.hostile_parts import samples
from ragweave.tests.support.zips import zip_bytes

CORPUS = Path(__file__).with_name("corpus")
"""Text files as they are, packages as folders of their parts, and what once broke a reader."""
PACKED = (".docx", ".xlsx", ".pptx", ".epub")
_TOKENS = [t.encode("utf-8", "surrogatepass") for t in (
    "\0", "<", ">", "</", "<!--", "]]>", "<![CDATA[", "&#xD800;", "&#0;", "&nbsp;", '"', "'", "\\", "\\ud800", "{", "[", "]", "}", ",", ";", ":",
    "|", "---\n", "===", "```", "~~~", "$$", "[^1]:", "![](", "\t", "\n", "\r", "\r\n\r\n", "\n" * 50, " " * 500, "\u202e", "\u2028", "\ufeff",
    "e\u0301" * 30, "\ud800", "🌊", "-1", "0", "1e999", "NaN", "null", "true", "9" * 40, "-00:00:01.000", "99:99:99.999 --> ", "-->", "2019-02-30",
    '<td rowspan="99999999" colspan="-1">', "<table>" * 30, "<svg>", "<base href='//x'>", "%PDF-1.7\n", "endobj", "endstream", "/Length -1", "/Kids [1 0 R]",
    "<< " * 200, "[" * 500, "<w:p>", '<w:gridSpan w:val="999999999"/>', '<w:ilvl w:val="-3"/>', 'r="A99999999"', 't="s"', "=?utf-8?b?//8=?=",
    "Content-Transfer-Encoding: base64\n", "charset=utf-7", "--b1\n", ".. include:: /etc/passwd\n", ".. csv-table::\n", "+--+\n|", "A" * 5000,
)] + [b"\xff\xfe", b"\xfe\xff", b"\xc3", b"\xed\xa0\x80", b"\x1f\x8b\x08", b"PK\x03\x04", b"\x89PNG\r\n\x1a\n", b"\x7f" * 9]  # fmt: skip
_NUMBER = re.compile(rb"\d+")
_NUMBERS = (
    b"0",
    b"-1",
    b"1",
    b"255",
    b"65536",
    b"2147483648",
    b"18446744073709551616",
    b"1e308",
    b"0.0000001",
)


@cache
def sound() -> dict[str, bytes]:
    """Return the files that are changed, by name."""
    found = {p.name: p.read_bytes() for p in sorted(CORPUS.iterdir()) if p.is_file()}
    for folder in (p for p in sorted(CORPUS.iterdir()) if p.is_dir()):
        parts = {
            p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()
        }
        found[folder.name] = zip_bytes(parts)
    return found | samples() | _office() | _pictures()


def _office() -> dict[str, bytes]:
    from datetime import date

    from openpyxl import Workbook
    from pptx import Presentation
    from pptx.util import Inches

    book, sheets = Workbook(), io.BytesIO()
    sheet = book.active
    for row in (
        ["Costs"],
        ["name", "year", "cost"],
        ["Arnholt", date(1974, 10, 3), 12.5],
        ["Velmora", None, "=C3*2"],
    ):
        sheet.append(row)
    sheet.merge_cells("A1:C1")
    book.create_sheet("Second")["B2"] = True
    book.save(sheets)
    show, slides = Presentation(), io.BytesIO()
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "The ferry"
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(4), Inches(1)).table
    table.cell(0, 0).text, table.cell(1, 1).text = "from", "8:00"
    table.cell(0, 0).merge(table.cell(0, 1))
    slide.notes_slide.notes_text_frame.text = "Say that it sails four times a day."
    show.save(slides)
    return {"book.xlsx": sheets.getvalue(), "show.pptx": slides.getvalue()}


def _pictures() -> dict[str, bytes]:
    from PIL import Image

    made = {}
    for kind in ("png", "jpeg", "gif", "webp", "tiff", "bmp"):
        out = io.BytesIO()
        Image.new("RGB", (40, 30), (200, 40, 90)).save(out, kind)
        made[f"picture.{kind}"] = out.getvalue()
    return made


@st.composite
def files(draw: st.DrawFn) -> tuple[str, bytes]:
    """Draw a file: one of the sound ones with one to five changes, at times under the ending of another."""
    name = draw(st.sampled_from(sorted(sound())))
    data = sound()[name]
    if name.endswith(PACKED) and draw(st.integers(0, 9)):
        data = _repacked(draw, data)
    else:
        data = changed(draw, data)
    if draw(st.integers(0, 14)) == 0:
        name = f"x.{draw(st.sampled_from(sorted(sound()))).rpartition('.')[2]}"
    return name, data


def _repacked(draw: st.DrawFn, data: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {n: archive.read(n) for n in archive.namelist()}
    # What holds words is drawn more often than what says how they look.
    names = sorted(parts, key=lambda n: ("theme" in n or "Layout" in n, n))
    part = names[min(draw(st.integers(0, len(names) - 1)), draw(st.integers(0, len(names) - 1)))]
    if draw(st.integers(0, 11)) == 0:
        del parts[part]
    else:
        parts[part] = changed(draw, parts[part])
    return zip_bytes(parts)


def changed(draw: st.DrawFn, data: bytes) -> bytes:
    """Draw a few changes of some bytes."""
    for _ in range(draw(st.integers(1, 5))):
        at = draw(st.integers(0, len(data)))
        end = min(len(data), at + draw(st.sampled_from((1, 2, 5, 20, 100, 1000))))
        how = draw(st.sampled_from(("insert", "delete", "repeat", "flip", "number", "other", "cut")))
        if how == "insert":
            data = data[:at] + draw(st.sampled_from(_TOKENS)) + data[at:]
        elif how == "delete":
            data = data[:at] + data[end:]
        elif how == "repeat":
            data = data[:at] + data[at:end] * draw(st.sampled_from((2, 3, 30, 300))) + data[end:]
        elif how == "flip" and at < len(data):
            data = data[:at] + bytes([data[at] ^ 1 << draw(st.integers(0, 7))]) + data[at + 1 :]
        elif how == "number" and (found := _NUMBER.search(data, at)):
            data = data[: found.start()] + draw(st.sampled_from(_NUMBERS)) + data[found.end() :]
        elif how == "other":
            other = sound()[draw(st.sampled_from(sorted(sound())))]
            start = draw(st.integers(0, len(other)))
            data = data[:at] + other[start : start + 300] + data[at:]
        elif how == "cut" and draw(st.integers(0, 3)) == 0:
            data = data[:at]
    return data[: 2**20]
