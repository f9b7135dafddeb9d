"""Subtitles in the form of SubStation Alpha (ASS, SSA): the dialogue lines of their events."""

from __future__ import annotations

import re

from ragweave.corpora.video.recording import Cue

HEAD = "[Script Info]"
_OPENS = re.compile(r"\s*(?:[;!][^\n]*\n\s*)*" + re.escape(HEAD), re.I)
"""Its first section, perhaps below remarks and blank lines."""
_FIELDS = "layer start end style name marginl marginr marginv effect text".split()
_TIME = re.compile(r"(\d{1,3}):(\d{1,2}):(\d{1,2}(?:\.\d{1,3})?)\Z")
_DRAWN = re.compile(r"\{[^}]*\\p[1-9]")
"""What follows is a drawing, no words."""


def is_ass(text: str) -> bool:
    """Tell such subtitles by their beginning."""
    return bool(_OPENS.match(text))


def ass_cues(text: str) -> tuple[Cue, ...]:
    """Return what is said, in order of time; comments, drawings and what is malformed are passed over."""
    fields, inside, found = _FIELDS, False, list[Cue]()
    for line in text.splitlines():
        name, _, rest = line.strip().partition(":")
        if line.startswith("["):
            inside = line.strip().lower() == "[events]"
        elif inside and name == "Format":
            fields = [f.strip().lower() for f in rest.split(",")]
        elif inside and name == "Dialogue":
            row = dict(zip(fields, rest.split(",", len(fields) - 1), strict=False))
            start, end = (_seconds(row.get(key, "")) for key in ("start", "end"))
            said = row.get("text", "")
            plain = " ".join(re.sub(r"\\[Nnh]", " ", re.sub(r"\{[^}]*\}", "", said)).split())
            if start is not None and end is not None and plain and not _DRAWN.search(said):
                found.append(Cue(start, max(start, end), plain, " ".join(row.get("name", "").split())))
    return tuple(sorted(found, key=lambda c: (c.start, c.end)))


def _seconds(text: str) -> float | None:
    m = _TIME.match(text.strip())
    return 3600.0 * int(m[1]) + 60.0 * int(m[2]) + float(m[3]) if m else None
