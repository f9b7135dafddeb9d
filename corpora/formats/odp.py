"""Read OpenDocument presentations: a heading per slide, its text in reading order, its notes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragweave.corpora.blocks import Block, Figure, Parsed
from ragweave.corpora.formats.odf import Document, annotation, opened, plain_lines, points, properties
from ragweave.corpora.formats.odf_names import DRAW, OFFICE, PRESENTATION, SVG
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
            text = "\n".join([block.text for block in found])
            figures.append(Figure("", len(blocks), page=number, text=text, whole=True))
            figures += [replace(f, at=len(blocks), page=number) for f in pictures]
            blocks += found
        meta = properties(archive)
    # Each slide begins with its heading.
    first = blocks[0].text if blocks else ""
    return replace(
        meta,
        title=meta.title or first,
        blocks=tuple(blocks),
        figures=tuple(figures),
        hidden=tuple(document.hidden),
        warnings=not_read(document.left),
    )


def _slide(document: Document, slide: Any, number: int) -> tuple[list[Block], list[Figure]]:
    """Return the blocks of a slide: its title, its shapes, its notes and comments."""
    blocks: list[Block] = []
    figures: list[Figure] = []
    titles: list[str] = []
    for shape in _in_order(slide):
        kind = shape.get(f"{PRESENTATION}class")
        if kind == "title":
            titles += plain_lines(shape).split("\n")
        elif kind not in _FURNITURE:
            found, pictures = document.blocks(shape)
            figures += pictures
            for block in found:
                if block.kind == "heading":  # it would divide the slide
                    block = replace(block, kind="text", level=0)
                blocks.append(block)
    notes = slide.find(f"{PRESENTATION}notes")
    text = "" if notes is None else plain_lines(notes)
    if text:
        blocks.append(Block(f"Notes: {text}", "text"))
    for note in slide.iterchildren(*_COMMENT):
        remark = annotation(note)
        if remark is not None:
            blocks.append(remark)
    title = " ".join(filter(None, titles)) or f"Slide {number}"
    heading = Block(title, "heading", 1)
    return [replace(block, page=number) for block in (heading, *blocks)], figures


def _in_order(holder: Any) -> Iterator[Any]:
    """Yield the shapes of a slide in reading order; groups stay together."""
    placed = [(_box(element), element) for element in holder if element.tag.startswith(DRAW)]
    for element in reading_order(placed):
        if element.tag == f"{DRAW}g":
            yield from _in_order(element)
        else:
            yield element


def _box(element: Any) -> Placed:
    """Return the place of a shape, or that of the first shape in a group."""
    own = element
    for inner in element.iter():
        if inner.get(f"{SVG}y"):
            own = inner
            break
    return points(own.get(f"{SVG}y")), points(own.get(f"{SVG}x")), points(own.get(f"{SVG}height"))
