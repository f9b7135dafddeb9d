"""A recording as its parts: what was said and when, what stood on the screen, what was seen."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Literal

Speech = Literal["", "subtitles", "transcript", "whisper", "endpoint"]
"""Where the words come from; "" where nothing is said, or nobody listened."""


@dataclass(frozen=True, slots=True)
class Cue:
    """One utterance between two seconds of the recording, on one line.

    The recogniser's confidence is 0 to 1, and 1 for what people wrote; `words` are (start, end, word) where
    known, and `sure` the confidence of each of them.
    """

    start: float
    end: float
    text: str
    speaker: str = ""
    confidence: float = 1.0
    words: tuple[tuple[float, float, str], ...] = ()
    sure: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Shown:
    """Text that stood on the screen from the second it was first seen to the last."""

    start: float
    end: float
    text: str


@dataclass(frozen=True, slots=True)
class Frame:
    """A stored picture at a second; pictures that look alike share one file."""

    time: float
    image: str


@dataclass(frozen=True, slots=True)
class Recording:
    """Everything known about one recording before it is cut into items.

    Parts are in order of time; chapters are (start, end, title) as the container names them, captions go by
    the number of the clip, `also` is what was said in further languages, and `about` is what the container
    says about itself. `heard_by` names the engine and the model that wrote down the speech.
    """

    title: str
    duration: float
    cues: tuple[Cue, ...] = ()
    speech: Speech = ""
    shown: tuple[Shown, ...] = ()
    frames: tuple[Frame, ...] = ()
    chapters: tuple[tuple[float, float, str], ...] = ()
    captions: tuple[str, ...] = ()
    also: tuple[Cue, ...] = ()
    language: str = ""
    about: str = ""
    heard_by: str = ""
    date: datetime | None = None

    def shown_in(self, span: tuple[float, float]) -> list[Shown]:
        """Return what stands on the screen in a stretch of time."""
        return [s for s in self.shown if s.start < span[1] and s.end >= span[0]]


def called(path: str) -> str:
    """Return the title of a recording that states none: the words of its file's name.

    >>> called("agent327_barbershop.mp4")
    'agent 327 barbershop'
    """
    stem = PurePath(path).stem
    return " ".join(_RUN_ON.sub(" ", stem.replace("_", " ")).split()) or stem


_RUN_ON = re.compile(r"(?<=[^\W\d]{3})(?=\d)")
"""Between a word and a number that are written as one."""
