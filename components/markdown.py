"""Texts of sources in Markdown that shows them as they stand: no link, picture or markup comes of what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from ragweave.models.tables import cells, is_row

TEX = re.compile(r"\$\$([^$]+?)\$\$|\\\[(.+?)\\\]|\\\((.+?)\\\)|\$(?![\s$])([^$\n]*[^$\s\\])\$(?!\w)", re.S)
"""A formula between its signs."""
_SIGNS = re.compile(r"[\\\[\]<`*]")
_NO_TEX = re.compile(r"[<`]|\][(\[:]")
"""What a reader of Markdown that knows no TeX would make code, markup, a link or a picture of."""
_GAP = "…"
_BEGINS = re.compile(r"^(\d+(?=[.)])|(?=[#>+=|~-]))")
"""What makes a block of the line that it begins."""

Stretch = tuple[str, bool]
"""A text, and whether it belongs to the best sentence."""


@dataclass(frozen=True)
class QuoteBlock:
    """A paragraph, as one row of stretches; or a table, whose rows hold cells."""

    rows: tuple[tuple[Stretch, ...], ...]
    table: bool = False
    heads: bool = False
    """The first row holds the heads of the columns."""


def blocks(text: str, marked: Sequence[int] | None) -> Iterator[QuoteBlock]:
    """Yield the paragraphs and tables of a quote; what was left out between two rows is a row of one cell."""
    low, high = marked or (0, 0)
    lines = text.split("\n")
    starts = [sum(len(line) + 1 for line in lines[:n]) for n in range(len(lines))]
    rows = [is_row(line) for line in lines]
    gaps = [line == _GAP and rows[n - 1 : n] == rows[n + 1 : n + 2] == [True] for n, line in enumerate(lines)]
    for table, group in groupby(range(len(lines)), lambda n: rows[n] or gaps[n]):
        held = list(group)
        if table:
            told = tuple(
                tuple((cell, low < starts[n] + len(lines[n]) and starts[n] < high) for cell in cells(lines[n]))
                for n in held
            )
            yield QuoteBlock(told, True, _has_heads(told))
        elif (said := "\n".join(lines[n] for n in held)).strip():
            a, b = (min(max(edge - starts[held[0]], 0), len(said)) for edge in (low, high))
            parts = ((said[:a], False), (said[a:b], True), (said[b:], False))
            yield QuoteBlock((tuple((re.sub(r"\s+", " ", part), best) for part, best in parts if part),))


def _has_heads(rows: tuple[tuple[Stretch, ...], ...]) -> bool:
    """Tell whether the first row names the columns of the next: as long, without a number, and not the best itself."""
    first = rows[0]
    return len(rows) > 1 and len(first) == len(rows[1]) and not any(b or re.search(r"\d", cell) for cell, b in first)


def as_markdown(text: str, marked: Sequence[int] | None) -> str:
    """Return a quote as a block quote of Markdown, the best sentence in bold; nothing in it makes a link or markup."""
    parts = ["\n".join(_rows(block)) if block.table else _paragraph(block) for block in blocks(text, marked)]
    return "\n".join(f"> {line}".rstrip() for line in "\n\n".join(parts).split("\n"))


def _rows(block: QuoteBlock) -> Iterator[str]:
    width = max(map(len, block.rows))
    if not block.heads:
        yield "|" + "   |" * width
    for n, row in enumerate(block.rows):
        if n == block.heads:
            yield "|" + "---|" * width
        yield "| " + " | ".join([*(_bold(*cell) for cell in row), *[""] * (width - len(row))]) + " |"


def _paragraph(block: QuoteBlock) -> str:
    said = ""
    for text, best in block.rows[0]:
        gap = " " if said and text[:1] == " " else ""
        said += gap + _bold(text, best) + (" " if text[-1:] == " " else "")
    return in_block(said.strip())


def _bold(text: str, best: bool) -> str:
    said = in_markdown(text)
    return f"**{said}**" if best and said else said


def in_block(line: str) -> str:
    """Return a line of Markdown so that it begins no list, heading or quote."""
    return _BEGINS.sub(r"\1\\", line)


def in_markdown(text: str) -> str:
    """Return a text in one line of Markdown that shows it as it stands: no link, picture or markup comes of it."""
    parts, at = [], 0
    for found in TEX.finditer(text):
        parts += [_escaped(text[at : found.start()]), _escaped(found[0]) if _NO_TEX.search(found[0]) else found[0]]
        at = found.end()
    return " ".join("".join([*parts, _escaped(text[at:])]).split())


def _escaped(text: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", text)
