"""Put the shapes of a slide in reading order: from top to bottom, then from left to right."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

Placed = tuple[float, float, float]
"""Where a shape begins: from the top, from the left, and how high it is."""
T = TypeVar("T")


def reading_order(shapes: Iterable[tuple[Placed, T]]) -> list[T]:
    """Return shapes in reading order: a shape that begins above another's middle is in its row."""
    out: list[T] = []
    row: list[tuple[Placed, T]] = []
    for shape in sorted(shapes, key=lambda s: s[0][0]):
        if row and shape[0][0] > row[0][0][0] + row[0][0][2] / 2:
            out += [s for _, s in sorted(row, key=lambda s: (s[0][1], s[0][0]))]
            row = []
        row.append(shape)
    return out + [s for _, s in sorted(row, key=lambda s: (s[0][1], s[0][0]))]
