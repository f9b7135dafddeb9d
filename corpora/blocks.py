"""What a reader makes of a file: blocks of text in reading order, each with its place."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from ragweave.corpora.types import Corpus, Locator, Span

BlockKind = Literal["heading", "text", "list", "table", "code"]
"""What a block is; decides where it may be cut (sentence, list line, table row, code line)."""


@dataclass(frozen=True, slots=True)
class Block:
    """One heading, paragraph, list, table or piece of code, as it reads.

    Attributes:
        text: the text; tables are one row per line with ` | ` between cells.
        kind: what it is.
        level: 1-6 for headings; for tables the number of header lines at the top of `text`; else 0.
        line: first line in the file, 1-based, or 0 when the format has no lines.
        page: page (PDF) or slide, 1-based, or 0.
        bbox: [left, bottom, right, top] on the page in points, or None.
        spans: finer places inside `text` (source lines, PDF lines), in order; may be empty.
    """

    text: str
    kind: BlockKind
    level: int = 0
    line: int = 0
    page: int = 0
    bbox: tuple[float, float, float, float] | None = None
    spans: tuple[Span, ...] = ()

    def places(self) -> tuple[Span, ...]:
        """Return `spans`, or one span over the whole text where the block has a place but no finer ones."""
        if self.spans or not (self.line or self.page):
            return self.spans
        return (Span(0, len(self.text), self.line, self.page, self.bbox),)


@dataclass(frozen=True, slots=True)
class Record:
    """An item that a file states itself, instead of text that is cut into items.

    Attributes:
        corpus: corpus it belongs to.
        title: its title.
        text: everything written about it.
        locator: opens it.
        heading: heading path, outermost first.
        date: its own date, or None.
        language: ISO 639-1 code, or "".
        meta: anything else, JSON-serialisable.
    """

    corpus: Corpus
    title: str
    text: str
    locator: Locator
    heading: tuple[str, ...] = ()
    date: datetime | None = None
    language: str = ""
    meta: dict[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture inside a file, by reference: its bytes are read when its turn comes.

    Attributes:
        ref: where the bytes are: a part of the package, or a link as it is written; empty for a slide without one.
        at: number of blocks before it.
        caption: what is printed beside it as its caption.
        alt: what stands in for it where it cannot be seen, and the title it is given.
        page: page or slide, 1-based, or 0.
        line: line in the file, 1-based, or 0.
        bbox: [left, bottom, right, top] on the page in points, or None.
        text: text that is part of what it shows: that of a slide or page.
        whole: whether it stands for a whole slide or page.
    """

    ref: str
    at: int
    caption: str = ""
    alt: str = ""
    page: int = 0
    line: int = 0
    bbox: tuple[float, float, float, float] | None = None
    text: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file that was read.

    Attributes:
        title: the document's own title, or "" when it has none.
        blocks: blocks in reading order.
        date: the document's own date, or None.
        author: the document's own author or authors, or "".
        language: ISO 639-1 code, declared or guessed, or "".
        warnings: what could not be read, one sentence each.
        meta: anything else the format states, JSON-serialisable.
        records: items that the file states itself; such a file has no blocks.
        figures: pictures inside the file, in reading order.
    """

    title: str = ""
    blocks: tuple[Block, ...] = ()
    date: datetime | None = None
    author: str = ""
    language: str = ""
    warnings: tuple[str, ...] = ()
    meta: dict[str, object] = field(default_factory=dict)
    records: tuple[Record, ...] = ()
    figures: tuple[Figure, ...] = ()
