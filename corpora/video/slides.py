"""The slides of a recording, told from the lines that stood on its screen and when: a slide is what stayed together."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby

from ragweave.corpora.types import Item
from ragweave.models.text import fold

ALIKE = 0.5
"""Share of the lines of the smaller of two moments that both must show to be one slide, which was built up."""
HEADS = 0.6
"""Share of at least four slides from which a line that stands on them is a running head or foot."""
FULL = 0.8
"""Length of a line, as a share of the longest one of its slide, after which one in small letters goes on."""
WIDE = 25
"""Letters of a line that may be wrapped."""
_GOES_ON = re.compile(r"[a-z][a-z'’]*(?:[ ,;.]|$)")
_MARK = re.compile(r"^\s*(?:[•·▪●○◦*–—-]|\(?\d{1,2}[.)]|[a-h][.)])\s*(?=\S)")


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A line of the screen, where it stands in its clip, and from when until when it was seen."""

    item: Item
    start: int
    end: int
    since: float
    until: float

    @property
    def text(self) -> str:
        """Its words."""
        return self.item.text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Slide:
    """A stretch of frames that show the same: its lines in reading order, its title, and its fullest frame."""

    lines: tuple[Line, ...]
    since: float
    until: float
    image: str = ""
    heads: frozenset[str] = frozenset()
    """Lines that stand on most slides."""

    @property
    def title(self) -> str:
        """The first line that is no running head."""
        return next((x.text for x in self.lines if _same(x.text) not in self.heads), self.lines[0].text)

    @property
    def text(self) -> str:
        """Its lines, one below the other."""
        return "\n".join(x.text for x in self.lines)

    @property
    def entries(self) -> list[str]:
        """What it lists below its title: lines without their marks, those that go on joined."""
        own = [x.text for x in self.lines if _same(x.text) not in self.heads][1:]
        longest = max((len(t) for t in own), default=0)
        out: list[str] = []
        for before, line in zip(["", *own], own, strict=False):
            marked = _MARK.match(line)
            plain = _MARK.sub("", line)
            if out and not marked and _GOES_ON.match(plain) and len(before) >= max(WIDE, FULL * longest):
                out[-1] = f"{out[-1]} {plain}"
            else:
                out.append(plain)
        return out

    def said(self, clips: Sequence[Item]) -> list[tuple[Item, int, int]]:
        """Return (clip, start, end) of what was said meanwhile, in order."""
        out = []
        for clip in clips:
            low, high = clip.part("transcript")
            for s in clip.spans:
                middle = sum(s.time) / 2 if s.time else -1.0
                if low <= s.start < high and self.since <= middle < self.until:
                    out.append((clip, s.start, s.end))
        return out


def slides_of(clips: Sequence[Item]) -> list[Slide]:
    """Return the slides of one recording, given its clips in order."""
    lines = _lines(clips)
    groups: list[dict[Line, None]] = []
    shown: set[str] = set()
    now: list[Line] = []
    for at, come in groupby(sorted(lines, key=lambda x: x.since), key=lambda x: x.since):
        now = [*(x for x in now if at < x.until), *come]
        held = {_same(x.text) for x in now}
        if groups and len(held & shown) >= ALIKE * min(len(held), len(shown)):
            groups[-1].update(dict.fromkeys(now))
        else:
            groups.append(dict.fromkeys(now))
        shown = held
    counts = Counter(t for g in groups for t in {_same(x.text) for x in g})
    heads = frozenset(t for t, n in counts.items() if len(groups) >= 4 and n >= HEADS * len(groups))
    frames = sorted(f for c in clips for f in c.frames)
    out: list[Slide] = []
    for n, group in enumerate(groups):
        since = max(out[-1].until if out else 0.0, min(x.since for x in group))
        after = groups[n + 1] if n + 1 < len(groups) else {}
        ends = min((x.since for x in after if x not in group), default=float("inf"))
        until = max(since, min(max(x.until for x in group), ends))
        last = bisect_left(frames, (max(until, since + 0.01), "")) - 1
        image = frames[last][1] if last >= 0 and frames[last][0] >= since else ""
        out.append(Slide(tuple(group), since, until, image, heads))
    return out


def _lines(clips: Sequence[Item]) -> list[Line]:
    """Return the lines of all clips; one that goes on in the next clip is one."""
    out: list[Line] = []
    known: dict[str, list[int]] = {}
    for clip in clips:
        low, high = clip.part("screen")
        for s in clip.spans:
            if not (low <= s.start < high and s.time):
                continue
            same = known.setdefault(_same(clip.text[s.start : s.end]), [])
            # The same words twice on one slide are two lines.
            at = next((n for n in same if out[n].since < s.time[0] <= out[n].until and out[n].item is not clip), None)
            if at is None:
                same.append(len(out))
                out.append(Line(clip, s.start, s.end, *s.time))
            else:
                out[at] = replace(out[at], until=max(out[at].until, s.time[1]))
    return out


def _same(text: str) -> str:
    return " ".join(fold(text).split())
