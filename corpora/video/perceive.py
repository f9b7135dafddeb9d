"""Perceiving a recording: one pass over its picture, one over its sound, side by side, each step kept as it is done."""

from __future__ import annotations

import hashlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ragweave.corpora.language import guess_language
from ragweave.corpora.video.cues import timed_cues
from ragweave.corpora.video.ffmpeg import Running, reading, running
from ragweave.corpora.video.frames import STORED, Pixels, alike, frames, small
from ragweave.corpora.video.perceived import Perceived
from ragweave.corpora.video.recording import Cue, Frame, Recording, Shown, Speech
from ragweave.corpora.video.screen import followed
from ragweave.corpora.video.sound import sound
from ragweave.corpora.video.streams import Container
from ragweave.models.errors import RagweaveError, SourceError
from ragweave.models.hear import Heard, Hearer, Word
from ragweave.models.read import Ocr
from ragweave.models.vad import RATE, Stretch, stretches

ROUGH = 5
"""Frames of a clip that are read, captioned and seen by an image encoder (VideoRAG, section 4.1)."""
SHORT = 32
"""Frames of a whole recording that is too short to have as many by the clock."""
_SHORTEST = 0.2
"""Seconds between two frames, at least."""
_SUBTITLE_BYTES = 64 * 2**20

Tell = Callable[[str, float, float], None]
"""Told the stage, how much of it is done, and how much there is: seconds, or clips."""


class Stopped(Exception):
    """The run was stopped; what was done is kept."""


@dataclass(frozen=True, slots=True)
class Senses:
    """What perceives; each may be missing.

    Attributes:
        hearer: writes down speech.
        reader: reads the screen.
    """

    hearer: Hearer | None = None
    reader: Ocr | None = None


@dataclass(frozen=True, slots=True)
class Job:
    """One recording to perceive.

    Attributes:
        path: the file.
        demuxer: how it is opened.
        sha256: digest of its bytes.
        container: its streams.
        title: its title.
        written: subtitles that lie beside it, already read.
        seconds: length of a clip.
        fine: frames of a clip that are kept.
        grown_from: digest of what the file was before, where its bytes begin the same way; "" elsewhere.
    """

    path: str
    demuxer: str
    sha256: str
    container: Container
    title: str
    written: tuple[Cue, ...] = ()
    seconds: float = 30.0
    fine: int = 15
    grown_from: str = ""

    @property
    def every(self) -> float:
        """Seconds between two frames."""
        usual = self.seconds / self.fine
        claimed = self.container.duration
        return round(max(_SHORTEST, min(usual, claimed / SHORT)), 3) if 0 < claimed else usual


