"""Read transcripts in JSON or JSON Lines: rows of text, most with a time, of one or more recordings."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from ragweave.corpora.video.recording import Cue
from ragweave.corpora.video.subtitles import LONGEST_TIME, STAMP, WORDS_PER_SECOND, seconds

_TIMECODE = re.compile(rf"{STAMP}\Z")
_TEXT = ("text", "transcript", "caption", "content", "utterance", "sentence")
_START = ("start", "t", "time", "begin", "start_time", "startTime", "from", "offset", "timestamp")
_END = ("end", "stop", "end_time", "endTime", "to")
_LENGTH = ("duration", "dur", "length")
_SPEAKER = ("speaker", "speaker_label", "speaker_name")
_RECORDING = ("episode", "recording", "video", "video_id", "file", "lecture", "talk", "show", "source")
_LONGEST_SPEAKER = 100
"""Characters of a speaker's name that are kept."""
_LONGEST_NAME = 300
"""Characters of a recording's name that are kept."""
_SAMPLE = 200
"""Rows that are read to recognise a transcript."""
_OUT_OF_ORDER = 60.0
"""Seconds by which a row of a transcript may begin before the row above it."""

_ROWS = re.compile(r'\s*(?:\{.*?"segments"\s*:\s*)?\[\s*\{', re.S)
_START_KEY = re.compile(rf'"(?:{"|".join(_START)})"\s*:\s*[\d"]')
_TEXT_KEY = re.compile(rf'"(?:{"|".join(_TEXT)})"\s*:\s*"')


@dataclass(frozen=True, slots=True)
class _Row:
    """An utterance as a row of JSON states it."""

    text: str
    start: float | None
    end: float | None
    speaker: str
    recording: str

    @property
    def length(self) -> int:
        """Return the number of words, at least 1."""
        return max(1, len(self.text.split()))


def is_json_transcript(head: str) -> bool:
    """Return whether JSON that begins with `head` is a list of rows with times and texts."""
    return bool(_ROWS.match(head) and _START_KEY.search(head) and _TEXT_KEY.search(head))


def is_jsonl_transcript(head: str) -> bool:
    """Return whether JSON Lines that begin with `head` are the rows of a transcript.

    Almost all rows have a text, at least half have a time, and the times do not run backwards.
    """
    lines = head.split("\n")
    complete = lines[: max(1, len(lines) - 1)]  # The last line may be cut off.
    values = [value for _, value in _parse_lines(complete[:_SAMPLE])]
    rows = _rows(values)
    if not rows or len(rows) < len(values) * 0.9:
        return False
    if _timed_values(values) < len(values) / 2:
        return False  # A few rows of something else have a time.
    if not _has_start(rows) or not _in_order(rows):
        return False
    count = 0
    for row in rows:
        count += len(row.text.split())
    return count >= 2 * len(rows)


def _timed_values(values: Sequence[Any]) -> int:
    """Return how many values have a key for a start."""
    count = 0
    for value in values:
        if isinstance(value, dict) and not value.keys().isdisjoint(_START):
            count += 1
    return count


def _has_start(rows: Sequence[_Row]) -> bool:
    for row in rows:
        if row.start is not None:
            return True
    return False


def _in_order(rows: Sequence[_Row]) -> bool:
    """Return whether the rows of each recording are in order of time."""
    latest: dict[str, float] = {}
    for row in rows:
        if row.start is None:
            continue
        if row.start < latest.get(row.recording, 0.0) - _OUT_OF_ORDER:
            return False
        latest[row.recording] = row.start
    return True


def read_json(text: str, stem: str) -> tuple[list[tuple[str, list[Cue]]], list[int]]:
    """Return (name, cues) of each recording, and the numbers of lines that are not JSON.

    Args:
        text: content of the file.
        stem: name of a recording whose rows do not name it.
    """
    values, unread = _parse(text)
    groups: dict[str, list[_Row]] = {}
    name = stem
    for row in _rows(values):
        if not row.text:
            continue
        if row.recording:
            name = row.recording
        elif row.start is not None:
            name = stem
        # A row with neither a name nor a time belongs to the recording of the row before.
        groups.setdefault(name, []).append(row)
    recordings = []
    for name, rows in groups.items():
        if _has_start(rows):
            recordings.append((name, _placed(rows)))
    return recordings, unread


