"""Blocks to sections: the stretches between headings, each with its heading path."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from ragweave.corpora.blocks import Block


@dataclass(frozen=True, slots=True)
class Section:
    """The blocks that stand directly under one heading.

    Attributes:
        heading: heading path, outermost first; empty before the first heading.
        opened: heading blocks that begin here, outermost first (those without text of their own come along).
        blocks: blocks that are not headings, never empty.
    """

    heading: tuple[str, ...]
    opened: tuple[Block, ...]
    blocks: tuple[Block, ...]


def sections(blocks: Iterable[Block]) -> list[Section]:
    """Group blocks by heading.

    A heading with nothing under it would be lost with its words: it counts as text of the section it stands in.
    """
    out: list[Section] = []
    path: list[Block] = []
    opened: list[Block] = []
    body: list[Block] = []

    def close() -> None:
        if body:
            out.append(Section(tuple(b.text for b in path), tuple(opened), tuple(body)))
            opened.clear()
            body.clear()

    for block in _bare_as_text([b for b in blocks if b.text.strip()]):
        if block.kind != "heading":
            body.append(block)
            continue
        close()
        while path and path[-1].level >= block.level:
            path.pop()
        path.append(block)
        opened.append(block)
    close()
    return out


def _bare_as_text(blocks: list[Block]) -> list[Block]:
    """Turn headings that nothing stands under into text.

    Done from the end, so that a heading over nothing but such text counts as filled if that text came from below it.
    """
    kept: list[Block] = []
    after = 0  # level of the next block if it is a heading, 7 for all others, 0 at the end of the file
    for block in reversed(blocks):
        is_heading = block.kind == "heading"
        bare = is_heading and after <= block.level
        after = block.level if is_heading else 7
        kept.append(replace(block, kind="text", level=0, spans=block.places()) if bare else block)
    return kept[::-1]
