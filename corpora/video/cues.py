"""Transcripts: WebVTT, SubRip, and JSON or JSON Lines with times, in; recordings out."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ragweave.corpora.decode import read_text
from ragweave.corpora.meta import guess_language
from ragweave.corpora.video.recording import Cue, Recording
from ragweave.corpora.video.sidecars import SUBTITLES
from ragweave.corpora.video.subtitles import (
    ARROW,
    LONGEST_TIME,
    STAMP,
    WORDS_PER_SECOND,
    read_cues,
    seconds,
)
from ragweave.corpora.video.subtitles import timed_cues as timed_cues
from ragweave.corpora.video.title import titled
from ragweave.models.errors import SourceError

_TIMECODE = re.compile(rf"{STAMP}\Z")
_SRT = re.compile(rf"\s*(?:\d+[ \t]*\n)?[ \t]*{STAMP}[ \t]*-->[ \t]*{STAMP}(?:[ \t]+\w+:\S+)*[ \t]*(?:\n|\Z)")
"""A first cue; behind its times stands nothing but settings, else it is a note of appointments."""
_CUE = re.compile(rf"^[ \t]*{STAMP}[ \t]*{ARROW}[ \t]*{STAMP}", re.M)
_TEXT = ("text", "transcript", "caption", "content", "utterance", "sentence")
_START = ("start", "t", "time", "begin", "start_time", "startTime", "from", "offset", "timestamp")
_END = ("end", "stop", "end_time", "endTime", "to")
_LENGTH = ("duration", "dur", "length")
_SPEAKER = ("speaker", "speaker_label", "speaker_name")
_RECORDING = ("episode", "recording", "video", "video_id", "file", "lecture", "talk", "show", "source")
_LINES = (".jsonl", ".ndjson")
_NAMED = 10
"""Lines that are named where they cannot be read; the others are counted."""
_SAMPLE = 200
"""Rows looked at to tell whether JSON is a transcript."""


def is_transcript(head: str, suffix: str) -> bool:
    """Tell a transcript by the beginning of its text; JSON is only recognised under its own ending.

    Credits and remarks may stand above the first cue where the ending says that these are subtitles.
    """
    head = _lined(head)
    if _SRT.match(head):
        return True
    webvtt, named = head.lstrip().startswith("WEBVTT"), suffix.lower() in SUBTITLES
    if (webvtt or named) and (_CUE.search(head) or (webvtt and named)):
        return True
    if suffix.lower() in _LINES:
        lines = head.split("\n")
        return _timed([row for _, row in _json_rows(lines[: max(1, len(lines) - 1)][:_SAMPLE])])
    return suffix.lower() == ".json" and bool(
        re.match(r'\s*(?:\{.*?"segments"\s*:\s*)?\[\s*\{', head, re.S)
        and re.search(rf'"(?:{"|".join(_START)})"\s*:\s*[\d"]', head)
        and re.search(rf'"(?:{"|".join(_TEXT)})"\s*:\s*"', head)
    )


def read_transcript(path: Path) -> list[Recording]:
    """Return the recordings of a transcript, as `transcript` reads them."""
    return transcript(path)[0]


def transcript(path: Path) -> tuple[list[Recording], tuple[str, ...]]:
    """Return the recordings of a transcript, of a file of JSON rows maybe several, and what of it could not be read.

    Raises:
        SourceError: it holds no utterance with a time.
    """
    text, unread, remarks = read_text(path).lstrip("\ufeff"), list[int](), tuple[str, ...]()
    if path.suffix.lower() in (*_LINES, ".json"):
        found, unread = _from_json(text, path.stem)
    else:
        cues, remarks = read_cues(text)
        found = [_recording("", cues)]
        found = [replace(r, title=titled(r, path.name)) for r in found]
    found = [r for r in found if r.cues]
    if not found:
        raise SourceError(
            f"{path.name} holds no utterance with a time", "check that it is a whole VTT, SRT or JSONL"
        )
    warnings = [*remarks, *(f"line {number} is not JSON" for number in unread[:_NAMED])]
    if len(unread) > _NAMED:
        warnings.append(f"{len(unread) - _NAMED} more lines are not JSON")
    return found, tuple(warnings)


def _lined(text: str) -> str:
    """Return a text with Unix line ends: players write Windows' and old Macs' as well."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _recording(title: str, cues: Sequence[Cue]) -> Recording:
    language = guess_language(" ".join(c.text for c in cues[:400]))
    return Recording(
        title, max((c.end for c in cues), default=0.0), tuple(cues), "transcript", language=language
    )


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
        return max(1, len(self.text.split()))


