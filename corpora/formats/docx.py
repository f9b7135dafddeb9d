"""Word: headings by style, lists, tables and notes, read from the zip itself within its budget.

Python-docx leaves out what was inserted under tracking, content controls, text boxes and notes, and refuses a file that
lacks one of its pictures: so the parts are read here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Block, Figure, Parsed, captioned
from ragweave.corpora.formats.ooxml import A, R, W, attribute, core, relations

_STYLE = re.compile(r"(?:heading|überschrift|titre|título|titolo|kop|标题|見出し)\s*([1-6])", re.I)
_TITLE_STYLES = ("title", "titel", "titre", "título", "titolo", "标题", "表題")
_SKIPPED = frozenset(f"{W}{tag}" for tag in ("del", "moveFrom", "instrText", "delText", "rPr", "pPr"))
_ALTERNATE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_BREAKS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}


def parse(path: Path) -> Parsed:
    """Read a Word document (.docx): body, text boxes, footnotes and endnotes; deleted text is left out."""
    with Archive(path) as archive:
        main = "word/document.xml"
        related = relations(archive, main)
        parts = {kind: target for kind, target in related.values() if archive.has(target)}
        pictures = {i: target for i, (kind, target) in related.items() if kind == "image" and archive.has(target)}
        document = _Document(archive, parts, pictures)
        blocks = list(document.blocks(archive.xml(main)))
        for kind in ("footnotes", "endnotes"):
            if kind in parts:
                blocks += document.notes(archive.xml(parts[kind]))
        properties = core(archive)
    headings = [b for b in blocks if b.kind == "heading" and b.level == 1]
    title = properties.title or document.title or (headings[0].text if headings else "")
    return Parsed(
        title,
        tuple(blocks),
        properties.date,
        properties.author,
        properties.language,
        figures=tuple(captioned(document.figures, blocks)),
    )


class _Document:
    """Styles and numbering of one document, and the walk over its body."""

    def __init__(self, archive: Archive, parts: dict[str, str], pictures: dict[str, str]) -> None:
        self.title = ""
        self.figures: list[Figure] = []
        self._pictures = pictures
        self._count = 0
        self._levels: dict[str, int] = {}
        self._listed: set[str] = set()
        if "styles" in parts:
            self._read_styles(archive.xml(parts["styles"]))

    def _read_styles(self, root: Any) -> None:
        styles = {s.get(f"{W}styleId") or "": s for s in root.iter(f"{W}style")}
        for key in styles:
            seen: set[str] = set()
            at = key
            while at in styles and at not in seen:
                seen.add(at)
                level = _own_level(styles[at])
                if level is not None and key not in self._levels:
                    self._levels[key] = level
                if styles[at].find(f"{W}pPr/{W}numPr") is not None:
                    self._listed.add(key)
                at = attribute(styles[at], f"{W}basedOn", f"{W}val")

    def blocks(self, root: Any) -> Iterator[Block]:
        """Yield the blocks of the body; list paragraphs that follow each other are one list."""
        for block in self._found(root):
            self._count += 1
            yield block

    def _found(self, root: Any) -> Iterator[Block]:
        listed: list[str] = []
        for element in _paragraphs_and_tables(root):
            self._take_figures(element, self._count + bool(listed))
            if element.tag == f"{W}tbl":
                block = _table(element)
            else:
                text = _text(element)
                level = self._level(element)
                if not text:
                    continue
                if level is None and (depth := self._list_depth(element)) is not None:
                    listed.append("  " * depth + "- " + text.replace("\n", " "))
                    continue
                if level == 0:
                    self.title = self.title or text
                block = Block(text, "text") if level is None else self._heading(text, level)
            if listed:
                yield Block("\n".join(listed), "list")
                listed = []
            if block.text.strip():
                yield block
        if listed:
            yield Block("\n".join(listed), "list")

    def _take_figures(self, element: Any, at: int) -> None:
        """Note the pictures of a paragraph or table; those in text boxes come with the paragraphs there."""
        for drawing in element.iter(f"{W}drawing"):
            if element.tag == f"{W}p" and next(drawing.iterancestors(f"{W}p")) is not element:
                continue
            blip = next(drawing.iter(f"{A}blip"), None)
            part = self._pictures.get("" if blip is None else blip.get(f"{R}embed") or "")
            if part:
                told = next((e for e in drawing.iter() if e.tag.endswith("}docPr")), None)
                alt = "" if told is None else told.get("descr") or told.get("title") or ""
                self.figures.append(Figure(part, at, alt=" ".join(alt.split())))

    def notes(self, root: Any) -> list[Block]:
        """Return the text of footnotes or endnotes, one block each; separators have a type and are left out."""
        found = [n for n in root if not n.get(f"{W}type")]
        texts = ["\n".join(t for p in n.iter(f"{W}p") if (t := _text(p))) for n in found]
        return [Block(t, "text") for t in texts if t]

    def _heading(self, text: str, level: int) -> Block:
        """Return a heading; under a title (level 0) all others move one level down."""
        return Block(text.replace("\n", " "), "heading", min(6, level + bool(self.title)))

    def _level(self, paragraph: Any) -> int | None:
        """Return the heading level, 0 for the title, None for ordinary paragraphs."""
        outline = attribute(paragraph, f"{W}pPr/{W}outlineLvl", f"{W}val")
        if outline.isdigit() and int(outline) < 6:
            return int(outline) + 1
        return self._levels.get(attribute(paragraph, f"{W}pPr/{W}pStyle", f"{W}val"))

    def _list_depth(self, paragraph: Any) -> int | None:
        numbering = paragraph.find(f"{W}pPr/{W}numPr")
        style = attribute(paragraph, f"{W}pPr/{W}pStyle", f"{W}val")
        if numbering is None and style not in self._listed:
            return None
        if numbering is not None and attribute(numbering, f"{W}numId", f"{W}val") == "0":
            return None
        depth = attribute(paragraph, f"{W}pPr/{W}numPr/{W}ilvl", f"{W}val")
        return min(int(depth), 8) if depth.isdigit() else 0


def _own_level(style: Any) -> int | None:
    """Return the heading level a style itself sets: by outline level, else by its built-in name."""
    outline = attribute(style, f"{W}pPr/{W}outlineLvl", f"{W}val")
    if outline.isdigit() and int(outline) < 6:
        return int(outline) + 1
    name = attribute(style, f"{W}name", f"{W}val").lower()
    if name in _TITLE_STYLES:
        return 0
    m = _STYLE.match(name)
    return int(m[1]) if m else None


def _paragraphs_and_tables(root: Any) -> Iterator[Any]:
    """Yield paragraphs and outermost tables in reading order, those in content controls and text boxes included."""
    stack = [root]
    while stack:
        element = stack.pop()
        if element.tag in (f"{W}p", f"{W}tbl"):
            yield element
        if element.tag == f"{W}tbl" or element.tag in _SKIPPED or element.tag == _ALTERNATE:
            continue
        stack.extend(reversed(element))


def _text(paragraph: Any) -> str:
    """Return a paragraph's text; text boxes inside it are paragraphs of their own."""
    out: list[str] = []
    stack = list(reversed(paragraph))
    while stack:
        element = stack.pop()
        if element.tag == f"{W}t":
            out.append(element.text or "")
        elif element.tag in _BREAKS:
            out.append(_BREAKS[element.tag])
        elif element.tag not in _SKIPPED and element.tag not in (f"{W}p", f"{W}tbl", _ALTERNATE):
            stack.extend(reversed(element))
    lines = [" ".join(line.split()) for line in "".join(out).split("\n")]
    return "\n".join(line for line in lines if line)


def _table(table: Any) -> Block:
    """One line per row; the first row is the header unless the table has a single row."""
    rows = []
    for row in table.iter(f"{W}tr"):
        cells = [" ".join(t for p in cell.iter(f"{W}p") if (t := _text(p))) for cell in row.iterchildren(f"{W}tc")]
        if any(cells):
            rows.append(" | ".join(c.replace("\n", " ") for c in cells))
    return Block("\n".join(rows), "table", level=1 if len(rows) > 1 else 0)
