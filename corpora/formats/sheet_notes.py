"""What a sheet of Excel holds beyond its cells: comments, text boxes, diagrams, titles of charts, boxes of forms.

Openpyxl reads comments only without its mode for large files, and text boxes and controls not at all: so the
parts that a sheet is related to are read here.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Block, comment
from ragweave.corpora.formats.charts import C, tables
from ragweave.corpora.formats.ooxml import A, R, attribute, relations, unread
from ragweave.corpora.formats.smartart import RELATION, diagram
from ragweave.corpora.formats.symbols import TICKED, UNTICKED, shown
from ragweave.corpora.pages import PAGE_NUMBER

_DRAWING = "{http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing}"
_COMPATIBLE = "{http://schemas.microsoft.com/office/drawing/2010/main}compatExt"
_CONTROL = "{urn:schemas-microsoft-com:office:excel}"
_VML = "{urn:schemas-microsoft-com:vml}"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_PICTURES, _LISTS = ("picture", "pictures"), ("list of choices", "lists of choices")
_THREADED = re.compile(r"\A\[Threaded comment\].*?\n\s*(?:Comment|\w+):\s*\n", re.S)
_EDGE = re.compile(r'&(?:"[^"]*"|K[0-9A-F]{6}|K\d\d[+-]\d{3}|\d{1,3}|[A-Z])', re.I)
_MOST = 10_000
"""Comments and shapes of a sheet that are read."""


def beyond_cells(archive: Archive, part: str, left: Counter[tuple[str, str]]) -> list[Block]:
    """Return what a sheet holds beyond its cells, each with its row; what is not read is counted in `left`."""
    related = relations(archive, part)
    parts = [(kind, target) for kind, target in related.values() if archive.has(target)]
    out: list[Block] = []
    threaded = [
        block for kind, target in parts if kind == "threadedComment" for block in _threads(archive, target)
    ]
    places = {place for place, _ in threaded}
    for kind, target in parts:
        if kind == "comments":
            out += (block for place, block in _comments(archive, target) if place not in places)
        elif kind == "drawing":
            out += _drawing(archive, target, left)
        elif kind == "vmlDrawing":
            out += _controls(archive, target, left)
    blocks = sorted([*(block for _, block in threaded), *out], key=lambda b: b.line)
    if len(blocks) > _MOST:
        left["comment or shape", "comments and shapes"] += len(blocks) - _MOST
    return blocks[:_MOST]


def edges(said: list[str]) -> list[Block]:
    """Return the headers and footers of a sheet, once each, without page numbers and names of files."""
    lines: dict[str, None] = {}
    for text in said:
        for piece in re.split(r"&[LCR]|\n", text.replace("&&", "\0")):
            line = " ".join(_EDGE.sub(" ", piece).replace("\0", "&").split())
            if any(map(str.isalpha, line)) and not PAGE_NUMBER.fullmatch(line) and not _is_count(piece, line):
                lines.setdefault(line)
    return [Block("\n".join(lines), "text")] if lines else []


def _is_count(piece: str, line: str) -> bool:
    """Tell a line that only counts pages: what it says beside their numbers is a word or two."""
    return bool(re.search(r"&[PN]", piece)) and len(line.split()) <= 2


def _threads(archive: Archive, part: str) -> Iterator[tuple[str, Block]]:
    """Yield the comments of the newer kind with their cells; a reply follows what it answers."""
    names: dict[str, str] = {}
    for name in archive.names:
        if name.startswith("xl/persons/") and name.endswith(".xml"):
            names.update((p.get("id") or "", p.get("displayName") or "") for p in archive.xml(name))
    for said in archive.xml(part).iter("{*}threadedComment"):
        text = _lines(said.findtext("{*}text") or "")
        if text:
            place = said.get("ref") or ""
            yield place, _comment(text, names.get(said.get("personId") or "", ""), place)


def _comments(archive: Archive, part: str) -> Iterator[tuple[str, Block]]:
    root = archive.xml(part)
    authors = [" ".join((a.text or "").split()) for a in root.iter("{*}author")]
    for said in root.iter("{*}comment"):
        at = said.get("authorId") or ""
        author = authors[int(at)] if at.isdecimal() and int(at) < len(authors) else ""
        runs = (t for t in said.iter("{*}t") if not t.getparent().tag.endswith("}rPh"))
        text = "".join(_shown(t) for t in runs)
        text = _lines(_THREADED.sub("", text)).removeprefix(f"{author}:").strip() if author else _lines(text)
        author = "" if author.startswith("tc=") else author
        if text:
            place = said.get("ref") or ""
            yield place, _comment(text, author, place)


def _shown(text: Any) -> str:
    look = text.getparent().find("{*}rPr")
    return shown(text.text or "", "" if look is None else attribute(look, "{*}rFont", "val"))


def _comment(text: str, author: str, place: str) -> Block:
    row = int("".join(filter(str.isdecimal, place)) or 0)
    return Block(comment(text, f"{author or 'a reader'} on {place}"), "text", line=row)


def _lines(text: str) -> str:
    return "\n".join(filter(None, (" ".join(line.split()) for line in text.splitlines())))


def _drawing(archive: Archive, part: str, left: Counter[tuple[str, str]]) -> Iterator[Block]:
    """Yield the text of shapes and diagrams, and the titles of charts: their figures stand in cells."""
    related = relations(archive, part)
    left.update(unread(archive, (part,)))
    for element in archive.xml(part).iter(f"{_DRAWING}sp", f"{_DRAWING}pic", RELATION, f"{C}chart"):
        if next(element.iterancestors(_FALLBACK), None) is not None:
            continue
        row = _row(element)
        if element.tag == f"{_DRAWING}pic":
            told = element.find(f"{_DRAWING}nvPicPr/{_DRAWING}cNvPr")
            left[_PICTURES] += 1
            if told is not None and (alt := _lines(told.get("descr") or "")):
                yield Block(f"Picture: {alt}", "text", line=row)
        elif element.tag == f"{_DRAWING}sp":
            # A control has its text in the older drawing, with its state.
            if next(element.iter(_COMPATIBLE), None) is None and (text := _text(element)):
                yield Block(text, "text", line=row)
        else:
            id = element.get(f"{R}id") or element.get(f"{R}dm") or ""
            _, target = related.get(id, ("", ""))
            if archive.has(target):
                root = archive.xml(target)
                titled = (b for b in tables(root, 0, []) if b.kind == "text")
                found = diagram(root) if element.tag == RELATION else titled
                yield from (Block(b.text, b.kind, line=row) for b in found)


def _row(element: Any) -> int:
    """Return the row where a shape stands, 1-based."""
    found = (a.findtext(f"{_DRAWING}from/{_DRAWING}row") for a in element.iterancestors())
    said = next((row for row in found if row), "")
    return int(said) + 1 if said.isdecimal() and len(said) < 9 else 0


def _text(shape: Any) -> str:
    return "\n".join(
        line
        for paragraph in shape.iter(f"{A}p")
        if (line := " ".join("".join(_said(t) for t in paragraph.iter(f"{A}t")).split()))
    )


def _said(text: Any) -> str:
    look = text.getparent().find(f"{A}rPr")
    font = attribute(look, f"{A}sym", "typeface") or attribute(look, f"{A}latin", "typeface")
    return shown(text.text or "", font)


def _controls(archive: Archive, part: str, left: Counter[tuple[str, str]]) -> Iterator[Block]:
    """Yield the boxes of a form with their marks, and the text of older text boxes."""
    for shape in archive.xml(part, recover=True).iter(f"{_VML}shape"):
        data = shape.find(f"{_CONTROL}ClientData")
        if data is None:
            continue
        kind, box = data.get("ObjectType"), shape.find(f"{_VML}textbox")
        text = "" if box is None else " ".join("".join(box.itertext()).split())
        anchor = (data.findtext(f"{_CONTROL}Anchor") or "").split(",")
        row = int(anchor[2]) + 1 if len(anchor) > 2 and anchor[2].strip().isdecimal() else 0
        if kind in ("Checkbox", "Radio"):
            is_on = (data.findtext(f"{_CONTROL}Checked") or "0").strip() in ("1", "2")
            yield Block(f"{TICKED if is_on else UNTICKED} {text}".strip(), "text", line=row)
        elif kind in ("Drop", "List"):
            left[_LISTS] += 1
        elif kind not in ("Note", "Pict", "Scroll", "Spin", "Button") and text:
            yield Block(text, "text", line=row)
