"""Text put together line by line, while keeping where in the file every line lies."""

from __future__ import annotations

import re

from ragweave.corpora.blocks import Block, BlockKind
from ragweave.corpora.types import Span
from ragweave.models.text import UNSPACED

_UNSPACED_END = re.compile(rf"[{UNSPACED}，。、；：？！）」』】]")
_UNSPACED_START = re.compile(rf"[{UNSPACED}（「『【]")


def joint(before: str, after: str) -> str:
    """Return what joins two wrapped lines: a space, or nothing between characters of an unspaced script."""
    return "" if _UNSPACED_END.match(before[-1:]) and _UNSPACED_START.match(after) else " "


class Lines:
    """A growing text and the source line of each of its lines."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.count = 0
        """Lines and paragraphs added so far."""
        self._parts: list[str] = []
        self._length = 0
        self._wrapped = False

    @property
    def text(self) -> str:
        """All of it."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def add(self, text: str, line: int = 0, *, wrapped: bool = False) -> None:
        """Add a line.

        Args:
            text: the line; an empty one is left out.
            line: its number in the file, or 0.
            wrapped: whether the next line continues this one.
        """
        if text:
            if self._parts:
                self._put(joint(self._parts[-1], text) if self._wrapped else "\n")
            start = self._length
            self._put(text)
            if line:
                self.spans.append(Span(start, self._length, line))
            self.count += 1
        self._wrapped = wrapped

    def extend(self, other: Lines, lead: str = "", indent: str = "") -> None:
        """Add all lines of `other`, the first after `lead`, the rest after `indent`."""
        text = other.text
        if not text:
            return
        if self._parts:
            self._put("\n")
        start = self._length + len(lead)
        self._put(lead + text.replace("\n", "\n" + indent))
        self._wrapped = False
        self.count += 1
        shift = start
        at = 0
        for s in other.spans:
            shift += text.count("\n", at, s.start) * len(indent)
            inside = text.count("\n", s.start, s.end) * len(indent)
            self.spans.append(Span(s.start + shift, s.end + shift + inside, s.line))
            shift, at = shift + inside, s.end

    def block(self, kind: BlockKind, level: int = 0) -> Block:
        """Return the text as a block that opens at its first line."""
        return Block(self.text, kind, level, self.spans[0].line if self.spans else 0, spans=tuple(self.spans))

    def _put(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._length += len(text)
