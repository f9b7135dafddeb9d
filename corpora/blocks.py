"""The output of a file reader: blocks of text in reading order, each with its place."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Literal

from ragweave.corpora.types import Box, Item, Span
from ragweave.models.text import UNSPACED

BlockKind = Literal["heading", "text", "list", "table", "code"]
"""The kind of a block; decides where it can be cut (sentence, list line, table row, code line)."""


@dataclass(frozen=True, slots=True)
class Block:
    """A heading, paragraph, list, table or piece of code.

    Attributes:
        text: the text; tables are one row per line with ` | ` between cells.
        kind: heading, text, list, table or code.
        level: 1-6 for headings; for tables the number of header lines at the top of `text`; else 0.
        line: first line in the file, 1-based, or 0 when the format has no lines.
        page: page (PDF) or slide, 1-based, or 0.
        bbox: [left, bottom, right, top] on the page in points, or None.
        spans: finer places inside `text` (source lines, PDF lines), in order; may be empty.
        date: for a heading, the date at which the text under it was sent, if the format states it.
    """

    text: str
    kind: BlockKind
    level: int = 0
    line: int = 0
    page: int = 0
    bbox: Box | None = None
    spans: tuple[Span, ...] = ()
    date: datetime | None = None

    def places(self) -> tuple[Span, ...]:
        """Return `spans`, or one span over the whole text if the block has a place but no spans."""
        if self.spans or not (self.line or self.page):
            return self.spans
        return (Span(0, len(self.text), self.line, self.page, self.bbox),)


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture inside a file, by reference: its bytes are read later.

    Attributes:
        ref: where the bytes are: a part of the package or a link; empty for a slide without a picture.
        at: number of blocks before it.
        caption: its printed caption.
        alt: its alternative text and its title.
        page: page or slide, 1-based, or 0.
        line: line in the file, 1-based, or 0.
        bbox: [left, bottom, right, top] on the page in points, or None.
        text: the text in it, for a slide or page.
        whole: whether it is the picture of a whole slide or page.
    """

    ref: str
    at: int
    caption: str = ""
    alt: str = ""
    page: int = 0
    line: int = 0
    bbox: Box | None = None
    text: str = ""
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Parsed:
    """A file that was read.

    Attributes:
        language: ISO 639-1 code, declared or guessed.
        records: items that the file states itself, still without ids and ordinals; it then has no blocks.
        hidden: texts that were left out because no reader of the document sees them.
        url: the address that a saved page states as its own.
        parted: whether each heading of level 1 starts a document of its own: a sheet, a mail.
        listed: whether each heading of level 1 starts an entry of a list: an event.
        held: bytes of pictures by the `ref` of their figures, if the file cannot be read for them again.
    """

    title: str = ""
    blocks: tuple[Block, ...] = ()
    date: datetime | None = None
    author: str = ""
    language: str = ""
    warnings: tuple[str, ...] = ()
    records: tuple[Item, ...] = ()
    figures: tuple[Figure, ...] = ()
    hidden: tuple[str, ...] = ()
    url: str = ""
    parted: bool = False
    listed: bool = False
    held: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The text of all blocks, an empty line between two of them."""
        return "\n\n".join([block.text for block in self.blocks])


COMMENT = "Comment"


def comment(text: str, author: str) -> str:
    """Return the text of a comment on a document, with its author."""
    return f"{COMMENT} by {author}: {text}" if author else f"{COMMENT}: {text}"


_UNSPACED_END = re.compile(rf"[{UNSPACED}，。、；：？！）」』】]")
_UNSPACED_START = re.compile(rf"[{UNSPACED}（「『【]")


def first_heading(blocks: Iterable[Block], level: int | None = None, page: int | None = None) -> str:
    """Return the text of the first heading, of a level or on a page if one is given; "" if there is none."""
    for block in blocks:
        if block.kind != "heading":
            continue
        if level in (None, block.level) and page in (None, block.page):
            return block.text
    return ""


def joint(before: str, after: str) -> str:
    """Return the joint of two wrapped lines: a space, or nothing in a script without spaces."""
    return "" if _UNSPACED_END.match(before[-1:]) and _UNSPACED_START.match(after) else " "


class Lines:
    """A growing text with the source line of each of its lines."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.count = 0
        """Lines and paragraphs added so far."""
        self._parts: list[str] = []
        self._length = 0
        self._wrapped = False

    @property
    def text(self) -> str:
        """The whole text."""
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
        return self._parts[0] if self._parts else ""

    def add(self, text: str, line: int = 0, *, wrapped: bool = False) -> None:
        """Add a line, unless it is empty; if `wrapped`, the next line continues this one."""
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
        shift, at = self._length + len(lead), 0
        self._put(lead + text.replace("\n", "\n" + indent))
        self._wrapped = False
        self.count += 1
        for s in other.spans:
            shift += text.count("\n", at, s.start) * len(indent)
            inside = text.count("\n", s.start, s.end) * len(indent)
            self.spans.append(Span(s.start + shift, s.end + shift + inside, s.line))
            shift, at = shift + inside, s.end

    def block(self, kind: BlockKind, level: int = 0) -> Block:
        """Return the text as a block that starts at its first line."""
        return Block(self.text, kind, level, self.spans[0].line if self.spans else 0, spans=tuple(self.spans))

    def _put(self, text: str) -> None:
        if text:
            self._parts.append(text)
            self._length += len(text)


CAPTION = re.compile(
    r"(?:figure|fig\.?|image|photo|picture|plate|map|chart|diagram|scheme|abbildung|abb\.?|bild|figura|"
    r"imagen|foto|photographie|illustration|afbeelding|рис(?:унок|\.)|图|圖|図)"
    r"\s*[\dIVXivx]{1,4}(?:[.\-–]\d+)*(?!\w)\s*[.:：|)–—-]?\s*",
    re.I,
)
"""The start of a caption: a word for a picture, and its number."""
_LONGEST = 120
"""Largest number of words of a caption."""


def captioned(figures: Sequence[Figure], blocks: Sequence[Block]) -> Iterator[Figure]:
    """Give pictures the caption right after them, or else right before them."""
    taken: set[int] = set()
    for figure in figures:
        at = None if figure.caption else _caption_near(figure.at, blocks, taken)
        if at is None:
            yield figure
        else:
            taken.add(at)
            yield replace(figure, caption=blocks[at].text.replace("\n", " "))


def _caption_near(at: int, blocks: Sequence[Block], taken: set[int]) -> int | None:
    """Return the index of a free caption at or before an index of blocks, or None."""
    for n in (at, at - 1):
        if 0 <= n < len(blocks) and n not in taken and _is_caption(blocks[n]):
            return n
    return None


def _is_caption(block: Block) -> bool:
    """Return whether a paragraph starts like a caption and is not too long."""
    return block.kind == "text" and bool(CAPTION.match(block.text)) and len(block.text.split()) <= _LONGEST
