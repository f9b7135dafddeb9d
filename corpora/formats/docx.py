"""Word: headings by style, lists, tables and notes, read from the zip itself within its budget.

Python-docx leaves out what was inserted under tracking, content controls, text boxes and notes, does not
count numbered paragraphs, and refuses a file that lacks one of its pictures: so the parts are read here.
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
    """Read a Word document (.docx): edges of its pages, body, text boxes, notes, comments; deleted text is left out."""
    with Package(path) as archive:
        related = relations(archive, _MAIN)
        parts = {kind: target for kind, target in related.values() if archive.has(target)}
        document = _Document(archive, related, parts)
        main = archive.xml(_MAIN)
        document.read(main)
        unseen = (
            "".join(t.text or "" for t in run.iter(f"{W}t")) for run in main.iter(f"{W}r") if is_unseen(run)
        )
        hidden = tuple(filter(None, unseen))
        if "comments" in parts:
            document.read_comments(archive.xml(parts["comments"]))
        for kind in ("footnotes", "endnotes"):
            if kind in parts:
                document.read_notes(archive.xml(parts[kind]))
        # Sections may share their headers and footers.
        edges = dict.fromkeys(part for kind, part in related.values() if kind in ("header", "footer"))
        document.read_edges(archive.xml(part) for part in edges if archive.has(part))
        properties = core(archive)
        left = unread(archive, (_MAIN, *edges)) + macros(archive)
    blocks = document.blocks
    left["symbol of a font", "symbols of a font"] = sum(b.text.count(UNKNOWN) for b in blocks)
    title, figures = (
        properties.title or document.title or document.top,
        tuple(captioned(document.figures, blocks)),
    )
    warnings = (*document.warnings[:10], *not_read(left))
    return replace(
        properties, title=title, blocks=tuple(blocks), figures=figures, hidden=hidden, warnings=warnings
    )


class _Document:
    """The walk over one document."""

    def __init__(self, archive: Package, related: dict[str, tuple[str, str]], parts: dict[str, str]) -> None:
        styles = archive.xml(parts["styles"]) if "styles" in parts else ()
        self.title = ""
        self.top = ""
        """The first heading of the first level, without its number."""
        self.warnings: list[str] = []
        self.blocks: list[Block] = []
        self.figures: list[Figure] = []
        self._archive = archive
        self._parts = {id: (kind, part) for id, (kind, part) in related.items() if archive.has(part)}
        self._list: list[str] = []
        self._commented: dict[str, int] = {}
        """By comment: how many blocks there are up to what it is on."""
        self._styles = {s.get(f"{W}styleId") or "": s for s in styles if s.tag == f"{W}style"}
        self._numbering = (
            Numbering(archive.xml(parts["numbering"]), self._styles) if "numbering" in parts else None
        )

    def read(self, root: Any) -> None:
        """Read the body; list paragraphs that follow each other are one list."""
        if self._numbering is not None:
            self._numbering.mark(root)
        for element in _paragraphs_and_tables(root):
            self._take_figures(element, len(self.blocks) + bool(self._list))
            if element.tag == f"{W}altChunk":
                _, part = self._parts.get(element.get(f"{R}id") or "", ("", ""))
                self._add(*imported(self._archive, part, self.warnings))
            elif element.tag == f"{W}tbl":
                self._add(*table_of(element))
            elif text := text_of(element):
                self._paragraph(element, text)
            if drawn := self._drawn(element):
                self._add(*drawn)
            for mark in element.iter(f"{W}commentReference"):
                self._commented.setdefault(mark.get(f"{W}id") or "", len(self.blocks) + bool(self._list))
        self._add()

    def read_notes(self, root: Any) -> None:
        """Read footnotes or endnotes, one block each; separators have a type and are left out."""
        found = [n for n in root if not n.get(f"{W}type")]
        texts = ["\n".join(t for p in n.iter(f"{W}p") if (t := text_of(p))) for n in found]
        self.blocks += [Block(t, "text") for t in texts if t]

    def read_comments(self, root: Any) -> None:
        """Put what readers noted, one block each with who did, behind what it is on."""
        told: list[tuple[int, Block]] = []
        for note in root.iter(f"{W}comment"):
            author = " ".join((note.get(f"{W}author") or "").split())
            said = "\n".join(t for p in note.iter(f"{W}p") if (t := text_of(p)))
            if said:
                at = self._commented.get(note.get(f"{W}id") or "", len(self.blocks))
                told.append((at, Block(comment(said, author), "text")))
        before = sorted(at for at, _ in told)
        self.figures = [replace(f, at=f.at + bisect_right(before, f.at)) for f in self.figures]
        self.blocks = [b for _, b in sorted([*told, *enumerate(self.blocks)], key=lambda placed: placed[0])]

    def read_edges(self, roots: Iterable[Any]) -> None:
        """Put the headers and footers before the body, once each; no page numbers, and nothing that is a heading."""
        said = {b.text.casefold() for b in self.blocks if b.kind == "heading"}
        lines: dict[str, str] = {}
        for text in (text_of(p) for root in roots for p in root.iter(f"{W}p")):
            if text and text.casefold() not in said and not PAGE_NUMBER.fullmatch(text):
                lines.setdefault(text.casefold(), text)
        if lines:
            self.blocks.insert(0, Block("\n".join(lines.values()), "text"))
            self.figures = [replace(f, at=f.at + 1) for f in self.figures]

    def _paragraph(self, element: Any, text: str) -> None:
        label = element.get(LABEL, "")
        styles = list(self._based_on(attribute(element, f"{W}pPr/{W}pStyle", f"{W}val")))
        level = next((n for e in (element, *styles) if (n := _level(e)) is not None), None)
        numbering = element.find(f"{W}pPr/{W}numPr")
        if numbering is None:
            listed = any(s.find(f"{W}pPr/{W}numPr") is not None for s in styles)
        else:
            listed = attribute(numbering, f"{W}numId", f"{W}val") != "0"
        if level is not None:
            text = text.replace("\n", " ")
            self.title = self.title or (text if level == 0 else "")
            self.top = self.top or (text if level < 2 else "")
            # Under a title (level 0) all other headings move one level down.
            self._add(Block(f"{label} {text}".strip(), "heading", min(6, level + bool(self.title))))
        elif listed:
            depth = attribute(element, f"{W}pPr/{W}numPr/{W}ilvl", f"{W}val")
            indent = "  " * (min(int(depth), 8) if depth.isdigit() else 0)
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
        self.blocks += [b for b in blocks if b.text.strip()]

    def _drawn(self, element: Any) -> list[Block]:
        """Return the figures of the charts and the texts of the diagrams that stand in a paragraph or table."""
        out: list[Block] = []
        for found in element.iter(f"{C}chart", RELATION):
            if _is_inner(found, element) or next(found.iterancestors(FALLBACK), None) is not None:
                continue
            kind, part = self._parts.get(found.get(f"{R}id") or found.get(f"{R}dm") or "", ("", ""))
            if kind == "chart":
                out += tables(self._archive.xml(part), 0, self.warnings)
            elif kind == "diagramData" and found.tag.startswith(D):
                out += diagram(self._archive.xml(part))
        return out

    def _take_figures(self, element: Any, at: int) -> None:
        """Note the pictures of a paragraph or table; those in text boxes come with the paragraphs there."""
        for drawing in element.iter(f"{W}drawing", f"{W}pict"):
            if _is_inner(drawing, element) or next(drawing.iterancestors(FALLBACK), None) is not None:
                continue
            shown = next(chain(drawing.iter(f"{A}blip"), drawing.iter(_VML)), None)
            id = "" if shown is None else shown.get(f"{R}embed") or shown.get(f"{R}id") or ""
            kind, part = self._parts.get(id, ("", ""))
            if kind == "image":
                told = next((e for e in drawing.iter() if e.tag.endswith("}docPr")), None)
                alt = "" if told is None else told.get("descr") or told.get("title") or ""
                self.figures.append(Figure(part, at, alt=" ".join(alt.split())))


def _is_inner(drawing: Any, element: Any) -> bool:
    """Tell what stands in a paragraph inside a paragraph: it comes with that one."""
    return element.tag == f"{W}p" and next(drawing.iterancestors(f"{W}p"), None) is not element


def _level(element: Any) -> int | None:
    """Return the heading level of a paragraph or style itself, 0 for the title, None for ordinary ones."""
    outline = attribute(element, f"{W}pPr/{W}outlineLvl", f"{W}val")
    if outline.isdigit() and int(outline) < 6:
        return int(outline) + 1
    name = attribute(element, f"{W}name", f"{W}val").lower()
    if name in _TITLE_STYLES:
        return 0
    m = _STYLE.match(name)
    return int(m[1]) if m else None


def _paragraphs_and_tables(root: Any) -> Iterator[Any]:
    """Yield paragraphs, outermost tables and imported parts in reading order, those in controls and boxes included."""
    stack = [root]
    while stack:
        element = stack.pop()
        if element.tag in _READ:
            yield element
        if element.tag == f"{W}tbl" or element.tag in SKIPPED or element.tag == FALLBACK:
            continue
        stack.extend(reversed(element))
