"""Looking: frames by the clock, those that differ kept, some of them read; clip after clip, each kept when complete."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import ceil
from typing import Any

import numpy as np

from ragweave.corpora.video.frames import STORED, alike, frames, small
from ragweave.corpora.video.items import CLIP_SECONDS, ROUGH, spread
from ragweave.corpora.video.job import Work
from ragweave.corpora.video.recording import Frame, Shown
from ragweave.models.pictures import Pixels, jpeg
from ragweave.models.text import fold


@dataclass(frozen=True, slots=True)
class RecordingSeen:
    """What was seen of a recording; frames that look alike share one picture."""

    duration: float = 0.0
    frames: tuple[Frame, ...] = ()
    shown: tuple[Shown, ...] = ()


def look(work: Work) -> RecordingSeen:
    """Return what is seen; clips that are kept from an earlier run are not looked at again."""
    stream = work.container.picture()
    if stream is None:
        return RecordingSeen()
    rows: list[list[tuple[float, str]]] = []
    while (row := _row(work, len(rows))) is not None and _is_read(work, row):
        rows.append(row)
    ended = work.kept.get(_stage(work), f"{work.sha256} end")
    if not (ended and len(rows) == ended["bins"]):
        rows += _decode(work, stream.index, len(rows))
        work.kept.put(_stage(work), f"{work.sha256} end", {"bins": len(rows)})
    found = [frame for row in rows for frame in row]
    claimed = work.container.duration
    work.tell("look", claimed, claimed)
    last = found[-1][0] if found else 0.0
    # The picture ends an interval after the last frame, or earlier where the container says so.
    duration = (min(last + work.every, claimed) if claimed > last else last + work.every) if found else 0.0
    return RecordingSeen(duration, tuple(Frame(t, name) for t, name in found), _shown(work, rows))


def _stage(work: Work) -> str:
    return f"look {work.every:g} {CLIP_SECONDS:g}"


def _row(work: Work, number: int) -> list[tuple[float, str]] | None:
    """Return the frames of a clip that are kept from an earlier run."""
    found = work.kept.get(_stage(work), f"{work.sha256} {number}")
    return None if found is None else [(float(at), str(name)) for at, name in found["frames"]]


def _decode(work: Work, stream: int, first: int) -> list[list[tuple[float, str]]]:
    """Look at the frames from a clip on; each clip is kept as it is complete."""
    rows: list[list[tuple[float, str]]] = []
    clip: list[tuple[float, Pixels]] = []
    source = frames(
        work.path, work.demuxer, stream, work.every, ceil(first * CLIP_SECONDS / work.every - 1e-6)
    )
    for at, pixels in work.unless_stopped(source):
        while int(at // CLIP_SECONDS) > first + len(rows):
            rows.append(_finish(work, clip, first + len(rows)))
            clip = []
        clip.append((at, pixels))
        work.tell("look", at, work.container.duration)
    if clip:
        rows.append(_finish(work, clip, first + len(rows)))
    return rows


def _finish(work: Work, clip: Sequence[tuple[float, Pixels]], number: int) -> list[tuple[float, str]]:
    placed: list[tuple[float, str]] = []
    distinct: dict[str, Pixels] = {}
    before: Any = None
    for at, pixels in clip:
        now = small(pixels)
        if before is None or now.shape != before.shape or not alike(now, before):
            data = jpeg(pixels, STORED)
            name = f"{hashlib.sha256(data).hexdigest()[:20]}.jpg"
            work.kept.put_frame(name, data)
            distinct[name] = pixels
            before = now
        placed.append((round(at, 3), name))
    for name in _rough(placed):
        if work.ocr is not None and work.kept.get(f"read {work.ocr.name}", name) is None:
            work.raise_if_stopped()
            lines = [line.text for line in work.ocr.lines(np.ascontiguousarray(distinct[name]))]
            work.kept.put(f"read {work.ocr.name}", name, lines)
    work.kept.put(_stage(work), f"{work.sha256} {number}", {"frames": placed})
    return placed


def _rough(row: Sequence[tuple[float, str]]) -> list[str]:
    """Return the frames of a clip that are read: what stands still first, as what is to be read does."""
    counts = Counter(name for _, name in row)
    still = spread([name for name, n in counts.items() if n > 1], ROUGH)
    moving = spread([name for name in counts if name not in still], ROUGH - len(still))
    return [name for name in counts if name in still or name in moving]


def _is_read(work: Work, row: Sequence[tuple[float, str]]) -> bool:
    """Whether all that a clip needs is kept: its frames, and their words by the reader of now."""
    reader = work.ocr
    return all(work.kept.frame(name) for _, name in row) and (
        reader is None or all(work.kept.get(f"read {reader.name}", name) is not None for name in _rough(row))
    )


def _shown(work: Work, rows: Sequence[Sequence[tuple[float, str]]]) -> tuple[Shown, ...]:
    if work.ocr is None:
        return ()
    read: list[tuple[float, float, list[str]]] = []
    for row in rows:
        chosen = set(_rough(row))
        for at, name in row:
            if name in chosen:
                read.append((at, at + work.every, work.kept.get(f"read {work.ocr.name}", name) or []))
    return followed(read)


_LIKE = 0.8
"""Similarity from which two readings are one line: OCR reads a letter differently now and then."""
_SIGNS = re.compile(r"[\W_]+")


@dataclass(slots=True)
class _Line:
    key: str
    text: str
    start: float
    end: float


def followed(frames: Sequence[tuple[float, float, Sequence[str]]]) -> tuple[Shown, ...]:
    """Return each line with its time, given (start, end, lines) of each frame that was read, in order of time."""
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
                line = _Line(key, text, start, end)
                out.append(line)
            line.end = end
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
