"""Pages of the web as evidence and strips."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ragweave.components.evidence import Evidence, Strip
from ragweave.components.passages import best_window
from ragweave.corpora.types import Locator
from ragweave.corpora.web.plain import inert
from ragweave.corpora.web.types import WebPage


def key_of(page: WebPage) -> str:
    """Return the id of a page's evidence."""
    return "web-" + hashlib.sha256(page.url.encode()).hexdigest()[:16]


def _title(page: WebPage) -> str:
    return inert(page.title).strip() or page.url


def _locator(page: WebPage) -> Locator:
    return {"kind": "url", "url": page.url, "fetched": page.fetched}


def web_strip(page: WebPage, text: str, start: int, end: int, query: str, hop: int) -> Strip:
    """Build the row of a page's strip, not scored yet."""
    return {
        "id": f"{key_of(page)}#{start}-{end}",
        "evidence": key_of(page),
        "text": text[start:end],
        "title": _title(page),
        "locator": {**_locator(page), "chars": [start, end]},
        "origin": "web",
        "query": query,
        "hop": hop,
        "score": -1.0,
    }


def web_row(page: WebPage, text: str, score: float, query: str, hop: int) -> Evidence:
    """Build the evidence row of a page; of a long one it shows the stretch that matches the query."""
    start, end = best_window(text, query)
    return {
        "id": key_of(page),
        "corpus": "web",
        "origin": "web",
        "title": _title(page),
        "text": text[start:end],
        "locator": _locator(page),
        "query": query,
        "hop": hop,
        "score": 0.0,
        "relevance": score,
        "date": "",
    }


def in_order(rows: Sequence[Evidence]) -> list[Evidence]:
    """Return rows by round and score; one of the web, which no pool has scored, stands before those less relevant."""
    rows = sorted(rows, key=lambda e: (e["hop"], -e["score"], e["id"]))
    ordered = [e for e in rows if e["origin"] != "web"]
    for row in sorted((e for e in rows if e["origin"] == "web"), key=lambda e: -e["relevance"]):
        behind = (
            n for n, e in enumerate(ordered) if (e["hop"], -e["relevance"]) > (row["hop"], -row["relevance"])
        )
        ordered.insert(next(behind, len(ordered)), row)
    return ordered
