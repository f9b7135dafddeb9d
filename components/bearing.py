"""The stretches of a long document that bear on a question (CRAG, section 4.4), for a model that reads it as one."""

from __future__ import annotations

from collections.abc import Sequence

from ragweave.components.passages import heading_title, relevances
from ragweave.components.strips import Span, cut
from ragweave.corpora.store.library import Library
from ragweave.corpora.types import Item
from ragweave.models.relevance import Passage

LEFT_OUT = " […] "
"""What stands between stretches of one document."""


async def bearing(library: Library, item: Item, question: str, most: int) -> str:
    """Return the beginning of an item and its strips that bear on a question most, in their order.

    A strip is three sentences, or a table with all its rows; together they have at most `most` characters.
    """
    spans = cut(item.text, "sentences", question)
    title = heading_title(item)
    scores = await relevances(library, question, [Passage(title, item.text[a:b]) for a, b in spans])
    return joined(item.text, chosen(spans, scores, most))


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
