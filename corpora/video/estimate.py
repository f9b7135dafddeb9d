"""What taking a recording in costs, and how much speech there is in one, told from parts of it."""

from __future__ import annotations

import os

from ragweave.corpora.video.listen import sound
from ragweave.corpora.video.sidecars import companion
from ragweave.corpora.video.streams import Container
from ragweave.models.asr import asr
from ragweave.models.errors import SourceError
from ragweave.models.vad import RATE, stretches

EACH = 1.0
"""Processor seconds that any recording takes: it is opened, cut, embedded and stored."""
LOOKING = 0.09
"""Seconds per second of film on two free cores: decoding 0.03, reading five frames of a clip 0.06."""
FILM = 0.14
"""Processor seconds per second of film that is looked at (docs/video.md)."""
LISTENING = 0.01
"""Processor seconds per second of sound that is decoded and searched for speech."""
HEARING = {"pocketsphinx": (0.45, 2.0), "whisper": (0.5, 0.0), "endpoint": (0.03, 0.0)}
"""Processor seconds per second of speech, and by what part more where all around it is music and noise.

Of the first docs/video.md says where it was measured, the others are guesses.
"""
LISTENED = 600.0
"""Most seconds of one recording that are searched for speech before it is taken in."""
_PARTS = 20


def words_from(path: str, container: Container) -> str:
    """Return what gives a recording its words: "subtitles", the label of an ASR engine, or "" where nothing does."""
    if companion(path) or container.subtitles():
        return "subtitles"
    listens = asr() if container.sound() is not None else None
    return listens.label if listens is not None else ""


def hearing(engine: str, seconds: float, spoken: float) -> float:
    """Return the processor seconds that an engine takes for a recording with so many seconds of speech.

    >>> hearing("pocketsphinx", 100.0, 100.0), hearing("subtitles", 100.0, 100.0)
    (46.0, 0.0)
    """
    if engine not in HEARING:
        return 0.0
    each, more = HEARING[engine]
    around = 1 - spoken / seconds if seconds else 0.0
    return LISTENING * seconds + each * (1 + more * around) * spoken


def wall(engine: str, looking: float, heard: float, taken: float) -> float:
    """Return the seconds that a recording takes by the clock, of free cores.

    `looking` are those of its picture, `heard` and `taken` the processor seconds of hearing and of everything.

    >>> wall("endpoint", 3.0, 2.0, 0.0), wall("", 3.0, 0.0, 0.0)
    (3.0, 3.0)
    """
    cores = os.cpu_count() or 1
    return max(looking, heard / (cores if engine == "pocketsphinx" else 1), taken / cores)


def spoken_in(path: str, demuxer: str, container: Container, most: float = LISTENED) -> float:
    """Return how many seconds of a recording are speech, told from at most so many seconds spread over it.

    All of it counts as speech where it cannot be decoded.
    """
    stream, whole = container.sound(), container.duration
    if stream is None or not whole:
        return 0.0
    parts = 1 if whole <= most else _PARTS
    part = min(whole, most) / parts
    starts = [(whole - part) * n / (parts - 1) if n else 0.0 for n in range(parts)]
    try:
        found = (stretches(sound(path, demuxer, stream.index, at, part), part) for at in starts)
        heard = sum(len(s.sound) for some in found for s in some) / RATE
    except SourceError:
        return whole
    return min(whole, heard * whole / (parts * part))
