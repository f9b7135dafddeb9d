"""Places that a run has found: those that it reads, and what lay nearest to a question that was not answered."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

from ragweave.components.answer import Answer
from ragweave.components.evidence import Evidence
from ragweave.corpora.store.catalog import LibraryRow
from ragweave.corpora.store.stores import stores
from ragweave.corpora.titles import told_apart
from ragweave.corpora.types import Item
from ragweave.models.text import clip, content_terms, sentences
from ragweave.serve.media import with_openings

_MOST = 3
"""Places that are named, those that the answer quotes among them."""
_LONGEST = 300
"""Characters of a sentence."""
_FOUND = 6
"""Places that are named while an answer is on its way."""


async def found_places(library: LibraryRow, step: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return what the step that orders has kept, as citations without a number: the best place of each source."""
    if step["node"] != "fuse":
        return []
    items = await asyncio.to_thread(stores().catalog.items, library.id, step["data"]["items"])
    best = dict[str, Item]()
    for item in items.values():
        best.setdefault(item.source, item)
    shown = [*best.values()][:_FOUND]
    titles = told_apart([(i.title, i.locator.get("file", "")) for i in shown])
    rows = [
        {"id": i.id, "title": t, "locator": i.locator, "quote": ""}
        for i, t in zip(shown, titles, strict=True)
    ]
    return await with_openings(library, rows)


def nearest(answer: Answer, evidence: Sequence[Evidence]) -> list[dict[str, Any]]:
    """Return places of other titles than those that an answer cites, as citations without a number, the nearest first.

    A passage stands before the whole document that holds it.
    """
    asked = set(content_terms(answer.question))
    seen, found = {c.title for c in answer.citations}, []
    for row in sorted(evidence, key=lambda e: (e["corpus"] in ("document", "video"), -e["relevance"])):
        if row["title"] in seen or not row["text"].strip():
            continue
        seen.add(row["title"])
        spans = [row["text"][start:end].strip() for start, end in sentences(row["text"])] or [row["text"]]
        best = max(spans, key=lambda span: len(asked & set(content_terms(span))))
        quote = clip(" ".join(best.split()), _LONGEST)
        found.append({"id": row["id"], "title": row["title"], "locator": row["locator"], "quote": quote})
    return found[: max(0, _MOST - len(answer.citations))]
