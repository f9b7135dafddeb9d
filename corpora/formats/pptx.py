"""PowerPoint by python-pptx: one heading per slide, its text in reading order, tables and the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pptx import Presentation

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Block, Figure, Parsed
from ragweave.corpora.formats.charts import C, tables
from ragweave.corpora.formats.merged import MergedTable, TableRow, first_row
from ragweave.corpora.formats.ooxml import A, P, R, attribute, core
from ragweave.corpora.formats.places import Placed, reading_order
from ragweave.models.errors import SourceError

_TITLES = ("title", "ctrTitle")
_FILLS = 0.5
"""Share of a slide from which a picture on it is taken as the slide."""
_FURNITURE = ("sldNum", "dt", "ftr", "hdr")
"""Placeholders for page numbers, dates and footers."""


def parse(path: Path) -> Parsed:
    """Read a presentation (.pptx); a block's page is the number of its slide."""
    with Archive(path) as archive:
        archive.refuse_document_types()
        properties = core(archive)
    blocks: list[Block] = []
    figures: list[Figure] = []
    warnings: list[str] = []
    try:
        deck = Presentation(str(path))
        area = float(deck.slide_width or 0) * float(deck.slide_height or 0)
        for number, slide in enumerate(deck.slides, 1):
            found = list(_blocks(slide, number, warnings))
            figures += _figures(slide, number, len(blocks), found, area)
            blocks += found
    except Exception as exc:  # python-pptx lets whatever a broken part causes through
        raise SourceError(
            f"{path.name} is a damaged presentation", "open it in a presentation program and save it again"
        ) from exc
    title = properties.title if properties.title.lower() != "powerpoint presentation" else ""
    first = next((b.text for b in blocks if b.kind == "heading" and b.page == 1), "")
    told = tuple(warnings[:10])
    return replace(properties, title=title or first, blocks=tuple(blocks), warnings=told, figures=tuple(figures))


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
    boxes = {s._element: (s.top or 0, s.left or 0, s.height or 0) for s in slide.shapes}
    held = (e for s in _in_order(slide.shapes._spTree, boxes) for e in s.iter(f"{P}sp", f"{A}tbl", f"{C}chart"))
    for element in held:
        if element.tag == f"{C}chart":
            relation = slide.part.rels.get(element.get(f"{R}id") or "")
            part = relation.target_part if relation is not None and not relation.is_external else None
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
    """Return the paragraphs of a shape or cell, indented by their level."""
    lines = []
    for paragraph in element.iter(f"{A}p"):
        text = " ".join(paragraph.text.split())
        level = attribute(paragraph, f"{A}pPr", "lvl")
        if text:
            lines.append("  " * (int(level) if level.isdigit() and joint == "\n" else 0) + text)
    return joint.join(lines)


def _figures(slide: Any, number: int, at: int, blocks: list[Block], area: float) -> Iterator[Figure]:
    """Yield the slide itself, then its pictures; a picture that fills most of a slide stands for it."""
    pictures: list[tuple[float, Figure]] = []
    for element in slide.element.iter(f"{P}pic"):
        relation = slide.part.rels.get(element.blip_rId)
        if relation is None or relation.is_external:
            continue
        told = element.nvPicPr.cNvPr
        alt = " ".join((told.get("descr") or told.get("title") or "").split())
        share = float(element.cx or 0) * float(element.cy or 0) / area if area else 0.0
        pictures.append((share, Figure(relation.target_part.partname.lstrip("/"), at, alt=alt, page=number)))
    _, shown = max((p for p in pictures if p[0] >= _FILLS), key=lambda p: p[0], default=(0.0, None))
    text = "\n".join(b.text for b in blocks)
    yield replace(shown or Figure("", at, page=number), text=text, whole=True)
    yield from (figure for _, figure in pictures if figure is not shown)
