"""Listening: subtitles if there are any; else windows of speech, heard side by side, each kept when done."""

from __future__ import annotations

import hashlib
from collections import Counter, deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from ragweave.corpora.video.cues import timed_cues
from ragweave.corpora.video.ffmpeg import Running, failed, reading
from ragweave.corpora.video.job import Work
from ragweave.corpora.video.recording import Cue, Speech
from ragweave.models.asr import Asr, Transcript, Word
from ragweave.models.errors import SourceError
from ragweave.models.vad import RATE, Sound, Stretch, stretches, windows

_SUBTITLE_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Listened:
    """What was heard of a recording."""

    duration: float = 0.0
    cues: tuple[Cue, ...] = ()
    speech: Speech = ""
    language: str = ""
    by: str = ""
    """Engine and model that wrote it down."""


_Said = tuple[float, float, Transcript]
"""Start and end of a window in seconds, and what was heard in it."""


def listen(work: Work) -> Listened:
    """Return what was said: by subtitles beside or inside the recording, else by the ASR engine."""
    cues, inside = work.written, work.container.subtitles()
    if not cues and inside is not None:
        cues = timed_cues(_subtitles(work, inside.index))
    if cues:
        return Listened(0.0, cues, "subtitles")
    stream = work.container.sound()
    return Listened() if stream is None or work.asr is None else _heard(work, stream.index, work.asr)


def _subtitles(work: Work, index: int) -> str:
    command = [
        *reading(work.path, work.demuxer),
        "-map",
        f"0:{index}",
        "-c:s",
        "webvtt",
        "-f",
        "webvtt",
        "pipe:1",
    ]
    data = b""
    with Running(command) as process:
        for block in process.blocks():
            data += block
            if len(data) > _SUBTITLE_BYTES:
                return ""
    return data.decode("utf-8", "replace")


def sound(path: str, demuxer: str, stream: int) -> Iterator[Sound]:
    """Yield the sound as it is decoded, 16 kHz, one channel, silence filled in where its times have gaps.

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
    """Return the seconds of the sound that can be decoded: what was not listened to may go on behind the picture."""
    stream = work.container.sound()
    if stream is None:
        return 0.0
    stage, key = "sound", f"{work.sha256} {stream.index}"
    known = work.kept.get(stage, key)
    if known is None:
        try:
            known = sum(map(len, work.unless_stopped(sound(work.path, work.demuxer, stream.index)))) / RATE
        except SourceError:
            known = 0.0
        work.kept.put(stage, key, known)
    return float(known)


def _heard(work: Work, stream: int, engine: Asr) -> Listened:
    passed = 0

    def blocks() -> Iterator[Sound]:
        nonlocal passed
        for block in work.unless_stopped(sound(work.path, work.demuxer, stream)):
            passed += len(block)
            yield block

    done: list[_Said] = []
    waiting: deque[tuple[Stretch, Future[Transcript]]] = deque()
    ears = _Ears(work, engine)

    def gather() -> None:
        window, future = waiting.popleft()
        done.append((window.start / RATE, window.end / RATE, future.result()))
        work.tell("asr", window.end / RATE, work.container.duration)

    with ThreadPoolExecutor(engine.width, thread_name_prefix="ragweave-asr") as pool:
        for window in windows(stretches(blocks(), engine.longest), engine.longest):
            waiting.append((window, pool.submit(ears.hear, window)))
            while len(waiting) > 2 * engine.width or (waiting and waiting[0][1].done()):
                gather()
        while waiting:
            gather()
    work.tell("asr", passed / RATE, passed / RATE)
    cues = tuple(_cue(*said) for said in done if said[2].text)
    speech: Speech = engine.label if cues else ""  # type: ignore[assignment]
    return Listened(passed / RATE, cues, speech, ears.language, engine.name if cues else "")


@dataclass
class _Ears:
    """An engine that goes through one recording; what it hears in a window is kept under its name."""

    work: Work
    engine: Asr
    languages: Counter[str] = field(default_factory=Counter)
    """Seconds that were heard in each language so far."""

    @property
    def language(self) -> str:
        """The language of most of what was heard, or ""."""
        return max(self.languages, key=lambda code: self.languages[code], default="")

    def hear(self, window: Stretch) -> Transcript:
        """Return what is said in a window, from what was kept if the engine has heard the same sound before."""
        self.work.go_on()
        stage = f"window {self.engine.name}"
        key = hashlib.sha256(window.sound.astype("<i2").tobytes()).hexdigest()[:32]
        row = self.work.kept.get(stage, key)
        if row is None:
            heard = self.engine.transcribe(window.sound, self.language)
            self.work.kept.put(stage, key, asdict(heard))
        else:
            heard = Transcript(
                row["text"], tuple(Word(**w) for w in row["words"]), row["confidence"], row["language"]
            )
        if heard.language:
            self.languages[heard.language] += len(window.sound)
        return heard


def _cue(start: float, end: float, heard: Transcript) -> Cue:
    single = [one for w in heard.words for one in _singles(w)]
    words = tuple((round(start + w.start, 3), round(start + w.end, 3), w.text) for w in single)
    first, last = (words[0][0], words[-1][1]) if words else (start, end)
    sure = tuple(w.confidence for w in single)
    return Cue(
        first, max(first, last), heard.text, confidence=min(heard.confidence, 0.999), words=words, sure=sure
    )


def _singles(word: Word) -> list[Word]:
    """Part what came as one word, the whole sentence of a server that times only those, with shares of its time."""
    texts = word.text.split()
    pace, at, out = (word.end - word.start) / max(1, len(" ".join(texts))), word.start, []
    for text in texts:
        out.append(replace(word, start=at, end=at + pace * len(text), text=text))
        at += pace * (len(text) + 1)
    return out if len(out) > 1 else [word]
