"""Read Word documents: headings by style, lists, tables and notes.

The parts are read directly from the zip, within its limits. Python-docx leaves out tracked insertions,
content controls, text boxes and notes, does not count numbered paragraphs, and refuses a file that lacks one
of its pictures.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

from ragweave.corpora.blocks import Block, Figure, Parsed, captioned, comment
from ragweave.corpora.formats.charts import C, tables
from ragweave.corpora.formats.docx_table import table_of
from ragweave.corpora.formats.docx_text import SKIPPED, is_unseen, text_of
from ragweave.corpora.formats.imported import imported
from ragweave.corpora.formats.numbering import FALLBACK, LABEL, MARK, Numbering
from ragweave.corpora.formats.ooxml import (
    A,
    Package,
    R,
    W,
    attribute,
    core,
    macros,
    not_read,
    relations,
    unread,
)
from ragweave.corpora.formats.smartart import RELATION, D, diagram
from ragweave.corpora.formats.symbols import UNKNOWN
from ragweave.corpora.pages import PAGE_NUMBER

_MAIN = "word/document.xml"
_STYLE = re.compile(r"(?:heading|überschrift|titre|título|titolo|kop|标题|見出し)\s*([1-6])", re.I)
_TITLE_STYLES = ("title", "titel", "titre", "título", "titolo", "标题", "表題")
_READ = (f"{W}p", f"{W}tbl", f"{W}altChunk")
_VML = "{urn:schemas-microsoft-com:vml}imagedata"


def parse(path: Path) -> Parsed:
    """Read a Word document (.docx): headers and footers, body, text boxes, notes and comments.

    Deleted text is left out.
    """
    with Package(path) as archive:
        related = relations(archive, _MAIN)
        document = _Document(archive, related)
        parts = document.parts
        main = archive.xml(_MAIN)
        document.read(main)
        hidden = _hidden_texts(main)
        if "comments" in parts:
            document.read_comments(archive.xml(parts["comments"]))
        for kind in ("footnotes", "endnotes"):
            if kind in parts:
                document.read_notes(archive.xml(parts[kind]))
        edges = _edges(related)
        document.read_edges(edges)
        properties = core(archive)
        left = unread(archive, (_MAIN, *edges)) + macros(archive)
    blocks = document.blocks
    for block in blocks:
        left["symbol of a font", "symbols of a font"] += block.text.count(UNKNOWN)
    return replace(
        properties,
        title=properties.title or document.title or document.top,
        blocks=tuple(blocks),
        figures=tuple(captioned(document.figures, blocks)),
        hidden=hidden,
        warnings=(*document.warnings[:10], *not_read(left)),
    )


def _hidden_texts(main: Any) -> tuple[str, ...]:
    """Return the texts of the runs that a reader cannot see."""
    texts = []
    for run in main.iter(f"{W}r"):
        if is_unseen(run):
            text = "".join(t.text or "" for t in run.iter(f"{W}t"))
            if text:
                texts.append(text)
    return tuple(texts)


def _edges(related: dict[str, tuple[str, str]]) -> list[str]:
    """Return the parts of headers and footers, each once: sections may share them."""
    edges: list[str] = []
    for kind, part in related.values():
        if kind in ("header", "footer") and part not in edges:
            edges.append(part)
    return edges


class _Document:
    """Collects the blocks and pictures of one document."""

    def __init__(self, archive: Package, related: dict[str, tuple[str, str]]) -> None:
        self.parts: dict[str, str] = {}
        """By type of relationship: the last part of that type that the file holds."""
        self._related: dict[str, tuple[str, str]] = {}
        for id, (kind, part) in related.items():
            if archive.has(part):
                self.parts[kind] = part
                self._related[id] = (kind, part)
        self.title = ""
        self.top = ""
        """The first heading of the first level, without its number."""
        self.warnings: list[str] = []
        self.blocks: list[Block] = []
        self.figures: list[Figure] = []
        self._archive = archive
        self._list: list[str] = []
        self._commented: dict[str, int] = {}
        """By comment: the number of blocks up to the end of the text that it comments on."""
        self._styles = self._read_styles()
        self._numbering: Numbering | None = None
        if "numbering" in self.parts:
            self._numbering = Numbering(archive.xml(self.parts["numbering"]), self._styles)

    def _read_styles(self) -> dict[str, Any]:
        """Return the styles by their ids."""
        styles: dict[str, Any] = {}
        if "styles" in self.parts:
            for style in self._archive.xml(self.parts["styles"]):
                if style.tag == f"{W}style":
                    styles[style.get(f"{W}styleId") or ""] = style
        return styles

    def read(self, root: Any) -> None:
        """Read the body; list paragraphs that follow each other are one list."""
        if self._numbering is not None:
            self._numbering.mark(root)
        for element in _paragraphs_and_tables(root):
            self._take_figures(element, self._count())
            if element.tag == f"{W}altChunk":
                _, part = self._related.get(element.get(f"{R}id") or "", ("", ""))
                self._add(*imported(self._archive, part, self.warnings))
            elif element.tag == f"{W}tbl":
                self._add(*table_of(element))
            else:
                text = text_of(element)
                if text:
                    self._paragraph(element, text)
            drawn = self._drawn(element)
            if drawn:
                self._add(*drawn)
            for mark in element.iter(f"{W}commentReference"):
                self._commented.setdefault(mark.get(f"{W}id") or "", self._count())
        self._add()

    def _count(self) -> int:
        """Return the number of blocks so far, with the open list."""
        return len(self.blocks) + bool(self._list)

    def read_notes(self, root: Any) -> None:
        """Read footnotes or endnotes, one block each; separators have a type and are left out."""
        for note in root:
            text = "" if note.get(f"{W}type") else _paragraphs_text(note)
            if text:
                self.blocks.append(Block(text, "text"))

    def read_comments(self, root: Any) -> None:
        """Add each comment as a block with its author, after the block that it comments on."""
        placed: list[tuple[int, Block]] = []
        for note in root.iter(f"{W}comment"):
            text = _paragraphs_text(note)
            if text:
                author = " ".join((note.get(f"{W}author") or "").split())
                at = self._commented.get(note.get(f"{W}id") or "", len(self.blocks))
                placed.append((at, Block(comment(text, author), "text")))
        before = sorted([at for at, _ in placed])
        for n, figure in enumerate(self.figures):
            moved = bisect_right(before, figure.at)
            self.figures[n] = replace(figure, at=figure.at + moved)
        placed += enumerate(self.blocks)
        placed.sort(key=lambda entry: entry[0])
        self.blocks = [block for _, block in placed]

    def read_edges(self, parts: Iterable[str]) -> None:
        """Add headers and footers before the body, each line once; no page numbers, no repeated headings."""
        seen: set[str] = set()
        for block in self.blocks:
            if block.kind == "heading":
                seen.add(block.text.casefold())
        lines: list[str] = []
        for part in parts:
            if not self._archive.has(part):
                continue
            for paragraph in self._archive.xml(part).iter(f"{W}p"):
                text = text_of(paragraph)
                key = text.casefold()
                if text and key not in seen and not PAGE_NUMBER.fullmatch(text):
                    seen.add(key)
                    lines.append(text)
        if lines:
            self.blocks.insert(0, Block("\n".join(lines), "text"))
            self.figures = [replace(f, at=f.at + 1) for f in self.figures]

    def _paragraph(self, element: Any, text: str) -> None:
        label = element.get(LABEL, "")
        styles = list(self._based_on(attribute(element, f"{W}pPr/{W}pStyle", f"{W}val")))
        level = _first_level((element, *styles))
        if level is not None:
            text = text.replace("\n", " ")
            if level == 0:
                self.title = self.title or text
            if level < 2:
                self.top = self.top or text
            # Under a title (level 0) all other headings move one level down.
            self._add(Block(f"{label} {text}".strip(), "heading", min(6, level + bool(self.title))))
        elif _is_listed(element, styles):
            depth = attribute(element, f"{W}pPr/{W}numPr/{W}ilvl", f"{W}val")
            indent = "  " * min(int(depth), 8) if depth.isdigit() else ""
            mark = label or element.get(MARK, "-")
            self._list.append(f"{indent}{mark} " + text.replace("\n", " "))
        else:
            self._add(Block(f"{label} {text}".strip(), "text"))

    def _based_on(self, style: str) -> Iterator[Any]:
        """Yield a style and those that it is based on."""
        seen: set[str] = set()
        while style in self._styles and style not in seen:
            seen.add(style)
            yield self._styles[style]
            style = attribute(self._styles[style], f"{W}basedOn", f"{W}val")

    def _add(self, *blocks: Block) -> None:
        if self._list:
            self.blocks.append(Block("\n".join(self._list), "list"))
            self._list = []
        for block in blocks:
            if block.text.strip():
                self.blocks.append(block)

    def _drawn(self, element: Any) -> list[Block]:
        """Return the figures of the charts and the texts of the diagrams in a paragraph or table."""
        blocks: list[Block] = []
        for found in element.iter(f"{C}chart", RELATION):
            if _is_inner(found, element) or _is_fallback(found):
                continue
            kind, part = self._related.get(found.get(f"{R}id") or found.get(f"{R}dm") or "", ("", ""))
            if kind == "chart":
                blocks += tables(self._archive.xml(part), 0, self.warnings)
            elif kind == "diagramData" and found.tag.startswith(D):
                blocks += diagram(self._archive.xml(part))
        return blocks

    def _take_figures(self, element: Any, at: int) -> None:
        """Add the pictures of a paragraph or table; those in text boxes come with the paragraphs there."""
        for drawing in element.iter(f"{W}drawing", f"{W}pict"):
            if _is_inner(drawing, element) or _is_fallback(drawing):
                continue
            shown = next(chain(drawing.iter(f"{A}blip"), drawing.iter(_VML)), None)
            id = "" if shown is None else shown.get(f"{R}embed") or shown.get(f"{R}id") or ""
            kind, part = self._related.get(id, ("", ""))
            if kind == "image":
                self.figures.append(Figure(part, at, alt=_alt(drawing)))


def _paragraphs_text(note: Any) -> str:
    """Return the paragraphs of a note that have text, one a line."""
    texts = map(text_of, note.iter(f"{W}p"))
    return "\n".join(filter(None, texts))


def _first_level(elements: Iterable[Any]) -> int | None:
    """Return the first heading level that a paragraph or its styles state, None if none does."""
    for element in elements:
        level = _level(element)
        if level is not None:
            return level
    return None


def _is_listed(element: Any, styles: Iterable[Any]) -> bool:
    """Return whether a paragraph is an item of a list, by itself or by its styles."""
    if element.find(f"{W}pPr/{W}numPr") is not None:
        return attribute(element, f"{W}pPr/{W}numPr/{W}numId", f"{W}val") != "0"
    for style in styles:
        if style.find(f"{W}pPr/{W}numPr") is not None:
            return True
    return False


def _alt(drawing: Any) -> str:
    """Return the alternative text of a drawing, or ""."""
    for element in drawing.iter():
        if element.tag.endswith("}docPr"):
            text = element.get("descr") or element.get("title") or ""
            return " ".join(text.split())
    return ""


def _is_fallback(drawing: Any) -> bool:
    """Return whether a drawing only repeats another one for older programs."""
    return next(drawing.iterancestors(FALLBACK), None) is not None


def _is_inner(drawing: Any, element: Any) -> bool:
    """Return whether a drawing belongs to a paragraph inside this paragraph, with which it is read."""
    return element.tag == f"{W}p" and next(drawing.iterancestors(f"{W}p"), None) is not element


def _level(element: Any) -> int | None:
    """Return the heading level that a paragraph or style states, 0 for the title, None for ordinary text."""
    outline = attribute(element, f"{W}pPr/{W}outlineLvl", f"{W}val")
    if outline.isdigit() and int(outline) < 6:
        return int(outline) + 1
    name = attribute(element, f"{W}name", f"{W}val").lower()
    if name in _TITLE_STYLES:
        return 0
    match = _STYLE.match(name)
    return int(match[1]) if match else None


def _paragraphs_and_tables(root: Any) -> Iterator[Any]:
    """Yield paragraphs, outermost tables and imported parts in reading order, also those in controls."""
    stack = [root]
    while stack:
        element = stack.pop()
        if element.tag in _READ:
            yield element
        if element.tag == f"{W}tbl" or element.tag in SKIPPED or element.tag == FALLBACK:
            continue
        stack.extend(reversed(element))
