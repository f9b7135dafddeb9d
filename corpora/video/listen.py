"""Listening: subtitles where there are any; else stretches of speech, heard side by side, each kept when done."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace

import numpy as np

from ragweave.corpora.types import SURE
from ragweave.corpora.video.cues import timed_cues
from ragweave.corpora.video.ffmpeg import Running, failed, reading
from ragweave.corpora.video.job import Work
from ragweave.corpora.video.perceived import Perceived
from ragweave.corpora.video.recording import Cue, Speech
from ragweave.models.asr import Asr, Transcript, Word
from ragweave.models.errors import SourceError
from ragweave.models.vad import RATE, Sound, Stretch, stretches

_SUBTITLE_BYTES = 64 * 2**20
_ENGINES = "engines"
"""Stage that keeps which engines have heard a recording, each with the longest stretch it was given, in seconds."""


@dataclass(frozen=True, slots=True)
class Listened:
    """What was heard of a recording."""

    duration: float = 0.0
    cues: tuple[Cue, ...] = ()
    speech: Speech = ""
    language: str = ""


_Said = tuple[float, float, Transcript]
"""Start and end of a stretch in seconds, and what was heard in it."""


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
    command = [*reading(work.path, work.demuxer), "-map", f"0:{index}", "-c:s", "webvtt", "-f", "webvtt", "pipe:1"]
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

    before, longest = _heard_before(work.kept, engine)
    done: list[_Said] = []
    waiting: deque[tuple[Stretch, Future[Transcript]]] = deque()

    def gather() -> None:
        stretch, future = waiting.popleft()
        done.append((stretch.start / RATE, stretch.end / RATE, future.result()))
        work.tell("asr", stretch.end / RATE, work.container.duration)

    with ThreadPoolExecutor(engine.width, thread_name_prefix="ragweave-asr") as pool:
        for stretch in stretches(blocks(), longest):
            waiting.append((stretch, pool.submit(_transcribed, work, engine, stretch, before)))
            while len(waiting) > 2 * engine.width or (waiting and waiting[0][1].done()):
                gather()
        while waiting:
            gather()
    work.tell("asr", passed / RATE, passed / RATE)
    cues = tuple(_cue(*said) for said in done if said[2].text)
    told = [heard.language for _, _, heard in done if heard.language]
    speech: Speech = engine.label if cues else ""  # type: ignore[assignment]
    return Listened(passed / RATE, cues, speech, max(set(told), key=told.count) if told else "")


def _heard_before(kept: Perceived, engine: Asr) -> tuple[list[str], float]:
    """Return the other engines that have heard a recording, and the seconds of the longest stretch to hear.

    It is parted as it was for them where the engine can take that, so that what they were sure of is found again.
    """
    rows: dict[str, float] = kept.all(_ENGINES)
    own = rows.pop(engine.name, None)
    longest = own or min([engine.longest, *(seconds for seconds in rows.values() if seconds <= engine.longest)])
    if own is None:
        kept.put(_ENGINES, engine.name, longest)
    return [*rows], longest


def _transcribed(work: Work, engine: Asr, stretch: Stretch, before: Sequence[str] = ()) -> Transcript:
    """Return what an engine hears in a stretch, or what another one that was sure has heard in it."""
    work.go_on()
    stage = f"hear {engine.name}"
    key = hashlib.sha256(stretch.sound.astype("<i2").tobytes()).hexdigest()[:32]
    row = work.kept.get(stage, key)
    told = (work.kept.get(f"hear {name}", key) for name in before if row is None)
    row = next((r for r in told if r is not None and r["confidence"] >= SURE), row)
    if row is None:
        heard = engine.transcribe(stretch.sound, stretch.speech)
        work.kept.put(stage, key, asdict(heard))
        return heard
    return Transcript(row["text"], tuple(Word(**w) for w in row["words"]), row["confidence"], row["language"])


def _cue(start: float, end: float, heard: Transcript) -> Cue:
    single = [one for w in heard.words for one in _singles(w)]
    words = tuple((round(start + w.start, 3), round(start + w.end, 3), w.text) for w in single)
    first, last = (words[0][0], words[-1][1]) if words else (start, end)
    sure = tuple(w.confidence for w in single)
    return Cue(first, max(first, last), heard.text, confidence=min(heard.confidence, 0.999), words=words, sure=sure)


def _singles(word: Word) -> list[Word]:
    """Part what came as one word, the whole sentence of a server that times only those, with shares of its time."""
    texts = word.text.split()
    pace, at, out = (word.end - word.start) / max(1, len(" ".join(texts))), word.start, []
    for text in texts:
        out.append(replace(word, start=at, end=at + pace * len(text), text=text))
        at += pace * (len(text) + 1)
    return out if len(out) > 1 else [word]
