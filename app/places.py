"""Places of evidence in words and as links, and text made safe for a terminal."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from ragweave.components.phrases import as_heard
from ragweave.models.text import clock

if TYPE_CHECKING:
    from ragweave.corpora.types import Locator

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def clean(text: str) -> str:
    """Remove control and text-direction characters, which could move the cursor or disguise a text."""
    return _CONTROL.sub("", text)


def short_path(path: str) -> str:
    """Return a path relative to the working folder or the home folder if it lies below one of them."""
    for base, prefix in ((Path.cwd(), ""), (Path.home(), "~/")):
        if Path(path).is_relative_to(base):
            return clean(prefix + str(Path(path).relative_to(base))).replace("\n", "⏎")
    return clean(path).replace("\n", "⏎")


def place(locator: Locator) -> str:
    """Return in words where evidence lies: a file and page or headings, or a web address and a date."""
    if "url" in locator:
        day = f" (read on {locator['fetched'][:10]})" if locator.get("fetched") else ""
        return clean(locator["url"]) + day
    parts = [short_path(locator["file"])] if "file" in locator else []
    if "page" in locator:
        parts.append(f"page {locator['page']}")
    else:
        parts += _within_file(locator)
    where = ", ".join(parts)
    span = seconds_of(locator)
    if span:
        where = f"{where} {span}".lstrip()
    return as_heard(where, locator)


def _within_file(locator: Locator) -> list[str]:
    """Return the headings, and the line if it is needed to find the place."""
    parts: list[str] = []
    if locator.get("heading"):
        parts.append(" › ".join(map(clean, locator["heading"])))
    is_sheet = locator.get("file", "").lower().endswith((".xlsx", ".xlsm"))
    if "line" in locator and is_sheet:
        # A sheet is long: its name alone does not lead to the place.
        parts.append(f"row {locator['line']}")
    elif "line" in locator and not parts:
        parts.append(f"line {locator['line']}")
    return parts


def seconds_of(locator: Locator) -> str:
    """Return the time of a place in a recording, as 12:31-12:58; an empty string if it has none."""
    if locator.get("kind") != "time" or "start" not in locator:
        return ""
    start, end = clock(locator["start"]), clock(locator.get("end", locator["start"]))
    return start if start == end else f"{start}-{end}"


def place_in(title: str, locator: Locator) -> str:
    """Return where evidence lies, with the name of a recording that shares its file with others."""
    where = place(locator)
    if locator.get("kind") != "time" or "file" not in locator:
        return where
    recording = title.split(" · ")[0]
    if recording in ("", Path(locator["file"]).stem):
        return where
    file = short_path(locator["file"])
    return f"{file} ({clean(recording)}){where[len(file) :]}"


def link(locator: Locator) -> str:
    """Return the URL that opens the place; an empty string if there is none or it is not safe to open."""
    if "url" in locator:
        is_web = locator["url"].startswith(("http://", "https://"))
        return clean(locator["url"]) if is_web else ""
    if "file" not in locator:
        return ""
    page = f"#page={locator['page']}" if "page" in locator else ""
    return "file://" + quote(locator["file"]) + page
