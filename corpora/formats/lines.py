"""Text put together line by line, while keeping where in the file every line lies."""

from __future__ import annotations

import re

from ragweave.corpora.blocks import Block, BlockKind
from ragweave.corpora.types import Span
from ragweave.models.text import UNSPACED

_UNSPACED_END = re.compile(rf"[{UNSPACED}，。、；：？！）」』】]\Z")
_UNSPACED_START = re.compile(rf"[{UNSPACED}（「『【]")


def joint(before: str, after: str) -> str:
    """Return what joins two wrapped lines: a space, or nothing between characters of an unspaced script."""
    return "" if _UNSPACED_END.search(before) and _UNSPACED_START.match(after) else " "


class Lines:
    """A growing text and the source line of each of its lines."""

    def __init__(self) -> None:
        self.text = ""
        self.spans: list[Span] = []
        self._wrapped = False

    def add(self, text: str, line: int = 0, *, wrapped: bool = False) -> None:
        """Add a line.

        Args:
            text: the line; an empty one is left out.
            line: its number in the file, or 0.
            wrapped: whether the next line continues this one.
        """
        if text:
            if self.text:
                self.text += joint(self.text, text) if self._wrapped else "\n"
            start = len(self.text)
            self.text += text
            if line:
                self.spans.append(Span(start, len(self.text), line))
        self._wrapped = wrapped

    def extend(self, other: Lines, lead: str = "", indent: str = "") -> None:
        """Add all lines of `other`, the first after `lead`, the rest after `indent`."""
        if not other.text:
            return
        start = len(self.text) + bool(self.text)
        text = lead + other.text.replace("\n", "\n" + indent)
        self.text += ("\n" if self.text else "") + text
        self._wrapped = False
        for s in other.spans:
            shift = start + len(lead)
            before = other.text.count("\n", 0, s.start) * len(indent)
            inside = other.text.count("\n", s.start, s.end) * len(indent)
            self.spans.append(Span(s.start + shift + before, s.end + shift + before + inside, s.line))

    def block(self, kind: BlockKind, level: int = 0) -> Block:
        """Return the text as a block that opens at its first line."""
        return Block(self.text, kind, level, self.spans[0].line if self.spans else 0, spans=tuple(self.spans))
