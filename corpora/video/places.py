"""Where in the recordings a question asks to look: a recording that it names, or a time that it writes as a clock."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ragweave.models.text import fold

_CLOCK = re.compile(r"(?<![\d:.,])(?:(\d{1,2}):)?(\d{1,3}):([0-5]\d)(?![\d:])")
_NUMBERED = re.compile(r"([^\W\d_]+[\s_#]*\d+)\s*(?::| [-–—]) ")
AROUND = 15.0
"""Seconds before and after a moment that a question names."""


def window_of(question: str) -> tuple[float, float] | None:
    """Return the [start, end] in seconds between the clock times of a question, or around its only one, or None.

    >>> window_of("What is said at 12:30?")
    (735.0, 765.0)
    """
    times = sorted(seconds(*m.groups()) for m in _CLOCK.finditer(question))
    if not times:
        return None
    return (times[0], times[-1]) if len(times) > 1 else (max(0.0, times[0] - AROUND), times[0] + AROUND)


def seconds(hours: str | None, minutes: str, rest: str) -> float:
    """Return a clock time in seconds."""
    return 3600.0 * int(hours or 0) + 60.0 * int(minutes) + int(rest)


def names_of(title: str) -> list[str]:
    """Return what a recording may be called, the longest first: its title, and the file's name in parentheses there.

    A word with a number in front of a dash or a colon is a name as well.

    >>> names_of("Stream ciphers (lecture 3)")
    ['Stream ciphers (lecture 3)', 'Stream ciphers', 'lecture 3']
    >>> names_of("Module 3 - talk")
    ['Module 3 - talk', 'Module 3']
    """
    parts = re.fullmatch(r"(.+) \((.+)\)", title)
    names = [title, *(parts.groups() if parts else ())]
    heads = [m[1] for n in names if (m := _NUMBERED.match(n))]
    return [n for n in dict.fromkeys([*names, *heads]) if len(n) > 2]


def named_in(question: str, titles: Iterable[str]) -> list[str]:
    """Return the titles of recordings that stand in a question word for word; none where all of them do."""
    known = list(dict.fromkeys(titles))
    folded = fold(question)
    found = [
        t for t in known if any(re.search(rf"(?<!\w){re.escape(fold(n))}(?!\w)", folded) for n in names_of(t))
    ]
    return found if len(found) < len(known) else []
