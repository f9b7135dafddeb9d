"""References that are exact and inside their evidence: the place of words, and clock times that prose names."""

from __future__ import annotations

import re

from ragweave.components.evidence import Strip
from ragweave.corpora.types import Item, Locator
from ragweave.corpora.video.places import seconds

SLACK = 1.0
"""Seconds that a time in prose may lie outside its evidence: writers round."""
_CLOCK = re.compile(r"(?<![\d:.,])(?:(\d{1,2}):)?(\d{1,3}):([0-5]\d)(?![\d:])")


def exact(strip: Strip, words: str, item: Item | None) -> Locator:
    """Return the locator of a strip, narrowed to the words that a sentence rests on in recordings and pictures.

    The item's spans give the seconds, or the box. A place that would lie outside the item is not believed:
    the strip's own counts.
    """
    locator = strip["locator"]
    at = strip["text"].find(words)
    if item is not None and locator.get("kind") not in ("time", "image"):
        # Rows of a table, or lines of a list, may read alike: the strip's own comes first.
        start = item.text.find(words, (locator.get("chars") or [0])[0])
        start = item.text.find(words) if start < 0 else start
        return item.locate(start, start + len(words)) if start >= 0 and words else locator
    if item is None or locator.get("kind") not in ("time", "image") or at < 0:
        return locator
    start = (locator.get("chars") or [0])[0] + at
    end = start + len(words)
    if item.text[start:end] != words:
        return locator
    found = item.locate(start, end)
    return found if locator["kind"] == "image" or lies_in(found, item.locator) else locator


def lies_in(locator: Locator, evidence: Locator) -> bool:
    """Tell whether a place in a recording lies inside its evidence: the same file, within its seconds."""
    start, end = locator.get("start"), locator.get("end")
    low, high = evidence.get("start"), evidence.get("end")
    if (
        locator.get("file") != evidence.get("file")
        or start is None
        or end is None
        or low is None
        or high is None
    ):
        return False
    return low - SLACK <= start <= end <= high + SLACK


def times_in(text: str) -> list[tuple[str, float]]:
    """Return the clock times that a text names, as written and in seconds."""
    return [(m.group(), seconds(*m.groups())) for m in _CLOCK.finditer(text)]
