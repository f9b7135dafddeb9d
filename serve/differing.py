"""Where two sources of a library answer one question otherwise: said on its front page unasked, so only where sure."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.library import open_library
from ragweave.corpora.store.stores import stores
from ragweave.minds.evidence import Evidence
from ragweave.minds.page import exact
from ragweave.minds.passages import as_strip
from ragweave.minds.small.answer.conflict import conflict
from ragweave.minds.small.answer.sentences import rank
from ragweave.models.text import content_terms
from ragweave.serve.media import with_openings

_SURE = 0.9
"""How sure each of the two sentences must be that it answers; an answer that was asked for needs less."""
_MOST = 5


async def differing(library: LibraryRow, asked: Sequence[tuple[str, list[Evidence]]]) -> list[dict[str, Any]]:
    """Return those of the questions, each with what it found, that two sources answer otherwise, with both `places`."""
    held, told = await open_library(library.name), []
    for question, found in asked:
        idf = await held.idf(content_terms(question))
        strips = [as_strip(row) for row in found]
        ranked = await asyncio.to_thread(rank, question, strips, defaultdict(lambda: 1.0, idf).__getitem__)
        other = conflict(question, ranked, {row["id"]: row for row in found})
        if other is None or min(other.first.sure, other.other.sure) < _SURE:
            continue
        both = (other.first, other.other)
        items = await asyncio.to_thread(stores().catalog.items, library.id, [e.strip["evidence"] for e in both])
        rows = [
            {
                "id": e.strip["evidence"],
                "title": e.strip["title"],
                "locator": exact(e.strip, e.narrowed["text"], items.get(e.strip["evidence"])),
                "quote": e.text,
            }
            for e in both
        ]
        told.append({"question": question, "places": await with_openings(library, rows)})
    return told[:_MOST]
