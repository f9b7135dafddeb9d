"""Narrow references to the words that they cite, and keep them inside their evidence."""

from __future__ import annotations

import re

from ragweave.components.evidence import Strip
from ragweave.corpora.types import Item, Locator
from ragweave.corpora.video.places import seconds

SLACK = 1.0
"""Seconds that a time in prose may be outside its evidence, because writers round."""
_CLOCK = re.compile(r"(?<![\d:.,])(?:(\d{1,2}):)?(\d{1,3}):([0-5]\d)(?![\d:])")


def exact(strip: Strip, words: str, item: Item | None) -> Locator:
    """Return the locator of a strip, narrowed to the words that a sentence rests on.

    The item's spans give the seconds of a recording, the box of a picture, or the line of a text. The
    locator of the strip is returned if the words are not found, or if their place is outside the item.
    """
    locator = strip["locator"]
    if item is None:
        return locator
    first = (locator.get("chars") or [0])[0]
    if locator.get("kind") not in ("time", "image"):
        found = _in_text(item, words, first)
        return locator if found is None else found
    at = strip["text"].find(words)
    if at < 0:
        return locator
    start = first + at
    end = start + len(words)
    if item.text[start:end] != words:
        return locator
    found = item.locate(start, end)
    return found if locator["kind"] == "image" or lies_in(found, item.locator) else locator


def _in_text(item: Item, words: str, first: int) -> Locator | None:
    """Return the place of words in the text of an item, or None.

    Rows of a table and lines of a list may be equal, so the first place behind the strip's beginning counts.
    """
    if not words:
        return None
    start = item.text.find(words, first)
    if start < 0:
        start = item.text.find(words)
    return item.locate(start, start + len(words)) if start >= 0 else None


def lies_in(locator: Locator, evidence: Locator) -> bool:
    """Return whether a place in a recording is inside its evidence: the same file, within its seconds."""
    if locator.get("file") != evidence.get("file"):
        return False
    start, end = locator.get("start"), locator.get("end")
    low, high = evidence.get("start"), evidence.get("end")
    if start is None or end is None or low is None or high is None:
        return False
    return low - SLACK <= start <= end <= high + SLACK


def times_in(text: str) -> list[tuple[str, float]]:
    """Return the clock times of a text, as written and in seconds."""
    return [(match.group(), seconds(*match.groups())) for match in _CLOCK.finditer(text)]
