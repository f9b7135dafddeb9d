"""Group the lines of pages into paragraphs and headings, by gaps, indents and font sizes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, Protocol

from ragweave.corpora.blocks import Block, BlockKind, Figure, joint
from ragweave.corpora.grid import PageLine, grids
from ragweave.corpora.pieces import place
from ragweave.corpora.types import Box, Span, union

LARGER = 1.15
"""Smallest ratio of the font sizes of a larger line and the body."""
_GAP = 0.22
"""Distance between baselines of two paragraphs beyond that of two lines, in font sizes."""
_PITCH = 0.6
"""Width of a character of code, in font sizes."""
_HEADING_CHARACTERS = 160
_BOLD_CHARACTERS = 120
_ITEM = re.compile(r"(?:[•▪◦‣●○■–—*-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S")
_CONTENTS = re.compile(r"(?:\.\s?){5,}\s*(\d{0,4}|[ivxlc]{1,6})\Z", re.I)
"""A line of a table of contents, maybe: dots that lead to a page number."""
_ENDS = (".", "!", "?", ":", "。", "！", "？", "：", ".”", '."', "”")
_LETTERS = re.compile(r"[^\W\d_]+")
_LETTERS_END = re.compile(r"[^\W\d_]+\Z")
_WORDLIKE = re.compile(r"[^\W\d_]{2,}")


class PageLook(Protocol):
    """Looks at the pictures of the pages of a document."""

    def page(self, page: Any, number: int, lines: list[PageLine], /) -> list[PageLine]:
        """Look at a page; return its lines, which are recognised ones if the page is a picture."""

    def figures(self, blocks: Sequence[Block], /) -> tuple[Figure, ...]:
        """Return the pictures of all pages, in order."""

    def another(self) -> PageLook:
        """Return a new look at the pages of another document of the same file."""


def blocks(lines: Sequence[PageLine]) -> list[Block]:
    """Group the lines of a document, in reading order, into paragraphs, headings, lists and tables."""
    lines = _without_contents(lines)
    if not lines:
        return []
    body, lines = _body_size(lines)
    usual = _usual_leading(lines, body)
    parts: list[list[PageLine] | Block] = []
    at = 0
    for first, end, table in grids(lines):
        parts += _across_pages(_grouped(lines[at:first], usual), body)
        parts.append(table)
        at = end
    parts += _across_pages(_grouped(lines[at:], usual), body)
    levels = _levels(parts, body)
    words = _words(lines)
    found: list[Block] = []
    for part in parts:
        if isinstance(part, Block):
            found.append(part)
        else:
            level = levels[_style(part, body)] if _is_heading(part, body) else 0
            found.append(_block(part, level, words))
    return _lists(found)


def _body_size(lines: Sequence[PageLine]) -> tuple[float, Sequence[PageLine]]:
    """Return the font size of the body, and the lines; in a typewritten document no line is code."""
    weights: Counter[float] = Counter()
    fixed = 0
    for line in lines:
        weights[line.size] += len(line.text)
        fixed += len(line.text) if line.fixed else 0
    if 2 * fixed > weights.total():
        lines = [replace(line, fixed=False) for line in lines]
    return weights.most_common(1)[0][0], lines


def _words(lines: Sequence[PageLine]) -> Counter[str]:
    """Count the words of a document in small letters; a hyphen is part of a word."""
    words: Counter[str] = Counter()
    for line in lines:
        for word in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", line.text):
            words[word.lower()] += 1
    return words


def _levels(parts: Sequence[list[PageLine] | Block], body: float) -> dict[float, int]:
    """Return the level of each style of headings: 1 for the largest, at most 6."""
    styles: set[float] = set()
    for part in parts:
        if not isinstance(part, Block) and _is_heading(part, body):
            styles.add(_style(part, body))
    levels: dict[float, int] = {}
    for level, style in enumerate(sorted(styles, reverse=True), 1):
        levels[style] = min(6, level)
    return levels


def _without_contents(lines: Sequence[PageLine]) -> list[PageLine]:
    """Remove contents and indexes: dots lead to numbers that never fall, or that are all page numbers."""
    run: list[int] = []
    numbers: list[str] = []
    gone: set[int] = set()
    for n, line in enumerate(lines):
        dotted = _CONTENTS.search(line.text)
        if not dotted:
            continue
        if run and n - run[-1] > 3:
            gone.update(_contents(run, numbers, lines[-1].page))
            run, numbers = [], []
        run.append(n)
        numbers.append(dotted[1])
    gone.update(_contents(run, numbers, lines[-1].page if lines else 0))
    return [line for n, line in enumerate(lines) if n not in gone]


def _contents(run: list[int], numbers: Sequence[str], last: int) -> list[int]:
    """Return a run of dotted lines if it is the contents of a document with `last` pages, or nothing."""
    found = list(map(int, filter(str.isdecimal, numbers)))
    rising = sorted(found) == found and len(run) > 3
    is_contents = len(run) > 1 and (rising or max(found, default=0) <= last)
    return run if is_contents else []


def _grouped(lines: Sequence[PageLine], usual: float) -> list[list[PageLine]]:
    """Divide lines into paragraphs."""
    groups = [[line] for line in lines[:1]]
    for before, line in pairwise(lines):
        if _parts(before, line, usual):
            groups.append([line])
        else:
            groups[-1].append(line)
    return groups


def _usual_leading(lines: Sequence[PageLine], body: float) -> float:
    """Return the usual distance between the baselines of two lines of body text, in font sizes."""
    found: Counter[float] = Counter()
    for a, b in pairwise(lines):
        if a.page == b.page and abs(a.size - body) < 0.6 and abs(b.size - body) < 0.6 and a.end > b.base:
            found[round((a.end - b.base) / max(1.0, body), 1)] += 1
    return found.most_common(1)[0][0] if found else 1.2


def _parts(a: PageLine, b: PageLine, usual: float) -> bool:
    """Return whether a paragraph ends between two consecutive lines."""
    if a.page == b.page and a.fixed and b.fixed:
        return not 0 < a.end - b.base < 2 * max(1.0, b.size)
    if a.page != b.page or abs(a.size - b.size) > 0.12 * max(a.size, b.size) or _ITEM.match(b.text):
        return True
    if a.fixed != b.fixed:
        return True
    if a.bold != b.bold and (a.bold or a.text.endswith(_ENDS)):
        return True
    size = max(1.0, a.size, b.size)
    leading = (a.end - b.base) / size
    if leading < -0.5:
        # A jump upwards: the next column, in which the sentence may continue.
        return a.text.endswith(_ENDS)
    if leading > usual + _GAP:
        return True
    indented = b.bbox[0] - a.bbox[0] > 0.8 * size and not _ITEM.match(a.text)
    short = a.bbox[2] < b.bbox[2] - 4 * size
    return a.text.endswith(_ENDS) and (indented or short)


def _across_pages(groups: list[list[PageLine]], body: float) -> list[list[PageLine]]:
    """Join paragraphs across page breaks: no sentence end before the break, a small letter after it."""
    out: list[list[PageLine]] = []
    for group in groups:
        before = out[-1] if out else None
        if (
            before is not None
            and before[-1].page + 1 == group[0].page
            and not before[-1].text.endswith(_ENDS)
            and (group[0].text[:1].islower() or before[-1].hyphen)
            and before[-1].fixed == group[0].fixed
            and abs(before[-1].size - group[0].size) < 0.6
            and abs(group[0].size - body) < 0.12 * body
        ):
            before.extend(group)
        else:
            out.append(group)
    return out


def _is_heading(group: Sequence[PageLine], body: float) -> bool:
    """Return whether lines are a heading: larger than the body, or bold, short and no sentence."""
    text = " ".join(line.text for line in group)
    if not _WORDLIKE.search(text) and not re.search(r"\w\w", text):
        return False
    smallest = min(_sizes(group))
    if smallest >= body * LARGER:
        return len(text) <= _HEADING_CHARACTERS and len(group) <= 4
    bold = smallest >= body * 0.95 and all(line.bold for line in group)
    aside = text[0] in "(（" and text[-1] in ")）"  # “(in millions)” qualifies the text above it
    short = len(group) <= 2 and len(text) <= _BOLD_CHARACTERS
    return bold and short and not aside and not text.endswith((".", ",", ";", ":"))


def _sizes(group: Sequence[PageLine]) -> list[float]:
    return [line.size for line in group]


def _style(group: Sequence[PageLine], body: float) -> float:
    """Return the rank of a heading: its font size, or 0 for bold lines of body size."""
    size = max(_sizes(group))
    return round(size * 2) / 2 if size >= body * LARGER else 0.0


def _block(group: Sequence[PageLine], level: int, words: Counter[str]) -> Block:
    """Return the block of a paragraph; words that line ends break are joined again."""
    text = ""
    spans: list[Span] = []
    boxes: list[Box] = []
    code = not level and all(line.fixed for line in group)
    left = min(line.bbox[0] for line in group)
    first = group[0]
    for n, line in enumerate(group):
        if code:
            indent = " " * round((line.bbox[0] - left) / max(1.0, _PITCH * line.size))
            text += ("\n" if n else "") + indent
        elif n:
            text, gap = _mended(text, group[n - 1].hyphen, line.text, words)
            if spans[-1].end != len(text):
                spans[-1] = Span(spans[-1].start, len(text), 0, spans[-1].page, spans[-1].bbox)
            text += gap
        start = len(text)
        text += f"{line.text}-" if code and line.hyphen else line.text
        spans.append(Span(start, len(text), 0, line.page, line.bbox))
        if line.page == first.page:
            boxes.append(line.bbox)
    kind: BlockKind = "text"
    if level:
        kind = "heading"
    elif code:
        kind = "code"
    return Block(text, kind, level, page=first.page, bbox=union(boxes), spans=tuple(spans))


def _lists(found: Sequence[Block]) -> list[Block]:
    """Join consecutive list items of a page into one list."""
    out: list[Block] = []
    for block in found:
        if block.kind == "text" and _ITEM.match(block.text):
            block = replace(block, kind="list")
        before = out[-1] if out else None
        if before is None or (before.kind, before.page) != ("list", block.page) or block.kind != "list":
            out.append(block)
            continue
        spans = place(block.spans, len(before.text) + 1)
        text = f"{before.text}\n{block.text}"
        boxes = list(filter(None, (before.bbox, block.bbox)))
        out[-1] = replace(before, text=text, bbox=union(boxes), spans=(*before.spans, *spans))
    return out


def _mended(text: str, hyphen: bool, after: str, words: Counter[str]) -> tuple[str, str]:
    """Return the text so far and the characters that join it to the next line.

    A hyphen at a line end is removed before a small letter, unless the document elsewhere writes the word
    only with its hyphen.
    """
    plain = text.endswith(("-", "‐")) and not text[-2:-1].isspace() and len(text) > 1
    if not (hyphen or plain):
        return text, joint(text, after)
    stem = text[:-1] if plain else text
    head, tail = _LETTERS_END.search(stem), _LETTERS.match(after)
    if head and tail and after[0].islower():
        written = words[f"{head[0]}-{tail[0]}".lower()] and not words[f"{head[0]}{tail[0]}".lower()]
        if not written:
            return stem, ""
    return f"{stem}-", ""