def _parse(text: str) -> tuple[list[Any], list[int]]:
    """Return the values of JSON or JSON Lines, and the numbers of lines that cannot be parsed."""
    unread: list[int] = []
    try:
        whole = json.loads(text)
    except RecursionError:
        return [], []
    except ValueError:
        whole = []
        for number, value in _parse_lines(text.split("\n")):
            whole.append(value)
            if value is None:
                unread.append(number)
    if isinstance(whole, dict):
        segments = whole.get("segments")
        whole = segments if isinstance(segments, list) else [whole]
    return whole if isinstance(whole, list) else [], unread


def _parse_lines(lines: Sequence[str]) -> list[tuple[int, Any]]:
    """Return the number and the value of each line that is not empty; None if it cannot be parsed."""
    rows: list[tuple[int, Any]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            rows.append((number, json.loads(line)))
        except (ValueError, RecursionError):
            rows.append((number, None))
    return rows


def _rows(values: Sequence[Any]) -> list[_Row]:
    """Return the values that have a text, as rows."""
    rows = []
    for value in values:
        row = _row(value)
        if row is not None:
            rows.append(row)
    return rows


def _row(value: Any) -> _Row | None:
    """Return a value as a row, or None if it has no text."""
    if not isinstance(value, dict):
        return None
    text = _string(value, _TEXT)
    if text is None:
        return None
    start = _number(value, _START)
    end = _number(value, _END)
    length = _number(value, _LENGTH)
    if end is None and start is not None and length is not None:
        end = start + length
    speaker = _string(value, _SPEAKER) or ""
    recording = _string(value, _RECORDING) or ""
    return _Row(text, start, end, speaker[:_LONGEST_SPEAKER], recording[:_LONGEST_NAME])


def _string(value: dict[str, Any], keys: Sequence[str]) -> str | None:
    """Return the first string under one of the keys, on one line."""
    for key in keys:
        found = value.get(key)
        if isinstance(found, str):
            return " ".join(found.split())
    return None


def _number(value: dict[str, Any], keys: Sequence[str]) -> float | None:
    """Return the first time under one of the keys."""
    for key in keys:
        time = _time(value.get(key))
        if time is not None:
            return time
    return None


def _time(value: Any) -> float | None:
    """Return the seconds of a number or a time code, or None if it is no time in a recording."""
    if isinstance(value, str):
        code = _TIMECODE.match(value.strip())
        if code:
            return seconds(code.groups())
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 <= value < LONGEST_TIME else None


def _placed(rows: Sequence[_Row]) -> list[Cue]:
    """Return rows as cues in order of time; rows without a time are placed between those with a time."""
    stated = []
    for n, row in enumerate(rows):
        if row.start is not None:
            stated.append(n)
    starts = [row.start or 0.0 for row in rows]
    pace = _words_per_second(rows, starts, stated)
    borders = [-1, *stated, len(rows)]
    for left, right in pairwise(borders):
        _spread(rows, starts, left, right, pace)
    ends = [*starts[1:], starts[-1] + rows[-1].length / pace]
    cues = []
    for row, start, next_start in zip(rows, starts, ends, strict=True):
        end = next_start if row.end is None else row.end
        cues.append(Cue(start, max(start, end), row.text, row.speaker))
    return sorted(cues, key=lambda c: c.start)


def _words_per_second(rows: Sequence[_Row], starts: Sequence[float], stated: Sequence[int]) -> float:
    """Return the pace between the first and the last stated time."""
    first, last = stated[0], stated[-1]
    duration = starts[last] - starts[first]
    if duration <= 0:
        return WORDS_PER_SECOND
    return _length(rows[first:last]) / duration


def _length(rows: Sequence[_Row]) -> int:
    """Return the number of words in rows."""
    total = 0
    for row in rows:
        total += row.length
    return total


def _spread(rows: Sequence[_Row], starts: list[float], left: int, right: int, pace: float) -> None:
    """Set the starts of the rows from `left` to before `right` in proportion to their numbers of words.

    Args:
        rows: all rows.
        starts: seconds at which the rows begin; changed in place.
        left: number of a row with a time, or -1 before the first of them.
        right: number of the next row with a time, or the number of rows.
        pace: words per second.
    """
    part = range(max(left, 0), right)
    words = _length(rows[part.start : part.stop])
    begin = starts[left] if left >= 0 else 0.0
    until = starts[right] if right < len(rows) else begin + words / pace
    duration = max(until, begin) - begin
    done = 0
    for n in part:
        starts[n] = begin + duration * done / max(1, words)
        done += rows[n].length
