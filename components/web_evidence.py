"""Turn web pages into evidence and strips."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ragweave.components.evidence import Evidence, Strip
from ragweave.components.passages import best_window
from ragweave.corpora.types import Locator
from ragweave.corpora.web.plain import inert
from ragweave.corpora.web.types import WebPage


def key_of(page: WebPage) -> str:
    """Return the evidence id of a page."""
    return "web-" + hashlib.sha256(page.url.encode()).hexdigest()[:16]


def _title(page: WebPage) -> str:
    """Return the title of a page, or its address if it has none."""
    return inert(page.title).strip() or page.url


def _locator(page: WebPage) -> Locator:
    """Return the locator of a whole page."""
    return {"kind": "url", "url": page.url, "fetched": page.fetched}


def web_strip(page: WebPage, text: str, start: int, end: int, query: str, hop: int) -> Strip:
    """Return a strip of a page, not scored yet."""
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
    """Return a page as evidence, with the part of its text that matches the query best."""
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
    """Return rows by round and score.

    Web pages have no score of a pool: each comes before the first row of its round that is less relevant.
    """
    ordered = []
    web = []
    for row in sorted(rows, key=lambda row: (row["hop"], -row["score"], row["id"])):
        if row["origin"] == "web":
            web.append(row)
        else:
            ordered.append(row)
    for row in sorted(web, key=lambda row: -row["relevance"]):
        ordered.insert(_place_of(row, ordered), row)
    return ordered


def _place_of(page: Evidence, ordered: Sequence[Evidence]) -> int:
    """Return the index of the first row of a later round or of less relevance than a page."""
    key = (page["hop"], -page["relevance"])
    for n, row in enumerate(ordered):
        if (row["hop"], -row["relevance"]) > key:
            return n
    return len(ordered)
