"""PowerPoint by python-pptx: one heading per slide, its text in reading order, tables and the speaker's notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from lxml import etree
from pptx import Presentation
from pptx.exc import InvalidXmlError

from ragweave.corpora.blocks import Block, Figure, Parsed
from ragweave.corpora.formats.charts import C, tables
from ragweave.corpora.formats.merged import MergedTable, TableRow, first_row
from ragweave.corpora.formats.numbering import FALLBACK
from ragweave.corpora.formats.ooxml import A, P, Package, R, attribute, core, macros, not_read, unread
from ragweave.corpora.formats.places import Placed, reading_order
from ragweave.corpora.formats.slide_text import AutoNumbers, SlideNotes, text_of
from ragweave.corpora.formats.smartart import RELATION, diagram
from ragweave.corpora.formats.symbols import UNKNOWN
from ragweave.models.errors import SourceError

_TITLES = ("title", "ctrTitle")
_SLIDE = re.compile(r"ppt/slides/[^/]+\.xml")
_FILLS = 0.5
"""Share of a slide from which a picture on it is taken as the slide."""
_FURNITURE = ("sldNum", "dt", "ftr", "hdr")
"""Placeholders for page numbers, dates and footers."""


def parse(path: Path) -> Parsed:
    """Read a presentation (.pptx); a block's page is the number of its slide."""
    with Package(path) as archive:
        archive.refuse_document_types()
        properties = core(archive)
        file = archive.file()
        notes = SlideNotes(archive)
        slides = [str(name) for name in archive.names if _SLIDE.fullmatch(name)]
        left = unread(archive, slides) + macros(archive)
    blocks: list[Block] = []
    figures: list[Figure] = []
    warnings: list[str] = []
    try:
        deck = Presentation(file if isinstance(file, BytesIO) else str(file))
        area = float(deck.slide_width or 0) * float(deck.slide_height or 0)
        for number, slide in enumerate(deck.slides, 1):
            found = [*_blocks(slide, number, warnings), *notes.of(slide.part, number)]
            figures += _figures(slide, number, len(blocks), found, area, left)
            blocks += found
    except Exception as exc:  # python-pptx lets whatever a broken part causes through
        raise SourceError(
            f"{path.name} is a damaged presentation", "open it in a presentation program and save it again"
        ) from exc
    title = properties.title if properties.title.lower() != "powerpoint presentation" else ""
    first = next((b.text for b in blocks if b.kind == "heading" and b.page == 1), "")
    left["symbol of a font", "symbols of a font"] = sum(b.text.count(UNKNOWN) for b in blocks)
    told = (*warnings[:10], *not_read(left))
    return replace(
        properties, title=title or first, blocks=tuple(blocks), warnings=told, figures=tuple(figures)
    )


def _blocks(slide: Any, number: int, warnings: list[str]) -> Iterator[Block]:
    """Yield the blocks of a slide, its title first, its notes last."""
    shapes = list(_shapes(slide, number, warnings))
    title = " ".join(b.text.replace("\n", " ") for is_title, b in shapes if is_title)
    yield Block(title or f"Slide {number}", "heading", 1, page=number)
    yield from (b for is_title, b in shapes if not is_title)
    notes = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    if notes is not None and (said := _text(notes._txBody, "\n")):
        yield Block(f"Notes: {said}", "text", page=number)


def _shapes(slide: Any, number: int, warnings: list[str]) -> Iterator[tuple[bool, Block]]:
    """Yield (whether it is the title, block) for every shape with text and chart, in groups and alternatives too."""
    charts: set[str] = set()
    boxes = {s._element: _place(s) for s in slide.shapes}
    held = (
        e
        for s in _in_order(slide.shapes._spTree, boxes)
        for e in s.iter(f"{P}sp", f"{A}tbl", f"{C}chart", RELATION)
    )
    for element in held:
        if next(element.iterancestors(FALLBACK), None) is not None:
            continue
        if element.tag == RELATION:
            part = _part(slide, element.get(f"{R}dm") or "")
            yield from (
                (False, block) for block in (diagram(_root(part), number) if part is not None else ())
            )
            continue
        if element.tag == f"{C}chart":
            part = _part(slide, element.get(f"{R}id") or "")
            if part is not None and part.partname not in charts and hasattr(part, "_element"):
                charts.add(part.partname)
                yield from ((False, block) for block in tables(part._element, number, warnings))
            continue
        if element.tag == f"{A}tbl":
            yield from ((False, replace(block, page=number)) for block in _table(element))
            continue
        kind = attribute(element, f"{P}nvSpPr/{P}nvPr/{P}ph", "type")
        text = _text(element, "\n")
        if text and kind not in _FURNITURE:
            yield kind in _TITLES, Block(text, "list" if "\n" in text else "text", page=number)


