"""Where blocks may be cut, how long they are, and the best cuts of a section."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from ragweave.corpora.blocks import Block
from ragweave.corpora.types import Span
from ragweave.models.text import UNSPACED, sentences, trimmed

_UNSPACED = re.compile(f"[{UNSPACED}]")
_WORD = re.compile(rf"[^\W_{UNSPACED}]+(?:[.,'’-][^\W_{UNSPACED}]+)*")
_CHARACTERS_PER_WORD = 1.7
"""Of scripts without spaces: Chinese and Japanese have about this many for each word of an English translation."""
_LONGEST_WORD = 14
"""Characters a word may have; tables of numbers, rules and encoded data count by their length instead."""
_IDEAL = 0.75
"""Share of the limit that a piece aims at: 150 of 200 words."""
_INSIDE = 0.35
"""Cost of a cut inside a block, against 0 between blocks; a piece of the ideal size costs 0, one at the limit 0.11."""
_AFTER_COLON = 0.35
"""Cost of a cut between an introduction that ends with a colon and what it introduces."""
_HEADER_SHARE = 0.3
"""A table's header is repeated when it takes at most this share of a piece."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a section.

    `glue` is white space to put before it when it continues the piece before it inside a block, else "".
    """

    text: str
    spans: tuple[Span, ...]
    glue: str


@dataclass(frozen=True, slots=True)
class _Atom:
    """A stretch of a block that is never cut."""

    block: int
    start: int
    end: int
    words: float
    cost: float
    """Of a cut before it."""


@lru_cache(maxsize=64)  # a text is measured by each step that cuts it
def size(text: str) -> float:
    """Return the length of a text in words; scripts without spaces count 1.7 characters as a word."""
    unspaced = 0 if text.isascii() else len(_UNSPACED.findall(text))
    counted = len(_WORD.findall(text)) + unspaced / _CHARACTERS_PER_WORD
    letters = sum(map(len, text.split())) - unspaced
    return max(counted, letters / _LONGEST_WORD)


def place(spans: Iterable[Span], shift: int) -> list[Span]:
    """Move spans by `shift` characters."""
    return [Span(s.start + shift, s.end + shift, s.line, s.page, s.bbox) for s in spans]


def cut(blocks: Sequence[Block], limit: int) -> list[Piece]:
    """Cut the blocks of one section into pieces of at most `limit` words.

    Minimises the sum, over pieces, of the squared relative distance from the ideal size plus the cost of the
    cut before it. Time is linear in the text, times the atoms that fit one piece.
    """
    if sum(size(b.text) for b in blocks) <= limit:
        # One piece costs less than any two of the same size together, up to the limit: nothing to search for.
        whole = [(n, part) for n, b in enumerate(blocks) for part in trimmed(b.text, 0, len(b.text))]
        return (
            [_piece(blocks, [""] * len(blocks), [_Atom(n, *part, 0.0, 0.0) for n, part in whole])]
            if whole
            else []
        )
    atoms = [a for n, b in enumerate(blocks) for a in _atoms(n, b, blocks[n - 1] if n else None, limit)]
    headers = [_header(b, limit) for b in blocks]
    header_words = [size(h) for h in headers]
    ideal = limit * _IDEAL
    best: list[tuple[float, int]] = [(0.0, 0)]
    for end in range(1, len(atoms) + 1):
        found = (float("inf"), end - 1)
        words = 0.0
        for start in range(end - 1, -1, -1):
            first = atoms[start]
            words += first.words
            held = words + (header_words[first.block] if first.start else 0.0)
            if held > limit and start < end - 1:
                if words > limit:
                    break
                continue
            cost = best[start][0] + ((held - ideal) / ideal) ** 2 + (first.cost if start else 0.0)
            if cost < found[0]:
                found = (cost, start)
        best.append(found)
    bounds = []
    end = len(atoms)
    while end:
        start = best[end][1]
        bounds.append((start, end))
        end = start
    return [_piece(blocks, headers, atoms[a:b]) for a, b in reversed(bounds)]


def fill(text: str, limit: int) -> list[tuple[int, int]]:
    """Return ranges of at most `limit` words, each as long as the sentences allow."""
    if size(text) <= limit:
        return trimmed(text, 0, len(text))
    out: list[tuple[int, int]] = []
    held = 0.0
    for start, end in [part for s in sentences(text) for part in _forced(text, *s, limit)]:
        words = size(text[start:end])
        if out and held + words <= limit:
            out[-1] = (out[-1][0], end)
            held += words
        else:
            out.append((start, end))
            held = words
    return out


def _atoms(number: int, block: Block, before: Block | None, limit: int) -> list[_Atom]:
    """Return the sentences of a text, or the lines of a list, table or code; what is longer than a piece is cut."""
    if size(block.text) <= limit / 4:
        stretches = trimmed(block.text, 0, len(block.text))
    elif block.kind == "text":
        stretches = sentences(block.text)
    else:
        stretches = _lines(block.text, block.level if block.kind == "table" else 0)
    introduced = before is not None and before.text.rstrip().endswith((":", "："))
    out: list[_Atom] = []
    for part in [p for s in stretches for p in _forced(block.text, *s, limit)]:
        cost = _INSIDE if out else (_AFTER_COLON if introduced else 0.0)
        out.append(_Atom(number, *part, size(block.text[slice(*part)]), cost))
    return out


def _lines(text: str, header: int) -> list[tuple[int, int]]:
    """Return the lines that are not blank; the header lines of a table stay with its first row."""
    out: list[tuple[int, int]] = []
    at = 0
    for n, line in enumerate(text.split("\n")):
        start, end = at, at + len(line)
        at = end + 1
        if n and n <= header and out:
            out[-1] = (out[-1][0], end)
        elif line.strip():
            out.append((start, end))
    return out


_SOFT_ENDS = (re.compile(r"\n"), re.compile(r"[;；:：,，、]\s*"), re.compile(r"\s+"))


def _forced(text: str, start: int, end: int, limit: int) -> list[tuple[int, int]]:
    """Cut a stretch longer than a piece: after a line end, a clause, a word, or else a number of characters."""
    out = []
    while start < end:
        reach = min(end, start + limit * _LONGEST_WORD)
        words = size(text[start:reach])
        if reach == end and words <= limit:
            break
        # Shrink in proportion until it fits: text is even enough for two or three steps.
        while words > limit and reach > start + 1:
            reach = max(start + 1, start + int((reach - start) * limit / words))
            words = size(text[start:reach])
        middle = start + (reach - start) // 2
        ends = ([m.end() for m in pattern.finditer(text, middle, reach)] for pattern in _SOFT_ENDS)
        at = next((found[-1] for found in ends if found), reach)
        out += trimmed(text, start, at)
        start = at
    return out + trimmed(text, start, end)


def _header(block: Block, limit: int) -> str:
    """Return the header lines of a table with the line break after them, or "" where there are none or too many."""
    if block.kind != "table" or not block.level:
        return ""
    header = "\n".join(block.text.split("\n")[: block.level]) + "\n"
    return header if size(header) <= limit * _HEADER_SHARE else ""


def _piece(blocks: Sequence[Block], headers: Sequence[str], atoms: Sequence[_Atom]) -> Piece:
    """Join atoms: the text between those of one block stays as it is, blocks are set apart by a blank line.

    A repeated table header gets no span, so that the piece opens at its own first row.
    """
    text = ""
    spans: list[Span] = []
    for number, run in groupby(atoms, key=lambda a: a.block):
        block, own = blocks[number], list(run)
        start, end = own[0].start, own[-1].end
        text += "\n\n" if text else ""
        text += headers[number] if start else ""
        spans += place(_clipped(block.places(), start, end), len(text) - start)
        text += block.text[start:end]
    first = blocks[atoms[0].block]
    glue = "" if atoms[0].start == 0 else (" " if first.kind == "text" else "\n")
    return Piece(text, tuple(spans), glue)


def _clipped(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """Return the spans that overlap [start, end), cut to it; by bisection, as a table may have a million."""
    low = bisect_right(spans, start, key=lambda s: s.end)
    high = bisect_left(spans, end, key=lambda s: s.start)
    return [Span(max(s.start, start), min(s.end, end), s.line, s.page, s.bbox) for s in spans[low:high]]
