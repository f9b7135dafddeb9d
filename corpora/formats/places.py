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
    for shape in sorted(shapes, key=lambda entry: entry[0][0]):
        if row and shape[0][0] > _middle(row[0][0]):
            out += _across(row)
            row = []
        row.append(shape)
    return out + _across(row)


def _middle(place: Placed) -> float:
    top, _, height = place
    return top + height / 2


def _across(row: list[tuple[Placed, T]]) -> list[T]:
    """Return the shapes of a row from left to right."""
    row.sort(key=lambda entry: (entry[0][1], entry[0][0]))
    return [shape for _, shape in row]
