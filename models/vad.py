"""Find the stretches of speech in a recording by the Silero network of faster-whisper."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ragweave.models.errors import MissingExtra

Sound = NDArray[np.int16]
"""16 kHz, one channel."""
RATE = 16_000
"""Samples per second of all sound."""
FRAME = 512
"""Samples in one step of the network: 32 ms."""
_PORTION = 120 * RATE
"""Samples in one call; a fixed number, so that the result does not depend on the blocks that arrive."""
_OPEN = RATE
"""Samples at the end of a portion in which a stretch may still continue."""
_MARGIN_MS = 200
"""Milliseconds that are kept before and after a stretch, so that no consonant is lost."""
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
    """Yield the stretches of speech of a recording while it arrives.

    The cuts depend only on the sound before them and shortly after them, so a recording that has grown is cut
    in the same places. A stretch of more than `longest` seconds is split at its last pause before this limit,
    or at the limit.

    Raises:
        MissingExtra: if the extra `video` is not installed.
    """
    held, at = np.zeros(0, np.int16), 0
    for block in blocks:
        held = np.concatenate([held, block])
        while len(held) >= _PORTION:
            portion, kept = held[:_PORTION], _PORTION - _OPEN
            for begin, end in _spoken(portion, longest):
                if end > _PORTION - _OPEN:  # It may continue, so the next portion begins with it.
                    kept = min(kept, begin)
                    break
                yield Stretch(at + begin, portion[begin:end])
            held, at = held[kept:], at + kept
    for begin, end in _spoken(held, longest):
        yield Stretch(at + begin, held[begin:end])


def windows(found: Iterable[Stretch], longest: float) -> Iterator[Stretch]:
    """Join stretches to windows of at most `longest` seconds; the pause between two becomes silence.

    A recogniser understands a sentence better with its neighbours, and processes a whole window anyway. A
    window ends at a pause of more than PAUSE seconds. It depends only on the sound before it, so a recording
    that has grown has the same windows except for the last one.
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
    """Return the first sample and the sample after the last of each stretch of speech."""
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
    if not len(sound):
        return []
    found = get_speech_timestamps(_floats(sound), options)
    return [(stretch["start"], stretch["end"]) for stretch in found]


def _floats(sound: Sound) -> NDArray[np.float32]:
    return sound.astype(np.float32) / 32768.0
