"""Hear a recording: read its subtitles if it has any, else transcribe windows of speech in parallel."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np

from ragweave.corpora.video.cues import timed_cues
from ragweave.corpora.video.ffmpeg import Running, failed, reading
from ragweave.corpora.video.job import Work
from ragweave.corpora.video.recording import Cue, Speech
from ragweave.models.asr import Asr, Transcript, Word
from ragweave.models.errors import SourceError
from ragweave.models.vad import RATE, Sound, Stretch, stretches, windows

_SUBTITLE_BYTES = 64 * 2**20
_HIGHEST_CONFIDENCE = 0.999
"""Confidence of recognised speech at most: 1 is for text that people wrote."""


@dataclass(frozen=True, slots=True)
class Listened:
    """What was heard of a recording; `by` names the engine and the model that transcribed it."""

    duration: float = 0.0
    cues: tuple[Cue, ...] = ()
    speech: Speech = ""
    language: str = ""
    by: str = ""


def listen(work: Work) -> Listened:
    """Return the speech of a recording, from its subtitles or else from the ASR engine."""
    cues = work.written
    inside = work.container.subtitles()
    if not cues and inside is not None:
        cues = timed_cues(_subtitles(work, inside.index))
    if cues:
        return Listened(0.0, cues, "subtitles")
    stream = work.container.sound()
    if stream is None or work.asr is None:
        return Listened()
    return _heard(work, stream.index, work.asr)


def _subtitles(work: Work, index: int) -> str:
    """Return a stream of subtitles as WebVTT; "" if it is too large."""
    output = ["-map", f"0:{index}", "-c:s", "webvtt", "-f", "webvtt", "pipe:1"]
    data = b""
    with Running([*reading(work.path, work.demuxer), *output]) as process:
        for block in process.blocks():
            data += block
            if len(data) > _SUBTITLE_BYTES:
                return ""
    return data.decode("utf-8", "replace")


def sound(path: str, demuxer: str, stream: int) -> Iterator[Sound]:
    """Yield blocks of sound as they are decoded: 16 kHz, one channel, gaps in time filled with silence.

    Raises:
        SourceError: not one sample can be decoded.
    """
    arguments = [
        *reading(path, demuxer),
        *("-map", f"0:{stream}", "-vn", "-sn", "-dn", "-af", "aresample=async=1:first_pts=0"),
        *("-ac", "1", "-ar", str(RATE), "-c:a", "pcm_s16le", "-f", "s16le", "pipe:1"),
    ]
    count = 0
    with Running(["-threads", "1", *arguments]) as process:
        odd = b""
        for block in process.blocks():
            data = odd + block
            whole = len(data) // 2 * 2
            data, odd = data[:whole], data[whole:]
            count += whole
            if whole:
                yield np.frombuffer(data, "<i2").astype(np.int16)
        ended = process.wait()
    if not count and (ended.code != 0 or ended.stalled):
        raise failed(path, ended)


def lasts(work: Work) -> float:
    """Return the seconds of sound that can be decoded; sound that was not heard may outlast the picture."""
    stream = work.container.sound()
    if stream is None:
        return 0.0
    stage, key = "sound", f"{work.sha256} {stream.index}"
    known = work.kept.get(stage, key)
    if known is None:
        try:
            samples = sum(map(len, work.unless_stopped(sound(work.path, work.demuxer, stream.index))))
        except SourceError:
            samples = 0
        known = samples / RATE
        work.kept.put(stage, key, known)
    return float(known)


def _heard(work: Work, stream: int, engine: Asr) -> Listened:
    """Transcribe a sound stream: a few windows of speech in parallel, in order of time."""
    passed = 0

    def blocks() -> Iterator[Sound]:
        nonlocal passed
        for block in work.unless_stopped(sound(work.path, work.demuxer, stream)):
            passed += len(block)
            yield block

    cues: list[Cue] = []
    waiting: deque[tuple[Stretch, Future[Transcript]]] = deque()
    transcriber = _Transcriber(work, engine)

    def collect_first() -> None:
        window, future = waiting.popleft()
        heard = future.result()
        if heard.text:
            cues.append(_cue(window.start / RATE, window.end / RATE, heard))
        work.tell("asr", window.end / RATE, work.container.duration)

    with ThreadPoolExecutor(engine.width, thread_name_prefix="ragweave-asr") as pool:
        for window in windows(stretches(blocks(), engine.longest), engine.longest):
            waiting.append((window, pool.submit(transcriber.hear, window)))
            while len(waiting) > 2 * engine.width or (waiting and waiting[0][1].done()):
                collect_first()
        while waiting:
            collect_first()
    duration = passed / RATE
    work.tell("asr", duration, duration)
    if not cues:
        return Listened(duration, language=transcriber.language)
    speech: Speech = engine.label  # type: ignore[assignment]
    return Listened(duration, tuple(cues), speech, transcriber.language, engine.name)


@dataclass
class _Transcriber:
    """An engine that transcribes the windows of one recording and keeps what it hears under its name."""

    work: Work
    engine: Asr
    languages: Counter[str] = field(default_factory=Counter)
    """Samples heard in each language so far."""

    @property
    def language(self) -> str:
        """The language of most of the speech so far, or ""."""
        return max(self.languages, key=lambda code: self.languages[code], default="")

    def hear(self, window: Stretch) -> Transcript:
        """Return the speech in a window; a kept outcome serves if the engine heard the same sound before."""
        self.work.raise_if_stopped()
        stage = f"window {self.engine.name}"
        key = hashlib.sha256(window.sound.astype("<i2").tobytes()).hexdigest()[:32]
        row = self.work.kept.get(stage, key)
        if row is None:
            heard = self.engine.transcribe(window.sound, self.language)
            self.work.kept.put(stage, key, asdict(heard))
        else:
            heard = _from_row(row)
        if heard.language:
            self.languages[heard.language] += len(window.sound)
        return heard


def _from_row(row: dict[str, Any]) -> Transcript:
    """Return a kept transcript."""
    words = []
    for word in row["words"]:
        words.append(Word(**word))
    return Transcript(row["text"], tuple(words), row["confidence"], row["language"])


def _cue(start: float, end: float, heard: Transcript) -> Cue:
    """Return the transcript of a window from `start` to `end` as an utterance with times in the recording."""
    words = []
    confidences = []
    for timed in heard.words:
        for word in _single_words(timed):
            words.append((round(start + word.start, 3), round(start + word.end, 3), word.text))
            confidences.append(word.confidence)
    first, last = start, end
    if words:
        first, last = words[0][0], words[-1][1]
    return Cue(
        first,
        max(first, last),
        heard.text,
        confidence=min(heard.confidence, _HIGHEST_CONFIDENCE),
        words=tuple(words),
        sure=tuple(confidences),
    )


def _single_words(timed: Word) -> list[Word]:
    """Split a "word" that is a sentence; each word gets a share of its time.

    Some servers state times for sentences only.
    """
    texts = timed.text.split()
    if len(texts) < 2:
        return [timed]
    seconds_per_character = (timed.end - timed.start) / len(" ".join(texts))
    at = timed.start
    out = []
    for text in texts:
        out.append(replace(timed, start=at, end=at + seconds_per_character * len(text), text=text))
        at += seconds_per_character * (len(text) + 1)
    return out
