"""Read PowerPoint presentations: a heading per slide, its text in reading order, its notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from lxml import etree
from pptx import Presentation
from pptx.exc import InvalidXmlError

from ragweave.corpora.blocks import Block, Figure, Parsed, first_heading
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
"""A picture that covers this share of a slide is taken for the whole slide."""
_FURNITURE = ("sldNum", "dt", "ftr", "hdr")
"""Placeholders for page numbers, dates and footers."""


def parse(path: Path) -> Parsed:
    """Read a presentation (.pptx); a block's page is the number of its slide."""
    with Package(path) as archive:
        archive.refuse_document_types()
        properties = core(archive)
        file = archive.file()
        notes = SlideNotes(archive)
        slides = list(filter(_SLIDE.fullmatch, archive.names))
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
    except Exception as exc:  # python-pptx passes on whatever exception a broken part causes
        raise SourceError(
            f"{path.name} is a damaged presentation", "open it in a presentation program and save it again"
        ) from exc
    title = "" if properties.title.lower() == "powerpoint presentation" else properties.title
    for block in blocks:
        left["symbol of a font", "symbols of a font"] += block.text.count(UNKNOWN)
    return replace(
        properties,
        title=title or first_heading(blocks, page=1),
        blocks=tuple(blocks),
        warnings=(*warnings[:10], *not_read(left)),
        figures=tuple(figures),
    )


def _blocks(slide: Any, number: int, warnings: list[str]) -> Iterator[Block]:
    """Yield the blocks of a slide: its title, its other shapes, its notes."""
    titles: list[str] = []
    others: list[Block] = []
    for is_title, block in _shapes(slide, number, warnings):
        if is_title:
            titles.append(block.text.replace("\n", " "))
        else:
            others.append(block)
    yield Block(" ".join(titles) or f"Slide {number}", "heading", 1, page=number)
    yield from others
    frame = slide.notes_slide.notes_text_frame if slide.has_notes_slide else None
    notes = _text(frame._txBody, "\n") if frame is not None else ""
    if notes:
        yield Block(f"Notes: {notes}", "text", page=number)


def _shapes(slide: Any, number: int, warnings: list[str]) -> Iterator[tuple[bool, Block]]:
    """Yield the text, tables and charts of all shapes, each with whether it is the slide's title.

    Shapes in groups and in alternatives count too.
    """
    charts: set[str] = set()
    boxes = {shape._element: _place(shape) for shape in slide.shapes}
    for holder in _in_order(slide.shapes._spTree, boxes):
        for element in holder.iter(f"{P}sp", f"{A}tbl", f"{C}chart", RELATION):
            if _is_fallback(element):
                continue
            if element.tag == f"{P}sp":
                yield from _shape(element, number)
                continue
            if element.tag == RELATION:
                blocks = _diagram(slide, element, number)
            elif element.tag == f"{C}chart":
                blocks = _chart(slide, element, number, charts, warnings)
            else:
                blocks = [replace(block, page=number) for block in _table(element)]
            for block in blocks:
                yield False, block


def _shape(element: Any, number: int) -> Iterator[tuple[bool, Block]]:
    kind = attribute(element, f"{P}nvSpPr/{P}nvPr/{P}ph", "type")
    text = _text(element, "\n")
    if text and kind not in _FURNITURE:
        yield kind in _TITLES, Block(text, "list" if "\n" in text else "text", page=number)


def _diagram(slide: Any, element: Any, number: int) -> Iterable[Block]:
    part = _part(slide, element.get(f"{R}dm") or "")
    return diagram(_root(part), number) if part is not None else ()


def _chart(slide: Any, element: Any, number: int, charts: set[str], warnings: list[str]) -> Iterable[Block]:
    """Return the figures of a chart, unless `charts` says that they were read already."""
    part = _part(slide, element.get(f"{R}id") or "")
    if part is None or part.partname in charts or not hasattr(part, "_element"):
        return ()
    charts.add(part.partname)
    return tables(part._element, number, warnings)


