"""Find printed pages and headings of an HTML page by its styles if its elements do not mark them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import replace
from typing import Any

from ragweave.corpora.blocks import Block

_PAGE_END = re.compile(r"break-(before|after)\s*:\s*(?:always|page|left|right)", re.I)
_WEIGHT = re.compile(r"font-weight\s*:\s*(?:(bold\w*|[6-9]00)|\w+)", re.I)
_BOLD = ("b", "strong", "th")
_RUNNING = 3, 0.5
"""A line at the ends of so many pages, and of this share of them, is a running line."""
_LONGEST, _FEWEST = 90, 3
"""Most characters of a bold line that is a heading, and fewest such headings of a page."""
_LEVEL = 2


def ends_page(element: Any, side: str) -> bool:
    """Return whether a printed page ends before, or after, an element."""
    found = _PAGE_END.search(element.get("style") or "")
    return found is not None and found[1].lower() == side


def running(blocks: Sequence[Block], ends: Sequence[int]) -> set[int]:
    """Return the numbers of the texts that most ends of pages repeat; page numbers in them may differ.

    `ends` are the numbers of blocks before each end.
    """
    lines: dict[int, str] = {}
    for at in ends:
        for n in (at - 1, at):
            if 0 <= n < len(blocks) and blocks[n].kind == "text":
                lines[n] = re.sub(r"\d+", "#", blocks[n].text)
    counts, (least, share) = Counter(lines.values()), _RUNNING
    fewest = max(least, share * len(ends))
    return {n for n, line in lines.items() if counts[line] >= fewest}


class Weights:
    """Follows which text is bold."""

    def __init__(self) -> None:
        self._open = [False]
        self._light = False

    def start(self, element: Any) -> None:
        """Open an element."""
        found = _WEIGHT.search(element.get("style") or "")
        self._open.append(bool(found[1]) if found else element.tag in _BOLD or self._open[-1])

    def end(self) -> None:
        """Close the innermost element."""
        if len(self._open) > 1:
            self._open.pop()

    def text(self, text: str) -> None:
        """Take text."""
        self._light = self._light or (not self._open[-1] and bool(text.strip()))

    def all_bold(self) -> bool:
        """Return whether all text since the last call was bold."""
        bold, self._light = not self._light, False
        return bold


def headed(blocks: Sequence[Block], bold: Set[int]) -> list[Block]:
    """Return blocks with short bold ones as headings, if no element marks headings.

    `bold` are the numbers of all bold blocks.
    """
    heads = {n for n in bold if _is_head(blocks[n])}
    if len(heads) < _FEWEST or "heading" in [block.kind for block in blocks]:
        return list(blocks)
    out = list(blocks)
    for n in heads:
        out[n] = replace(out[n], kind="heading", level=_LEVEL)
    return out


def _is_head(block: Block) -> bool:
    text = block.text
    if block.kind != "text" or len(text) > _LONGEST or "\n" in text or text[-1] in ".,;:!?。：，；！？":
        return False
    is_aside = text[0] in "(（" and text[-1] in ")）"  # “(in millions)” qualifies the text above it
    return not is_aside and re.search(r"[^\W\d_]{2}", text) is not None
