"""Texts of sources in Markdown that shows them as they stand: no link, picture or markup comes of what they say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragweave.models.tables import cell_spans, is_row

TEX = re.compile(r"\$\$([^$]+?)\$\$|\\\[(.+?)\\\]|\\\((.+?)\\\)|\$(?![\s$])([^$\n]*[^$\s\\])\$(?!\w)", re.S)
"""A formula between its signs."""
_SIGNS = re.compile(r"[\\\[\]<`*]")
_NO_TEX = re.compile(r"[<`]|\][(\[:]")
"""What a reader of Markdown that knows no TeX would make code, markup, a link or a picture of."""
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_BEGINS = re.compile(r"^(\d+(?=[.)])|(?=[#>+=|~-]))")
"""What makes a block of the line that it begins."""

Marks = Sequence[Sequence[int]]
"""[start, end) of each stretch that is marked, in order."""
Stretch = tuple[str, bool]
"""A text, and whether it matches the question."""
Cell = tuple[Stretch, ...]


@dataclass(frozen=True)
class QuoteBlock:
    """A paragraph, as one cell in one row; or a table."""

    rows: tuple[tuple[Cell, ...], ...]
    table: bool = False
    heads: bool = False
    """The first row holds the heads of the columns."""


def blocks(text: str, marked: Marks = ()) -> Iterator[QuoteBlock]:
    """Yield the paragraphs and tables of a quote, in them what is marked apart from the rest."""
    for table, lines in _groups(text):
        if table:
            rows = tuple(
                tuple(_cut(text, a, b, marked) for a, b in cell_spans(text, *line)) for line in lines
            )
            yield QuoteBlock(rows, True, _has_heads(rows))
        else:
            yield QuoteBlock(((_cut(text, lines[0][0], lines[-1][1], marked),),))


def _groups(text: str) -> Iterator[tuple[bool, list[tuple[int, int]]]]:
    """Yield the lines of each paragraph, which a blank line ends, and of each table, and whether it is one."""
    held: list[tuple[int, int]] = []
    was_table = False
    for line in _LINE.finditer(text):
        table = is_row(line[0])
        parted = held and text.count("\n", held[-1][1], line.start()) > 1
        if held and (table != was_table or (parted and not table)):
            yield was_table, held
            held = []
        held.append(line.span())
        was_table = table
    if held:
        yield was_table, held


def _cut(text: str, start: int, end: int, marked: Marks) -> Cell:
    """Part text[start:end] at the ends of what is marked; white space becomes one space."""
    parts: list[Stretch] = []
    at = start
    for low, high in marked:
        if high <= start or end <= low:
            continue
        parts += [(text[at : max(low, at)], False), (text[max(low, at) : min(high, end)], True)]
        at = min(high, end)
    parts.append((text[at:end], False))
    return tuple((re.sub(r"\s+", " ", part), best) for part, best in parts if part)


def _has_heads(rows: tuple[tuple[Cell, ...], ...]) -> bool:
    """Tell whether the first row names the columns of the next: as long, and without a number."""
    said = "".join(text for cell in rows[0] for text, _ in cell)
    return len(rows) > 1 and len(rows[0]) == len(rows[1]) and not re.search(r"\d", said)


def as_markdown(text: str, marked: Marks = ()) -> str:
    """Return a quote as a block quote of Markdown, what is marked in bold; nothing in it makes a link or markup."""
    parts = ["\n".join(_rows(b)) if b.table else in_block(_bold(b.rows[0][0])) for b in blocks(text, marked)]
    return "\n".join(f"> {line}".rstrip() for line in "\n\n".join(parts).split("\n"))


def _rows(block: QuoteBlock) -> Iterator[str]:
    width = max(map(len, block.rows))
    if not block.heads:
        yield "|" + "   |" * width
    for n, row in enumerate(block.rows):
        if n == block.heads:
            yield "|" + "---|" * width
        yield "| " + " | ".join([*map(_bold, row), *[""] * (width - len(row))]) + " |"


def _bold(cell: Cell) -> str:
    """Return a cell in one line of Markdown, what matches in bold."""
    said = ""
    for text, matches in cell:
        gap = " " if said and text[:1] == " " else ""
        part = in_markdown(text)
        said += gap + (f"**{part}**" if matches and part else part) + (" " if text[-1:] == " " else "")
    return " ".join(said.split())


def in_block(line: str) -> str:
    """Return a line of Markdown so that it begins no list, heading or quote."""
    return _BEGINS.sub(r"\1\\", line)


def in_markdown(text: str) -> str:
    """Return a text in one line of Markdown that shows it as it stands: no link, picture or markup comes of it."""
    parts, at = [], 0
    for found in TEX.finditer(text):
        parts += [
            _escaped(text[at : found.start()]),
            _escaped(found[0]) if _NO_TEX.search(found[0]) else found[0],
        ]
        at = found.end()
    return " ".join("".join([*parts, _escaped(text[at:])]).split())


def _escaped(text: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", text)
