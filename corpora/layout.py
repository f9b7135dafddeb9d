"""Lines on pages to paragraphs and headings, by gaps, indents and font sizes."""

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
from ragweave.corpora.types import Span, union

LARGER = 1.15
"""A line is larger than the body text from this ratio of font sizes on."""
_GAP = 0.22
"""Distance between baselines, in font sizes beyond the usual of the document, that parts paragraphs."""
_PITCH = 0.6
"""Width of a character of code, in font sizes."""
_HEADING_CHARACTERS = 160
_BOLD_CHARACTERS = 120
_ITEM = re.compile(r"(?:[•▪◦‣●○■–—*-]|\(?\d{1,3}[.)]|\(?[a-z][.)])\s+\S")
_CONTENTS = re.compile(r"(?:\.\s?){5,}\s*(\d{0,4}|[ivxlc]{1,6})\Z", re.I)
"""A line that may be of a table of contents: dots that lead to a page number."""
_ENDS = (".", "!", "?", ":", "。", "！", "？", "：", ".”", '."', "”")
_LETTERS = re.compile(r"[^\W\d_]+")
_LETTERS_END = re.compile(r"[^\W\d_]+\Z")
_WORDLIKE = re.compile(r"[^\W\d_]{2,}")


class PageLook(Protocol):
    """Looks at the pictures of the pages of a document."""

    def page(self, page: Any, number: int, lines: list[PageLine], /) -> list[PageLine]:
        """Look at a page, and return its lines: those given, or those that were read where it is a picture."""

    def figures(self, blocks: Sequence[Block], /) -> tuple[Figure, ...]:
        """Return the pictures of all pages, in order."""

    def another(self) -> PageLook:
        """Return what looks at the pages of a further document of the same file."""


def blocks(lines: Sequence[PageLine]) -> list[Block]:
    """Group the lines of a document, in reading order, into paragraphs and headings."""
    lines = _without_contents(lines)
    if not lines:
        return []
    weights: Counter[float] = Counter()
    for x in lines:
        weights[x.size] += len(x.text)
    if 2 * sum(len(x.text) for x in lines if x.fixed) > weights.total():  # typed, and no code
        lines = [replace(x, fixed=False) for x in lines]
    body = weights.most_common(1)[0][0]
    usual = _usual_leading(lines, body)
    words = Counter(w.lower() for x in lines for w in re.findall(r"[^\W\d_]+(?:-[^\W\d_]+)*", x.text))
    between: list[list[list[PageLine]]] = []
    tables: list[Block] = []
    at = 0
    for first, end, table in [*grids(lines), (len(lines), len(lines), None)]:
        between.append(_across_pages(_grouped(lines[at:first], usual), body))
        tables += [table] if table is not None else []
        at = end
    styles = {_style(g, body) for groups in between for g in groups if _is_heading(g, body)}
    levels = {style: min(6, n) for n, style in enumerate(sorted(styles, reverse=True), 1)}
    found: list[Block] = []
    for n, groups in enumerate(between):
        found += [_block(g, levels[_style(g, body)] if _is_heading(g, body) else 0, words) for g in groups]
        found += tables[n : n + 1]
    return _lists(found)


def _without_contents(lines: Sequence[PageLine]) -> list[PageLine]:
    """Leave out contents and indexes: dots lead to numbers that never fall, or that all are those of pages."""
    dotted = [(n, m[1]) for n, x in enumerate(lines) if (m := _CONTENTS.search(x.text))]
    gone: set[int] = set()
    while dotted:
        size = next((k for k, (a, b) in enumerate(pairwise(dotted), 1) if b[0] - a[0] > 3), len(dotted))
        run, dotted = dotted[:size], dotted[size:]
        numbers = [int(said) for _, said in run if said.isdecimal()]
        rising = sorted(numbers) == numbers and len(run) > 3
        if len(run) > 1 and (rising or max(numbers, default=0) <= lines[-1].page):
            gone.update(n for n, _ in run)
    return [x for n, x in enumerate(lines) if n not in gone]


def _grouped(lines: Sequence[PageLine], usual: float) -> list[list[PageLine]]:
    """Part lines where a paragraph ends."""
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
    """Tell whether a paragraph ends between two lines that follow each other."""
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
        # A jump upwards: the next column, where a sentence may go on.
        return a.text.endswith(_ENDS)
    if leading > usual + _GAP:
        return True
    indented = b.bbox[0] - a.bbox[0] > 0.8 * size and not _ITEM.match(a.text)
    short = a.bbox[2] < b.bbox[2] - 4 * size
    return a.text.endswith(_ENDS) and (indented or short)


def _across_pages(groups: list[list[PageLine]], body: float) -> list[list[PageLine]]:
    """Join a paragraph that goes on after a page break: no sentence end before it, a small letter after it."""
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
    """Tell a heading: larger than the body and short, or bold, shorter, and no sentence."""
    text = " ".join(x.text for x in group)
    if not _WORDLIKE.search(text) and not re.search(r"\w\w", text):
        return False
    if all(x.size >= body * LARGER for x in group):
        return len(text) <= _HEADING_CHARACTERS and len(group) <= 4
    bold = all(x.bold and x.size >= body * 0.95 for x in group)
    aside = text[0] in "(（" and text[-1] in ")）"  # “(in millions)” qualifies what stands above it
    short = len(group) <= 2 and len(text) <= _BOLD_CHARACTERS
    return bold and short and not aside and not text.endswith((".", ",", ";", ":"))


def _style(group: Sequence[PageLine], body: float) -> float:
    """Return what ranks a heading: its font size; bold lines of body size come below all larger ones."""
    size = max(x.size for x in group)
    return round(size * 2) / 2 if size >= body * LARGER else 0.0


def _block(group: Sequence[PageLine], level: int, words: Counter[str]) -> Block:
    """Join the lines of a paragraph; words broken at line ends become one again."""
    text = ""
    spans: list[Span] = []
    code = not level and all(x.fixed for x in group)
    left = min(x.bbox[0] for x in group)
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
    first = group[0]
    boxes = [x.bbox for x in group if x.page == first.page]
    kind: BlockKind = "heading" if level else "code" if code else "text"
    return Block(text, kind, level, page=first.page, bbox=union(boxes), spans=tuple(spans))


def _lists(found: Sequence[Block]) -> list[Block]:
    """Make one list of items that follow each other on a page."""
    out: list[Block] = []
    for block in found:
        if block.kind == "text" and _ITEM.match(block.text):
            block = replace(block, kind="list")
        before = out[-1] if out else None
        if before is None or (before.kind, before.page) != ("list", block.page) or block.kind != "list":
            out.append(block)
            continue
        spans = place(block.spans, len(before.text) + 1)
        boxes = [b.bbox for b in (before, block) if b.bbox]
        out[-1] = replace(
            before, text=f"{before.text}\n{block.text}", bbox=union(boxes), spans=(*before.spans, *spans)
        )
    return out


def _mended(text: str, hyphen: bool, after: str, words: Counter[str]) -> tuple[str, str]:
    """Return the text so far and what joins it to the next line.

    A hyphen at a line end goes away before a small letter, unless the document writes the word with its
    hyphen elsewhere and never without.
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
