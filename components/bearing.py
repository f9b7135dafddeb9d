"""The stretches of a long document that bear on a question (CRAG, section 4.4), for a model that reads it as one."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.components.passages import best_window, heading_title, relevances
from ragweave.components.strips import GROUP, Span, likeliest
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item
from ragweave.models import tables
from ragweave.models.relevance import Passage

LEFT_OUT = " […] "
"""What stands between stretches of one document."""
_ROWS = 1_200
"""Characters of rows that stay together."""
_MOST = 120
"""Stretches that are scored: of a very long document those that share most words with the question."""


async def bearing(library: Library, item: Item, question: str, most: int) -> str:
    """Return the beginning of an item and its stretches that bear on a question most, in their order.

    A stretch is three sentences, or rows of a table, none of them cut; together they have at most `most`
    characters. Of an item that is mostly a table one stretch of rows is returned: a statement reads the
    others.
    """
    spans = stretches(item.text)
    rows = sum(b - a for a, b in spans if tables.is_row(item.text[a:b].partition("\n")[0]))
    if 2 * rows > len(item.text):
        return _window(item.text, question, most)
    spans = likeliest(item.text, spans, question, _MOST, opening=True)
    title = heading_title(item)
    scores = await relevances(library, question, [Passage(title, item.text[a:b]) for a, b in spans])
    return joined(item.text, chosen(spans, scores, most))


def stretches(text: str) -> list[Span]:
    """Return [start, end) of groups of three sentences, and of rows that stand together."""
    out: list[Span] = []
    sentences = 0
    before = ""
    for start, end in tables.spans(text):
        kind = "row" if tables.is_row(text[start:end]) else "prose"
        full = sentences == GROUP if kind == "prose" else bool(out) and end - out[-1][0] > _ROWS
        if kind != before or full:
            out.append((start, end))
            sentences = 0
        else:
            out[-1] = (out[-1][0], end)
        sentences += kind == "prose"
        before = kind
    return out


def _window(text: str, question: str, most: int) -> str:
    """Return one stretch of a text around the one that covers the question best."""
    start, end = best_window(text, question, most)
    start = max(0, min(start - (most - (end - start)) // 2, len(text) - most))
    return text[start : start + most]


def chosen(spans: Sequence[Span], scores: Sequence[float], most: int) -> list[Span]:
    """Return the first span and the best others that fit into `most` characters, in their order."""
    ranked = sorted(range(len(spans)), key=lambda n: (n != 0, -scores[n], n))
    kept: list[int] = []
    for n in ranked:
        start, end = spans[n]
        length = end - start + len(LEFT_OUT)
        if length <= most:
            most -= length
            kept.append(n)
    return [spans[n] for n in sorted(kept)]


def joined(text: str, spans: Sequence[Span]) -> str:
    """Return stretches of a text as one; what nothing but blanks lies between stays together."""
    parts: list[str] = []
    before = 0
    for start, end in spans:
        gap = text[before:start]
        if parts:
            parts.append(gap if not gap.strip() else LEFT_OUT)
        parts.append(text[start:end])
        before = end
    return "".join(parts)
