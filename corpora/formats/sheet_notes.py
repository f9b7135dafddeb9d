"""Read the comments, text boxes, diagrams, chart titles and form controls of an Excel sheet.

Openpyxl does not read comments in its mode for large files, and text boxes and controls not at all. So the
parts related to a sheet are read here.
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
    """Return the texts of a sheet outside its cells, each with its row; `left` counts what is not read."""
    related = relations(archive, part)
    parts = [(kind, target) for kind, target in related.values() if archive.has(target)]
    blocks: list[Block] = []
    places: set[str] = set()
    for kind, target in parts:
        if kind == "threadedComment":
            for place, block in _threads(archive, target):
                places.add(place)
                blocks.append(block)
    for kind, target in parts:
        if kind == "comments":
            for place, block in _comments(archive, target):
                if place not in places:
                    blocks.append(block)
        elif kind == "drawing":
            blocks += _drawing(archive, target, left)
        elif kind == "vmlDrawing":
            blocks += _controls(archive, target, left)
    blocks.sort(key=lambda block: block.line)
    if len(blocks) > _MOST:
        left["comment or shape", "comments and shapes"] += len(blocks) - _MOST
    return blocks[:_MOST]


def edges(texts: list[str]) -> list[Block]:
    """Return the headers and footers of a sheet, once each, without page numbers and names of files."""
    lines: dict[str, None] = {}
    for text in texts:
        for piece in re.split(r"&[LCR]|\n", text.replace("&&", "\0")):
            line = " ".join(_EDGE.sub(" ", piece).replace("\0", "&").split())
            if any(map(str.isalpha, line)) and not PAGE_NUMBER.fullmatch(line) and not _is_count(piece, line):
                lines.setdefault(line)
    return [Block("\n".join(lines), "text")] if lines else []


def _is_count(piece: str, line: str) -> bool:
    """Return whether a line only counts pages: it has at most two words and the numbers."""
    return bool(re.search(r"&[PN]", piece)) and len(line.split()) <= 2


def _threads(archive: Archive, part: str) -> Iterator[tuple[str, Block]]:
    """Yield the comments of the newer kind with their cells; a reply follows the comment that it answers."""
    names: dict[str, str] = {}
    for name in archive.names:
        if name.startswith("xl/persons/") and name.endswith(".xml"):
            for person in archive.xml(name):
                names[person.get("id") or ""] = person.get("displayName") or ""
    for note in archive.xml(part).iter("{*}threadedComment"):
        text = _lines(note.findtext("{*}text") or "")
        if text:
            place = note.get("ref") or ""
            yield place, _comment(text, names.get(note.get("personId") or "", ""), place)


def _comments(archive: Archive, part: str) -> Iterator[tuple[str, Block]]:
    """Yield the comments of the older kind with their cells."""
    root = archive.xml(part)
    authors = [" ".join((author.text or "").split()) for author in root.iter("{*}author")]
    for note in root.iter("{*}comment"):
        at = note.get("authorId") or ""
        author = authors[int(at)] if at.isdecimal() and int(at) < len(authors) else ""
        text = ""
        for run in note.iter("{*}t"):
            if not run.getparent().tag.endswith("}rPh"):
                text += _shown(run)
        if author:
            text = _lines(_THREADED.sub("", text)).removeprefix(f"{author}:").strip()
        else:
            text = _lines(text)
        if text:
            place = note.get("ref") or ""
            yield place, _comment(text, "" if author.startswith("tc=") else author, place)


def _shown(text: Any) -> str:
    look = text.getparent().find("{*}rPr")
    return shown(text.text or "", "" if look is None else attribute(look, "{*}rFont", "val"))


def _comment(text: str, author: str, place: str) -> Block:
    row = int("".join(filter(str.isdecimal, place)) or 0)
    return Block(comment(text, f"{author or 'a reader'} on {place}"), "text", line=row)


def _lines(text: str) -> str:
    lines = [" ".join(line.split()) for line in text.splitlines()]
    return "\n".join(filter(None, lines))


def _drawing(archive: Archive, part: str, left: Counter[tuple[str, str]]) -> Iterator[Block]:
    """Yield the text of shapes and diagrams, and the titles of charts, whose figures are in cells."""
    related = relations(archive, part)
    left.update(unread(archive, (part,)))
    for element in archive.xml(part).iter(f"{_DRAWING}sp", f"{_DRAWING}pic", RELATION, f"{C}chart"):
        if next(element.iterancestors(_FALLBACK), None) is not None:
            continue
        row = _row(element)
        if element.tag == f"{_DRAWING}pic":
            left[_PICTURES] += 1
            names = element.find(f"{_DRAWING}nvPicPr/{_DRAWING}cNvPr")
            alt = "" if names is None else _lines(names.get("descr") or "")
            if alt:
                yield Block(f"Picture: {alt}", "text", line=row)
        elif element.tag == f"{_DRAWING}sp":
            text = _text(element)
            # The text of a control is in the older drawing, with its state.
            if text and next(element.iter(_COMPATIBLE), None) is None:
                yield Block(text, "text", line=row)
        else:
            _, target = related.get(element.get(f"{R}id") or element.get(f"{R}dm") or "", ("", ""))
            if archive.has(target):
                for block in _graphic(archive.xml(target), is_diagram=element.tag == RELATION):
                    yield Block(block.text, block.kind, line=row)


def _graphic(root: Any, *, is_diagram: bool) -> list[Block]:
    """Return the texts of a diagram, or the title of a chart."""
    if is_diagram:
        return list(diagram(root))
    titles: list[Block] = []
    for block in tables(root, 0, []):
        if block.kind == "text":
            titles.append(block)
    return titles


def _row(element: Any) -> int:
    """Return the row of a shape, 1-based, 0 if it states none."""
    for holder in element.iterancestors():
        row = holder.findtext(f"{_DRAWING}from/{_DRAWING}row")
        if row:
            return int(row) + 1 if row.isdecimal() and len(row) < 9 else 0
    return 0


def _text(shape: Any) -> str:
    lines = []
    for paragraph in shape.iter(f"{A}p"):
        line = "".join(map(_drawn, paragraph.iter(f"{A}t")))
        lines.append(" ".join(line.split()))
    return "\n".join(filter(None, lines))


def _drawn(text: Any) -> str:
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
