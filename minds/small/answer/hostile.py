"""Text that addresses whoever reads it by machine: it answers nothing and supports nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ragweave.corpora.hidden import addresses_machines
from ragweave.models.text import sentences


def harmless(text: str, parts: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the parts of a text that are no such orders and do not follow one in its paragraph."""
    bad = _orders(text)
    return [p for p in parts if not any(a <= p[0] < b for a, b in bad)]


def without_orders(text: str) -> str:
    """Return a text without such orders and what follows them in their paragraphs."""
    for a, b in reversed(_orders(text)):
        text = f"{text[:a]}{text[b:]}"
    return text.strip()


def _orders(text: str) -> list[tuple[int, int]]:
    """Return [start, end) from each sentence that gives an order to the end of its paragraph."""
    if not addresses_machines(text):
        return []
    edges = [0, *(m.end() for m in re.finditer(r"\n\s*\n", text)), len(text)]
    found = []
    for a, b in pairwise(edges):
        if addresses_machines(text[a:b]):
            said = [(a + x, a + y) for x, y in sentences(text[a:b])]
            found.append((next((x for x, y in said if addresses_machines(text[x:y])), a), b))
    return found
