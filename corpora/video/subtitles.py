"""Read WebVTT and SubRip, even if a time, a number or a blank line is malformed.

No word is lost: a cue whose time cannot be read is placed between the cues around it, and counted.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from ragweave.corpora.video.recording import Cue

WORDS_PER_SECOND = 2.5
"""Usual pace of a speaker, for transcripts with too few times."""
LONGEST_TIME = 1_000_000.0
"""Seconds; a larger number is no time in a recording."""
ARROW = r"(?:[-–—−]{1,3}\s?[>＞›]|[→⟶⇒]|={1,2}>|--?&gt;)"
"""The separator of the two times of a cue: an arrow, or what an editor or a person made of one."""
STAMP = r"(?:(\d{1,4})[:：])?(\d{1,2})[:：](\d{1,2})(?:[.,:;](\d{1,9}))?"
_TIMING = re.compile(rf"[ \t]*{STAMP}[ \t]*{ARROW}[ \t]*{STAMP}(?:[ \t].*)?\Z")
_HALF = re.compile(
    rf"[ \t]*(?:{STAMP})?(\S{{0,20}})[ \t]*{ARROW}[ \t]*(?:{STAMP})?(\S{{0,20}})(?:[ \t].*)?\Z"
)
"""A line of times of which at most one is complete; a malformed time still has a digit and a colon."""
_CLOCK = re.compile(r"\d.*[:：]|[:：].*\d")
_NOTHING = re.compile(rf"\s*{ARROW}\s*")
_ASIDE = re.compile(r"(?:NOTE|STYLE|REGION)(?:\s|\Z)")
_VOICE = re.compile(r"<v(?:\.[^ \t>]*)?[ \t]+([^>\n]{1,100})>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|<[\d:.]{4,15}>|\{\\[^{}]{0,100}\}")
_LONG = 600.0
"""Seconds above which a cue's end is a mistake if its words need much less."""
_TOUCHING = 0.1
"""Seconds between two cues of captions that scroll."""

_Times = tuple[float | None, float | None]
"""Start and end of a cue; None if a time cannot be read."""


@dataclass(slots=True)
class _Written:
    """A cue as it is written: its times, None if they cannot be read, and its lines."""

    start: float | None
    end: float | None
    body: list[str] = field(default_factory=list)


