"""Where evidence lies, in words of a terminal, and texts without what could disguise them."""

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
    """Drop control and text-direction characters, which could move the cursor or disguise what is shown."""
    return _CONTROL.sub("", text)


def short_path(path: str) -> str:
    """Write a path relative to the working folder or to the home folder, where it lies below one of them."""
    for base, prefix in ((Path.cwd(), ""), (Path.home(), "~/")):
        if Path(path).is_relative_to(base):
            return clean(prefix + str(Path(path).relative_to(base))).replace("\n", "⏎")
    return clean(path).replace("\n", "⏎")


def place(locator: Locator) -> str:
    """Say in words where evidence lies: file, then page or heading path; or web address and day of reading."""
    if "url" in locator:
        day = f" (read on {locator['fetched'][:10]})" if locator.get("fetched") else ""
        return clean(locator["url"]) + day
    parts = [short_path(locator["file"])] if "file" in locator else []
    if "page" in locator:
        parts.append(f"page {locator['page']}")
    else:
        parts += [" › ".join(clean(h) for h in locator["heading"])] if locator.get("heading") else []
        if "line" in locator and locator.get("file", "").lower().endswith((".xlsx", ".xlsm")):
            parts.append(f"row {locator['line']}")  # a sheet is long, and its name alone hides the place
        elif "line" in locator and not locator.get("heading"):
            parts.append(f"line {locator['line']}")
    where = ", ".join(parts)
    where = f"{where} {span}".lstrip() if (span := seconds_of(locator)) else where
    return as_heard(where, locator)


def seconds_of(locator: Locator) -> str:
    """Write the time of a place in a recording, as 12:31-12:58; an empty string where it has none."""
    if locator.get("kind") != "time" or "start" not in locator:
        return ""
    start, end = clock(locator["start"]), clock(locator.get("end", locator["start"]))
    return start if start == end else f"{start}-{end}"


def place_in(title: str, locator: Locator) -> str:
    """Say where evidence lies; a recording that shares its file with others is named as well."""
    where, recording = place(locator), title.split(" · ")[0]
    if (
        locator.get("kind") != "time"
        or "file" not in locator
        or recording in ("", Path(locator["file"]).stem)
    ):
        return where
    file = short_path(locator["file"])
    return f"{file} ({clean(recording)}){where[len(file) :]}"


def link(locator: Locator) -> str:
    """Return the address that opens the place, or an empty string."""
    if "url" in locator:
        return clean(locator["url"]) if locator["url"].startswith(("http://", "https://")) else ""
    if "file" not in locator:
        return ""
    page = f"#page={locator['page']}" if "page" in locator else ""
    return "file://" + quote(locator["file"]) + page
