"""OpenDocument presentations: one heading per slide, its text in reading order, tables and the speaker's notes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragweave.corpora.blocks import Block, Figure, Parsed
from ragweave.corpora.formats.odf import (
    DRAW,
    OFFICE,
    PRESENTATION,
    SVG,
    TEXT,
    Document,
    annotation,
    opened,
    plain,
    points,
    properties,
)
from ragweave.corpora.formats.ooxml import not_read
from ragweave.corpora.formats.places import Placed, reading_order

_EXTENDED = "{urn:org:documentfoundation:names:experimental:office:xmlns:loext:1.0}"
_COMMENT = (f"{OFFICE}annotation", f"{_EXTENDED}annotation")
_FURNITURE = ("page-number", "date-time", "footer", "header")


def parse(path: Path) -> Parsed:
    """Read a presentation (.odp); a block's page is the number of its slide."""
    blocks: list[Block] = []
    figures: list[Figure] = []
    with opened(path) as archive:
        document = Document(archive)
        for number, slide in enumerate(document.body.iterchildren(f"{DRAW}page"), 1):
            found, pictures = _slide(document, slide, number)
            text = "\n".join(b.text for b in found)
            figures.append(Figure("", len(blocks), page=number, text=text, whole=True))
            figures += [replace(f, at=len(blocks), page=number) for f in pictures]
            blocks += found
        said = properties(archive)
    first = next((b.text for b in blocks if b.kind == "heading"), "")
    return replace(
        said,
        title=said.title or first,
        blocks=tuple(blocks),
        figures=tuple(figures),
        hidden=tuple(document.hidden),
        warnings=not_read(document.left),
    )


def _slide(document: Document, slide: Any, number: int) -> tuple[list[Block], list[Figure]]:
    """Return the blocks of a slide, its title first, its notes last."""
    blocks: list[Block] = []
    figures: list[Figure] = []
    titles: list[str] = []
    for shape in _in_order(slide):
        kind = shape.get(f"{PRESENTATION}class")
        if kind == "title":
            titles.append(" ".join(t for p in shape.iter(f"{TEXT}p") if (t := plain(p))))
        elif kind not in _FURNITURE:
            found, pictures = document.blocks(shape)
            figures += pictures
            # A heading inside a shape would part the slide.
            blocks += [replace(b, kind="text", level=0) if b.kind == "heading" else b for b in found]
    notes = slide.find(f"{PRESENTATION}notes")
    said = "\n".join(t for p in notes.iter(f"{TEXT}p") if (t := plain(p))) if notes is not None else ""
    heading = Block(" ".join(filter(None, titles)) or f"Slide {number}", "heading", 1)
    told = [Block(f"Notes: {said}", "text")] if said else []
    told += (block for note in slide.iterchildren(*_COMMENT) if (block := annotation(note)) is not None)
    return [replace(b, page=number) for b in (heading, *blocks, *told)], figures


def _in_order(holder: Any) -> Iterator[Any]:
    """Yield the shapes of a slide as they are read; groups stay together."""
    shapes = (e for e in holder if e.tag.startswith(DRAW))
    for element in reading_order((_box(e), e) for e in shapes):
        if element.tag == f"{DRAW}g":
            yield from _in_order(element)
        else:
            yield element


def _box(element: Any) -> Placed:
    """Return where a shape stands, or the first one in a group."""
    own = next((e for e in element.iter() if e.get(f"{SVG}y")), element)
    return points(own.get(f"{SVG}y")), points(own.get(f"{SVG}x")), points(own.get(f"{SVG}height"))
