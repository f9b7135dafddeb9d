"""A quote as a reader sees it: its place, its paragraphs and tables, the best sentence marked; as Markdown and HTML."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from ragweave.components.phrases import HEARD
from ragweave.models.tables import cells, is_row
from ragweave.models.text import clock
from ragweave.serve.formulas import in_markdown, with_formulas

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


def blocks(sentence: Mapping[str, Any]) -> Iterator[QuoteBlock]:
    """Yield the paragraphs and tables of a quote; what was left out between two rows is a row of one cell."""
    low, high = sentence.get("marked") or (0, 0)
    lines = sentence["text"].split("\n")
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
        elif (text := "\n".join(lines[n] for n in held)).strip():
            a, b = (min(max(edge - starts[held[0]], 0), len(text)) for edge in (low, high))
            parts = ((text[:a], False), (text[a:b], True), (text[b:], False))
            yield QuoteBlock((tuple((re.sub(r"\s+", " ", part), best) for part, best in parts if part),))


def _has_heads(rows: tuple[tuple[Stretch, ...], ...]) -> bool:
    """Tell whether the first row names the columns of the next: as long, without a number, and not the best itself."""
    first = rows[0]
    return len(rows) > 1 and len(first) == len(rows[1]) and not any(b or re.search(r"\d", cell) for cell, b in first)


def best_of(sentence: Mapping[str, Any]) -> str:
    """Return the best sentence of a quote."""
    start, end = sentence.get("marked") or (0, len(sentence["text"]))
    return " ".join(sentence["text"][start:end].split())


def where(place: Mapping[str, Any]) -> str:
    """Say where in its file something stands."""
    if "start" in place:
        seconds = f"{clock(place['start'])}–{clock(place.get('end', place['start']))}"
        return f"{seconds} {HEARD}" if place.get("doubtful") else seconds
    if "page" in place:
        return f"page {place['page']}"
    return " › ".join(place.get("heading") or ()) or (f"line {place['line']}" if place.get("line") else "")


def as_markdown(sentence: Mapping[str, Any]) -> str:
    """Return a quote as a block quote of Markdown, the best sentence in bold; nothing in it makes a link or markup."""
    parts = ["\n".join(_rows(block)) if block.table else _paragraph(block) for block in blocks(sentence)]
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


def as_html(sentence: Mapping[str, Any]) -> str:
    """Return the inside of a quote as HTML, the best sentence marked."""
    return "".join(
        _table(b) if b.table else f"<p>{''.join(_marked(*s) for s in b.rows[0])}</p>" for b in blocks(sentence)
    )


def _table(block: QuoteBlock) -> str:
    rows = []
    for n, row in enumerate(block.rows):
        name = "th" if block.heads and n == 0 else "td"
        rows.append("<tr>" + "".join(f"<{name}>{_marked(*cell)}</{name}>" for cell in row) + "</tr>")
    return f"<table>{''.join(rows)}</table>"


def _marked(text: str, best: bool) -> str:
    said = with_formulas(text)
    return f"<mark>{said}</mark>" if best and said else said
