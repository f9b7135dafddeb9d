"""Lines of text on the screen, followed from frame to frame: each once, with the seconds from which and until which."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from ragweave.corpora.video.recording import Shown
from ragweave.models.text import fold

_LIKE = 0.8
"""Similarity from which two readings are one line: OCR reads a letter differently now and then."""
_SIGNS = re.compile(r"[\W_]+")


@dataclass(slots=True)
class _Line:
    key: str
    text: str
    start: float
    end: float
    seen: int


def followed(frames: Sequence[tuple[float, float, Sequence[str]]]) -> tuple[Shown, ...]:
    """Return each line with its time.

    Args:
        frames: (start, end, lines) of each frame that was read, in order of time.
    """
    out: list[_Line] = []
    active: list[_Line] = []
    for start, end, lines in frames:
        now: list[_Line] = []
        for text in lines:
            key = _SIGNS.sub("", fold(text))
            if len(key) < 2:
                continue
            line = next((a for a in active if a not in now and _same(a.key, key)), None)
            if line is None:
                line = _Line(key, text, start, end, 0)
                out.append(line)
            line.end = end
            line.seen += 1
            now.append(line)
        active = now
    return tuple(Shown(line.start, line.end, line.text) for line in out)


def _same(a: str, b: str) -> bool:
    if a == b:
        return True
    if min(len(a), len(b)) < 6:
        return False
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    return matcher.real_quick_ratio() >= _LIKE and matcher.quick_ratio() >= _LIKE and matcher.ratio() >= _LIKE
