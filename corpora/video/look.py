"""See a recording: take frames at a fixed interval, keep those that differ, and read text on some.

It goes clip by clip, and keeps each clip as soon as it is complete.
"""

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
from ragweave.models.ocr import Ocr
from ragweave.models.pictures import Pixels, jpeg
from ragweave.models.text import fold

_LIKE = 0.8
"""Similarity above which two readings are one line: OCR sometimes reads a letter differently."""
_SHORTEST_FUZZY = 6
"""Characters of a line from which a similar line counts as equal."""
_SHORTEST_LINE = 2
"""Fewest letters and digits of a line."""
_SIGNS = re.compile(r"[\W_]+")

_ClipFrames = list[tuple[float, str]]
"""(seconds, name of the picture) of the frames of a clip."""


@dataclass(frozen=True, slots=True)
class RecordingSeen:
    """What was seen of a recording; frames that look alike share one picture."""

    duration: float = 0.0
    frames: tuple[Frame, ...] = ()
    shown: tuple[Shown, ...] = ()


def look(work: Work) -> RecordingSeen:
    """Return what a recording shows; clips kept from an earlier run are not decoded again."""
    stream = work.container.picture()
    if stream is None:
        return RecordingSeen()
    clips = _kept_clips(work)
    ended = work.kept.get(_stage(work), f"{work.sha256} end")
    if not ended or len(clips) != ended["bins"]:
        clips += _decode(work, stream.index, len(clips))
        work.kept.put(_stage(work), f"{work.sha256} end", {"bins": len(clips)})
    found = []
    for clip in clips:
        for at, name in clip:
            found.append(Frame(at, name))
    claimed = work.container.duration
    work.tell("look", claimed, claimed)
    duration = 0.0
    if found:
        last = found[-1].time
        duration = last + work.every
        if claimed > last:  # The picture may end within the interval after its last frame.
            duration = min(duration, claimed)
    return RecordingSeen(duration, tuple(found), _shown(work, clips))


def _stage(work: Work) -> str:
    return f"look {work.every:g} {CLIP_SECONDS:g}"


def _reading_stage(reader: Ocr) -> str:
    return f"read {reader.name}"


def _kept_clips(work: Work) -> list[_ClipFrames]:
    """Return the frames of the first clips, as far as an earlier run completed them."""
    clips: list[_ClipFrames] = []
    while True:
        found = work.kept.get(_stage(work), f"{work.sha256} {len(clips)}")
        if found is None:
            return clips
        clip = [(float(at), str(name)) for at, name in found["frames"]]
        if not _is_complete(work, clip):
            return clips
        clips.append(clip)


def _is_complete(work: Work, clip: _ClipFrames) -> bool:
    """Return whether the pictures of a clip are kept, and their text as the current OCR reads it."""
    for _, name in clip:
        if work.kept.frame(name) is None:
            return False
    if work.ocr is None:
        return True
    stage = _reading_stage(work.ocr)
    for name in _to_read(clip):
        if work.kept.get(stage, name) is None:
            return False
    return True