def _place(shape: Any) -> Placed:
    """Return where a shape stands, by its layout if it does not say; of a broken one what its elements say."""
    try:
        return shape.top or 0, shape.left or 0, shape.height or 0
    except (InvalidXmlError, ValueError):
        return _box(shape._element)


def _part(slide: Any, id: str) -> Any:
    """Return the part that a slide is related to by an id, None where it lies outside the file or is missing."""
    relation = slide.part.rels.get(id)
    return relation.target_part if relation is not None and not relation.is_external else None


def _root(part: Any) -> Any:
    """Return the root of a part; python-pptx keeps those that it does not know as bytes."""
    safe: dict[str, Any] = {
        "resolve_entities": False,
        "no_network": True,
        "load_dtd": False,
        "huge_tree": False,
    }
    return etree.fromstring(part.blob, etree.XMLParser(**safe))


def _in_order(holder: Any, boxes: dict[Any, Placed]) -> Iterator[Any]:
    """Yield shapes and frames from top to bottom, those beside each other from left to right; groups stay together."""
    held = (e for e in holder if next(e.iter(f"{P}sp", f"{P}graphicFrame"), None) is not None)
    for element in reading_order((boxes.get(e) or _box(e), e) for e in held):
        if element.tag in (f"{P}sp", f"{P}graphicFrame"):
            yield element
        else:
            yield from _in_order(element, boxes)


def _box(element: Any) -> Placed:
    """Return where a shape inside a group stands, or the first one inside an element that has no place of its own."""
    own = next((x for x in element.iter(f"{A}xfrm", f"{P}xfrm") if x.find(f"{A}off") is not None), None)
    if own is None:
        return 0, 0, 0
    off, size = own.find(f"{A}off"), own.find(f"{A}ext")
    height = 0 if size is None else int(size.get("cy") or 0)
    return int(off.get("y") or 0), int(off.get("x") or 0), height


def _table(table: Any) -> list[Block]:
    """One line per row; the first row is the header unless the table has a single row."""
    merged = MergedTable()
    rows: list[TableRow] = []
    for row in table.tr_lst:
        cells = [(_text(cell, " "), cell.rowSpan, cell.gridSpan) for cell in row.tc_lst]
        laid = merged.row(cells, every=True)
        if any(text for text, _, _ in cells):
            rows.append(TableRow(laid))
    return merged.blocks(rows, first_row)


def _text(element: Any, joint: str) -> str:
    """Return the paragraphs of a shape or cell, indented by their level, with their numbers."""
    lines = []
    counts = AutoNumbers()
    for paragraph in element.iter(f"{A}p"):
        text = " ".join(text_of(paragraph).split())
        level = attribute(paragraph, f"{A}pPr", "lvl")
        depth = int(level) if level.isdigit() else 0
        label = counts.next(paragraph, depth, empty=not text)
        if text:
            lines.append("  " * (depth if joint == "\n" else 0) + f"{label} {text}".strip())
    return joint.join(lines)


def _figures(
    slide: Any, number: int, at: int, blocks: list[Block], area: float, left: Counter[tuple[str, str]]
) -> Iterator[Figure]:
    """Yield the slide itself, then its pictures; a picture that fills most of a slide stands for it.

    One whose data are missing is counted in `left`.
    """
    pictures: list[tuple[float, Figure]] = []
    for element in slide.element.iter(f"{P}pic"):
        # A picture may lack any of its elements, and what python-pptx offers for each fails then.
        if next(element.iterancestors(FALLBACK), None) is not None:
            continue
        part = _part(slide, next((blip.get(f"{R}embed") or "" for blip in element.iter(f"{A}blip")), ""))
        if part is None:
            left["picture whose data are missing", "pictures whose data are missing"] += 1
            continue
        told = element.find(f"{P}nvPicPr/{P}cNvPr")
        alt = "" if told is None else " ".join((told.get("descr") or told.get("title") or "").split())
        size = next(element.iter(f"{A}ext"), None) if element.find(f"{P}spPr/{A}xfrm") is not None else None
        share = _length(size, "cx") * _length(size, "cy") / area if area else 0.0
        pictures.append((share, Figure(part.partname.lstrip("/"), at, alt=alt, page=number)))
    _, shown = max((p for p in pictures if p[0] >= _FILLS), key=lambda p: p[0], default=(0.0, None))
    text = "\n".join(b.text for b in blocks)
    yield replace(shown or Figure("", at, page=number), text=text, whole=True)
    yield from (figure for _, figure in pictures if figure is not shown)


def _length(size: Any, name: str) -> float:
    said = "" if size is None else size.get(name) or ""
    return float(said) if said.isdecimal() else 0.0
