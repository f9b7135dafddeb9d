"""Measure blocks, find the places where they can be cut, and choose the best cuts of a section."""

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
"""Characters of Chinese and Japanese for each word of an English translation, about."""
_LONGEST_WORD = 14
"""Largest length of a word; tables of numbers, rules and encoded data count by their length instead."""
_IDEAL = 0.75
"""Ideal size of a piece, as a share of the limit: 150 of 200 words."""
_INSIDE = 0.35
"""Cost of a cut inside a block. A cut between blocks costs 0, a piece at the limit costs 0.11."""
_AFTER_COLON = 0.35
"""Cost of a cut right after an introduction that ends with a colon."""
_HEADER_SHARE = 0.3
"""Largest share of a piece that a repeated table header may take."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a section.

    `glue` is the white space before it if it continues the block of the piece before it, else "".
    """

    text: str
    spans: tuple[Span, ...]
    glue: str


@dataclass(frozen=True, slots=True)
class _Atom:
    """A part of a block that is never cut."""

    block: int
    start: int
    end: int
    words: float
    cost: float
    """Cost of a cut before it."""


@lru_cache(maxsize=64)  # each step that cuts a text measures it
def size(text: str) -> float:
    """Return the length of a text in words; scripts without spaces count 1.7 characters as a word."""
    unspaced = 0 if text.isascii() else len(_UNSPACED.findall(text))
    counted = len(_WORD.findall(text)) + unspaced / _CHARACTERS_PER_WORD
    letters = sum(map(len, text.split())) - unspaced
    return max(counted, letters / _LONGEST_WORD)


def place(spans: Iterable[Span], shift: int) -> list[Span]:
    """Return spans moved by `shift` characters."""
    return [Span(s.start + shift, s.end + shift, s.line, s.page, s.bbox) for s in spans]


def cut(blocks: Sequence[Block], limit: int) -> list[Piece]:
    """Cut the blocks of one section into pieces of at most `limit` words.

    Minimises the sum, over pieces, of the squared relative distance from the ideal size plus the cost of the
    cut before it. Time is linear in the text, times the number of atoms that fit one piece.
    """
    if sum(size(block.text) for block in blocks) <= limit:
        # One piece costs less than any two of the same size together, up to the limit: no search needed.
        return _whole(blocks)
    atoms: list[_Atom] = []
    for n, block in enumerate(blocks):
        atoms += _atoms(n, block, blocks[n - 1] if n else None, limit)
    headers = [_header(block, limit) for block in blocks]
    starts = _best_starts(atoms, list(map(size, headers)), limit)
    pieces: list[Piece] = []
    end = len(atoms)
    while end:
        pieces.append(_piece(blocks, headers, atoms[starts[end] : end]))
        end = starts[end]
    return pieces[::-1]


def _whole(blocks: Sequence[Block]) -> list[Piece]:
    """Return the only piece of a section, or none if it has no text."""
    atoms: list[_Atom] = []
    for n, block in enumerate(blocks):
        for start, end in trimmed(block.text, 0, len(block.text)):
            atoms.append(_Atom(n, start, end, 0.0, 0.0))
    return [_piece(blocks, [""] * len(blocks), atoms)] if atoms else []


def _best_starts(atoms: Sequence[_Atom], header_words: Sequence[float], limit: int) -> list[int]:
    """Return for each end of a piece the start of the cheapest piece, both counted in atoms."""
    ideal = limit * _IDEAL
    costs = [0.0]
    starts = [0]
    for end in range(1, len(atoms) + 1):
        least, best = float("inf"), end - 1
        words = 0.0
        for start in range(end - 1, -1, -1):
            first = atoms[start]
            words += first.words
            held = words + (header_words[first.block] if first.start else 0.0)
            if held > limit and start < end - 1:
                if words > limit:
                    break
                continue
            cost = costs[start] + ((held - ideal) / ideal) ** 2 + (first.cost if start else 0.0)
            if cost < least:
                least, best = cost, start
        costs.append(least)
        starts.append(best)
    return starts


def fill(text: str, limit: int) -> list[tuple[int, int]]:
    """Return ranges of at most `limit` words, each as long as the sentences allow."""
    if size(text) <= limit:
        return trimmed(text, 0, len(text))
    out: list[tuple[int, int]] = []
    held = 0.0
    for start, end in _all_forced(text, sentences(text), limit):
        words = size(text[start:end])
        if out and held + words <= limit:
            out[-1] = (out[-1][0], end)
            held += words
        else:
            out.append((start, end))
            held = words
    return out


def _atoms(number: int, block: Block, before: Block | None, limit: int) -> list[_Atom]:
    """Return the sentences of a text or the lines of a list, table or code, cut to the length of a piece."""
    if size(block.text) <= limit / 4:
        ranges = trimmed(block.text, 0, len(block.text))
    elif block.kind == "text":
        ranges = sentences(block.text)
    else:
        ranges = _lines(block.text, block.level if block.kind == "table" else 0)
    introduced = before is not None and before.text.rstrip().endswith((":", "："))
    cost = _AFTER_COLON if introduced else 0.0
    out: list[_Atom] = []
    for start, end in _all_forced(block.text, ranges, limit):
        out.append(_Atom(number, start, end, size(block.text[start:end]), cost))
        cost = _INSIDE
    return out


def _all_forced(text: str, ranges: Iterable[tuple[int, int]], limit: int) -> list[tuple[int, int]]:
    """Return ranges of a text, those longer than a piece cut."""
    out: list[tuple[int, int]] = []
    for start, end in ranges:
        out += _forced(text, start, end, limit)
    return out


def _lines(text: str, header: int) -> list[tuple[int, int]]:
    """Return the lines that are not blank; the header of a table stays with its first row."""
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
    """Cut a range longer than a piece: after a line end, a clause, a word, or else a number of characters."""
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
        at = _last_soft_end(text, middle, reach)
        out += trimmed(text, start, at)
        start = at
    return out + trimmed(text, start, end)


def _last_soft_end(text: str, start: int, end: int) -> int:
    """Return the end of the last line, or else clause, or else word in a range; its end if it has none."""
    for pattern in _SOFT_ENDS:
        at = 0
        for match in pattern.finditer(text, start, end):
            at = match.end()
        if at:
            return at
    return end


def _header(block: Block, limit: int) -> str:
    """Return the header lines of a table and a line end, or "" if they are missing or too long."""
    if block.kind != "table" or not block.level:
        return ""
    header = "\n".join(block.text.split("\n")[: block.level]) + "\n"
    return header if size(header) <= limit * _HEADER_SHARE else ""


def _piece(blocks: Sequence[Block], headers: Sequence[str], atoms: Sequence[_Atom]) -> Piece:
    """Join atoms: text between atoms of a block is unchanged, a blank line separates blocks.

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
    glue = ""
    if atoms[0].start > 0:
        glue = " " if first.kind == "text" else "\n"
    return Piece(text, tuple(spans), glue)


def _clipped(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """Return the spans that overlap [start, end), cut to it; by bisection, as a table may have a million."""
    low = bisect_right(spans, start, key=lambda s: s.end)
    high = bisect_left(spans, end, key=lambda s: s.start)
    return [Span(max(s.start, start), min(s.end, end), s.line, s.page, s.bbox) for s in spans[low:high]]