def _decode(work: Work, stream: int, first: int) -> list[_ClipFrames]:
    """Decode the frames from clip number `first` on; each clip is kept as soon as it is complete."""
    clips: list[_ClipFrames] = []
    decoded: list[tuple[float, Pixels]] = []
    first_frame = ceil(first * CLIP_SECONDS / work.every - 1e-6)
    source = frames(work.path, work.demuxer, stream, work.every, first_frame)
    for at, pixels in work.unless_stopped(source):
        while int(at // CLIP_SECONDS) > first + len(clips):
            clips.append(_finish(work, decoded, first + len(clips)))
            decoded = []
        decoded.append((at, pixels))
        work.tell("look", at, work.container.duration)
    if decoded:
        clips.append(_finish(work, decoded, first + len(clips)))
    return clips


def _finish(work: Work, decoded: Sequence[tuple[float, Pixels]], number: int) -> _ClipFrames:
    """Keep the frames of a clip that differ, read the text on some of them, and return all of them."""
    clip: _ClipFrames = []
    distinct: dict[str, Pixels] = {}
    before: Any = None
    name = ""
    for at, pixels in decoded:
        now = small(pixels)
        if before is None or now.shape != before.shape or not alike(now, before):
            data = jpeg(pixels, STORED)
            name = f"{hashlib.sha256(data).hexdigest()[:20]}.jpg"
            work.kept.put_frame(name, data)
            distinct[name] = pixels
            before = now
        clip.append((round(at, 3), name))
    if work.ocr is not None:
        for name in _to_read(clip):
            _read_text(work, work.ocr, name, distinct[name])
    work.kept.put(_stage(work), f"{work.sha256} {number}", {"frames": clip})
    return clip


def _read_text(work: Work, reader: Ocr, name: str, pixels: Pixels) -> None:
    """Read the text on a frame and keep it, unless it is kept already."""
    stage = _reading_stage(reader)
    if work.kept.get(stage, name) is not None:
        return
    work.raise_if_stopped()
    lines = [line.text for line in reader.lines(np.ascontiguousarray(pixels))]
    work.kept.put(stage, name, lines)


def _to_read(clip: _ClipFrames) -> list[str]:
    """Return the pictures of a clip to read, in order: still ones first, because text stays on the screen."""
    names = [name for _, name in clip]
    counts = Counter(names)
    repeated = []
    for name in counts:
        if counts[name] > 1:
            repeated.append(name)
    still = spread(repeated, ROUGH)
    others = []
    for name in counts:
        if name not in still:
            others.append(name)
    moving = spread(others, ROUGH - len(still))
    return sorted({*still, *moving}, key=names.index)


def _shown(work: Work, clips: Sequence[_ClipFrames]) -> tuple[Shown, ...]:
    """Return the text on the screen, each line with its time."""
    if work.ocr is None:
        return ()
    stage = _reading_stage(work.ocr)
    read: list[tuple[float, float, list[str]]] = []
    for clip in clips:
        chosen = set(_to_read(clip))
        for at, name in clip:
            if name in chosen:
                read.append((at, at + work.every, work.kept.get(stage, name) or []))
    return followed(read)


@dataclass(slots=True)
class _Line:
    """A line of text on the screen; `key` is its letters and digits, folded."""

    key: str
    text: str
    start: float
    end: float


def followed(frames: Sequence[tuple[float, float, Sequence[str]]]) -> tuple[Shown, ...]:
    """Return each line of text with its time.

    Args:
        frames: (start, end, lines) of each frame that was read, in order of time.
    """
    out: list[_Line] = []
    active: list[_Line] = []
    for start, end, lines in frames:
        now: list[_Line] = []
        for text in lines:
            key = _SIGNS.sub("", fold(text))
            if len(key) < _SHORTEST_LINE:
                continue
            line = _find(active, now, key)
            if line is None:
                line = _Line(key, text, start, end)
                out.append(line)
            line.end = end
            now.append(line)
        active = now
    shown = [Shown(line.start, line.end, line.text) for line in out]
    return tuple(shown)


def _find(active: Sequence[_Line], taken: Sequence[_Line], key: str) -> _Line | None:
    """Return the line of the frame before that is the same, unless it is taken already."""
    for line in active:
        if line not in taken and _same(line.key, key):
            return line
    return None


def _same(a: str, b: str) -> bool:
    """Return whether two keys are those of one line."""
    if a == b:
        return True
    if min(len(a), len(b)) < _SHORTEST_FUZZY:
        return False
    matcher = SequenceMatcher(None, a, b, autojunk=False)
    # The quick ratios are upper bounds, and cheap.
    return matcher.real_quick_ratio() >= _LIKE and matcher.quick_ratio() >= _LIKE and matcher.ratio() >= _LIKE
