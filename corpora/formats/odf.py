"""What OpenDocument texts, workbooks and presentations share: their parts, properties, styles, and text as HTML.

The parts are read from the zip within its budget, as those of Word are. Libraries for the format parse them
without limits, and write out each cell that is said to be repeated a million times.
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
from ragweave.corpora.formats.symbols import is_symbolic, shown
from ragweave.corpora.meta import iso_date, language_code
from ragweave.corpora.pages import PAGE_NUMBER
from ragweave.models.errors import SourceError

_NS = "{urn:oasis:names:tc:opendocument:xmlns:"
OFFICE, TEXT, TABLE, DRAW, STYLE, META, PRESENTATION, SVG = (
    f"{_NS}{name}:1.0}}"
    for name in ("office", "text", "table", "drawing", "style", "meta", "presentation", "svg-compatible")
)
_FO = f"{_NS}xsl-fo-compatible:1.0}}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_HREF = "{http://www.w3.org/1999/xlink}href"
_MATH = "{http://www.w3.org/1998/Math/MathML}"
_EDGES = ("header", "header-left", "header-first", "footer", "footer-left", "footer-first")
_FEW = 2
"""Words beside the number of a page that say nothing more: `Page 3 of 9`."""
_TINY = 2.0
"""Points of a font that nobody reads."""
_LENGTH = re.compile(r"(-?\d+(?:\.\d+)?)(cm|mm|in|pt|px)?")
_UNITS = {"cm": 28.35, "mm": 2.835, "in": 72.0, "pt": 1.0, "px": 0.75}
_TAGS = {
    **{f"{TEXT}{name}": "p" for name in ("p", "alphabetical-index-title")},
    **{f"{TEXT}{name}": "div" for name in ("section", "index-body", "numbered-paragraph")},
    **{
        f"{TEXT}{name}": "span"
        for name in ("span", "a", "meta", "ruby", "ruby-base", "bookmark-ref", "reference-ref")
    },
    **{f"{TABLE}table": "table", f"{TABLE}table-row": "tr", f"{TABLE}table-cell": "td"},
    f"{DRAW}text-box": "div",
}
_SPACES = {f"{TEXT}tab": " ", f"{TEXT}s": " ", f"{TEXT}line-break": "\n"}
_OUT = frozenset(
    (
        *(
            f"{TEXT}{name}"
            for name in ("tracked-changes", "table-of-content", "hidden-text", "ruby-text", "note")
        ),
        *(f"{TEXT}{name}" for name in ("number", "page-number")),
        *(f"{OFFICE}{name}" for name in ("annotation", "forms", "event-listeners")),
        *(f"{TABLE}covered-table-cell", f"{TABLE}shapes", f"{PRESENTATION}notes"),
    )
)
"""Elements that are left out where they stand; notes and comments come behind."""


class Document:
    """The content of a file and what its styles say of whether text is seen."""

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
        """What is not read, by its names for one and several."""
        self._masters = looks
        self._fonts = _fonts((looks, root))
        self._numbers = ListNumbers((looks, root))
        self._controls = controls(self.body)
        self._reads_charts = body[0].tag != f"{OFFICE}spreadsheet"
        self._heading_mark: str | None = None
        """The number of the heading that comes next in a list."""
        self._unseen = {name for name, style in self.styles.items() if _is_unseen(style)}

    def blocks(self, start: Any) -> tuple[list[Block], list[Figure]]:
        """Return the blocks and pictures of an element, its notes and comments behind them."""
        page = etree.Element("div")
        self._copy(start, page)
        blocks, figures = flow(page, lambda element: False, made=True)
        for note in start.iter(f"{TEXT}note-body"):
            if said := " ".join("".join(note.itertext()).split()):
                blocks.append(Block(said, "text"))
        blocks += (
            block for note in start.iter(f"{OFFICE}annotation") if (block := annotation(note)) is not None
        )
        return blocks, figures

    def edges(self) -> list[Block]:
        """Return the headers and footers of the pages as one block, each line once, without page numbers."""
        lines: dict[str, None] = {}
        for master in self._masters.iter(f"{STYLE}master-page"):
            for edge in master.iter(*(f"{STYLE}{name}" for name in _EDGES)):
                for paragraph in edge.iter(f"{TEXT}p"):
                    line = plain(paragraph)
                    numbers_pages = next(paragraph.iter(f"{TEXT}page-number"), None) is not None
                    if line and not (numbers_pages and len(line.split()) <= _FEW):
                        lines.setdefault(line)
        kept = [line for line in lines if any(map(str.isalnum, line)) and not PAGE_NUMBER.fullmatch(line)]
        return [Block("\n".join(kept), "text")] if kept else []

    def _copy(self, source: Any, target: Any, font: str = "") -> None:
        """Write the elements below one as HTML below another; libxml2 has refused what is nested too deeply."""
        add(target, shown(source.text or "", font))
        for element in source:
            style = element.get(f"{TEXT}style-name")
            if style in self._unseen:
                self.hidden.append(" ".join("".join(element.itertext()).split()))
            elif element.tag in _SPACES:
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
            elif element.tag not in _OUT:
                self._copy(element, self._made(element, target), self._fonts.get(style or "", font))
            add(target, shown(element.tail or "", font))

    def _list(self, element: Any, target: Any, font: str) -> None:
        """Write a list with the marks of its items; numbered headings may stand in one, and are no items."""
        self._numbers.begin(element)
        headed = next(element.iter(f"{TEXT}h"), None) is not None
        below = target if headed else etree.SubElement(target, "ul")
        for item in element:
            if item.tag not in (f"{TEXT}list-item", f"{TEXT}list-header"):
                continue
            mark = self._numbers.item(item)
            if headed:
                self._heading_mark = mark
                self._copy(item, below, font)
            else:
                self._copy(item, etree.SubElement(below, "li", {MARK: mark}), font)
        self._heading_mark = None
        self._numbers.end()

    def _object(self, element: Any, target: Any) -> None:
        """Write the figures of a chart and the words of a formula; any other object is counted."""
        part = f"{(element.get(_HREF) or '').removeprefix('./').rstrip('/')}/content.xml"
        try:
            root = self.archive.xml(part) if self.archive.has(part) else None
        except SourceError:
            root = None
        chart = None if root is None else root.find(f".//{_NS}chart:1.0}}chart")
        formula = None if root is None else root.find(f".//{_MATH}annotation")
        if chart is not None and self._reads_charts:
            title = " ".join(plain(p) for p in chart.iterfind(f"{_NS}chart:1.0}}title/{TEXT}p"))
            etree.SubElement(target, "p").text = title
            for table in chart.iter(f"{TABLE}table"):
                self._copy(table, etree.SubElement(target, "table"))
        elif formula is not None:
            add(target, f" {' '.join((formula.text or '').split())} ")
        elif chart is None:
            self.left["embedded object", "embedded objects"] += 1

    def _made(self, element: Any, target: Any) -> Any:
        """Return the HTML element for one of the format, or the one around where it has none."""
        if element.tag == f"{TEXT}h":
            said = element.get(f"{TEXT}outline-level") or "1"
            level = max(int(said), 1) if said.isdecimal() and len(said) < 3 else 1
            made = etree.SubElement(target, f"h{min(level, 6)}")
            number = self._heading_mark
            if number is None:
                number = self._numbers.heading(element, level)
            self._heading_mark = None
            add(made, f"{number} " if number.strip("-") else "")
            return made
        tag = _TAGS.get(element.tag)
        if tag is None:
            return target
        made = etree.SubElement(target, "th" if tag == "td" and _is_head(element) else tag)
        for name, attribute in (("colspan", "columns"), ("rowspan", "rows")):
            if tag == "td" and (said := element.get(f"{TABLE}number-{attribute}-spanned")):
                made.set(name, said)
        return made

    def _space(self, element: Any, target: Any) -> None:
        if element.tag == f"{TEXT}line-break":
            etree.SubElement(target, "br")
        else:
            add(target, " ")

    def _picture(self, element: Any, target: Any) -> None:
        part = (element.get(_HREF) or "").removeprefix("./")
        if self.archive.has(part):
            frame = element.getparent()
            told = (frame.findtext(f"{SVG}{name}") for name in ("desc", "title"))
            etree.SubElement(target, "img", src=part, title=next(filter(None, told), ""))


def annotation(note: Any, place: str = "") -> Block | None:
    """Return a comment with who wrote it, and the cell that it is on; None where it says nothing."""
    said = "\n".join(t for p in note.iter(f"{TEXT}p") if (t := plain(p)))
    author = (note.findtext(f"{_DC}creator") or "").strip()
    who = f"{author or 'a reader'} on {place}" if place else author
    return Block(comment(said, who), "text") if said else None


def _fonts(roots: Iterable[Any]) -> dict[str, str]:
    """Return the styles whose letters are pictures, with their font."""
    out: dict[str, str] = {}
    for root in roots:
        faces = {
            f.get(f"{STYLE}name"): f.get(f"{SVG}font-family") or "" for f in root.iter(f"{STYLE}font-face")
        }
        for style in root.iter(f"{STYLE}style"):
            looks = style.find(f"{STYLE}text-properties")
            said = (
                ""
                if looks is None
                else looks.get(f"{STYLE}font-name") or looks.get(f"{_FO}font-family") or ""
            )
            name = (faces.get(said) or said).strip("'\" ")
            if is_symbolic(name):
                out[style.get(f"{STYLE}name") or ""] = name
    return out


def properties(archive: Archive) -> Parsed:
    """Read the metadata of a file; the date is that of creation, else of the last change."""
    if not archive.has("meta.xml"):
        return Parsed()
    root = archive.xml("meta.xml")

    def value(name: str) -> str:
        return " ".join((root.findtext(f".//{name}") or "").split())

    return Parsed(
        title=value(f"{_DC}title"),
        author=value(f"{META}initial-creator") or value(f"{_DC}creator"),
        date=iso_date(value(f"{META}creation-date")[:19]) or iso_date(value(f"{_DC}date")[:19]),
        language=language_code(value(f"{_DC}language")),
    )


def opened(path: Path) -> Archive:
    """Open a file of the format.

    Raises:
        SourceError: it is protected by a password, besides what `Archive` raises.
    """
    archive = Archive(path)
    try:
        if archive.has("META-INF/manifest.xml") and b"encryption-data" in archive.read(
            "META-INF/manifest.xml"
        ):
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
        yield _SPACES[child.tag] if child.tag in _SPACES else ""
        if child.tag not in _OUT:
            yield from _texts(child)
        yield child.tail or ""


def points(said: str | None) -> float:
    """Return a length in points, 0 where none is said."""
    m = _LENGTH.fullmatch(said or "")
    return float(m[1]) * _UNITS.get(m[2] or "pt", 1.0) if m else 0.0


def add(target: Any, text: str) -> None:
    """Append text to an element."""
    if len(target):
        target[-1].tail = (target[-1].tail or "") + text
    else:
        target.text = (target.text or "") + text


def _is_head(cell: Any) -> bool:
    """Tell a cell of the rows that are marked as heads, or of the first one where none are and others follow."""
    row = cell.getparent()
    around = row.getparent()
    if around.tag == f"{TABLE}table-header-rows":
        return True
    rows = around.findall(f"{TABLE}table-row")[:2]
    return len(rows) > 1 and row is rows[0] and around.find(f"{TABLE}table-header-rows") is None


def _is_unseen(style: Any) -> bool:
    """Tell a style of hidden text: not shown, of two points, or white on nothing."""
    looks = style.find(f"{STYLE}text-properties")
    if looks is None:
        return False
    size = looks.get(f"{_FO}font-size") or ""
    white = (looks.get(f"{_FO}color") or "").lower() == "#ffffff"
    ground = looks.get(f"{_FO}background-color") or "transparent"
    tiny = size.endswith("pt") and 0 < points(size) <= _TINY
    return looks.get(f"{TEXT}display") == "none" or tiny or (white and ground in ("transparent", "#ffffff"))
