"""What is worked out over one table."""

from __future__ import annotations

from ragweave.minds.small.tables.compute import compute
from ragweave.models.table import tables


def said(question: str, text: str, about: str = "") -> str:
    """Return what is told of the only table of a text, where every word weighs the same; "" where nothing is."""
    (table,) = tables([text])
    found = compute(question, table, about, lambda term: 1.0)
    return found.text if found else ""
