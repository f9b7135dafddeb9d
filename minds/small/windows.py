"""Stretches of time that a question names: a clock time, a span between two, the beginning or the end."""

from __future__ import annotations

import re

KINDS = (
    r"(?:videos?|films?|movies?|talks?|lectures?|recordings?|clips?|episodes?|podcasts?|transcripts?|shows?|trailers?"
    r"|conversations?|interviews?|sessions?|meetings?|audio|presentations?)"
)
"""What recordings are called."""
_CLOCK = r"(?:(\d{1,2}):)?(\d{1,3}):(\d{2})(?:\.\d+)?"
_BETWEEN = re.compile(rf"\b(?:between|from) {_CLOCK} (?:and|to|until|till) {_CLOCK}", re.I)
_AT = re.compile(rf"\b(?:at|around|about) (?:minute |time )?{_CLOCK}", re.I)
_AT_UNIT = re.compile(
    r"\b(?:at|around|in|after) (?:the )?(minute|second) (\d{1,4})\b"
    r"|\b(?:at|in) the (\d{1,3})(?:st|nd|rd|th) (minute|second)\b",
    re.I,
)
_OF_IT = rf"(?: of (?:(?:the|this|that|my|our) )?(?:[\w'’-]+ ){{0,3}}{KINDS}\b(?: (?:on|about) [\w'’ -]+)?)"
_EDGE = re.compile(
    r"\b(?:in|during|within) the (first|last|opening|final|closing) (?:(\d{1,4}|one|two|three|five|ten) )?"
    rf"(seconds?|minutes?){_OF_IT}?",
    re.I,
)
_END = re.compile(
    rf"\b(?:at|near|towards?|by) the (?:very )?(beginning|start|opening|end|close){_OF_IT}",
    re.I,
)
_NUMBERS = {"one": 1, "two": 2, "three": 3, "five": 5, "ten": 10}
AROUND = 15.0
"""Seconds before and after a moment that a question names."""
EDGE = 60.0
"""Seconds that the beginning or the end of a recording lasts, where a question does not say."""


def window_of(question: str) -> tuple[float, float] | None:
    """Return the [start, end] in seconds that a question names, or None; a negative start counts from the end."""
    if m := _BETWEEN.search(question):
        start, end = seconds(*m.groups()[:3]), seconds(*m.groups()[3:])
        return (min(start, end), max(start, end))
    if m := _AT.search(question):
        at = seconds(*m.groups())
        return (max(0.0, at - AROUND), at + AROUND)
    if m := _AT_UNIT.search(question):
        unit, number = (m.group(1), m.group(2)) if m.group(1) else (m.group(4), m.group(3))
        at = float(number) * (60 if unit.lower() == "minute" else 1)
        return (max(0.0, at - AROUND), at + max(AROUND, 60.0 if unit.lower() == "minute" else 0.0))
    if m := _EDGE.search(question):
        number = _NUMBERS.get((m.group(2) or "one").lower()) or int(m.group(2))
        length = number * (60.0 if m.group(3).lower().startswith("minute") else 1.0)
        return (0.0, length) if m.group(1).lower() in ("first", "opening") else (-length, 0.0)
    if m := _END.search(question):
        return (0.0, EDGE) if m.group(1).lower() in ("beginning", "start", "opening") else (-EDGE, 0.0)
    return None


def without_window(question: str) -> str:
    """Return a question without the words that name a stretch of time."""
    for form in (_BETWEEN, _AT, _AT_UNIT, _EDGE, _END):
        question = form.sub(" ", question)
    return " ".join(question.split())


def stretch(window: tuple[float, float], last: float) -> tuple[float, float]:
    """Return a window as seconds from the beginning; a negative one counts from the end of a recording."""
    return (max(0.0, last + window[0]), last) if window[0] < 0 else window


def seconds(hours: str | None, minutes: str, rest: str) -> float:
    """Return a clock time in seconds."""
    return 3600.0 * int(hours or 0) + 60.0 * int(minutes) + int(rest)
