"""Name places that a run found: those that it reads, and the nearest ones to an unanswered question."""

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
"""Most places that are named, those that the answer quotes included."""
_LONGEST = 300
"""Most characters of a quoted sentence."""
_FOUND = 6
"""Most places that are named while an answer is in progress."""


async def found_places(library: LibraryRow, step: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the best place of each source after the step `fuse`, as citations without numbers.

    Other steps find no places.
    """
    if step["node"] != "fuse":
        return []
    items = await asyncio.to_thread(stores().catalog.items, library.id, step["data"]["items"])
    best = dict[str, Item]()
    for item in items.values():
        best.setdefault(item.source, item)
    shown = list(best.values())[:_FOUND]
    titles = told_apart([(item.title, item.locator.get("file", "")) for item in shown])
    rows = []
    for item, title in zip(shown, titles, strict=True):
        rows.append({"id": item.id, "title": title, "locator": item.locator, "quote": ""})
    return await with_openings(library, rows)


def nearest(answer: Answer, evidence: Sequence[Evidence]) -> list[dict[str, Any]]:
    """Return the nearest places that an answer does not cite, as citations without numbers.

    Each title occurs once. A passage comes before the whole document that contains it.
    """
    terms = set(content_terms(answer.question))
    seen = {citation.title for citation in answer.citations}
    found = []
    for row in sorted(evidence, key=_passages_first):
        if row["title"] in seen or not row["text"].strip():
            continue
        seen.add(row["title"])
        quote = _closest_sentence(row["text"], terms)
        found.append({"id": row["id"], "title": row["title"], "locator": row["locator"], "quote": quote})
    return found[: max(0, _MOST - len(answer.citations))]


def _passages_first(row: Evidence) -> tuple[bool, float]:
    """Return a key that sorts passages before whole documents, and the relevant before the others."""
    return row["corpus"] in ("document", "video"), -row["relevance"]


def _closest_sentence(text: str, terms: set[str]) -> str:
    """Return the sentence of a text that has the most of some terms."""
    found = [text[start:end].strip() for start, end in sentences(text)]
    if not found:
        found = [text]
    best = max(found, key=lambda sentence: len(terms & set(content_terms(sentence))))
    return clip(" ".join(best.split()), _LONGEST)
