"""Find items with the same text or the same picture, whatever file they are in."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import cast

from ragweave.corpora.types import Item, Locator, digest
from ragweave.models.text import fold

TEXTUAL = ("paragraph", "document")
"""Corpora whose items are their text. Pictures and clips may share a caption and still differ."""


def collapse(items: Sequence[Item]) -> list[tuple[Item, list[Locator]]]:
    """Keep one of the items with the same text or picture, with the locators of the others.

    For a picture this is the item with the longest text, for a text the one with the latest date. Items
    without text are never the same.
    """
    kept: dict[str, tuple[Item, list[Locator]]] = {}
    for item in items:
        key = _sameness(item)
        first, also = kept.setdefault(key, (item, []))
        places = [item.locator, *_places(item), *_places(first)]
        fuller = item.corpus == "image" and len(item.text) > len(first.text)
        if fuller or (item.corpus != "image" and _newer(item, first)):
            kept[key] = (item, also)
            places[0] = first.locator
            first = item
        for locator in places:
            if locator != first.locator and locator not in also:
                also.append(locator)
    return list(kept.values())


def _newer(item: Item, other: Item) -> bool:
    """Return whether the document of an item has a later date; one without a date is older than any other."""
    if item.date is None:
        return False
    return other.date is None or item.date.replace(tzinfo=None) > other.date.replace(tzinfo=None)


def _places(item: Item) -> list[Locator]:
    """Return the other places of a picture in its own source."""
    if item.corpus != "image":
        return []
    return cast("list[Locator]", item.meta.get("also", []))


def _sameness(item: Item) -> str:
    """Return the key of equal items: the words of a text, the pixels of a picture."""
    if item.corpus == "image" and item.meta.get("picture"):
        return f"picture {item.meta['picture']}"
    words = _words_digest(item.text) if item.corpus in TEXTUAL else ""
    return f"text {words}" if words else f"id {item.id}"


@lru_cache(maxsize=4_000)
def _words_digest(text: str) -> str:
    """Return the digest of the words of a text, or "" if it has none.

    The results are cached because later rounds find the same items.
    """
    words = " ".join(fold(text).split())
    return digest(words) if words else ""
