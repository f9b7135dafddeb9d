"""Evidence and strips in the form of the state of a run."""

from __future__ import annotations

from typing import Any

from ragweave.components.evidence import Evidence, Strip

COMMON: dict[str, Any] = {"origin": "library", "locator": {}, "query": "q", "hop": 1, "score": 0.0}


def evidence(id: str, **more: Any) -> Evidence:
    """Return a paragraph without a date."""
    row: Any = {**COMMON, "id": id, "corpus": "paragraph", "title": id.title(), "text": "Some text.", **more}
    return {"relevance": 0.0, "date": "", **row}


def strip(of: str, text: str, **more: Any) -> Strip:
    """Return a strip of an item, under the id of the item and a place."""
    row: Any = {**COMMON, "id": f"{of}#0-1", "evidence": of, "title": of.title(), "text": text, **more}
    found: Strip = row
    return found
