"""Read what OpenDocument texts, workbooks and presentations share.

The parts are read directly from the zip, within its limits. Libraries for the format have no limits, and
write out each cell that claims to be repeated a million times.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from lxml import etree

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Block, Figure, Parsed, comment
from ragweave.corpora.formats.flow import MARK, flow
from ragweave.corpora.formats.odf_forms import MARKS, controls, entered
from ragweave.corpora.formats.odf_lists import ListNumbers
from ragweave.corpora.formats.odf_names import (
    DC,
    DRAW,
    EDGES,
    FO,
    HREF,
    MATH,
    META,
    NS,
    OFFICE,
    OUT,
    SPACES,
    STYLE,
    SVG,
    TABLE,
    TAGS,
    TEXT,
)
from ragweave.corpora.formats.symbols import is_symbolic, shown
from ragweave.corpora.meta import iso_date, language_code
from ragweave.corpora.pages import PAGE_NUMBER
from ragweave.models.errors import SourceError

_FEW = 2
"""Most words of a line that only numbers the pages: `Page 3`."""
_TINY = 2.0
"""Points of a font that is too small to read."""
_LENGTH = re.compile(r"(-?\d+(?:\.\d+)?)(cm|mm|in|pt|px)?")
_UNITS = {"cm": 28.35, "mm": 2.835, "in": 72.0, "pt": 1.0, "px": 0.75}


class Document:
    """The content of a file, and which of its styles hide text."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        root = archive.xml("content.xml")
        body = root.find(f"{OFFICE}body")
        if body is None or not len(body):
            raise SourceError(f"{archive.path.name} is a damaged document", "save it again, or leave it out")
        self.body: Any = body[0]
        looks = archive.xml("styles.xml") if archive.has("styles.xml") else root
        self.styles = {s.get(f"{STYLE}name"): s for s in root.iter(f"{STYLE}style")}
        self.hidden: list[str] = []
        self.left: Counter[tuple[str, str]] = Counter()
        """How much was not read, by its name in singular and plural."""
        self._masters = looks
        self._fonts = _fonts((looks, root))
        self._numbers = ListNumbers((looks, root))
        self._controls = controls(self.body)
        self._reads_charts = body[0].tag != f"{OFFICE}spreadsheet"
        self._heading_mark: str | None = None
        """The number of the next heading in a list."""
        self._unseen: set[str | None] = set()
        for name, style in self.styles.items():
            if _is_unseen(style):
                self._unseen.add(name)

    def blocks(self, start: Any) -> tuple[list[Block], list[Figure]]:
        """Return the blocks and pictures of an element, followed by its notes and comments."""
        page = etree.Element("div")
        self._copy(start, page)
        blocks, figures = flow(page, lambda element: False, made=True)
        for note in start.iter(f"{TEXT}note-body"):
            text = " ".join("".join(note.itertext()).split())
            if text:
                blocks.append(Block(text, "text"))
        for note in start.iter(f"{OFFICE}annotation"):
            block = annotation(note)
            if block is not None:
                blocks.append(block)
        return blocks, figures

    def edges(self) -> list[Block]:
        """Return the headers and footers of the pages as one block, each line once, without page numbers."""
        lines: list[str] = []
        for master in self._masters.iter(f"{STYLE}master-page"):
            for edge in master.iter(*EDGES):
                for paragraph in edge.iter(f"{TEXT}p"):
                    line = plain(paragraph)
                    if line not in lines and _is_edge_text(paragraph, line):
                        lines.append(line)
        return [Block("\n".join(lines), "text")] if lines else []

    def _copy(self, source: Any, target: Any, font: str = "") -> None:
        """Copy the elements below one as HTML below another; libxml2 has refused too deep nesting."""
        add(target, shown(source.text or "", font))
        for element in source:
            style = element.get(f"{TEXT}style-name")
            if style in self._unseen:
                self.hidden.append(" ".join("".join(element.itertext()).split()))
            elif element.tag in SPACES:
                self._space(element, target)
            elif element.tag == f"{DRAW}image":
                self._picture(element, target)
            elif element.tag in (f"{DRAW}object", f"{DRAW}object-ole"):
                self._object(element, target)
            elif element.tag == f"{DRAW}control":
                add(target, f" {self._controls.get(element.get(f'{DRAW}control') or '', '')} ")
            elif element.tag in MARKS:
                add(target, entered(element))
            elif element.tag == f"{TEXT}list":
                self._list(element, target, font)
            elif element.tag not in OUT:
                self._copy(element, self._made(element, target), self._fonts.get(style or "", font))
            add(target, shown(element.tail or "", font))

    def _list(self, element: Any, target: Any, font: str) -> None:
        """Write a list with the marks of its items; numbered headings in a list are not its items."""
        self._numbers.begin(element)
        has_headings = next(element.iter(f"{TEXT}h"), None) is not None
        below = target if has_headings else etree.SubElement(target, "ul")
        for item in element:
            if item.tag not in (f"{TEXT}list-item", f"{TEXT}list-header"):
                continue
            mark = self._numbers.item(item)
            if has_headings:
                self._heading_mark = mark
                self._copy(item, below, font)
            else:
                self._copy(item, etree.SubElement(below, "li", {MARK: mark}), font)
        self._heading_mark = None
        self._numbers.end()

    def _object(self, element: Any, target: Any) -> None:
        """Write the figures of a chart and the words of a formula; any other object is counted."""
        part = f"{(element.get(HREF) or '').removeprefix('./').rstrip('/')}/content.xml"
        try:
            root = self.archive.xml(part) if self.archive.has(part) else None
        except SourceError:
            root = None
        chart = None if root is None else root.find(f".//{NS}chart:1.0}}chart")
        formula = None if root is None else root.find(f".//{MATH}annotation")
        if chart is not None and self._reads_charts:
            title = map(plain, chart.iterfind(f"{NS}chart:1.0}}title/{TEXT}p"))
            etree.SubElement(target, "p").text = " ".join(title)
            for table in chart.iter(f"{TABLE}table"):
                self._copy(table, etree.SubElement(target, "table"))
        elif formula is not None:
            add(target, f" {' '.join((formula.text or '').split())} ")
        elif chart is None:
            self.left["embedded object", "embedded objects"] += 1

    def _made(self, element: Any, target: Any) -> Any:
        """Return the new HTML element for an element, or `target` if HTML needs none."""
        if element.tag == f"{TEXT}h":
            return self._heading(element, target)
        tag = TAGS.get(element.tag)
        if tag is None:
            return target
        if tag != "td":
            return etree.SubElement(target, tag)
        made = etree.SubElement(target, "th" if _is_head(element) else tag)
        for name, attribute in (("colspan", "columns"), ("rowspan", "rows")):
            value = element.get(f"{TABLE}number-{attribute}-spanned")
            if value:
                made.set(name, value)
        return made

    def _heading(self, element: Any, target: Any) -> Any:
        outline = element.get(f"{TEXT}outline-level") or "1"
        level = max(int(outline), 1) if outline.isdecimal() and len(outline) < 3 else 1
        made = etree.SubElement(target, f"h{min(level, 6)}")
        number = self._heading_mark
        if number is None:
            number = self._numbers.heading(element, level)
        self._heading_mark = None
        add(made, f"{number} " if number.strip("-") else "")
        return made

    def _space(self, element: Any, target: Any) -> None:
        if element.tag == f"{TEXT}line-break":
            etree.SubElement(target, "br")
        else:
            add(target, " ")

    def _picture(self, element: Any, target: Any) -> None:
        part = (element.get(HREF) or "").removeprefix("./")
        if self.archive.has(part):
            frame = element.getparent()
            title = frame.findtext(f"{SVG}desc") or frame.findtext(f"{SVG}title") or ""
            etree.SubElement(target, "img", src=part, title=title)


