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
    """Turn headings that nothing stands under into text; done from the end, so that chains of them resolve."""
    kept: list[Block] = []
    for block in reversed(blocks):
        after = kept[-1] if kept else None
        bare = after is None or (after.kind == "heading" and after.level <= block.level)
        if block.kind == "heading" and bare:
            block = replace(block, kind="text", level=0, spans=block.places())
        kept.append(block)
    return kept[::-1]
