"""Find chapters in a recording that names none: the slides that it shows, each under its heading."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

_WORDS = 4
"""Fewest words of a slide; less text is a sign or a name in a picture."""
_STAYS = 2.0
"""Fewest seconds of a slide; text that disappears sooner cannot be read as one."""
_SHARE = 0.5
"""Share of a recording with slides from which it counts as a talk over slides."""
_RUNNING = 8
"""Fewest slides with a running line, such as a logo or the name of a course."""
_RUNNING_SHARE = 0.1
"""The same as a share of all slides."""
_WORD = re.compile(r"[^\W\d_]{3,}")

Slide = list[dict[str, Any]]
"""Lines that appeared on the screen at the same time."""


def chapters_of(lines: Iterable[dict[str, Any]], seconds: float) -> list[dict[str, Any]]:
    """Return the slides of a recording with `start`, `end` and `title`, or nothing if slides are rare.

    `lines` are those of a transcript in order of time, `seconds` is the length of the recording. The title of
    a slide is its first line that is not a running line; the first slide has its first line. Successive
    slides of one title are one chapter: points are added to it.
    """
    shown = [line for line in lines if line.get("shown")]
    slides = [list(group) for _, group in groupby(shown, key=lambda line: line["start"])]
    running = _running_lines(slides)
    found: list[dict[str, Any]] = []
    covered = 0.0
    for number, slide in enumerate(slides):
        start = slide[0]["start"]
        end = max([line["end"] for line in slide])
        if end - start < _STAYS or _words(slide) < _WORDS:
            continue
        title = slide[0]["text"] if number == 0 else _title(slide, running)
        covered += end - start
        if found and found[-1]["title"] == title:
            found[-1]["end"] = end
        else:
            found.append({"start": start, "end": end, "title": title})
    if len(found) < 2 or covered < _SHARE * seconds:
        return []
    return found


def _running_lines(slides: Sequence[Slide]) -> set[str]:
    """Return the lines that many slides have."""
    counts: Counter[str] = Counter()
    for slide in slides:
        counts.update({line["text"] for line in slide})
    enough = max(_RUNNING, _RUNNING_SHARE * len(slides))
    return {text for text, count in counts.items() if count >= enough}


def _words(slide: Slide) -> int:
    """Return the number of words on a slide."""
    count = 0
    for line in slide:
        count += len(_WORD.findall(line["text"]))
    return count


def _title(slide: Slide, running: set[str]) -> str:
    """Return the first line of a slide that is not a running line, or its first line if all are."""
    for line in slide:
        if line["text"] not in running:
            return str(line["text"])
    return str(slide[0]["text"])