def annotation(note: Any, place: str = "") -> Block | None:
    """Return a comment with its author and the cell that it is on; None if it has no text."""
    text = plain_lines(note)
    if not text:
        return None
    author = (note.findtext(f"{DC}creator") or "").strip()
    if place:
        author = f"{author or 'a reader'} on {place}"
    return Block(comment(text, author), "text")


def plain_lines(element: Any) -> str:
    """Return the paragraphs of an element that have text, one a line."""
    lines = map(plain, element.iter(f"{TEXT}p"))
    return "\n".join(filter(None, lines))


def _is_edge_text(paragraph: Any, line: str) -> bool:
    """Return whether a line of a header or footer says more than the number of a page."""
    if not any(map(str.isalnum, line)) or PAGE_NUMBER.fullmatch(line):
        return False
    numbers_pages = next(paragraph.iter(f"{TEXT}page-number"), None) is not None
    return not numbers_pages or len(line.split()) > _FEW


def _fonts(roots: Iterable[Any]) -> dict[str, str]:
    """Return the styles whose letters are pictures, with their font."""
    fonts: dict[str, str] = {}
    for root in roots:
        faces = {}
        for face in root.iter(f"{STYLE}font-face"):
            faces[face.get(f"{STYLE}name")] = face.get(f"{SVG}font-family") or ""
        for style in root.iter(f"{STYLE}style"):
            look = style.find(f"{STYLE}text-properties")
            if look is None:
                continue
            stated = look.get(f"{STYLE}font-name") or look.get(f"{FO}font-family") or ""
            name = (faces.get(stated) or stated).strip("'\" ")
            if is_symbolic(name):
                fonts[style.get(f"{STYLE}name") or ""] = name
    return fonts


