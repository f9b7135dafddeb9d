"""Voice activity: which stretches of a recording are speech (Silero VAD, by onnxruntime).

The network comes with `faster-whisper`, as one ONNX file of 2 MB; that package itself is not imported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ragweave.models.errors import MissingExtra

Sound = NDArray[np.int16]
"""16 kHz, one channel."""
RATE = 16_000
"""Samples per second of everything that is listened to."""
FRAME = 512
"""Samples that the network judges at a time: 32 ms."""
_CONTEXT = 64
"""Samples of the frame before that the network sees again."""
_STATE = (1, 1, 128)
SPEECH = 0.5
"""Probability from which a frame is speech."""
SILENCE = 0.35
"""Probability below which a frame of speech is silence again."""
_HANGOVER = round(0.4 * RATE / FRAME)
"""Frames of silence that end a stretch of speech."""
_SHORTEST = round(0.25 * RATE / FRAME)
"""Frames; shorter noises are no words."""
_MARGIN = round(0.2 * RATE / FRAME)
"""Frames kept before and after, so that no consonant is lost."""


_PORTION = 64 * FRAME
"""Samples judged at a time."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """A stretch of speech.

    Attributes:
        start: first sample.
        sound: its samples.
        speech: mean probability of speech, 0 to 1.
    """

    start: int
    sound: Sound
    speech: float

    @property
    def end(self) -> int:
        """One past the last sample."""
        return self.start + len(self.sound)


def model_file() -> Path | None:
    """Return the network's file, or None where `faster-whisper` is not installed."""
    spec = find_spec("faster_whisper")
    if spec is None or spec.origin is None or find_spec("onnxruntime") is None:
        return None
    return next(iter(sorted((Path(spec.origin).parent / "assets").glob("silero_vad*.onnx"))), None)


class Vad:
    """Judges sound frame by frame; keeps its state between blocks.

    Raises:
        MissingExtra: the extra `video` is not installed.
    """

    def __init__(self) -> None:
        self._session = _session()
        self._hidden = np.zeros(_STATE, np.float32)
        self._cell = np.zeros(_STATE, np.float32)
        self._context = np.zeros(_CONTEXT, np.float32)

    def judge(self, sound: Sound) -> NDArray[np.float32]:
        """Return the probability of speech of each frame; the length of `sound` is a multiple of FRAME."""
        frames = sound.astype(np.float32).reshape(-1, FRAME) / 32768.0
        if not len(frames):
            return np.zeros(0, np.float32)
        before = np.concatenate([self._context[None], frames[:-1, -_CONTEXT:]])
        self._context = frames[-1, -_CONTEXT:]
        given = {"input": np.concatenate([before, frames], axis=1), "h": self._hidden, "c": self._cell}
        judged, self._hidden, self._cell = self._session.run(None, given)
        return np.asarray(judged, dtype=np.float32).reshape(-1)


def stretches(blocks: Iterable[Sound], longest: float) -> Iterator[Stretch]:
    """Yield the stretches of speech of a recording as it goes by.

    Where one is cut depends on what lies before and a little after it, never on what comes later: a recording that
    has grown is cut as it was before.

    Args:
        blocks: its sound, in blocks of any length.
        longest: seconds; a longer stretch is parted where speech is least sure, in the last third before this limit.

    Raises:
        MissingExtra: the extra `video` is not installed.
    """
    cutter = _Cutter(int(longest * RATE / FRAME))
    rest = np.zeros(0, np.int16)
    for block in blocks:
        rest = np.concatenate([rest, block])
        # Always judged in the same portions: the outcome must not hang on how the sound happened to arrive.
        while len(rest) >= _PORTION:
            yield from cutter.take(rest[:_PORTION])
            rest = rest[_PORTION:]
    yield from cutter.take(rest[: len(rest) // FRAME * FRAME])
    yield from cutter.end()


class _Cutter:
    """Cuts stretches out of sound that comes frame by frame; numbers below count frames from the very first."""

    def __init__(self, most: int) -> None:
        self._vad = Vad()
        self._most = most
        self._held = np.zeros(0, np.int16)
        self._odds: list[float] = []
        self._first = 0
        """Frame with which what is held begins."""
        self._opened, self._silent = -1, 0
        self._ready: list[tuple[int, int]] = []
        """Stretches whose end is known, and the margin after it perhaps not yet."""

    def take(self, sound: Sound) -> Iterator[Stretch]:
        """Take more sound, a whole number of frames; yield the stretches that are complete."""
        at = self._first + len(self._odds)
        judged = self._vad.judge(sound)
        self._held = np.concatenate([self._held, sound])
        self._odds += [float(p) for p in judged]
        for n, p in enumerate(judged, at):
            self._step(n, float(p))
        now = self._first + len(self._odds)
        while self._ready and self._ready[0][1] + _MARGIN <= now:
            yield self._made(*self._ready.pop(0))
        begins = [b for b, _ in self._ready] + ([self._opened] if self._opened >= 0 else [now])
        keep = min(begins) - _MARGIN
        if keep > self._first:
            gone = keep - self._first
            self._held, self._odds, self._first = self._held[gone * FRAME :], self._odds[gone:], keep

    def end(self) -> Iterator[Stretch]:
        """Yield what is left when the sound has ended."""
        now = self._first + len(self._odds)
        if self._opened >= 0 and now - self._silent - self._opened >= _SHORTEST:
            self._ready.append((self._opened, now - self._silent))
        for begin, end in self._ready:
            yield self._made(begin, end)

    def _step(self, n: int, p: float) -> None:
        if p >= SPEECH:
            self._opened = n if self._opened < 0 else self._opened
            self._silent = 0
        elif self._opened >= 0 and p < SILENCE:
            self._silent += 1
            if self._silent >= _HANGOVER:
                if n + 1 - self._silent - self._opened >= _SHORTEST:
                    self._ready.append((self._opened, n + 1 - self._silent))
                self._opened, self._silent = -1, 0
        if self._opened >= 0 and n + 1 - self._opened >= self._most:
            third = self._opened + self._most * 2 // 3
            cut = third + int(np.argmin(self._odds[third - self._first : n + 1 - self._first]))
            self._ready.append((self._opened, cut))
            self._opened = cut

    def _made(self, begin: int, end: int) -> Stretch:
        low, high = max(0, begin - _MARGIN), min(self._first + len(self._odds), end + _MARGIN)
        sound = self._held[(low - self._first) * FRAME : (high - self._first) * FRAME]
        return Stretch(low * FRAME, sound, float(np.mean(self._odds[begin - self._first : end - self._first])))


@lru_cache(maxsize=1)
def _session() -> Any:
    file = model_file()
    if file is None:
        raise MissingExtra("telling speech from silence", "video")
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