def read_cues(text: str) -> tuple[tuple[Cue, ...], tuple[str, ...]]:
    """Return the cues of a WebVTT or SubRip text in order of time, and warnings about what was malformed."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    written = []
    unplaced = 0
    for block in _written(text):
        if not "".join(block.body).strip():
            continue
        written.append(block)
        if block.start is None or block.end is None:
            unplaced += 1
    placed, cut = _placed(written)
    cues = []
    for start, end, body in placed:
        for part in _by_voice(body):
            cue = _cue(start, end, part)
            if cue.text:
                cues.append(cue)
    cues.sort(key=lambda c: (c.start, c.end))
    return _without_repeats(cues), tuple(_warnings(unplaced, cut))


def _warnings(unplaced: int, cut: int) -> list[str]:
    """Return sentences about cues whose times cannot be read, and about cues that end too late."""
    warnings = []
    if unplaced:
        these = "1 cue has a time" if unplaced == 1 else f"{unplaced} cues have times"
        warnings.append(f"{these} that cannot be read, and was placed by the cues around it")
    if cut:
        these = "1 cue ends" if cut == 1 else f"{cut} cues end"
        warnings.append(f"{these} long after what is said, and was cut there")
    return warnings


def timed_cues(text: str) -> tuple[Cue, ...]:
    """Return the cues of a WebVTT or SubRip text, in order of time."""
    return read_cues(text)[0]


def seconds(groups: Sequence[str | None]) -> float:
    """Return the seconds of a time: hours, minutes, seconds, and the digits after the decimal point."""
    hours, minutes, whole, fraction = groups
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(whole or 0) + float(f"0.{fraction or 0}")


def _times(line: str) -> _Times | None:
    """Return the times in a line, each None if it cannot be read; None if it is no line of times."""
    timing = _TIMING.match(line)
    if timing:
        return _time(timing.groups()[:4]), _time(timing.groups()[4:])
    half = _HALF.match(line)
    if half is None:
        return None
    head, tail = line[: half.end(5)], line[half.end(5) :]
    if not _CLOCK.search(head):
        return None
    if not _CLOCK.search(tail) and not _NOTHING.fullmatch(tail):
        return None
    # Each half: four groups of a time, then what is left of a malformed one.
    first, first_rest = half.groups()[:4], half[5]
    last, last_rest = half.groups()[5:9], half[10]
    start = _time(first) if first[1] and not first_rest else None
    end = _time(last) if last[1] and not last_rest else None
    return start, end


def _time(groups: Sequence[str | None]) -> float | None:
    """Return the seconds of a time, or None if no recording is so long."""
    at = seconds(groups)
    return at if at < LONGEST_TIME else None


def _written(text: str) -> Iterator[_Written]:
    """Yield the cues of a text; lines above the first one are left out."""
    webvtt = text.lstrip("\ufeff\n ").startswith("WEBVTT")
    lines = text.split("\n")
    times = [_times(line) for line in lines]
    cue: _Written | None = None
    aside = False
    for n, line in enumerate(lines):
        found = times[n]
        if found is not None:
            if cue is not None:
                yield cue
            cue = _Written(*found)
            aside = False
            continue
        if not line.strip():
            aside = False
            continue
        # In WebVTT, the first line after a blank one may be the name of a cue, or begin a note.
        starts_block = webvtt and (n == 0 or not lines[n - 1].strip())
        if starts_block and _ASIDE.match(line):
            aside = True
        elif cue is not None and not aside and not _names_next(lines, times, n, starts_block):
            cue.body.append(line)
    if cue is not None:
        yield cue


def _names_next(lines: Sequence[str], times: Sequence[_Times | None], at: int, any_name: bool) -> bool:
    """Return whether a line is the number or the name of the next cue: the times follow on the next line."""
    if at + 1 >= len(lines) or times[at + 1] is None:
        return False
    return any_name or lines[at].strip().isdigit()


def _placed(written: Sequence[_Written]) -> tuple[list[tuple[float, float, list[str]]], int]:
    """Give each cue a start and an end, and return how many ended too late."""
    out: list[tuple[float, float, list[str]]] = []
    cut = 0
    before = 0.0
    for n, cue in enumerate(written):
        needed = len(" ".join(cue.body).split()) / WORDS_PER_SECOND + 1
        start = cue.start
        if start is None:
            start = before if cue.end is None else max(min(before, cue.end), cue.end - needed)
        next_start = _next_start(written, n, before if cue.start is None else cue.start)
        # Where the words end at the usual pace, or where the next cue begins.
        expected = start + needed
        if next_start is not None:
            expected = min(expected, next_start)
        end = cue.end
        if end is None:
            end = expected
        if end - start > max(_LONG, 4 * needed):
            cut += 1
            end = min(expected, end)
        end = max(start, end)
        out.append((start, end, cue.body))
        before = end
    return out, cut


def _next_start(written: Sequence[_Written], n: int, after: float) -> float | None:
    """Return the start of the cue after number `n`, or None if it is unknown or not after a time."""
    if n + 1 == len(written):
        return None
    start = written[n + 1].start
    if start is None or start <= after:
        return None
    return start


def _by_voice(body: Sequence[str]) -> Iterator[list[str]]:
    """Yield the lines of each voice in a cue."""
    text = "\n".join(body)
    starts = [m.start() for m in _VOICE.finditer(text)]
    for start, end in pairwise([0, *starts[1:], len(text)]):
        yield text[start:end].split("\n")


def _cue(start: float, end: float, body: Sequence[str]) -> Cue:
    """Return lines as an utterance: without tags and blank lines, with the name of its voice."""
    voice = _VOICE.search("\n".join(body))
    speaker = " ".join(voice[1].split()) if voice else ""
    lines = []
    for line in body:
        plain = html.unescape(_TAG.sub("", line)).strip()
        if plain:
            lines.append(plain)
    return Cue(start, max(start, end), "\n".join(lines), speaker)


def _without_repeats(cues: Sequence[Cue]) -> tuple[Cue, ...]:
    """Remove repeated lines: live captions scroll and repeat the last lines of the cue before."""
    out: list[Cue] = []
    before: list[str] = []
    for cue in cues:
        lines = cue.text.split("\n")
        fresh = lines
        if out and cue.start - out[-1].end < _TOUCHING:
            fresh = lines[_repeated(before, lines) :]
        if fresh:
            out.append(replace(cue, text=" ".join(" ".join(fresh).split())))
        else:
            out[-1] = replace(out[-1], end=max(out[-1].end, cue.end))
        before = lines
    return tuple(out)


def _repeated(before: Sequence[str], lines: Sequence[str]) -> int:
    """Return how many of the first lines are the last lines of the cue before."""
    for n in range(min(len(lines), len(before)), 0, -1):
        if before[-n:] == lines[:n]:
            return n
    return 0
