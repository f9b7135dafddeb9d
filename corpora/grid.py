"""Tables of pages: lines whose cells stand under each other become rows, ruled or not.

A cell ends where the gap to the next is wider than a space can be. Rows that follow each other are a table
where their cells line up, and most of those behind the first are amounts or are short; two columns of prose
line up too, and are long. A table may go on over pages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from ragweave.corpora.blocks import Block
from ragweave.corpora.columns import (
    Cell,
    Rowed,
    columns_of,
    head_count,
    is_amount,
    joined_heads,
    lined_up,
    mean_length,
    place,
    signed,
)
from ragweave.corpora.types import Box, Span, union

GAP = 0.85
"""Distance between two characters, in font sizes, from which they stand in different cells."""
_ROWS = 3
"""Fewest rows of a table, the heads counted."""
_APART = 3.2
"""Most distance between the baselines of two rows, in font sizes."""
_WRAPPED = 1.45
"""The same between two lines of one cell."""
_BACK = 8
"""Lines back to which a cell may belong that is set after the lines of the cells beside it."""
_SINGLES = 4
"""Rows of one cell that may stand between two with more: names of sections, labels of several lines."""
_LABEL = 160
"""Characters of such a row."""
_SHORT = 28
"""Characters that the cells of a table have at most, by the mean of its columns but the first."""
_AMOUNTS = 0.5
"""Share of amounts among the cells behind the first, from which a table is one of amounts."""
_MARKER = re.compile(r"[•▪◦‣●○■–—*·-]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,5})[.)]", re.I)


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
        fixed: whether all of its characters are as wide, as those of code are.
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
    fixed: bool = False


Laid = tuple[list[Rowed], list[str]]
"""A row of a table: the rows of the page that it was made of, and the text of each column."""


def grids(lines: Sequence[PageLine]) -> Iterator[tuple[int, int, Block]]:
    """Yield the tables of a document: the first line, one past the last, and the block, one row a line."""
    rows = _rows(lines)
    at = floor = 0
    while at < len(rows):
        if len(rows[at].cells) < 2:
            at += 1
            continue
        end = _end(rows, at)
        top = at - _above(rows[floor:at], rows[at:end])
        laid, level = _table(rows[top:end]) if end - top >= _ROWS else ([], 0)
        if not laid:
            at += 1
            continue
        first, last = min(r.first for r in rows[top:end]), max(r.last for r in rows[top:end])
        yield first, last + 1, _block(laid, level)
        at = floor = end


def _rows(lines: Sequence[PageLine]) -> list[Rowed]:
    """Put lines of one height together that do not overlap: cells that were set one by one."""
    out: list[Rowed] = []
    for n, line in enumerate(lines):
        left, _, right, _ = line.bbox
        cells = line.cells or (Cell(left, right, line.text),)
        near = [k for k in range(max(0, len(out) - _BACK), len(out)) if _level(out[k], line)]
        if near and _beside(out[near[-1]], cells, line.size):
            row = out[near[-1]]
            both = tuple(sorted((*row.cells, *cells), key=lambda c: c.left))
            out[near[-1]] = replace(row, cells=both, last=max(n, row.last), bbox=union([row.bbox, line.bbox]))
        else:
            out.append(Rowed(cells, n, n, line.page, line.base, line.size, line.bbox))
    return [replace(r, cells=signed(r.cells) or r.cells) if len(r.cells) > 1 else r for r in out]


def _level(row: Rowed, line: PageLine) -> bool:
    return row.page == line.page and abs(row.base - line.base) < 0.35 * max(line.size, row.size)


def _beside(row: Rowed, cells: Sequence[Cell], size: float) -> bool:
    """Tell whether cells stand in gaps of a row: signs may stand close to their amounts."""
    return all(c.left - o.right > -1 or o.left - c.right > -1 for c in cells for o in row.cells) and (
        cells[0].left - row.cells[-1].right > GAP * 0.5 * size
        or row.cells[0].left - cells[-1].right > GAP * 0.5 * size
        or all(len(c.text) < 3 or is_amount(c.text) for c in cells)
    )


def _down(before: Rowed, row: Rowed) -> float:
    """Return the distance of two rows in font sizes; one at the top of the next page follows at once."""
    return 1.0 if before.page + 1 == row.page else (before.base - row.base) / max(1.0, row.size)


def _follows(before: Rowed, row: Rowed) -> bool:
    near = before.page == row.page or before.page + 1 == row.page
    alike = abs(before.size - row.size) <= 0.3 * max(before.size, 1.0)
    return near and alike and 0.5 < _down(before, row) < _APART


def _above(rows: Sequence[Rowed], table: Sequence[Rowed]) -> int:
    """Return how many rows of one cell right above a table are heads that stand over its columns, not its labels.

    A line in the middle of the whole table, its labels included, is its caption.
    """
    labels = [r.cells[0] for r in table if r.has_amount] or [table[0].cells[0]]
    left, right = median(c.right for c in labels), max(r.cells[-1].right for r in table)
    middle = (min(r.cells[0].left for r in table) + right) / 2
    over = (min((c.left for r in table if r.has_amount for c in r.cells[1:]), default=left) + right) / 2
    count, row = 0, table[0]
    for before in reversed(rows[-2:]):
        cell = before.cells[0]
        if (
            len(before.cells) > 1
            or before.page != row.page
            or not _follows(before, row)
            or is_amount(cell.text)
        ):
            break
        if not left < cell.left < cell.right <= right + before.size or len(cell.text) > 60:
            break
        if abs((cell.left + cell.right) / 2 - middle) < abs((cell.left + cell.right) / 2 - over):
            break  # in the middle of the whole table: its title
        count, row = count + 1, before
    return count


def _end(rows: Sequence[Rowed], at: int) -> int:
    """Return one past the last row of what may be a table that begins at a row."""
    end, begun, above = at + 1, rows[at].has_amount, [rows[at]]
    heads = {tuple(c.text for c in rows[at].cells)}
    while end < len(rows) and _follows(rows[end - 1], rows[end]):
        row = rows[end]
        if len(row.cells) > 1:
            if rows[end - 1].page != row.page and not _aligned(row, above):
                break
            texts = tuple(c.text for c in row.cells)
            if begun and texts not in heads and (_heads_anew(row, above) or _is_prose(row)):
                break
            heads |= set() if begun else {texts}
            begun = begun or row.has_amount
            above.append(row)
        elif not _fits(rows, at, end):
            break
        end += 1
    while end > at and len(rows[end - 1].cells) < 2:
        end -= 1
    return end


def _aligned(row: Rowed, above: Sequence[Rowed]) -> bool:
    """Tell whether most cells of a row on another page stand under those of a table before it."""
    sides = [c for r in above for c in r.cells[1:]]
    near = [any(abs(c.right - s.right) < 0.8 * row.size for s in sides) for c in row.cells[1:]]
    return sum(near) > 0.6 * len(near)


def _heads_anew(row: Rowed, above: Sequence[Rowed]) -> bool:
    """Tell heads of another table below the amounts of one: names without a label before them."""
    return row.names and row.cells[0].left > median(r.cells[0].right for r in above if r.has_amount)


def _is_prose(row: Rowed) -> bool:
    return not row.has_amount and any(len(c.text) > _SHORT for c in row.cells[1:])


def _fits(rows: Sequence[Rowed], at: int, n: int) -> bool:
    """Tell whether a row of one cell can belong to a table: a label beside its columns, or a head over them."""
    cell = rows[n].cells[0]
    before = next(r for r in reversed(rows[at:n]) if len(r.cells) > 1)
    after = next((r for r in rows[n + 1 : n + 1 + _SINGLES] if len(r.cells) > 1), None)
    if after is None or len(cell.text) > _LABEL:
        return False
    if all(sum(map(cell.over, r.cells)) < 2 for r in (before, after)):
        return cell.left < before.cells[-1].right
    return not any(cell.over(r.cells[0]) for r in (before, after) if r.has_amount) and len(cell.text) <= 60


def _table(rows: Sequence[Rowed]) -> tuple[list[Laid], int]:
    """Return rows with a text for each column, and how many are heads; none where they do not read like a table."""
    columns = columns_of(rows)
    wide = [r for r in rows if len(r.cells) > 1]
    if len(columns) < 2 or len(wide) < _ROWS:
        return [], 0
    count = head_count(rows) if any(r.has_amount for r in rows) else 0
    columns = _with_heads(columns, rows, count)
    under = [[c for r in rows[count:] for c in r.cells if c.over(column)] for column in columns]
    values = [c for column in under[1:] for c in column]
    amounts = sum(is_amount(c.text) for c in values)
    if not values or _is_contents(values, under, wide):
        return [], 0
    if amounts >= _AMOUNTS * len(values) and amounts > 1:
        size = median(r.size for r in rows)
        if (
            not all(lined_up(column, 0.8 * size) for column in under[1:] if column)
            or mean_length(values) > _SHORT
        ):
            return [], 0
        return _of_amounts(rows, columns, count)
    return _of_words(rows, wide)


def _with_heads(columns: list[Cell], rows: Sequence[Rowed], count: int) -> list[Cell]:
    """Join a column of heads alone with the one beside it that has none: heads need not stand over their figures."""
    filled = [[any(c.over(column) for c in r.cells) for r in rows if len(r.cells) > 1] for column in columns]
    out: list[tuple[Cell, list[bool]]] = []
    for column, held in zip(columns, filled, strict=True):
        if len(out) > 1 or (out and not any(out[-1][1][count:])):
            before, over = out[-1]
            apart = not any(a and b for a, b in zip(over, held, strict=True))
            if apart and (not any(over[count:]) or not any(held[count:])):
                out[-1] = (
                    Cell(before.left, column.right, ""),
                    [a or b for a, b in zip(over, held, strict=True)],
                )
                continue
        out.append((column, held))
    return [column for column, _ in out]


def _is_contents(values: Sequence[Cell], under: Sequence[Sequence[Cell]], rows: Sequence[Rowed]) -> bool:
    """Tell a table of contents, whose numbers never fall, and a list, whose first column is its marks."""
    if len(under) != 2:
        return False
    if all(_MARKER.fullmatch(c.text) for c in under[0]):
        return True
    numbers = [int(c.text) for c in values if c.text.isdecimal() and len(c.text) < 4]
    return (
        len(numbers) == len(values) >= _ROWS + 1
        and all(a <= b for a, b in pairwise(numbers))
        and numbers[0] < 20
    )


def _of_amounts(rows: Sequence[Rowed], columns: Sequence[Cell], count: int) -> tuple[list[Laid], int]:
    heads = [place(r, columns, spans=True) for r in rows[:count]]
    body = [(r, place(r, columns, spans=not r.has_amount and len(r.cells) > 1)) for r in rows[count:]]
    pitch = median([_down(a, b) for a, b in pairwise(rows[count:]) if a.page == b.page] or [_WRAPPED])
    reach = max((r.cells[0].right for r, _ in body), default=0.0)
    out: list[Laid] = [(list(rows[:count]), joined_heads(heads))] if count else []
    over = {tuple(t) for t in heads}
    last: Rowed | None = None
    for row, texts in body:
        if tuple(texts) in over:  # repeated on another page
            continue
        joins = last is not None and len(out) > bool(count) and _goes_on(last, row, pitch, reach)
        if joins:
            used, before = out[-1]
            out[-1] = (
                [*used, row],
                [" ".join(filter(None, pair)) for pair in zip(before, texts, strict=True)],
            )
        else:
            out.append(([row], texts))
        last = row
    return out, int(bool(count))


def _goes_on(before: Rowed, row: Rowed, pitch: float, reach: float) -> bool:
    """Tell whether a label goes on in the next row: with a small letter, or where the line before it was full."""
    down, label = _down(before, row), before.cells[0]
    if (
        before.page != row.page
        or down > max(_WRAPPED, 0.9 * pitch)
        or 1 not in (len(before.cells), len(row.cells))
    ):
        return False
    if row.cells[0].text[:1].islower():
        return not label.text.endswith(":") and (len(before.cells) == 1 or row.cells[0].left >= label.left)
    word = row.cells[0].text.split()[0]
    full = label.right + 0.6 * row.size * (len(word) + 1) > reach
    return len(before.cells) == 1 and full and down < 0.9 * pitch and not label.text.endswith(":")


def _of_words(rows: Sequence[Rowed], wide: Sequence[Rowed]) -> tuple[list[Laid], int]:
    """Lay out a table of words: all of its columns line up, and most of their cells are short."""
    width = max(len(r.cells) for r in wide)
    full = [r for r in wide if len(r.cells) == width]
    if len(full) < max(_ROWS - 1, 0.4 * len(wide)):
        return [], 0
    columns = [[r.cells[n] for r in full] for n in range(width)]
    means = [mean_length(column) for column in columns]
    if (
        not all(map(lined_up, columns))
        or min(means[1:]) > _SHORT
        or sum(means[1:]) / (width - 1) > 2 * _SHORT
    ):
        return [], 0
    sides = [Cell(min(c.left for c in column), max(c.right for c in column), "") for column in columns]
    out: list[Laid] = []
    for row in rows:
        texts = place(row, sides, spans=False)
        close = out and _down(out[-1][0][-1], row) <= _WRAPPED
        if close and len(row.cells) < width and not (texts[0] and len(row.cells) > 1):
            used, before = out[-1]
            out[-1] = (
                [*used, row],
                [" ".join(filter(None, pair)) for pair in zip(before, texts, strict=True)],
            )
        else:
            out.append(([row], texts))
    heads = list(filter(None, out[0][1]))
    return (out, int(len(set(heads)) == len(heads))) if len(out) >= _ROWS else ([], 0)


def _block(rows: Sequence[Laid], level: int) -> Block:
    text, spans = "", []
    for used, texts in rows:
        text += "\n" if text else ""
        start = len(text)
        text += " | ".join(t.replace(" | ", " / ") for t in texts)
        spans.append(Span(start, len(text), 0, used[0].page, union([r.bbox for r in used])))
    page = rows[0][0][0].page
    whole = union([r.bbox for used, _ in rows for r in used if r.page == page])
    return Block(text, "table", level, page=page, bbox=whole, spans=tuple(spans))
