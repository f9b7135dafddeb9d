"""Word: headings by style, lists, tables and notes, read from the zip itself within its budget.

Python-docx leaves out what was inserted under tracking, content controls, text boxes and notes, and refuses a file that
lacks one of its pictures: so the parts are read here.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Block, Figure, Parsed, captioned, comment
from ragweave.corpora.formats.equation import M, equation
from ragweave.corpora.formats.merged import Cell, MergedTable, TableRow, first_row, spanned
from ragweave.corpora.formats.ooxml import A, R, W, attribute, core, relations
from ragweave.corpora.formats.superscript import around
from ragweave.corpora.pages import PAGE_NUMBER

_MAIN = "word/document.xml"
_TINY = 4
"""Half points of a font that nobody reads."""
_STYLE = re.compile(r"(?:heading|überschrift|titre|título|titolo|kop|标题|見出し)\s*([1-6])", re.I)
_TITLE_STYLES = ("title", "titel", "titre", "título", "titolo", "标题", "表題")
_SKIPPED = frozenset(f"{W}{tag}" for tag in ("del", "moveFrom", "instrText", "delText", "rPr", "pPr"))
_ALTERNATE = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_SCRIPTS = ("superscript", "subscript")
_BREAKS = {f"{W}tab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}


def parse(path: Path) -> Parsed:
    """Read a Word document (.docx): edges of its pages, body, text boxes, notes, comments; deleted text is left out."""
    with Archive(path) as archive:
        related = relations(archive, _MAIN)
        parts = {kind: target for kind, target in related.values() if archive.has(target)}
        pictures = {i: target for i, (kind, target) in related.items() if kind == "image" and archive.has(target)}
        document = _Document(archive.xml(parts["styles"]) if "styles" in parts else (), pictures)
        main = archive.xml(_MAIN)
        document.read(main)
        unseen = ("".join(t.text or "" for t in run.iter(f"{W}t")) for run in main.iter(f"{W}r") if _is_unseen(run))
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
    blocks = document.blocks
    top = next((b.text for b in blocks if b.kind == "heading" and b.level == 1), "")
    title, figures = properties.title or document.title or top, tuple(captioned(document.figures, blocks))
    return replace(properties, title=title, blocks=tuple(blocks), figures=figures, hidden=hidden)


class _Document:
    """The walk over one document."""

    def __init__(self, styles: Any, pictures: dict[str, str]) -> None:
        self.title = ""
        self.blocks: list[Block] = []
        self.figures: list[Figure] = []
        self._pictures = pictures
        self._list: list[str] = []
        self._commented: dict[str, int] = {}
        """By comment: how many blocks there are up to what it is on."""
        self._styles = {s.get(f"{W}styleId") or "": s for s in styles if s.tag == f"{W}style"}

    def read(self, root: Any) -> None:
        """Read the body; list paragraphs that follow each other are one list."""
        for element in _paragraphs_and_tables(root):
            self._take_figures(element, len(self.blocks) + bool(self._list))
            if element.tag == f"{W}tbl":
                self._add(*_table(element))
            elif text := _text(element):
                self._paragraph(element, text)
            for mark in element.iter(f"{W}commentReference"):
                self._commented.setdefault(mark.get(f"{W}id") or "", len(self.blocks) + bool(self._list))
        self._add()

    def read_notes(self, root: Any) -> None:
        """Read footnotes or endnotes, one block each; separators have a type and are left out."""
        found = [n for n in root if not n.get(f"{W}type")]
        texts = ["\n".join(t for p in n.iter(f"{W}p") if (t := _text(p))) for n in found]
        self.blocks += [Block(t, "text") for t in texts if t]

    def read_comments(self, root: Any) -> None:
        """Put what readers noted, one block each with who did, behind what it is on."""
        told: list[tuple[int, Block]] = []
        for note in root.iter(f"{W}comment"):
            author = " ".join((note.get(f"{W}author") or "").split())
            said = "\n".join(t for p in note.iter(f"{W}p") if (t := _text(p)))
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
        for text in (_text(p) for root in roots for p in root.iter(f"{W}p")):
            if text and text.casefold() not in said and not PAGE_NUMBER.fullmatch(text):
                lines.setdefault(text.casefold(), text)
        if lines:
            self.blocks.insert(0, Block("\n".join(lines.values()), "text"))
            self.figures = [replace(f, at=f.at + 1) for f in self.figures]

    def _paragraph(self, element: Any, text: str) -> None:
        styles = list(self._based_on(attribute(element, f"{W}pPr/{W}pStyle", f"{W}val")))
        level = next((n for e in (element, *styles) if (n := _level(e)) is not None), None)
        numbering = element.find(f"{W}pPr/{W}numPr")
        if numbering is None:
            listed = any(s.find(f"{W}pPr/{W}numPr") is not None for s in styles)
        else:
            listed = attribute(numbering, f"{W}numId", f"{W}val") != "0"
        if level is not None:
            self.title = self.title or (text if level == 0 else "")
            # Under a title (level 0) all other headings move one level down.
            self._add(Block(text.replace("\n", " "), "heading", min(6, level + bool(self.title))))
        elif listed:
            depth = attribute(element, f"{W}pPr/{W}numPr/{W}ilvl", f"{W}val")
            indent = "  " * (min(int(depth), 8) if depth.isdigit() else 0)
            self._list.append(f"{indent}- " + text.replace("\n", " "))
        else:
            self._add(Block(text, "text"))

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
    out: list[tuple[str, str]] = []
    script = ""
    stack = list(reversed(paragraph))
    while stack:
        element = stack.pop()
        if element.tag == f"{W}r" and _is_unseen(element):
            continue
        if element.tag == f"{W}r":
            script = attribute(element, f"{W}rPr/{W}vertAlign", f"{W}val")
        if element.tag == f"{M}oMath":
            out.append((equation(element), ""))
        elif element.tag == f"{W}t":
            out.append((element.text or "", script))
        elif element.tag in _BREAKS:
            out.append((_BREAKS[element.tag], ""))
        elif element.tag not in _SKIPPED and element.tag not in (f"{W}p", f"{W}tbl", _ALTERNATE):
            stack.extend(reversed(element))
    lines = [" ".join(line.split()) for line in _joined(out).split("\n")]
    return "\n".join(line for line in lines if line)


def _joined(runs: list[tuple[str, str]]) -> str:
    """Join the texts of runs; what is raised or lowered is parted from the number or word before it."""
    text = ""
    for script, group in groupby(runs, key=lambda run: run[1]):
        part = "".join(t for t, _ in group)
        lead, behind = around(text, part, below=script == "subscript") if script in _SCRIPTS else ("", "")
        text += lead + part + behind
    return text


def _is_unseen(run: Any) -> bool:
    """Tell a run that a reader of the document does not see: marked as hidden, of two points, or white on nothing."""
    vanish = run.find(f"{W}rPr/{W}vanish")
    if vanish is not None and vanish.get(f"{W}val") not in ("0", "false"):
        return True
    size = attribute(run, f"{W}rPr/{W}sz", f"{W}val")
    if size.isdigit() and int(size) <= _TINY:
        return True
    if (
        attribute(run, f"{W}rPr/{W}color", f"{W}val").upper() != "FFFFFF"
        or run.find(f"{W}rPr/{W}highlight") is not None
    ):
        return False
    shades = [run.find(f"{W}rPr/{W}shd"), *(e.find(f"{e.tag}Pr/{W}shd") for e in run.iterancestors())]
    return all(s is None or s.get(f"{W}fill", "auto").upper() in ("AUTO", "FFFFFF") for s in shades)


def _table(table: Any) -> list[Block]:
    """One line per row; the first row is the header unless the table has a single row.

    A table inside a cell is read with the cell, and its rows are none of this table.
    """
    rows = [list(_cells(row)) for row in table.iter(f"{W}tr") if next(row.iterancestors(f"{W}tbl")) is table]
    below: Counter[int] = Counter()  # by column: rows under it that the cell above them goes on into
    laid: list[list[Cell]] = []
    for row in reversed(rows):
        out: list[Cell] = []
        for column, (text, across, goes_on) in enumerate(row):
            down = 1 + below.pop(column, 0)
            if goes_on and not text:
                below[column] = down
            out.append((text, 1 if goes_on and not text else down, across))
        laid.append(out)
    merged = MergedTable()
    told = [(row, merged.row(row, every=True)) for row in reversed(laid)]
    return merged.blocks((TableRow(cells) for row, cells in told if any(text for text, _, _ in row)), first_row)


def _cells(row: Any) -> Iterator[tuple[str, int, bool]]:
    """Yield of each column of the grid: text, columns that it spans, and whether the cell above goes on in it."""
    yield from [("", 1, False)] * _count(row, f"{W}trPr/{W}gridBefore")
    for cell in _held(row):
        paragraphs = (p for p in cell.iter(f"{W}p") if next(p.iterancestors(_ALTERNATE), None) is None)
        text = " ".join(t for p in paragraphs if (t := _text(p))).replace("\n", " ")
        across = max(1, _count(cell, f"{W}tcPr/{W}gridSpan"))
        merge = cell.find(f"{W}tcPr/{W}vMerge")
        yield text, across, merge is not None and merge.get(f"{W}val") != "restart"
        yield from [("", 1, False)] * (across - 1)


def _held(row: Any) -> Iterator[Any]:
    """Yield the cells of a row; those of forms stand in content controls."""
    for child in row.iterchildren(f"{W}tc", f"{W}sdt", f"{W}sdtContent"):
        yield from [child] if child.tag == f"{W}tc" else _held(child)


def _count(element: Any, path: str) -> int:
    """Return how many columns of the grid an element says that it takes."""
    return spanned(attribute(element, path, f"{W}val"), 0)