def properties(archive: Archive) -> Parsed:
    """Read the metadata of a file; the date is that of creation, else of the last change."""
    if not archive.has("meta.xml"):
        return Parsed()
    root = archive.xml("meta.xml")

    def value(name: str) -> str:
        return " ".join((root.findtext(f".//{name}") or "").split())

    return Parsed(
        title=value(f"{DC}title"),
        author=value(f"{META}initial-creator") or value(f"{DC}creator"),
        date=iso_date(value(f"{META}creation-date")[:19]) or iso_date(value(f"{DC}date")[:19]),
        language=language_code(value(f"{DC}language")),
    )


def opened(path: Path) -> Archive:
    """Open a file of the format.

    Raises:
        SourceError: it is protected by a password, or `Archive` refuses it.
    """
    archive = Archive(path)
    manifest = "META-INF/manifest.xml"
    try:
        if archive.has(manifest) and b"encryption-data" in archive.read(manifest):
            raise SourceError(f"{path.name} is protected by a password", "save it without password")
    except SourceError:
        archive.__exit__()
        raise
    return archive


def plain(element: Any) -> str:
    """Return the text of an element in one line."""
    return " ".join("".join(_texts(element)).split())


def _texts(element: Any) -> Iterator[str]:
    yield element.text or ""
    for child in element:
        yield SPACES[child.tag] if child.tag in SPACES else ""
        if child.tag not in OUT:
            yield from _texts(child)
        yield child.tail or ""


def points(length: str | None) -> float:
    """Return a length in points, 0 if it is none."""
    match = _LENGTH.fullmatch(length or "")
    return float(match[1]) * _UNITS.get(match[2] or "pt", 1.0) if match else 0.0


def add(target: Any, text: str) -> None:
    """Append text to an element."""
    if len(target):
        target[-1].tail = (target[-1].tail or "") + text
    else:
        target.text = (target.text or "") + text


def _is_head(cell: Any) -> bool:
    """Return whether a cell is in the rows marked as headers, or in the first of several rows if none are."""
    row = cell.getparent()
    around = row.getparent()
    if around.tag == f"{TABLE}table-header-rows":
        return True
    rows = around.findall(f"{TABLE}table-row")[:2]
    return len(rows) > 1 and row is rows[0] and around.find(f"{TABLE}table-header-rows") is None


def _is_unseen(style: Any) -> bool:
    """Return whether a style hides text: not displayed, of two points, or white on no background."""
    look = style.find(f"{STYLE}text-properties")
    if look is None:
        return False
    size = look.get(f"{FO}font-size") or ""
    is_white = (look.get(f"{FO}color") or "").lower() == "#ffffff"
    ground = look.get(f"{FO}background-color") or "transparent"
    is_tiny = size.endswith("pt") and 0 < points(size) <= _TINY
    if look.get(f"{TEXT}display") == "none" or is_tiny:
        return True
    return is_white and ground in ("transparent", "#ffffff")
