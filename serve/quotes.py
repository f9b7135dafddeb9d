"""A quote as a reader sees it: its place, and as HTML with the best sentence marked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragweave.components.markdown import QuoteBlock, blocks
from ragweave.components.phrases import HEARD
from ragweave.models.text import clock
from ragweave.serve.formulas import with_formulas


def best_of(sentence: Mapping[str, Any]) -> str:
    """Return the best sentence of a quote."""
    start, end = sentence.get("marked") or (0, len(sentence["text"]))
    return " ".join(sentence["text"][start:end].split())


def where(place: Mapping[str, Any]) -> str:
    """Say where in its file something stands."""
    if "start" in place:
        seconds = f"{clock(place['start'])}–{clock(place.get('end', place['start']))}"
        return f"{seconds} {HEARD}" if place.get("doubtful") else seconds
    if "page" in place:
        return f"page {place['page']}"
    return " › ".join(place.get("heading") or ()) or (f"line {place['line']}" if place.get("line") else "")


def as_html(sentence: Mapping[str, Any]) -> str:
    """Return the inside of a quote as HTML, the best sentence marked."""
    return "".join(
        _table(b) if b.table else f"<p>{''.join(_marked(*s) for s in b.rows[0])}</p>"
        for b in blocks(sentence["text"], sentence.get("marked"))
    )


def _table(block: QuoteBlock) -> str:
    rows = []
    for n, row in enumerate(block.rows):
        name = "th" if block.heads and n == 0 else "td"
        rows.append("<tr>" + "".join(f"<{name}>{_marked(*cell)}</{name}>" for cell in row) + "</tr>")
    return f"<table>{''.join(rows)}</table>"


def _marked(text: str, best: bool) -> str:
    said = with_formulas(text)
    return f"<mark>{said}</mark>" if best and said else said
