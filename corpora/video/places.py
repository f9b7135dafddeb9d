"""Find which recording, or which time in it, a question names."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragweave.models.text import fold

_CLOCK = re.compile(r"(?<![\d:.,])(?:(\d{1,2}):)?(\d{1,3}):([0-5]\d)(?![\d:])")
_NUMBERED = re.compile(r"([^\W\d_]+[\s_#]*\d+)\s*(?::| [-–—]) ")
_WITH_FILE = re.compile(r"(.+) \((.+)\)")
_SHORTEST_NAME = 3
"""Fewest characters of a name."""
AROUND = 15.0
"""Seconds before and after a moment that a question names."""


def window_of(question: str) -> tuple[float, float] | None:
    """Return the [start, end] seconds between the clock times in a question, or around a single one, or None.

    >>> window_of("What is said at 12:30?")
    (735.0, 765.0)
    """
    times = []
    for m in _CLOCK.finditer(question):
        times.append(seconds(*m.groups()))
    times.sort()
    if not times:
        return None
    if len(times) == 1:
        return max(0.0, times[0] - AROUND), times[0] + AROUND
    return times[0], times[-1]


def seconds(hours: str | None, minutes: str, rest: str) -> float:
    """Return a clock time in seconds."""
    return 3600.0 * int(hours or 0) + 60.0 * int(minutes) + int(rest)


def names_of(title: str) -> list[str]:
    """Return the names that a question may use for a recording.

    They are its title, the two parts of a title with a file name in parentheses, and a word with a number
    before a dash or a colon.

    >>> names_of("Stream ciphers (lecture 3)")
    ['Stream ciphers (lecture 3)', 'Stream ciphers', 'lecture 3']
    >>> names_of("Module 3 - talk")
    ['Module 3 - talk', 'Module 3']
    """
    names = [title]
    parts = _WITH_FILE.fullmatch(title)
    if parts:
        names += parts.groups()
    for name in tuple(names):
        numbered = _NUMBERED.match(name)
        if numbered:
            names.append(numbered[1])
    out = []
    for name in dict.fromkeys(names):
        if len(name) >= _SHORTEST_NAME:
            out.append(name)
    return out


def named_in(question: str, titles: Iterable[str]) -> list[str]:
    """Return the titles of recordings that a question names word for word; none if it names all."""
    known = list(dict.fromkeys(titles))
    folded = fold(question)
    found = []
    for title in known:
        if _is_named(title, folded):
            found.append(title)
    return found if len(found) < len(known) else []


def _is_named(title: str, folded: str) -> bool:
    """Return whether a folded question has a name of the recording in it, as whole words."""
    for name in names_of(title):
        if re.search(rf"(?<!\w){re.escape(fold(name))}(?!\w)", folded):
            return True
    return False
