"""Captions that stand beside a picture as paragraphs of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ragweave.corpora.blocks import Block, Figure

CAPTION = re.compile(
    r"(?:figure|fig\.?|image|photo|picture|plate|map|chart|diagram|scheme|abbildung|abb\.?|bild|figura|imagen|foto|"
    r"photographie|illustration|afbeelding|рис(?:унок|\.)|图|圖|図)\s*[\dIVXivx]{1,4}(?:[.\-–]\d+)*(?!\w)\s*[.:：|)–—-]?\s*",
    re.I,
)
"""How a caption begins: a word for a picture, and its number."""
_LONGEST = 120
"""Words of a paragraph that may be a caption."""


def captioned(figures: Sequence[Figure], blocks: Sequence[Block]) -> Iterator[Figure]:
    """Give pictures the paragraph right after them, else right before them, that begins like a caption."""
    taken: set[int] = set()
    for figure in figures:
        at = figure.at
        near = [n for n in (at, at - 1) if 0 <= n < len(blocks) and n not in taken and _is_caption(blocks[n])]
        if figure.caption or not near:
            yield figure
        else:
            taken.add(near[0])
            yield replace(figure, caption=blocks[near[0]].text.replace("\n", " "))


def _is_caption(block: Block) -> bool:
    return block.kind == "text" and bool(CAPTION.match(block.text)) and len(block.text.split()) <= _LONGEST
