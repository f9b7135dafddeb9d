"""Looking: frames by the clock, those that differ kept, some of them read; clip after clip, each kept when complete."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from ragweave.corpora.video.frames import STORED, Pixels, alike, frames, small
from ragweave.corpora.video.items import ROUGH, spread
from ragweave.corpora.video.job import Decoding, Job, Undecoded, Work
from ragweave.corpora.video.recording import Frame, Shown
from ragweave.models.errors import SourceError
from ragweave.models.text import fold


@dataclass(frozen=True, slots=True)
class Seen:
    """What was seen of a recording; frames that look alike share one picture."""

    duration: float = 0.0
    frames: tuple[Frame, ...] = ()
    shown: tuple[Shown, ...] = ()


class Looker:
    """Looks at the picture of one recording."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def look(self) -> Seen:
        """Return what is seen."""
        stream = self._work.job.container.picture()
        if stream is None:
            return Seen()
        try:
            return self._looked(stream.index)
        except Decoding as error:
            raise Undecoded(f"the picture was not looked at: {error.error}") from error.error

    def _looked(self, stream: int) -> Seen:
        job = self._work.job
        rows: list[dict[str, Any]] = []
        ended = self._row("end")
        while (row := self._row(len(rows))) is not None and (row["whole"] or ended) and self._is_read(row):
            rows.append(row)
        if not (ended and len(rows) == ended["bins"]):
            rows += self._decode(stream, len(rows))
            self._work.kept.put(self._stage(), f"{job.sha256} end", {"bins": len(rows)})
        found = [(float(t), str(name)) for row in rows for t, name in row["frames"]]
        self._work.tell("look", job.container.duration, job.container.duration)
        return Seen(
            duration=_end(found[-1][0], job) if found else 0.0,
            frames=tuple(Frame(t, name) for t, name in found),
            shown=self._shown(rows),
        )

    def _decode(self, stream: int, first: int) -> list[dict[str, Any]]:
        """Look at the frames from a bin on; each bin of a clip's length is kept as it is complete."""
        job = self._work.job
        rows: list[dict[str, Any]] = []
        bin_: list[tuple[float, Pixels]] = []
        source = frames(job.path, job.demuxer, stream, job.every, first * job.seconds)
        while True:
            self._work.go_on()
            try:
                at, pixels = next(source)
            except StopIteration:
                break
            except SourceError as error:
                raise Decoding(error) from error
            while int(at // job.seconds) > first + len(rows):
                rows.append(self._finish(bin_, first + len(rows), whole=True))
                bin_ = []
            bin_.append((at, pixels))
            self._work.tell("look", at, job.container.duration)
        if bin_:
            rows.append(self._finish(bin_, first + len(rows), whole=False))
        return rows

    def _finish(self, bin_: Sequence[tuple[float, Pixels]], number: int, *, whole: bool) -> dict[str, Any]:
        from ragweave.models.pictures import jpeg

        placed: list[tuple[float, str]] = []
        distinct: dict[str, Pixels] = {}
        before: Any = None
        for at, pixels in bin_:
            now = small(pixels)
            if before is None or now.shape != before.shape or not alike(now, before):
                data = jpeg(pixels, STORED)
                name = f"{hashlib.sha256(data).hexdigest()[:20]}.jpg"
                self._work.kept.put_frame(name, data)
                distinct[name] = pixels
                before = now
            placed.append((round(at, 3), name))
        for name in spread(list(distinct), ROUGH):
            self._read(name, distinct[name])
        row = {"frames": placed, "whole": whole}
        self._work.kept.put(self._stage(), f"{self._work.job.sha256} {number}", row)
        return row

    def _read(self, name: str, pixels: Pixels) -> None:
        reader = self._work.senses.ocr
        if reader is None or self._work.kept.get(f"read {reader.name}", name) is not None:
            return
        self._work.go_on()
        lines = [line.text for line in reader.lines(np.ascontiguousarray(pixels))]
        self._work.kept.put(f"read {reader.name}", name, lines)

    def _stage(self) -> str:
        return f"look {self._work.job.every:g} {self._work.job.seconds:g}"

    def _row(self, number: int | str) -> Any:
        found = self._work.kept.get(self._stage(), f"{self._work.job.sha256} {number}")
        if found is None and self._work.job.grown_from and number != "end":
            found = self._work.kept.get(self._stage(), f"{self._work.job.grown_from} {number}")
            if found is not None and not found["whole"]:
                return None  # the file ended in it, and goes on now
        return found

    def _is_read(self, row: dict[str, Any]) -> bool:
        """Whether all that a bin needs is kept: its frames, and their words by the reader of now."""
        names = list(dict.fromkeys(name for _, name in row["frames"]))
        reader = self._work.senses.ocr
        return all(self._work.kept.frame(n) for n in names) and (
            reader is None
            or all(self._work.kept.get(f"read {reader.name}", n) is not None for n in spread(names, ROUGH))
        )

    def _shown(self, rows: Sequence[dict[str, Any]]) -> tuple[Shown, ...]:
        reader = self._work.senses.ocr
        if reader is None:
            return ()
        read: list[tuple[float, float, list[str]]] = []
        for row in rows:
            chosen = set(spread(list(dict.fromkeys(name for _, name in row["frames"])), ROUGH))
            for at, name in row["frames"]:
                if name in chosen:
                    lines = self._work.kept.get(f"read {reader.name}", name) or []
                    read.append((float(at), float(at) + self._work.job.every, lines))
        return followed(read)


def _end(last: float, job: Job) -> float:
    """Return when the picture ends: an interval after the last frame, or earlier where the container says so."""
    claimed = job.container.duration
    return min(last + job.every, claimed) if claimed > last else last + job.every


_LIKE = 0.8
"""Similarity from which two readings are one line: OCR reads a letter differently now and then."""
_SIGNS = re.compile(r"[\W_]+")


@dataclass(slots=True)
class _Line:
    key: str
    text: str
    start: float
    end: float
    seen: int


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
                line = _Line(key, text, start, end, 0)
                out.append(line)
            line.end = end
            line.seen += 1
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