class Perceiver:
    """Perceives one recording.

    Args:
        job: the recording.
        senses: what perceives.
        kept: where outcomes are kept.
        tell: told about progress, from several threads.
        stop: when set, the work ends at the next step.
    """

    def __init__(self, job: Job, senses: Senses, kept: Perceived, tell: Tell, stop: threading.Event) -> None:
        self._job = job
        self._senses = senses
        self._kept = kept
        self._tell = tell
        self._stop = stop
        self.warnings: list[str] = []

    def run(self) -> Recording:
        """Return everything known about the recording but its captions.

        Raises:
            SourceError: neither its picture nor its sound can be decoded, or the disk is full.
            RagweaveError: the hearer failed for good.
            Stopped: the run was stopped.
        """
        with ThreadPoolExecutor(2, thread_name_prefix="ragweave-perceive") as pool:
            looking, listening = pool.submit(self._look), pool.submit(self._listen)
            problems = [error for error in (looking.exception(), listening.exception()) if error is not None]
        broken = [error for error in problems if not isinstance(error, _Undecoded)]
        if broken:
            raise next((e for e in broken if isinstance(e, Stopped)), broken[0])
        if len(problems) == 2 or (problems and not (self._job.container.picture() and self._job.container.sound())):
            raise problems[0].__cause__ or problems[0]
        self.warnings += [str(error) for error in problems]
        seen = _Seen() if looking.exception() else looking.result()
        heard = _Listened() if listening.exception() else listening.result()
        self.warnings += self._remarks()
        told = [c.text for c in heard.cues] or [s.text for s in seen.shown]
        return Recording(
            title=self._job.title,
            duration=max(seen.duration, heard.duration, *(c.end for c in heard.cues), 0.0),
            cues=heard.cues,
            speech=heard.speech,
            shown=seen.shown,
            frames=seen.frames,
            quiet=heard.quiet,
            chapters=self._job.container.chapters,
            language=heard.language or guess_language(" ".join(told[:400])),
            about=about(self._job.container),
        )

    def _remarks(self) -> list[str]:
        container = self._job.container
        found = []
        for kind, chosen, verb in (("Video", container.picture(), "looked at"), ("Audio", container.sound(), "heard")):
            if container.count(kind) > 1 and chosen is not None:
                named = "pictures" if kind == "Video" else "sound tracks"
                found.append(f"it has {container.count(kind)} {named}; number {chosen.index} was {verb}")
        if container.sound() and not self._job.written and self._senses.hearer is None and not container.subtitles():
            found.append("nobody listened: RAGWEAVE_HEAR is off, or the extra `video` is not installed")
        return found

    # -- picture

    def _look(self) -> _Seen:
        stream = self._job.container.picture()
        if stream is None:
            return _Seen()
        try:
            return self._looked(stream.index)
        except _Decoding as error:
            raise _Undecoded(f"the picture was not looked at: {error.error}") from error.error

    def _looked(self, stream: int) -> _Seen:
        job = self._job
        rows: list[dict[str, Any]] = []
        ended = self._row("end")
        while (row := self._row(len(rows))) is not None and (row["whole"] or ended) and self._is_read(row):
            rows.append(row)
        if not (ended and len(rows) == ended["bins"]):
            rows += self._decode(stream, len(rows))
            self._kept.put(self._stage(), f"{job.sha256} end", {"bins": len(rows)})
        found = [(float(t), str(name)) for row in rows for t, name in row["frames"]]
        self._tell("look", job.container.duration, job.container.duration)
        return _Seen(
            duration=found[-1][0] + job.every if found else 0.0,
            frames=tuple(Frame(t, name) for t, name in found),
            shown=self._shown(rows),
        )

    def _decode(self, stream: int, first: int) -> list[dict[str, Any]]:
        """Look at the frames from a bin on; each bin of a clip's length is kept as it is complete."""
        job = self._job
        rows: list[dict[str, Any]] = []
        bin_: list[tuple[float, Pixels]] = []
        source = frames(job.path, job.demuxer, stream, job.every, first * job.seconds)
        while True:
            if self._stop.is_set():
                raise Stopped
            try:
                at, pixels = next(source)
            except StopIteration:
                break
            except SourceError as error:
                raise _Decoding(error) from error
            while int(at // job.seconds) > first + len(rows):
                rows.append(self._finish(bin_, first + len(rows), whole=True))
                bin_ = []
            bin_.append((at, pixels))
            self._tell("look", at, job.container.duration)
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
                self._kept.put_frame(name, data)
                distinct[name] = pixels
                before = now
            placed.append((round(at, 3), name))
        for name in spread(list(distinct), ROUGH):
            self._read(name, distinct[name])
        row = {"frames": placed, "whole": whole}
        self._kept.put(self._stage(), f"{self._job.sha256} {number}", row)
        return row

    def _read(self, name: str, pixels: Pixels) -> None:
        reader = self._senses.reader
        if reader is None or self._kept.get(f"read {reader.name}", name) is not None:
            return
        if self._stop.is_set():
            raise Stopped
        lines = [line.text for line in reader.lines(np.ascontiguousarray(pixels))]
        self._kept.put(f"read {reader.name}", name, lines)

    def _stage(self) -> str:
        return f"look {self._job.every:g} {self._job.seconds:g}"

    def _row(self, number: int | str) -> Any:
        found = self._kept.get(self._stage(), f"{self._job.sha256} {number}")
        if found is None and self._job.grown_from and number != "end":
            found = self._kept.get(self._stage(), f"{self._job.grown_from} {number}")
            if found is not None and not found["whole"]:
                return None  # the file ended in it, and goes on now
        return found

    def _is_read(self, row: dict[str, Any]) -> bool:
        """Whether all that a bin needs is kept: its frames, and their words by the reader of now."""
        names = list(dict.fromkeys(name for _, name in row["frames"]))
        reader = self._senses.reader
        return all(self._kept.frame(n) for n in names) and (
            reader is None or all(self._kept.get(f"read {reader.name}", n) is not None for n in spread(names, ROUGH))
        )

    def _shown(self, rows: Sequence[dict[str, Any]]) -> tuple[Shown, ...]:
        reader = self._senses.reader
        if reader is None:
            return ()
        read: list[tuple[float, float, list[str]]] = []
        for row in rows:
            chosen = set(spread(list(dict.fromkeys(name for _, name in row["frames"])), ROUGH))
            for at, name in row["frames"]:
                if name in chosen:
                    lines = self._kept.get(f"read {reader.name}", name) or []
                    read.append((float(at), float(at) + self._job.every, lines))
        return followed(read)

    # -- sound

    def _listen(self) -> _Listened:
        job = self._job
        if job.written:
            return _Listened(0.0, job.written, "subtitles")
        inside = job.container.subtitles()
        if inside is not None:
            cues = timed_cues(self._subtitles(inside.index))
            if cues:
                return _Listened(0.0, cues, "subtitles")
        stream = job.container.sound()
        if stream is None or self._senses.hearer is None:
            return _Listened()
        return self._heard(stream.index, self._senses.hearer)

    def _subtitles(self, index: int) -> str:
        job = self._job
        command = [*reading(job.path, job.demuxer), "-map", f"0:{index}", "-c:s", "webvtt", "-f", "webvtt", "pipe:1"]
        data = b""
        with running(Running(command)) as process:
            for block in process.blocks():
                data += block
                if len(data) > _SUBTITLE_BYTES:
                    return ""
        return data.decode("utf-8", "replace")

    def _heard(self, stream: int, hearer: Hearer) -> _Listened:
        passed = 0

        def blocks() -> Any:
            nonlocal passed
            source = sound(self._job.path, self._job.demuxer, stream)
            while True:
                if self._stop.is_set():
                    raise Stopped
                try:
                    block = next(source)
                except StopIteration:
                    return
                except SourceError as error:
                    raise _Decoding(error) from error
                passed += len(block)
                yield block

        done: list[tuple[Stretch, Heard]] = []
        waiting: deque[tuple[Stretch, Future[Heard]]] = deque()
        try:
            with ThreadPoolExecutor(hearer.width, thread_name_prefix="ragweave-hear") as pool:
                for stretch in stretches(blocks(), hearer.longest):
                    waiting.append((stretch, pool.submit(self._hear, hearer, stretch)))
                    while len(waiting) > 2 * hearer.width or (waiting and waiting[0][1].done()):
                        self._gather(waiting, done)
                while waiting:
                    self._gather(waiting, done)
        except _Decoding as error:
            raise _Undecoded(f"the sound was not heard: {error.error}") from error.error
        return _listened(done, passed / RATE, hearer)

    def _gather(self, waiting: deque[tuple[Stretch, Future[Heard]]], done: list[tuple[Stretch, Heard]]) -> None:
        stretch, future = waiting.popleft()
        done.append((_without_sound(stretch), future.result()))
        self._tell("hear", stretch.end / RATE, self._job.container.duration)

    def _hear(self, hearer: Hearer, stretch: Stretch) -> Heard:
        if self._stop.is_set():
            raise Stopped
        key = hashlib.sha256(stretch.sound.astype("<i2").tobytes()).hexdigest()[:32]
        stage = f"hear {hearer.name}"
        row = self._kept.get(stage, key)
        if row is None:
            heard = hearer.hear(stretch.sound, stretch.speech)
            self._kept.put(stage, key, asdict(heard))
            return heard
        return Heard(row["text"], tuple(Word(**w) for w in row["words"]), row["confidence"], row["language"])


@dataclass(frozen=True, slots=True)
class _Seen:
    duration: float = 0.0
    frames: tuple[Frame, ...] = ()
    shown: tuple[Shown, ...] = ()


@dataclass(frozen=True, slots=True)
class _Listened:
    duration: float = 0.0
    cues: tuple[Cue, ...] = ()
    speech: Speech = ""
    quiet: tuple[tuple[float, float], ...] = ()
    language: str = ""


class _Decoding(Exception):
    """ffmpeg could not decode a stream."""

    def __init__(self, error: SourceError) -> None:
        super().__init__(str(error))
        self.error = error


class _Undecoded(RagweaveError):
    """One stream is lost, the other may do."""


def _without_sound(stretch: Stretch) -> Stretch:
    # Times stay, samples go: hours of speech are not to be held in memory.
    return replace(stretch, sound=_Length(len(stretch.sound)))  # type: ignore[arg-type]


class _Length:
    def __init__(self, length: int) -> None:
        self._length = length

    def __len__(self) -> int:
        return self._length


def _listened(done: Sequence[tuple[Stretch, Heard]], duration: float, hearer: Hearer) -> _Listened:
    cues = [_cue(stretch, heard) for stretch, heard in done if heard.text]
    quiet: list[tuple[float, float]] = []
    reached = 0.0
    for stretch, heard in done:
        if heard.text:
            first, last = stretch.start / RATE, stretch.end / RATE
            quiet.append((reached, max(reached, first)))
            at = stretch.start / RATE
            quiet += [(at + a.end, at + b.start) for a, b in zip(heard.words, heard.words[1:], strict=False)]
            reached = last
    quiet.append((reached, max(reached, duration)))
    told = [heard.language for _, heard in done if heard.language]
    language = max(set(told), key=told.count) if told else ""
    speech: Speech = hearer.label if cues else ""  # type: ignore[assignment]
    return _Listened(duration, tuple(cues), speech, tuple((a, b) for a, b in quiet if b >= a), language)


def _cue(stretch: Stretch, heard: Heard) -> Cue:
    at = stretch.start / RATE
    words = tuple((round(at + w.start, 3), round(at + w.end, 3), w.text) for w in heard.words)
    start = words[0][0] if words else at
    end = words[-1][1] if words else stretch.end / RATE
    return Cue(start, max(start, end), heard.text, confidence=min(heard.confidence, 0.999), words=words)


def spread(names: Sequence[str], most: int) -> list[str]:
    """Return at most that many, evenly spread, the first and those after it at equal steps."""
    if len(names) <= most:
        return list(names)
    return [names[round(n * len(names) / most)] for n in range(most)]


def about(container: Container) -> str:
    """Return what the container says about itself beside its title, one sentence each."""
    told = [container.tags.get(k, "") for k in ("artist", "author", "album", "show", "description", "synopsis", "comment")]
    return "\n\n".join(dict.fromkeys(t for t in told if len(t) > 2))