def _json_rows(lines: Sequence[str]) -> list[tuple[int, Any]]:
    """Return the number and the value of each line that is not empty; None is what cannot be read."""
    rows: list[tuple[int, Any]] = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                rows.append((number, json.loads(line)))
            except (ValueError, RecursionError):
                rows.append((number, None))
    return rows


def _timed(rows: Sequence[Any]) -> bool:
    """Whether rows are those of a transcript: almost all have text, some a time, and times do not run backwards."""
    read = [r for r in map(_row, rows) if r is not None]
    if not read or len(read) < len(rows) * 0.9 or all(r.start is None for r in read):
        return False
    if sum(any(key in row for key in _START) for row in rows if isinstance(row, dict)) < len(rows) / 2:
        return False  # a time in a few rows of something else
    last: dict[str, float] = {}
    for r in read:
        if r.start is not None:
            if r.start < last.get(r.recording, 0.0) - 60:
                return False
            last[r.recording] = r.start
    return sum(len(r.text.split()) for r in read) >= 2 * len(read)


def _row(value: Any) -> _Row | None:
    if not isinstance(value, dict):
        return None

    def told(keys: Sequence[str]) -> str | None:
        found = next((value[key] for key in keys if isinstance(value.get(key), str)), None)
        return None if found is None else " ".join(found.split())

    def time(keys: Sequence[str]) -> float | None:
        return next((t for key in keys if (t := _time(value.get(key))) is not None), None)

    text, start, end, length = told(_TEXT), time(_START), time(_END), time(_LENGTH)
    if text is None:
        return None
    if end is None and start is not None and length is not None:
        end = start + length
    return _Row(text, start, end, (told(_SPEAKER) or "")[:100], (told(_RECORDING) or "")[:300])


def _time(value: Any) -> float | None:
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


def _from_json(text: str, stem: str) -> tuple[list[Recording], list[int]]:
    """Return the recordings of JSON, or of lines of it, and the numbers of those that cannot be read."""
    unread: list[int] = []
    try:
        whole = json.loads(text)
    except RecursionError:
        return [], []
    except ValueError:
        rows = _json_rows(text.split("\n"))
        whole, unread = [row for _, row in rows], [number for number, row in rows if row is None]
    if isinstance(whole, dict):
        whole = whole.get("segments") if isinstance(whole.get("segments"), list) else [whole]
    groups: dict[str, list[_Row]] = {}
    name = stem
    for row in map(_row, whole if isinstance(whole, list) else []):
        if row is not None and row.text:
            # A row that says neither when nor of what goes on where the row before it stands.
            name = row.recording or (stem if row.start is not None else name)
            groups.setdefault(name, []).append(row)
    timed = {name: rows for name, rows in groups.items() if any(r.start is not None for r in rows)}
    return [_recording(name, _placed(rows)) for name, rows in timed.items()], unread


def _placed(rows: Sequence[_Row]) -> list[Cue]:
    """Give every row a start and an end; those without are spread between stated times by their number of words."""
    stated = [n for n, row in enumerate(rows) if row.start is not None]
    starts = [row.start or 0.0 for row in rows]
    first, last = stated[0], stated[-1]
    lasts = starts[last] - starts[first]
    pace = sum(r.length for r in rows[first:last]) / lasts if lasts > 0 else WORDS_PER_SECOND
    for left, right in zip([-1, *stated], [*stated, len(rows)], strict=True):
        some = range(max(left, 0), right)
        begin = starts[left] if left >= 0 else 0.0
        words = sum(rows[n].length for n in some)
        until = starts[right] if right < len(rows) else begin + words / pace
        done = 0
        for n in some:
            starts[n] = begin + (max(until, begin) - begin) * done / max(1, words)
            done += rows[n].length
    ends = [*starts[1:], starts[-1] + rows[-1].length / pace]
    cues = [
        Cue(start, max(start, after if row.end is None else row.end), row.text, row.speaker)
        for row, start, after in zip(rows, starts, ends, strict=True)
    ]
    return sorted(cues, key=lambda c: c.start)
