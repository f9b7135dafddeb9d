"""Describe the place of a quote for readers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragweave.components.phrases import HEARD
from ragweave.models.text import clock


def where(place: Mapping[str, Any]) -> str:
    """Return the place of a quote in its file: seconds, page, heading or line."""
    if "start" in place:
        seconds = f"{clock(place['start'])}–{clock(place.get('end', place['start']))}"
        return f"{seconds} {HEARD}" if place.get("doubtful") else seconds
    if "page" in place:
        return f"page {place['page']}"
    heading = " › ".join(place.get("heading") or ())
    if heading:
        return heading
    return f"line {place['line']}" if place.get("line") else ""
