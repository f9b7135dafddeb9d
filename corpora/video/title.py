"""Find a title for a recording whose container states none: its first slide."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ragweave.corpora.video.recording import Recording, Shown, called
from ragweave.models.text import content_terms, terms

BEGINS, STANDS = 4.0, 4.0
"""Seconds by which a first slide appears, and for which it stays at least."""
DECK = 0.5
"""Share of a recording with text on the screen from which it counts as a talk with slides."""
LINES, LETTERS = 3, 60
"""Lines of a first slide that are its title, and letters after which no further line is."""
_LEAST_LETTERS = 0.6
"""Share of letters and spaces in a line of a title."""
_SMALL_PRINT = re.compile(r"@|https?|www\.|©|copyright|licen[cs]e|all rights|^\W*[\d\s./:-]+$", re.I)
"""Small print below a title."""
_NOISE = re.compile(r"[=<>{}\\]")
_OPEN = re.compile(r"(?:\d|[-–—,:&]|\b(?:a|an|the|of|on|in|for|and|or|to|with|by|from))$", re.I)
"""The end of a line that the next line completes."""


def titled(recording: Recording, path: str) -> str:
    """Return a title for a recording that states none: its first slide, then the words of its file name.

    The file name stays because the recordings of a series may begin with the same slide.

    >>> titled(Recording("", 60, (), (Shown(0, 60, "Stream ciphers"),)), "week_3.mp4")
    'Stream ciphers (week 3)'
    """
    name = called(path)
    slide = first_slide(recording)
    if not slide or set(terms(slide)) <= set(terms(name)):
        return name
    return f"{slide} ({name})"


def filed_as(title: str, file: str) -> str:
    """Return the title with which a clip is read: without a first slide, only the words of its file name.

    The topic of a whole talk would be part of each of its sentences, and hide what a query is about.
    """
    head, dot, rest = title.partition(" · ")
    if not file or not head.endswith(")"):
        return title
    name = called(file)
    if not name or not head.endswith(f" ({name})"):
        return title
    return f"{name}{dot}{rest}"


def first_slide(recording: Recording) -> str:
    """Return the title on the first slide, from its topmost lines.

    It is "" if the first text disappears soon, or if the recording is no talk with slides.
    """
    first = []
    for shown in recording.shown:
        if shown.start <= BEGINS and shown.end - shown.start >= STANDS:
            first.append(shown)
    if not first or _covered(recording.shown) < DECK * recording.duration:
        return ""
    lines: list[str] = []
    for shown in first:
        text = " ".join(shown.text.split())
        completes = bool(lines) and bool(_OPEN.search(lines[-1]))
        if _SMALL_PRINT.search(text):
            break
        if not completes and _is_full(lines):
            break
        if not _is_readable(text):
            continue
        if completes:
            lines[-1] = f"{lines[-1]} {text}"
        else:
            lines.append(text)
    title = ": ".join(lines)
    return title if content_terms(" ".join(lines)) else ""


def _is_full(lines: Sequence[str]) -> bool:
    """Return whether a title needs no further line."""
    return len(lines) == LINES or sum(map(len, lines)) >= LETTERS


def _is_readable(text: str) -> bool:
    """Return whether a line consists mostly of letters, as a title does; formulas and misread text do not."""
    letters = 0
    for c in text:
        if c.isalpha() or c.isspace():
            letters += 1
    if letters < max(3, _LEAST_LETTERS * len(text)):
        return False
    return not _NOISE.search(text)


def _covered(shown: Sequence[Shown]) -> float:
    """Return for how many seconds at least two words were on the screen."""
    total = end = 0.0
    for text in sorted(shown, key=lambda s: s.start):
        if len(text.text.split()) > 1:
            total += max(0.0, text.end - max(text.start, end))
            end = max(end, text.end)
    return total
