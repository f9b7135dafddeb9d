"""What a recording is called whose container states no title: by its first slide."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragweave.corpora.video.recording import Recording, Shown, called
from ragweave.models.text import content_terms, terms

BEGINS, STANDS = 4.0, 4.0
"""Seconds after which a first slide is none, and for which it must stand."""
DECK = 0.5
"""Share of a recording for which text stands on its screen, where it is one of slides."""
LINES, LETTERS = 3, 60
"""Lines of a first slide that are its title, and letters after which no further one is."""
_ENDS = re.compile(r"@|https?|www\.|©|copyright|licen[cs]e|all rights|^\W*[\d\s./:-]+$", re.I)
"""Small print below a title."""
_NOISE = re.compile(r"[=<>{}\\]")
_OPEN = re.compile(r"(?:\d|[-–—,:&]|\b(?:a|an|the|of|on|in|for|and|or|to|with|by|from))$", re.I)
"""How a line ends that the next one completes."""


def titled(recording: Recording, path: str) -> str:
    """Return the title of a recording that states none, the words of its file's name behind it.

    Those stay, because the recordings of a series may begin alike.

    >>> titled(Recording("", 60, (), (Shown(0, 60, "Stream ciphers"),)), "week_3.mp4")
    'Stream ciphers (week 3)'
    """
    name = called(path)
    told = first_slide(recording)
    if not told or {*terms(told)} <= {*terms(name)}:
        return name
    return f"{told} ({name})"


def filed_as(title: str, file: str) -> str:
    """Return the title under which a clip is read: the file's words alone, where they stand behind a first slide.

    The topic of a whole talk would stand in each of its sentences, and cover what is asked of one of them.
    """
    head, dot, rest = title.partition(" · ")
    if not file or not head.endswith(")"):
        return title
    name = called(file)
    return f"{name}{dot}{rest}" if name and head.endswith(f" ({name})") else title


def first_slide(recording: Recording) -> str:
    """Return the title on the first slide: its topmost lines; "" where it does not stand, or there are no slides."""
    first = [s for s in recording.shown if s.start <= BEGINS and s.end - s.start >= STANDS]
    if not first or _covered(recording.shown) < DECK * recording.duration:
        return ""
    out: list[str] = []
    for text in (" ".join(s.text.split()) for s in first):
        whole = not out or not _OPEN.search(out[-1])
        if _ENDS.search(text) or (whole and (len(out) == LINES or sum(map(len, out)) >= LETTERS)):
            break
        if sum(c.isalpha() or c.isspace() for c in text) < max(3, 0.6 * len(text)) or _NOISE.search(text):
            continue
        out = [*out, text] if whole else [*out[:-1], f"{out[-1]} {text}"]
    return ": ".join(out) if content_terms(" ".join(out)) else ""


def _covered(shown: Sequence[Shown]) -> float:
    """Return for how many seconds at least two words stood on the screen."""
    total = end = 0.0
    for s in sorted((s for s in shown if len(s.text.split()) > 1), key=lambda s: s.start):
        total += max(0.0, s.end - max(s.start, end))
        end = max(end, s.end)
    return total
