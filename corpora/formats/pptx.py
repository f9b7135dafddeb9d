"""PowerPoint: one heading per slide, its text in reading order, tables and the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ragweave.corpora.archive import Archive
from ragweave.corpora.blocks import Block, Figure, Parsed
from ragweave.corpora.formats.ooxml import A, P, R, attribute, core, relations

_MAIN = "ppt/presentation.xml"
_TITLES = ("title", "ctrTitle")
_FILLS = 0.5
"""Share of a slide from which a picture on it is taken as the slide."""
_FURNITURE = ("sldNum", "dt", "ftr", "hdr")
"""Placeholders for page numbers, dates and footers."""


def parse(path: Path) -> Parsed:
    """Read a presentation (.pptx); a block's page is the number of its slide."""
    with Archive(path) as archive:
        targets = relations(archive, _MAIN)
        parts = [
            targets[i.get(f"{R}id") or ""][1]
            for i in archive.xml(_MAIN).iter(f"{P}sldId")
            if i.get(f"{R}id") in targets
        ]
        blocks: list[Block] = []
        figures: list[Figure] = []
        for number, part in enumerate(parts, 1):
            if archive.has(part):
                found = _slide(archive, part, number)
                figures += _figures(archive, part, number, len(blocks), found, _area(archive))
                blocks += found
        properties = core(archive)
    title = properties.title if properties.title.lower() != "powerpoint presentation" else ""
    first = next((b.text for b in blocks if b.kind == "heading" and b.page == 1), "")
    meta: dict[str, object] = {"slides": len(parts)}
    return Parsed(
        title or first,
        tuple(blocks),
        properties.date,
        properties.author,
        properties.language,
        meta=meta,
        figures=tuple(figures),
    )


def _area(archive: Archive) -> float:
    """Return the area of a slide, in the square of the format's units; 0 where it is not stated."""
    size = archive.xml(_MAIN).find(f"{P}sldSz")
    return 0.0 if size is None else _number(size.get("cx")) * _number(size.get("cy"))


def _figures(archive: Archive, part: str, number: int, at: int, blocks: list[Block], area: float) -> Iterator[Figure]:
    """Yield the slide itself, then its pictures; a picture that fills most of a slide stands for it."""
    related = relations(archive, part)
    pictures: list[tuple[float, Figure]] = []
    for element in archive.xml(part).iter(f"{P}pic"):
        blip = next(element.iter(f"{A}blip"), None)
        kind, target = related.get("" if blip is None else blip.get(f"{R}embed") or "", ("", ""))
        if kind != "image" or not archive.has(target):
            continue
        told = element.find(f"{P}nvPicPr/{P}cNvPr")
        alt = "" if told is None else told.get("descr") or told.get("title") or ""
        extent = next(element.iter(f"{A}ext"), None)
        size = 0.0 if extent is None else _number(extent.get("cx")) * _number(extent.get("cy"))
        pictures.append((size / area if area else 0.0, Figure(target, at, alt=" ".join(alt.split()), page=number)))
    largest = max(pictures, key=lambda p: p[0], default=(0.0, None))
    fills = largest[0] >= _FILLS
    shown = largest[1] if fills else None
    text = "\n".join(b.text for b in blocks)
    yield Figure(shown.ref if shown else "", at, alt=shown.alt if shown else "", page=number, text=text, whole=True)
    yield from (figure for _, figure in pictures if figure is not shown)


def _number(value: str | None) -> float:
    return float(value) if value and value.isdigit() else 0.0


def _slide(archive: Archive, part: str, number: int) -> list[Block]:
    """Return the blocks of a slide, its title first, its notes last."""
    shapes = list(_shapes(archive.xml(part), number))
    title = " ".join(b.text.replace("\n", " ") for is_title, b in shapes if is_title)
    out = [Block(title or f"Slide {number}", "heading", 1, page=number)]
    out += [b for is_title, b in shapes if not is_title]
    for kind, target in relations(archive, part).values():
        if kind == "notesSlide" and archive.has(target):
            notes = "\n".join(b.text for _, b in _shapes(archive.xml(target), number))
            if notes:
                out.append(Block(f"Notes: {notes}", "text", page=number))
    return out


def _shapes(root: Any, number: int) -> Iterator[tuple[bool, Block]]:
    """Yield (whether it is the title, block) for every shape with text, those in groups included."""
    for element in root.iter(f"{P}sp", f"{A}tbl"):
        if element.tag == f"{A}tbl":
            rows = [" | ".join(_text(cell, " ") for cell in row.iter(f"{A}tc")) for row in element.iter(f"{A}tr")]
            text = "\n".join(row for row in rows if row.strip(" |"))
            if text:
                yield False, Block(text, "table", 1 if len(rows) > 1 else 0, page=number)
            continue
        kind = attribute(element, f"{P}nvSpPr/{P}nvPr/{P}ph", "type")
        text = _text(element, "\n")
        if text and kind not in _FURNITURE:
            yield kind in _TITLES, Block(text, "list" if "\n" in text else "text", page=number)


def _text(element: Any, joint: str) -> str:
    """Return the paragraphs of a shape or cell, indented by their level."""
    lines = []
    for paragraph in element.iter(f"{A}p"):
        parts = [t.text or "" if t.tag == f"{A}t" else " " for t in paragraph.iter(f"{A}t", f"{A}br")]
        text = " ".join("".join(parts).split())
        level = attribute(paragraph, f"{A}pPr", "lvl")
        if text:
            lines.append("  " * (int(level) if level.isdigit() and joint == "\n" else 0) + text)
    return joint.join(lines)
