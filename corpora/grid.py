"""Tables of pages: lines whose cells stand under each other become rows, ruled or not.

A cell ends where the gap to the next is wider than a space can be. Rows that follow each other are a table where their
cells line up on one side, and most of them are short; two columns of prose line up too, and are long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ragweave.corpora.blocks import Block
from ragweave.corpora.types import Box, Span, union

GAP = 0.85
"""Distance between two characters, in font sizes, from which they stand in different cells."""
_ROWS = 3
"""Fewest rows of a table, the heads counted."""
_APART = 3.2
"""Most distance between the baselines of two rows, in font sizes."""
_WRAPPED = 1.45
"""The same between two lines of one cell."""
_ALIGNED = 2.5
"""Points that the sides of cells under each other may differ by."""
_LINED_UP = 0.7
"""Share of the cells of a column that line up."""
_SHORT = 28
"""Characters that the cells of a table have at most, by the mean of its columns but the first."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: from where to where it reaches on its line, and its text."""

    left: float
    right: float
    text: str


@dataclass(frozen=True, slots=True)
class PageLine:
    """A line of a page.

    Attributes:
        text: its text, without a hyphen that the format itself marks as such.
        page: page, 1-based.
        bbox: [left, bottom, right, top] in points.
        base: height of the baseline on the page at its start, in points.
        end: the same at its end.
        size: font size of most of it in points.
        bold: whether most of it is in a bold font.
        hyphen: whether a word is broken at its end, as the format itself marks it.
        cells: its cells, where gaps part it.
    """

    text: str
    page: int
    bbox: Box
    base: float
    end: float
    size: float
    bold: bool
    hyphen: bool
    cells: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class Rowed:
    """What stands on one line of a page: its cells, and the lines that it was made of, by number."""

    cells: tuple[Cell, ...]
    first: int
    last: int
    page: int
    base: float
    size: float


def grids(lines: Sequence[PageLine]) -> Iterator[tuple[int, int, Block]]:
    """Yield the tables of a document: the first line, one past the last, and the block, one row a line."""
    rows = _rows(lines)
    at = 0
    while at < len(rows):
        end = at + 1
        while end < len(rows) and _goes_on(rows[end - 1], rows[end], rows[at:end]):
            end += 1
        while end > at and len(rows[end - 1].cells) < 2:
            end -= 1
        made = _table(rows[at:end]) if len(rows[at].cells) > 1 and end - at >= _ROWS else None
        if made is None:
            at += 1
            continue
        yield rows[at].first, rows[end - 1].last + 1, _block(made, lines)
        at = end


def _rows(lines: Sequence[PageLine]) -> list[Rowed]:
    """Put lines of one height that follow each other to the right together: cells that were set one by one."""
    out: list[Rowed] = []
    for n, line in enumerate(lines):
        left, _, right, _ = line.bbox
        cells = line.cells or (Cell(left, right, line.text),)
        before = out[-1] if out else None
        if (
            before is not None
            and before.page == line.page
            and abs(before.base - line.base) < 0.35 * max(line.size, before.size)
            and left - before.cells[-1].right > GAP * 0.5 * line.size
        ):
            out[-1] = replace(before, cells=(*before.cells, *cells), last=n)
        else:
            out.append(Rowed(cells, n, n, line.page, line.base, line.size))
    return out


def _goes_on(before: Rowed, row: Rowed, above: Sequence[Rowed]) -> bool:
    """Tell whether a row can belong to the table of those above it; one cell alone does as a wrapped line of a cell."""
    down = (before.base - row.base) / max(1.0, row.size)
    if before.page != row.page or not 0.5 < down < _APART or abs(before.size - row.size) > 0.3 * max(before.size, 1.0):
        return False
    if len(row.cells) > 1:
        return True
    only = row.cells[0]
    full = next((r for r in reversed(above) if len(r.cells) > 1), None)
    if full is None or down > _WRAPPED:
        return False
    own = next((n for n, c in enumerate(full.cells) if abs(c.left - only.left) < _ALIGNED), None)
    return own is not None and (own + 1 == len(full.cells) or only.right < full.cells[own + 1].left)


def _table(rows: Sequence[Rowed]) -> list[tuple[Rowed, list[str]]] | None:
    """Return rows with a text for each column, or None where they do not line up or read like prose."""
    width = Counter(len(r.cells) for r in rows if len(r.cells) > 1).most_common(1)[0][0]
    full = [r for r in rows if len(r.cells) == width]
    if len(full) < _ROWS - 1 or any(len(r.cells) > width for r in rows):
        return None
    columns = [[r.cells[n] for r in full] for n in range(width)]
    if not all(_lined_up(column) for column in columns):
        return None
    means = [sum(len(c.text) for c in column) / len(column) for column in columns]
    if min(means[1:]) > _SHORT or sum(means[1:]) / (width - 1) > 2 * _SHORT:
        return None
    out: list[tuple[Rowed, list[str]]] = []
    for row in rows:
        texts = [""] * width
        for cell in row.cells:
            n = _column(cell, columns)
            texts[n] = f"{texts[n]} {cell.text}".strip()
        close = out and (out[-1][0].base - row.base) / max(1.0, row.size) <= _WRAPPED
        if close and len(row.cells) < width and not (texts[0] and len(row.cells) > 1):
            joined = [" ".join(filter(None, pair)) for pair in zip(out[-1][1], texts, strict=True)]
            out[-1] = (replace(out[-1][0], last=row.last), joined)
        else:
            out.append((row, texts))
    return out if len(out) >= _ROWS else None


def _lined_up(column: Sequence[Cell]) -> bool:
    """Tell whether cells stand under each other: by their left or right sides, or their middles."""
    for sides in ([c.left for c in column], [c.right for c in column], [(c.left + c.right) / 2 for c in column]):
        places = sorted(sides)
        middle = places[len(places) // 2]
        if sum(abs(p - middle) <= _ALIGNED for p in places) >= _LINED_UP * len(places):
            return True
    return False


def _column(cell: Cell, columns: Sequence[Sequence[Cell]]) -> int:
    """Return the column that a cell stands in: the one that it overlaps most, else the nearest."""

    def overlap(n: int) -> float:
        left, right = min(c.left for c in columns[n]), max(c.right for c in columns[n])
        return min(right, cell.right) - max(left, cell.left)

    return max(range(len(columns)), key=overlap)


def _block(rows: Sequence[tuple[Rowed, Sequence[str]]], lines: Sequence[PageLine]) -> Block:
    text, spans = "", []
    for row, texts in rows:
        text += "\n" if text else ""
        start = len(text)
        text += " | ".join(t.replace(" | ", " / ") for t in texts)
        box = union([line.bbox for line in lines[row.first : row.last + 1]])
        spans.append(Span(start, len(text), 0, row.page, box))
    (first, texts), (last, _) = rows[0], rows[-1]
    heads = list(filter(None, texts))
    level = int(len(set(heads)) == len(heads))
    whole = union([line.bbox for line in lines[first.first : last.last + 1]])
    return Block(text, "table", level, page=first.page, bbox=whole, spans=tuple(spans))
