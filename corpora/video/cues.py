"""Transcripts: WebVTT, SubRip, and JSON or JSON Lines with times, in; recordings out."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragweave.corpora.decode import read_text
from ragweave.corpora.meta import guess_language
from ragweave.corpora.video.recording import Cue, Recording
from ragweave.models.errors import SourceError

WORDS_PER_SECOND = 2.5
"""Of a speaker, where a transcript states too few times to tell."""
_STAMP = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{2})(?:[.,](\d{1,3}))?"
_TIMING = re.compile(rf"[ \t]*{_STAMP}[ \t]*-->[ \t]*{_STAMP}(?:[ \t].*)?\Z")
_TIMECODE = re.compile(rf"{_STAMP}\Z")
_SRT = re.compile(rf"\s*(?:\d+[ \t]*\n)?[ \t]*{_STAMP}[ \t]*-->[ \t]*{_STAMP}")
_VOICE = re.compile(r"<v(?:\.[^ \t>]*)?[ \t]+([^>\n]{1,100})>")
_TAG = re.compile(r"</?[a-zA-Z][^<>]{0,200}>|<[\d:.]{4,15}>|\{\\[^{}]{0,100}\}")
_TEXT = ("text", "transcript", "caption", "content", "utterance", "sentence")
_START = ("start", "t", "time", "begin", "start_time", "startTime", "from", "offset", "timestamp")
_END = ("end", "stop", "end_time", "endTime", "to")
_LENGTH = ("duration", "dur", "length")
_SPEAKER = ("speaker", "speaker_label", "speaker_name")
_RECORDING = ("episode", "recording", "video", "video_id", "file", "lecture", "talk", "show", "source")
_LONGEST_TIME = 1_000_000.0
"""Seconds; a larger number is no time in a recording."""
_SAMPLE = 200
"""Rows looked at to tell whether JSON is a transcript."""


def is_transcript(head: str, suffix: str) -> bool:
    """Tell a transcript by the beginning of its text; JSON is only recognised under its own ending."""
    if head.startswith("WEBVTT") or _SRT.match(head):
        return True
    if suffix.lower() in (".jsonl", ".ndjson"):
        lines = head.split("\n")
        whole = lines[:-1] if len(lines) > 1 else lines
        return _timed(_json_rows(whole[:_SAMPLE]))
    if suffix.lower() == ".json":
        return bool(
            re.match(r'\s*(?:\{.*?"segments"\s*:\s*)?\[\s*\{', head, re.S)
            and re.search(rf'"(?:{"|".join(_START)})"\s*:\s*[\d"]', head)
            and re.search(rf'"(?:{"|".join(_TEXT)})"\s*:\s*"', head)
        )
    return False


def read_transcript(path: Path) -> list[Recording]:
    """Read a transcript; a file of JSON rows may hold several recordings.

    Raises:
        SourceError: it holds no utterance with a time.
    """
    text = read_text(path).lstrip("\ufeff")
    if path.suffix.lower() in (".jsonl", ".ndjson", ".json"):
        found = _from_json(text, path.stem)
    else:
        found = [_recording(path.stem, timed_cues(text))]
    found = [r for r in found if r.cues]
    if not found:
        raise SourceError(f"{path.name} holds no utterance with a time", "check that it is a whole VTT, SRT or JSONL")
    return found


def timed_cues(text: str) -> tuple[Cue, ...]:
    """Return the cues of a WebVTT or SubRip text, in order of time; what is malformed is passed over."""
    found: list[Cue] = []
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    at = 0
    while at < len(lines):
        timing = _TIMING.match(lines[at])
        at += 1
        if timing is None:
            continue
        start, end = _seconds(timing.groups()[:4]), _seconds(timing.groups()[4:])
        body = []
        while at < len(lines) and lines[at].strip() and not _TIMING.match(lines[at]):
            body.append(lines[at])
            at += 1
        # A number right before the next timing is that cue's, not the end of this text.
        if at < len(lines) and _TIMING.match(lines[at]) and body and body[-1].strip().isdigit():
            body.pop()
        found.append(_cue(start, end, body))
    return _rolled(sorted((c for c in found if c.text), key=lambda c: (c.start, c.end)))


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


def _seconds(groups: Sequence[str | None]) -> float:
    hours, minutes, seconds, fraction = groups
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + int(seconds or 0) + float(f"0.{fraction or 0}")


def _recording(title: str, cues: Sequence[Cue], estimated: bool = False) -> Recording:
    language = guess_language(" ".join(c.text for c in cues[:400]))
    duration = max((c.end for c in cues), default=0.0)
    return Recording(title, duration, tuple(cues), "transcript", language=language, estimated=estimated)


def _json_rows(lines: Sequence[str]) -> list[Any]:
    rows: list[Any] = []
    for line in lines:
        if line.strip():
            try:
                rows.append(json.loads(line))
            except (ValueError, RecursionError):
                rows.append(None)
    return rows


def _timed(rows: Sequence[Any]) -> bool:
    """Whether rows are those of a transcript: almost all have text, some a time, and times do not run backwards."""
    read = [r for r in map(_row, rows) if r is not None]
    if not read or len(read) < len(rows) * 0.9:
        return False
    last: dict[str, float] = {}
    stated = 0
    for _, start, _, name, _ in read:
        if start is not None:
            stated += 1
            if start < last.get(name, 0.0) - 60:
                return False
            last[name] = start
    return stated > 0 and sum(len(text.split()) for _, _, _, _, text in read) >= 2 * len(read)


Row = tuple[str, float | None, float | None, str, str]
"""Speaker, start, end, recording, text."""


def _row(value: Any) -> Row | None:
    if not isinstance(value, dict):
        return None
    text = next((value[k] for k in _TEXT if isinstance(value.get(k), str)), None)
    if text is None or not any(k in value for k in _START):
        return None
    start = next((t for k in _START if (t := _time(value.get(k))) is not None), None)
    end = next((t for k in _END if (t := _time(value.get(k))) is not None), None)
    length = next((t for k in _LENGTH if (t := _time(value.get(k))) is not None), None)
    if end is None and start is not None and length is not None:
        end = start + length
    speaker = next((value[k] for k in _SPEAKER if isinstance(value.get(k), str)), "")
    name = next((value[k] for k in _RECORDING if isinstance(value.get(k), str) and value[k].strip()), "")
    return " ".join(speaker.split())[:100], start, end, " ".join(name.split())[:300], " ".join(text.split())


def _time(value: Any) -> float | None:
    if isinstance(value, str):
        code = _TIMECODE.match(value.strip())
        if code:
            return _seconds(code.groups())
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < _LONGEST_TIME else None


def _from_json(text: str, stem: str) -> list[Recording]:
    try:
        whole = json.loads(text)
    except RecursionError:
        return []
    except ValueError:
        whole = _json_rows(text.split("\n"))
    if isinstance(whole, dict):
        whole = whole.get("segments") if isinstance(whole.get("segments"), list) else [whole]
    rows = [r for r in map(_row, whole if isinstance(whole, list) else []) if r is not None and r[4]]
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[3] or stem, []).append(row)
    return [_recording(name, *_placed(group)) for name, group in groups.items() if any(r[1] is not None for r in group)]


def _placed(rows: Sequence[Row]) -> tuple[list[Cue], bool]:
    """Give every row a start and an end; those without are spread between stated times by their number of words."""
    rows = list(rows)
    stated = [n for n, row in enumerate(rows) if row[1] is not None]
    starts: list[float] = [row[1] or 0.0 for row in rows]
    length = [max(1, len(row[4].split())) for row in rows]
    pace = _pace(rows, stated, length)
    anchors: Iterator[tuple[int, int]] = iter(zip([-1, *stated], [*stated, len(rows)], strict=True))
    for left, right in anchors:
        first = max(left, 0)
        begin = starts[left] if left >= 0 else 0.0
        words = sum(length[first:right])
        until = starts[right] if right < len(rows) else begin + words / pace
        done = 0
        for n in range(first, right):
            starts[n] = begin + (max(until, begin) - begin) * done / max(1, words)
            done += length[n]
    cues = []
    for n, (speaker, _, end, _, text) in enumerate(rows):
        after = starts[n + 1] if n + 1 < len(rows) else starts[n] + length[n] / pace
        cues.append(Cue(starts[n], max(starts[n], after if end is None else end), text, speaker))
    return sorted(cues, key=lambda c: c.start), len(stated) < len(rows)


def _pace(rows: Sequence[Row], stated: Sequence[int], length: Sequence[int]) -> float:
    """Return words per second between the first and the last stated time."""
    if len(stated) < 2:
        return WORDS_PER_SECOND
    first, last = stated[0], stated[-1]
    seconds = (rows[last][1] or 0.0) - (rows[first][1] or 0.0)
    return sum(length[first:last]) / seconds if seconds > 0 else WORDS_PER_SECOND
