"""WebVTT and SubRip: cues with their times, also where a time, a number or a blank line is not as it should be.

No word under a time is lost: a cue whose time cannot be read is placed by those around it, and counted.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from ragweave.corpora.video.recording import Cue

WORDS_PER_SECOND = 2.5
"""Of a speaker, where a transcript states too few times to tell."""
LONGEST_TIME = 1_000_000.0
"""Seconds; a larger number is no time in a recording."""
ARROW = r"(?:[-–—−]{1,3}\s?[>＞›]|[→⟶⇒]|={1,2}>|--?&gt;)"
"""What parts the two times of a cue: an arrow, or what an editor or a person made of one."""
STAMP = r"(?:(\d{1,4})[:：])?(\d{1,2})[:：](\d{1,2})(?:[.,:;](\d{1,9}))?"
_TIMING = re.compile(rf"[ \t]*{STAMP}[ \t]*{ARROW}[ \t]*{STAMP}(?:[ \t].*)?\Z")
_HALF = re.compile(
    rf"[ \t]*(?:{STAMP})?(\S{{0,20}})[ \t]*{ARROW}[ \t]*(?:{STAMP})?(\S{{0,20}})(?:[ \t].*)?\Z"
)
"""A line of times of which one is whole at most, or neither: what is there instead has a digit and a colon."""
_CLOCK = re.compile(r"\d.*[:：]|[:：].*\d")
_NOTHING = re.compile(rf"\s*{ARROW}\s*")
_ASIDE = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|\Z)")
_VOICE = re.compile(r"<v(?:\.[^ \t>]*)?[ \t]+([^>\n]{1,100})>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|<[\d:.]{4,15}>|\{\\[^{}]{0,100}\}")
_LONG = 600.0
"""Seconds from which a cue is longer than its words may take: its end is a mistake."""


@dataclass(slots=True)
class _Written:
    """A cue as it is written: its times, None where they cannot be read, and its lines."""

    start: float | None
    end: float | None
    body: list[str] = field(default_factory=list)


def read_cues(text: str) -> tuple[tuple[Cue, ...], tuple[str, ...]]:
    """Return the cues of a WebVTT or SubRip text, in order of time, and what was not as it should be."""
    written = [
        w for w in _written(text.replace("\r\n", "\n").replace("\r", "\n")) if any(map(str.strip, w.body))
    ]
    unplaced = sum(w.start is None or w.end is None for w in written)
    placed, cut = _placed(written)
    cues = [_cue(start, end, said) for start, end, body in placed for said in _by_voice(body)]
    warnings = []
    if unplaced:
        these = "1 cue has a time" if unplaced == 1 else f"{unplaced} cues have times"
        warnings.append(f"{these} that cannot be read, and was placed by the cues around it")
    if cut:
        these = "1 cue ends" if cut == 1 else f"{cut} cues end"
        warnings.append(f"{these} long after what is said, and was cut there")
    found = _rolled(sorted((c for c in cues if c.text), key=lambda c: (c.start, c.end)))
    return found, tuple(warnings)


def timed_cues(text: str) -> tuple[Cue, ...]:
    """Return the cues of a WebVTT or SubRip text, in order of time."""
    return read_cues(text)[0]


def seconds(groups: Sequence[str | None]) -> float:
    """Return the seconds of a time: hours, minutes, seconds, and what stands behind the point."""
    hours, minutes, whole, fraction = groups
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(whole or 0) + float(f"0.{fraction or 0}")


def _times(line: str) -> tuple[float | None, float | None] | None:
    """Return the times of a line that states some, None for one that cannot be read; None for any other line."""
    if timing := _TIMING.match(line):
        return _sane(seconds(timing.groups()[:4])), _sane(seconds(timing.groups()[4:]))
    half = _HALF.match(line)
    if half is None:
        return None
    head, tail = line[: half.end(5)], line[half.end(5) :]
    if not _CLOCK.search(head) or not (_CLOCK.search(tail) or _NOTHING.fullmatch(tail)):
        return None
    first, last = half.groups()[:4], half.groups()[5:9]
    start = _sane(seconds(first)) if first[1] and not half[5] else None
    return start, _sane(seconds(last)) if last[1] and not half[10] else None


def _sane(at: float) -> float | None:
    return at if at < LONGEST_TIME else None


def _written(text: str) -> Iterator[_Written]:
    """Yield the cues of a text; what stands above the first one is none."""
    webvtt = text.lstrip("\ufeff\n ").startswith("WEBVTT")
    lines = text.split("\n")
    times = [_times(line) for line in lines]
    cue: _Written | None = None
    aside = False
    for n, line in enumerate(lines):
        blank = not line.strip()
        opens = n == 0 or not lines[n - 1].strip()
        found = times[n]
        if found is not None:
            if cue is not None:
                yield cue
            cue, aside = _Written(*found), False
        elif blank:
            aside = False
        elif webvtt and opens and _ASIDE.match(line):
            aside = True
        elif cue is not None and not aside and not _names_next(lines, times, n, webvtt and opens):
            cue.body.append(line)
    if cue is not None:
        yield cue


def _names_next(
    lines: Sequence[str], times: Sequence[tuple[float | None, float | None] | None], at: int, any_name: bool
) -> bool:
    """Tell whether a line is the number of the next cue, or its name: its times stand in the line behind it."""
    if at + 1 >= len(lines) or times[at + 1] is None:
        return False
    return any_name or lines[at].strip().isdigit()


def _placed(written: Sequence[_Written]) -> tuple[list[tuple[float, float, list[str]]], int]:
    """Give each cue a start and an end, and return how many ended where nobody speaks any more."""
    out: list[tuple[float, float, list[str]]] = []
    cut = 0
    before = 0.0
    for n, cue in enumerate(written):
        needed = len(" ".join(cue.body).split()) / WORDS_PER_SECOND + 1
        start = before if cue.start is None else cue.start
        following = next(
            (w.start for w in written[n + 1 : n + 2] if w.start is not None and w.start > start), None
        )
        if cue.start is None and cue.end is not None:
            start = max(min(before, cue.end), cue.end - needed)
        end = cue.end
        if end is None:
            end = start + needed if following is None else min(start + needed, following)
        if end - start > max(_LONG, 4 * needed):
            cut += 1
            end = min(start + needed, following or end)
        out.append((start, max(start, end), cue.body))
        before = max(start, end)
    return out, cut


def _by_voice(body: Sequence[str]) -> Iterator[list[str]]:
    """Part what several voices say in one cue."""
    text = "\n".join(body)
    starts = [m.start() for m in _VOICE.finditer(text)]
    for start, end in pairwise([0, *starts[1:], len(text)]):
        yield text[start:end].split("\n")


def _cue(start: float, end: float, body: Sequence[str]) -> Cue:
    voice = _VOICE.search("\n".join(body))
    kept = (html.unescape(_TAG.sub("", line)).strip() for line in body)
    text = "\n".join(line for line in kept if line)
    return Cue(start, max(start, end), text, " ".join(voice[1].split()) if voice else "")


def _rolled(cues: Sequence[Cue]) -> tuple[Cue, ...]:
    """Take away the lines that roll on: captions made live repeat the last line of the cue before."""
    out: list[Cue] = []
    before: list[str] = []
    for cue in cues:
        lines = cue.text.split("\n")
        same = next((n for n in range(min(len(lines), len(before)), 0, -1) if before[-n:] == lines[:n]), 0)
        touching = bool(out) and cue.start - out[-1].end < 0.1
        fresh = lines[same:] if same and touching else lines
        if fresh:
            out.append(replace(cue, text=" ".join(" ".join(fresh).split())))
        elif out:
            out[-1] = replace(out[-1], end=max(out[-1].end, cue.end))
        before = lines
    return tuple(out)