def _is_fallback(element: Any) -> bool:
    """Return whether an element only repeats another one for older programs."""
    return next(element.iterancestors(FALLBACK), None) is not None


def _place(shape: Any) -> Placed:
    """Return the place of a shape, by its layout if it states none; of a broken one, that of its elements."""
    try:
        return shape.top or 0, shape.left or 0, shape.height or 0
    except (InvalidXmlError, ValueError):
        return _box(shape._element)


def _part(slide: Any, id: str) -> Any:
    """Return the part that a slide relates to by an id, None if it is missing or outside the file."""
    relation = slide.part.rels.get(id)
    return relation.target_part if relation is not None and not relation.is_external else None


def _root(part: Any) -> Any:
    """Return the root of a part that python-pptx keeps as bytes because it does not know its type."""
    safe: dict[str, Any] = {
        "resolve_entities": False,
        "no_network": True,
        "load_dtd": False,
        "huge_tree": False,
    }
    return etree.fromstring(part.blob, etree.XMLParser(**safe))


def _in_order(holder: Any, boxes: dict[Any, Placed]) -> Iterator[Any]:
    """Yield shapes and frames from top to bottom, then from left to right; groups stay together."""
    placed = []
    for element in holder:
        if next(element.iter(f"{P}sp", f"{P}graphicFrame"), None) is not None:
            placed.append((boxes.get(element) or _box(element), element))
    for element in reading_order(placed):
        if element.tag in (f"{P}sp", f"{P}graphicFrame"):
            yield element
        else:
            yield from _in_order(element, boxes)


def _box(element: Any) -> Placed:
    """Return the place that an element states, or else the first one that an element inside it states."""
    for own in element.iter(f"{A}xfrm", f"{P}xfrm"):
        offset, size = own.find(f"{A}off"), own.find(f"{A}ext")
        if offset is not None:
            height = 0 if size is None else int(size.get("cy") or 0)
            return int(offset.get("y") or 0), int(offset.get("x") or 0), height
    return 0, 0, 0


def _table(table: Any) -> list[Block]:
    """Return a table, one line per row; the first row is the header unless it is the only one."""
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
    """Yield the slide itself, then its pictures; a picture over most of a slide replaces the slide.

    `left` counts the pictures whose data are missing.
    """
    pictures: list[Figure] = []
    whole, largest = None, 0.0
    for element in slide.element.iter(f"{P}pic"):
        # Any element of a picture may be missing, and python-pptx fails then.
        if _is_fallback(element):
            continue
        part = _part(slide, _embedded(element))
        if part is None:
            left["picture whose data are missing", "pictures whose data are missing"] += 1
            continue
        figure = Figure(part.partname.lstrip("/"), at, alt=_alt(element), page=number)
        pictures.append(figure)
        share = _share(element, area)
        if share >= _FILLS and share > largest:
            whole, largest = figure, share
    text = "\n".join([block.text for block in blocks])
    yield replace(whole or Figure("", at, page=number), text=text, whole=True)
    for figure in pictures:
        if figure is not whole:
            yield figure


def _embedded(picture: Any) -> str:
    """Return the id of the part with a picture's data, or ""."""
    blip = next(picture.iter(f"{A}blip"), None)
    return "" if blip is None else blip.get(f"{R}embed") or ""


def _alt(picture: Any) -> str:
    """Return the alternative text of a picture, or ""."""
    names = picture.find(f"{P}nvPicPr/{P}cNvPr")
    text = "" if names is None else names.get("descr") or names.get("title") or ""
    return " ".join(text.split())


def _share(picture: Any, area: float) -> float:
    """Return the share of a slide that a picture covers, 0 if it states no size."""
    if not area or picture.find(f"{P}spPr/{A}xfrm") is None:
        return 0.0
    size = next(picture.iter(f"{A}ext"), None)
    return _length(size, "cx") * _length(size, "cy") / area


def _length(size: Any, name: str) -> float:
    value = "" if size is None else size.get(name) or ""
    return float(value) if value.isdecimal() else 0.0
