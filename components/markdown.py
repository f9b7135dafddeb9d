"""Show texts of sources literally in Markdown: nothing in them becomes a link, picture or markup."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ragweave.models.tables import cell_spans, is_row

TEX = re.compile(r"\$\$([^$]+?)\$\$|\\\[(.+?)\\\]|\\\((.+?)\\\)|\$(?![\s$])([^$\n]*[^$\s\\])\$(?!\w)", re.S)
"""A formula between its delimiters."""
_SIGNS = re.compile(r"[\\\[\]<`*]")
_NO_TEX = re.compile(r"[<`]|\][(\[:]")
"""What a Markdown viewer without TeX would show as code, markup, a link or a picture."""
_LINE = re.compile(r"[^\n]*\S[^\n]*")
_BEGINS = re.compile(r"^(\d+(?=[.)])|(?=[#>+=|~-]))")
"""A line start that would begin a list, heading, quote or rule."""

Marks = Sequence[Sequence[int]]
"""[start, end) of each marked span, in order."""
Stretch = tuple[str, bool]
"""A text, and whether it is marked as a match."""
Cell = tuple[Stretch, ...]


@dataclass(frozen=True)
class QuoteBlock:
    """A table, or a paragraph as one cell in one row."""

    rows: tuple[tuple[Cell, ...], ...]
    table: bool = False
    heads: bool = False
    """The first row holds the heads of the columns."""


def blocks(text: str, marked: Marks = ()) -> Iterator[QuoteBlock]:
    """Yield the paragraphs and tables of a quote, cut at the ends of the marked spans."""
    for table, lines in _groups(text):
        if not table:
            paragraph = _cut(text, lines[0][0], lines[-1][1], marked)
            yield QuoteBlock(((paragraph,),))
            continue
        rows: list[tuple[Cell, ...]] = []
        for start, end in lines:
            rows.append(tuple(_cut(text, a, b, marked) for a, b in cell_spans(text, start, end)))
        yield QuoteBlock(tuple(rows), True, _has_heads(rows))


def _groups(text: str) -> Iterator[tuple[bool, list[tuple[int, int]]]]:
    """Yield whether a group of lines is a table, and its lines; a blank line ends a paragraph."""
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
    """Cut text[start:end] at the ends of the marked spans; white space becomes one space."""
    parts: list[Stretch] = []

    def add(low: int, high: int, matches: bool) -> None:
        if low < high:
            parts.append((re.sub(r"\s+", " ", text[low:high]), matches))

    at = start
    for low, high in marked:
        if high <= start or end <= low:
            continue
        add(at, low, False)
        add(max(low, at), min(high, end), True)
        at = min(high, end)
    add(at, end, False)
    return tuple(parts)


def _has_heads(rows: Sequence[tuple[Cell, ...]]) -> bool:
    """Return whether the first row heads the columns of the next: it is as long and has no number."""
    if len(rows) < 2 or len(rows[0]) != len(rows[1]):
        return False
    for cell in rows[0]:
        for text, _ in cell:
            if re.search(r"\d", text):
                return False
    return True


def as_markdown(text: str, marked: Marks = ()) -> str:
    """Return a quote as a block quote of Markdown with the marked spans in bold and no other markup."""
    parts: list[str] = []
    for block in blocks(text, marked):
        parts.append("\n".join(_rows(block)) if block.table else in_block(_bold(block.rows[0][0])))
    lines = "\n\n".join(parts).split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _rows(block: QuoteBlock) -> Iterator[str]:
    """Yield the lines of a table; one without heads gets an empty head row, which Markdown requires."""
    width = max(map(len, block.rows))
    if not block.heads:
        yield "|" + "   |" * width
    for n, row in enumerate(block.rows):
        if n == block.heads:
            yield "|" + "---|" * width
        yield "| " + " | ".join([*map(_bold, row), *[""] * (width - len(row))]) + " |"


def _bold(cell: Cell) -> str:
    """Return a cell in one line of Markdown with the matches in bold."""
    line = ""
    for text, matches in cell:
        part = in_markdown(text)
        if matches and part:
            part = f"**{part}**"
        if text[:1] == " ":
            line += " "
        line += part
        if text[-1:] == " ":
            line += " "
    return " ".join(line.split())


def in_block(line: str) -> str:
    """Escape the start of a line of Markdown that would begin a list, heading or quote."""
    return _BEGINS.sub(r"\1\\", line)


def in_markdown(text: str) -> str:
    """Return a text as one line of Markdown that shows it literally, except for formulas."""
    line = ""
    at = 0
    for found in TEX.finditer(text):
        formula = found[0]
        line += _escaped(text[at : found.start()])
        line += _escaped(formula) if _NO_TEX.search(formula) else formula
        at = found.end()
    line += _escaped(text[at:])
    return " ".join(line.split())


def _escaped(text: str) -> str:
    return _SIGNS.sub(r"\\\g<0>", text)
