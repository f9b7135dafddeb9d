"""Listening: subtitles where there are any; else stretches of speech, heard side by side, each kept when done."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise

from ragweave.corpora.video.cues import timed_cues
from ragweave.corpora.video.ffmpeg import Running, reading, running
from ragweave.corpora.video.job import Decoding, Undecoded, Work
from ragweave.corpora.video.recording import Cue, Speech
from ragweave.corpora.video.sound import sound
from ragweave.models.asr import Asr, Transcript, Word
from ragweave.models.errors import SourceError
from ragweave.models.vad import RATE, Sound, Stretch, stretches

_SUBTITLE_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Listened:
    """What was heard of a recording; `quiet` are stretches in which nobody speaks."""

    duration: float = 0.0
    cues: tuple[Cue, ...] = ()
    speech: Speech = ""
    quiet: tuple[tuple[float, float], ...] = ()
    language: str = ""


_Said = tuple[float, float, Transcript]
"""Start and end of a stretch in seconds, and what was heard in it."""


class Listener:
    """Listens to one recording."""

    def __init__(self, work: Work) -> None:
        self._work = work

    def listen(self) -> Listened:
        """Return what was said: by subtitles beside or inside the recording, else by the ASR engine."""
        job = self._work.job
        if job.written:
            return Listened(0.0, job.written, "subtitles")
        inside = job.container.subtitles()
        if inside is not None:
            cues = timed_cues(self._subtitles(inside.index))
            if cues:
                return Listened(0.0, cues, "subtitles")
        stream = job.container.sound()
        if stream is None or self._work.senses.asr is None:
            return Listened()
        return self._heard(stream.index, self._work.senses.asr)

    def _subtitles(self, index: int) -> str:
        job = self._work.job
        command = [*reading(job.path, job.demuxer), "-map", f"0:{index}", "-c:s", "webvtt", "-f", "webvtt", "pipe:1"]
        data = b""
        with running(Running(command)) as process:
            for block in process.blocks():
                data += block
                if len(data) > _SUBTITLE_BYTES:
                    return ""
        return data.decode("utf-8", "replace")

    def _heard(self, stream: int, engine: Asr) -> Listened:
        passed = 0

        def blocks() -> Iterator[Sound]:
            nonlocal passed
            source = sound(self._work.job.path, self._work.job.demuxer, stream)
            while True:
                self._work.go_on()
                try:
                    block = next(source)
                except StopIteration:
                    return
                except SourceError as error:
                    raise Decoding(error) from error
                passed += len(block)
                yield block

        done: list[_Said] = []
        waiting: deque[tuple[Stretch, Future[Transcript]]] = deque()
        try:
            with ThreadPoolExecutor(engine.width, thread_name_prefix="ragweave-asr") as pool:
                for stretch in stretches(blocks(), engine.longest):
                    waiting.append((stretch, pool.submit(self._transcribed, engine, stretch)))
                    while len(waiting) > 2 * engine.width or (waiting and waiting[0][1].done()):
                        self._gather(waiting, done)
                while waiting:
                    self._gather(waiting, done)
        except Decoding as error:
            raise Undecoded(f"the sound was not heard: {error.error}") from error.error
        self._work.tell("asr", passed / RATE, passed / RATE)
        return _listened(done, passed / RATE, engine)

    def _gather(self, waiting: deque[tuple[Stretch, Future[Transcript]]], done: list[_Said]) -> None:
        stretch, future = waiting.popleft()
        done.append((stretch.start / RATE, stretch.end / RATE, future.result()))
        self._work.tell("asr", stretch.end / RATE, self._work.job.container.duration)

    def _transcribed(self, engine: Asr, stretch: Stretch) -> Transcript:
        self._work.go_on()
        key = hashlib.sha256(stretch.sound.astype("<i2").tobytes()).hexdigest()[:32]
        stage = f"hear {engine.name}"
        row = self._work.kept.get(stage, key)
        if row is None:
            heard = engine.transcribe(stretch.sound, stretch.speech)
            self._work.kept.put(stage, key, asdict(heard))
            return heard
        return Transcript(row["text"], tuple(Word(**w) for w in row["words"]), row["confidence"], row["language"])


def _listened(done: Sequence[_Said], duration: float, engine: Asr) -> Listened:
    cues = tuple(_cue(*said) for said in done if said[2].text)
    quiet: list[tuple[float, float]] = []
    reached = 0.0
    for start, end, heard in done:
        if heard.text:
            quiet.append((reached, max(reached, start)))
            quiet += [(start + a.end, start + b.start) for a, b in pairwise(heard.words) if b.start >= a.end]
            reached = end
    quiet.append((reached, max(reached, duration)))
    told = [heard.language for _, _, heard in done if heard.language]
    language = max(set(told), key=told.count) if told else ""
    speech: Speech = engine.label if cues else ""  # type: ignore[assignment]
    return Listened(duration, cues, speech, tuple(quiet), language)


def _cue(start: float, end: float, heard: Transcript) -> Cue:
    words = tuple((round(start + w.start, 3), round(start + w.end, 3), w.text) for w in heard.words)
    first, last = (words[0][0], words[-1][1]) if words else (start, end)
    return Cue(first, max(first, last), heard.text, confidence=min(heard.confidence, 0.999), words=words)
