"""Voice activity: which stretches of a recording are speech, by the Silero network that comes with faster-whisper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragweave.models.errors import MissingExtra

Sound = NDArray[np.int16]
"""16 kHz, one channel."""
RATE = 16_000
"""Samples per second of everything that is listened to."""
FRAME = 512
"""Samples that the network judges at a time: 32 ms."""
_PORTION = 120 * RATE
"""Samples judged together; the outcome must not hang on how the sound happened to arrive."""
_OPEN = RATE
"""Samples at the end of a portion in which a stretch may not have ended yet."""
_MARGIN_MS = 200
"""Kept before and after a stretch, so that no consonant is lost."""
PAUSE = 3.0
"""Seconds of silence that end a window."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of speech; `start` is its first sample."""

    start: int
    sound: Sound

    @property
    def end(self) -> int:
        """One past the last sample."""
        return self.start + len(self.sound)


def stretches(blocks: Iterable[Sound], longest: float) -> Iterator[Stretch]:
    """Yield the stretches of speech of a recording as it goes by.

    Where one is cut depends on what lies before and a little after it: a recording that has grown is cut as
    it was. A stretch of more than `longest` seconds is parted at its last pause before this limit, or at the
    limit.

    Raises:
        MissingExtra: the extra `video` is not installed.
    """
    held, at = np.zeros(0, np.int16), 0
    for block in blocks:
        held = np.concatenate([held, block])
        while len(held) >= _PORTION:
            portion, kept = held[:_PORTION], _PORTION - _OPEN
            for begin, end in _spoken(portion, longest):
                if end > _PORTION - _OPEN:  # may go on: it is judged again with what follows
                    kept = min(kept, begin)
                    break
                yield Stretch(at + begin, portion[begin:end])
            held, at = held[kept:], at + kept
    for begin, end in _spoken(held, longest):
        yield Stretch(at + begin, held[begin:end])


def windows(found: Iterable[Stretch], longest: float) -> Iterator[Stretch]:
    """Join stretches to windows of at most `longest` seconds; the pause between two becomes silence.

    A recogniser understands a sentence better with its neighbours, and works on a whole window anyway. A
    window ends at a pause of more than PAUSE seconds, and depends only on what lies before: a recording that
    has grown is parted as it was, but for its last window.
    """
    held: Stretch | None = None
    for stretch in found:
        if held is None:
            held = stretch
        elif stretch.start - held.end > PAUSE * RATE or stretch.end - held.start > longest * RATE:
            yield held
            held = stretch
        else:
            silence = np.zeros(max(0, stretch.start - held.end), np.int16)
            held = Stretch(held.start, np.concatenate([held.sound, silence, stretch.sound]))
    if held is not None:
        yield held


def _spoken(sound: Sound, longest: float) -> list[tuple[int, int]]:
    """Return (first sample, one past the last) of each stretch of speech."""
    try:
        from faster_whisper.vad import VadOptions, get_speech_timestamps
    except ImportError as error:
        raise MissingExtra("telling speech from silence", "video") from error
    options = VadOptions(
        threshold=0.5,
        neg_threshold=0.35,
        min_speech_duration_ms=250,
        max_speech_duration_s=longest,
        min_silence_duration_ms=400,
        speech_pad_ms=_MARGIN_MS,
    )
    return (
        [(s["start"], s["end"]) for s in get_speech_timestamps(_floats(sound), options)] if len(sound) else []
    )


def _floats(sound: Sound) -> NDArray[np.float32]:
    return sound.astype(np.float32) / 32768.0
