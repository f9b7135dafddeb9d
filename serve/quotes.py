"""Where a quote stands, in a reader's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ragweave.components.phrases import HEARD
from ragweave.models.text import clock


def where(place: Mapping[str, Any]) -> str:
    """Say where in its file something stands."""
    if "start" in place:
        seconds = f"{clock(place['start'])}–{clock(place.get('end', place['start']))}"
        return f"{seconds} {HEARD}" if place.get("doubtful") else seconds
    if "page" in place:
        return f"page {place['page']}"
    return " › ".join(place.get("heading") or ()) or (f"line {place['line']}" if place.get("line") else "")
