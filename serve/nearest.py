"""What lay nearest to a question that was not answered: places that open, each with its best sentence."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ragweave.components.evidence import Evidence
from ragweave.models.text import clip, content_terms, sentences
from ragweave.nodes.answer import Answer

_MOST = 3
"""Places that are named, those that the answer quotes among them."""
_LONGEST = 300
"""Characters of a sentence."""


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
