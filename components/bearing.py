"""Shorten a long document to the passages that are relevant to a question (CRAG, section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.components.passages import best_window, heading_title, relevances
from ragweave.components.strips import GROUP, Span, likeliest
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item
from ragweave.models import tables
from ragweave.models.relevance import Passage

LEFT_OUT = " […] "
"""Text between passages of one document."""
_ROWS = 1_200
"""Characters of rows that form one passage."""
_MOST = 120
"""Passages to score; of a very long document those that share most words with the question."""


async def bearing(library: Library, item: Item, question: str, most: int) -> str:
    """Return the beginning of an item and its most relevant passages, in their order.

    A passage is three sentences, or whole rows of a table. Of an item that is mostly a table, one stretch
    of rows is returned: a statement can read the others.

    Args:
        library: supplies the weights of words.
        item: the document.
        question: the question.
        most: characters of the result at most.
    """
    spans = stretches(item.text)
    rows = 0
    for start, end in spans:
        first_line = item.text[start:end].partition("\n")[0]
        if tables.is_row(first_line):
            rows += end - start
    if 2 * rows > len(item.text):
        return _window(item.text, question, most)
    spans = likeliest(item.text, spans, question, _MOST, opening=True)
    title = heading_title(item)
    passages = [Passage(title, item.text[start:end]) for start, end in spans]
    scores = await relevances(library, question, passages)
    return joined(item.text, chosen(spans, scores, most))


def stretches(text: str) -> list[Span]:
    """Return [start, end) of groups of three sentences, and of groups of adjacent rows."""
    out: list[Span] = []
    sentences = 0
    before = ""
    for start, end in tables.spans(text):
        kind = "row" if tables.is_row(text[start:end]) else "prose"
        if kind == "prose":
            full = sentences == GROUP
        else:
            full = bool(out) and end - out[-1][0] > _ROWS
        if kind != before or full:
            out.append((start, end))
            sentences = 0
        else:
            out[-1] = (out[-1][0], end)
        if kind == "prose":
            sentences += 1
        before = kind
    return out


def _window(text: str, question: str, most: int) -> str:
    """Return the part of a text, of `most` characters, around the one that covers the question best."""
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
    """Return passages of a text as one text; mark what is left out between them."""
    parts: list[str] = []
    before = 0
    for start, end in spans:
        gap = text[before:start]
        if parts:
            parts.append(gap if not gap.strip() else LEFT_OUT)
        parts.append(text[start:end])
        before = end
    return "".join(parts)
