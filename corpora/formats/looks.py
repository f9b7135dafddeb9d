"""What the look of an HTML page says where its elements do not: where printed pages end, and bold lines that head."""

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
"""At how many ends of pages, and at which share of them, the same line stands where it is a running line."""
_LONGEST, _FEWEST = 90, 3
"""Characters that a bold line has at most where it heads something, and headings from which a page has some."""
_LEVEL = 2


def ends_page(element: Any, side: str) -> bool:
    """Tell whether a printed page ends before, or after, an element."""
    found = _PAGE_END.search(element.get("style") or "")
    return found is not None and found[1].lower() == side


def running(blocks: Sequence[Block], ends: Sequence[int]) -> set[int]:
    """Return the numbers of the texts that stand at most ends of pages, but for the page's own number.

    `ends` are the numbers of blocks before each end.
    """
    near = {n for at in ends for n in (at - 1, at) if 0 <= n < len(blocks) and blocks[n].kind == "text"}
    lines = {n: re.sub(r"\d+", "#", blocks[n].text) for n in near}
    counts, (least, share) = Counter(lines.values()), _RUNNING
    return {n for n, line in lines.items() if counts[line] >= max(least, share * len(ends))}


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
        """Tell whether all text since the last call was bold."""
        bold, self._light = not self._light, False
        return bold


def headed(blocks: Sequence[Block], bold: Set[int]) -> list[Block]:
    """Return blocks, short bold ones as headings where no element is one; `bold` are the numbers of all bold blocks."""
    heads = {n for n in bold if _is_head(blocks[n])}
    if len(heads) < _FEWEST or any(b.kind == "heading" for b in blocks):
        return list(blocks)
    return [replace(b, kind="heading", level=_LEVEL) if n in heads else b for n, b in enumerate(blocks)]


def _is_head(block: Block) -> bool:
    text = block.text
    aside = text[0] in "(（" and text[-1] in ")）"  # “(in millions)” qualifies what stands above it
    words = re.search(r"[^\W\d_]{2}", text) and "\n" not in text and text[-1] not in ".,;:!?。：，；！？"
    return block.kind == "text" and len(text) <= _LONGEST and bool(words) and not aside
