"""What counts as the same text or the same picture, in whatever file it stands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from ragweave.corpora.types import Item, Locator, digest
from ragweave.models.text import fold

TEXTUAL = ("paragraph", "document")
"""Corpora whose items are their text. Pictures and clips with the same caption are different pictures and clips."""


def collapse(items: Sequence[Item]) -> list[tuple[Item, list[Locator]]]:
    """Keep the first of the items with the same text, or of the same picture, with the locators of the others.

    Items without text are never taken as the same. Of a picture the item counts about which most is written,
    of texts the one with the latest date.
    """
    kept: dict[str, tuple[Item, list[Locator]]] = {}
    for item in items:
        key = _sameness(item)
        first, also = kept.setdefault(key, (item, []))
        places = [item.locator, *_places(item), *_places(first)]
        fuller = item.corpus == "image" and len(item.text) > len(first.text)
        if fuller or (item.corpus != "image" and _newer(item, first)):
            kept[key] = (item, also)
            places[0], first = first.locator, item
        for locator in places:
            if locator != first.locator and locator not in also:
                also.append(locator)
    return list(kept.values())


def _newer(item: Item, other: Item) -> bool:
    """Tell whether the document of an item has a later date; one without a date is older than any other."""
    if item.date is None:
        return False
    return other.date is None or item.date.replace(tzinfo=None) > other.date.replace(tzinfo=None)


def _places(item: Item) -> list[Locator]:
    """Return the other places of a picture in its own source."""
    return cast("list[Locator]", item.meta.get("also", [])) if item.corpus == "image" else []


def _sameness(item: Item) -> str:
    """Return what equal items have in common: texts their words, pictures their pixels."""
    if item.corpus == "image" and item.meta.get("picture"):
        return f"picture {item.meta['picture']}"
    said = _said(item.text) if item.corpus in TEXTUAL else ""
    return f"text {said}" if said else f"id {item.id}"


@lru_cache(maxsize=4_000)
def _said(text: str) -> str:
    """Return the digest of the words of a text; "" where it has none.

    Kept: the same items are found again.
    """
    words = " ".join(fold(text).split())
    return digest(words) if words else ""
