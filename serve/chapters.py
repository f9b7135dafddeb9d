"""Chapters of a recording that names none: the slides that it shows, each under its heading."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import groupby
from typing import Any

_WORDS = 4
"""Words on a slide; fewer are a sign or a name in a picture."""
_STAYS = 2.0
"""Seconds in which a slide is read; what goes sooner only passes by."""
_SHARE = 0.5
"""Share of a recording's seconds with slides, from which on it is a talk over them."""
_RUNNING, _RUNS = 8, 0.1
"""Slides, and share of all, on which a line stands that heads none of them: a logo, the name of a course."""
_WORD = re.compile(r"[^\W\d_]{3,}")


def chapters_of(lines: Iterable[dict[str, Any]], seconds: float) -> list[dict[str, Any]]:
    """Return `start`, `end` and `title` of each slide of a recording of so many seconds; none where it shows few.

    What came on the screen together is one slide. Its heading is its first line that does not run through all
    slides; the first slide has its first line. One that stays under its heading while points are added goes
    on. Lines are those of a transcript, in order of time.
    """
    found: list[dict[str, Any]] = []
    covered = 0.0
    shown_lines = (line for line in lines if line.get("shown"))
    slides = [list(group) for _, group in groupby(shown_lines, key=lambda line: line["start"])]
    standing = Counter(text for shown in slides for text in {line["text"] for line in shown})
    running = {text for text, n in standing.items() if n >= max(_RUNNING, _RUNS * len(slides))}
    for shown in slides:
        start, end = shown[0]["start"], max(line["end"] for line in shown)
        own = [line["text"] for line in shown if shown is slides[0] or line["text"] not in running]
        title = own[0] if own else shown[0]["text"]
        if end - start < _STAYS or sum(len(_WORD.findall(line["text"])) for line in shown) < _WORDS:
            continue
        covered += end - start
        if found and found[-1]["title"] == title:
            found[-1]["end"] = end
        else:
            found.append({"start": start, "end": end, "title": title})
    return found if len(found) > 1 and covered >= _SHARE * seconds else []
